package screen

import (
	"testing"
	"time"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -999: "-999", -28_800: "-28,800", 1_234_567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 pairs", 1: "1 pair", 2: "2 pairs", 4000: "4,000 pairs"} {
		if got := Counted(n, "pair", "pairs"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 59*time.Second + 400*time.Millisecond: "59s", time.Minute: "1m00s", 90 * time.Minute: "1h30m",
		99 * time.Hour: "99h00m", 100 * time.Hour: "4 days", 1000 * time.Hour: "42 days",
	} {
		if got := Roughly(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
