package scheduler

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

func TestPays(t *testing.T) {
	for _, c := range []struct {
		settle, step time.Duration
		ended, rows  int
		want         bool
	}{
		{0, 0, 0, 0, false},            // nothing known
		{time.Second, 0, 10, 0, false}, // no engine
		{time.Millisecond, time.Second, 0, 10, true},
		{2 * time.Second, 10 * time.Second, 10, 100, true},  // 2 s saved, 1 s idle
		{time.Second / 2, 10 * time.Second, 10, 100, false}, // half a second saved
		{time.Second, 10 * time.Second, 10, 100, false},
		{time.Hour, 1000 * time.Hour, 1e9, 1e12 + 1e9, true}, // no overflow: one in 1000 against one in 1001
	} {
		if got := pays(c.settle, c.step, c.ended, c.rows); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Games are the same whichever steps overlap with playing the turns that ended,
// here in earnest, on two goroutines, and with stops at random.
func TestRunOverlaps(t *testing.T) {
	for seed := range 20 {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		cfg := randomConfig(r)
		want := reference(t, cfg, chatty)
		c, err := NewCore(cfg)
		if err != nil {
			t.Fatal(err)
		}
		often := []int{1, 2}[seed%2]
		var records []Record
		var last Progress
		d := driver{
			core: c, engine: newFakeEngine(c.cfg.Limits, chatty), start: time.Now(),
			overlap:  func(time.Duration, time.Duration, int, int) bool { return r.IntN(2) < often },
			progress: func(p Progress) { last = p },
		}
		err = d.run(t.Context(), func(r Record) error { records = append(records, r); return nil })
		if err != nil {
			t.Fatal(err)
		}
		sameRecords(t, records, want)
		if last.Stats != c.Stats() && len(want) > 0 {
			t.Fatalf("at last %+v, not %+v", last.Stats, c.Stats())
		}
		checkStats(t, c, records)
	}
}

// A run that is stopped or whose engine fails while turns are played beside it
// loses none of the games that ended.
func TestRunOverlappingStops(t *testing.T) {
	for steps := 1; steps < 120; steps += 7 {
		c, e := newRun(t, makeJobs(100))
		out := errors.New("out of memory")
		kept := 0
		d := driver{
			core: c, engine: e, start: time.Now(),
			overlap: func(time.Duration, time.Duration, int, int) bool { return true },
			progress: func(p Progress) {
				if p.Steps == steps {
					e.fail = out
				}
			},
		}
		err := d.run(t.Context(), func(Record) error { kept++; return nil })
		if !errors.Is(err, out) || kept != c.Stats().Ended {
			t.Errorf("%v: %d games ended, %d were kept", err, c.Stats().Ended, kept)
		}
	}
}
