package games

import (
	"bytes"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"selfplay/locales"
)

// BenchmarkReference plays the reference's games again and tells how many times
// faster: on one core with -cpu 1, as the reference plays. Both also write each
// game as a line of JSON, and the lines must be equal. The reference's start is
// not counted, nor is reading its games.
func BenchmarkReference(b *testing.B) {
	const games = 500
	dir := reference(b)
	set, err := locales.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, env := range Names() {
		if !strings.HasSuffix(env, "-v0") {
			continue
		}
		var lines [][]byte // played once, however often the benchmark is run
		var theirs time.Duration
		b.Run(env, func(b *testing.B) {
			if lines == nil {
				_, start := timeReference(b, dir, "", env, 0, 1)
				lines, theirs = timeReference(b, dir, "", env, games, 1)
				theirs = (theirs - start) / time.Duration(len(lines))
			}
			traces := make([]Trace, len(lines))
			for i, line := range lines {
				if err := json.Unmarshal(line, &traces[i]); err != nil {
					b.Fatal(err)
				}
			}
			var written []byte
			b.ResetTimer()
			begin := processorTime(b)
			for i := range b.N {
				t := &traces[i%len(traces)]
				if err := t.Replay(set); err != nil {
					b.Fatal(err)
				}
				written = t.AppendJSON(written[:0])
				if i < len(lines) && !bytes.Equal(written, lines[i]) {
					b.Fatalf("differs from the reference%s", difference(written, lines[i]))
				}
			}
			ours := (processorTime(b) - begin) / time.Duration(b.N)
			b.ReportMetric(0, "ns/op") // not shown: it is not the processor's time
			b.ReportMetric(1/theirs.Seconds(), "their-games/s")
			b.ReportMetric(1/ours.Seconds(), "our-games/s")
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "times-faster")
		})
	}
}

// processorTime is what this process has used so far.
func processorTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
