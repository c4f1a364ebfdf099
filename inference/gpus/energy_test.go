package gpus

import (
	"testing"
	"time"
)

// Joules, worked out by hand: a sample a second, counters in mJ, power in mW.
func TestMeter(t *testing.T) {
	n := func(v uint64) *uint64 { return &v }
	w := func(v uint32) *uint32 { return &v }
	const none = -1
	for _, c := range []struct {
		name    string
		samples []Sample
		want    float64 // none: no figure
		from    Source
	}{
		{"one sample", []Sample{{Counter: n(5000), Power: w(100_000)}}, none, ""},
		{"counter", []Sample{{Counter: n(5_000_000)}, {Counter: n(5_600_000)}, {Counter: n(6_100_500)}}, 1100.5, FromCounter},
		{"a counter that stands", []Sample{{Counter: n(5000)}, {Counter: n(5000)}}, 0, FromCounter},
		{"counter before power", []Sample{{Counter: n(1000), Power: w(1)}, {Counter: n(2000), Power: w(1)}}, 1, FromCounter},
		{"power", []Sample{{Power: w(100_000)}, {Power: w(300_000)}, {Power: w(300_000)}}, 200 + 300, FromPower},
		{"power with a hole", []Sample{{Power: w(100_000)}, {}, {Power: w(300_000)}, {Power: w(300_000)}}, 300, FromPower},
		{"set back", []Sample{{Counter: n(9_000_000), Power: w(400_000)}, {Counter: n(9_400_000), Power: w(400_000)},
			{Counter: n(100), Power: w(400_000)}, {Counter: n(300_100), Power: w(400_000)}}, 400 + 400 + 300, FromBoth},
		{"set back, no power", []Sample{{Counter: n(9000)}, {Counter: n(10_000)}, {Counter: n(10)}, {Counter: n(2010)}}, 1 + 2, FromCounter},
		{"a jump", []Sample{{Counter: n(1000), Power: w(500_000)}, {Counter: n(1 << 60), Power: w(500_000)}, {Counter: n(1<<60 + 500_000), Power: w(500_000)}}, 1000, FromBoth},
		{"wraps", []Sample{{Counter: n(^uint64(0)), Power: w(500_000)}, {Counter: n(9), Power: w(500_000)}}, 500, FromPower},
		{"nothing", []Sample{{}, {}}, none, ""},
	} {
		var m meter
		var last Sample
		for i, s := range c.samples {
			s.At = time.Duration(i) * time.Second
			m.add(&s)
			last = s
		}
		if (last.Joules == nil) != (c.want == none) || last.From != c.from || last.Joules != nil && *last.Joules != c.want {
			t.Errorf("%s: %v %s, want %v %s", c.name, last.Joules, last.From, c.want, c.from)
		}
	}
}
