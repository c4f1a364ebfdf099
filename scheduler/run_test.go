package scheduler

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"selfplay/games"
	"selfplay/inference"
)

var runLimits = whole(inference.Limits{Slots: 6, Cells: 400, Tokens: 100})

func newRun(t *testing.T, jobs []Job) (*Core, *fakeEngine) {
	t.Helper()
	c, err := NewCore(fakeConfig(runLimits, jobs))
	if err != nil {
		t.Fatal(err)
	}
	return c, newFakeEngine(runLimits, byHash)
}

func TestRun(t *testing.T) {
	jobs := makeJobs(200)
	c, e := newRun(t, jobs)
	var records []Record
	var last Progress
	err := Run(t.Context(), c, e,
		func(r Record) error { records = append(records, r); return nil },
		func(p Progress) {
			if p.Steps != last.Steps+1 || p.Ended < last.Ended || p.Live() > 6 || p.Ended+p.Live()+p.Waiting() != 200 {
				t.Errorf("progress %+v after %+v", p, last)
			}
			if p.Elapsed < last.Elapsed || p.Engine < last.Engine || p.Engine > p.Elapsed {
				t.Errorf("time goes from %v/%v to %v/%v", last.Engine, last.Elapsed, p.Engine, p.Elapsed)
			}
			last = p
		})
	if err != nil {
		t.Fatal(err)
	}
	sameRecords(t, records, reference(t, c.cfg, byHash))
	if last.Ended != 200 || last.Stats != c.Stats() {
		t.Errorf("at last %+v", last)
	}
	for _, r := range records {
		at := time.Duration(0)
		for _, turn := range r.Turns {
			if turn.Start < at || turn.End < turn.Start {
				t.Fatalf("%s: a turn from %v to %v after %v", r.Job.ID, turn.Start, turn.End, at)
			}
			at = turn.End
		}
	}
}

// A run that is cancelled hands out all that ended; the rest comes with the next.
func TestRunCancelledAndResumed(t *testing.T) {
	all := makeJobs(100)
	c, _ := newRun(t, all)
	want := reference(t, c.cfg, byHash)
	c.Close()
	for seed := range 10 {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		var records []Record
		for stops := 0; len(records) < len(all); stops++ {
			done := byID(t, records)
			c, e := newRun(t, slices.DeleteFunc(slices.Clone(all), func(j Job) bool { _, is := done[j.ID]; return is }))
			ctx, cancel := context.WithCancel(t.Context())
			steps := 1 + r.IntN(60<<min(stops, 10))
			ended := 0
			d := driver{
				core: c, engine: e, start: time.Now(), overlap: func(time.Duration, time.Duration, int, int) bool { return seed%2 == 0 },
				progress: func(p Progress) {
					if ended = p.Ended; p.Steps == steps {
						cancel()
					}
				},
			}
			err := d.run(ctx, func(r Record) error { records = append(records, r); return nil })
			cancel()
			if len(records) != len(done)+ended {
				t.Fatalf("%d games ended, the sink got %d", ended, len(records)-len(done))
			}
			if e.step > steps {
				t.Fatalf("%d steps after a stop at %d", e.step, steps)
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		sameRecords(t, records, want)
	}
}

func TestRunSinkFails(t *testing.T) {
	c, e := newRun(t, makeJobs(3000))
	full := errors.New("disk full")
	n := 0
	err := Run(t.Context(), c, e, func(Record) error {
		if n++; n == 5 {
			return full
		}
		return nil
	}, nil)
	if !errors.Is(err, full) || !strings.Contains(err.Error(), "game g") || n != 5 {
		t.Errorf("%v after %d games", err, n)
	}
}

// A sink that is stuck longer than its channel must not be waited for when it
// fails in the end.
func TestRunStuckSinkFails(t *testing.T) {
	cfg := Config{New: newFakeGame, Jobs: slices.Values(makeJobs(waitingRecords * 3)), Policies: map[string]Policy{"": Random{}}}
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err = Run(t.Context(), c, nil, func(Record) error {
		time.Sleep(20 * time.Millisecond)
		return full
	}, nil)
	if !errors.Is(err, full) {
		t.Error(err)
	}
}

func TestRunEngineFails(t *testing.T) {
	c, e := newRun(t, makeJobs(300))
	out := errors.New("out of memory")
	kept, ended := 0, 0
	err := Run(t.Context(), c, e,
		func(Record) error { kept++; return nil },
		func(p Progress) {
			if ended = p.Ended; ended > 20 {
				e.fail = out
			}
		})
	if !errors.Is(err, out) || !strings.Contains(err.Error(), "rows of") {
		t.Error(err)
	}
	if kept != ended || kept == 0 {
		t.Errorf("%d games ended before, %d were kept", ended, kept)
	}
}

func TestRunCoreFails(t *testing.T) {
	jobs := makeJobs(50)
	jobs[30].Game = "broken"
	c, e := newRun(t, jobs)
	kept := 0
	err := Run(t.Context(), c, e, func(Record) error { kept++; return nil }, nil)
	if err == nil || !strings.Contains(err.Error(), "game g30 (broken)") {
		t.Error(err)
	}
	if kept != c.Stats().Ended || kept == 0 {
		t.Errorf("%d kept of %d", kept, c.Stats().Ended)
	}
}

// Policies alone need no engine, and can be stopped although they never wait.
func TestRunPolicies(t *testing.T) {
	cfg := Config{New: newFakeGame, Policies: map[string]Policy{"": Random{}}}
	cfg.Jobs = func(yield func(Job) bool) {
		for i := 0; yield(Job{ID: string(rune(i)), Seed: int64(i)}); i++ {
		}
	}
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	kept := 0
	err = Run(ctx, c, nil, func(Record) error { kept++; return nil }, func(p Progress) {
		if p.Ended > 5000 {
			cancel()
		}
	})
	if err != context.Canceled || kept != c.Stats().Ended {
		t.Errorf("%v, %d of %d", err, kept, c.Stats().Ended)
	}
}

// The times of the steps follow one another and add up to what Progress says:
// here a game takes 1 µs to deal, its answers nothing, and the sink 1 ms.
func TestRunTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := fakeConfig(runLimits, makeJobs(3*waitingRecords))
		cfg.Policies = map[string]Policy{"": Random{}}
		cfg.New = func(j Job) (games.Game, error) {
			time.Sleep(time.Microsecond)
			return newFakeGame(j)
		}
		c, err := NewCore(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var last Progress
		var host, waited time.Duration
		err = Run(t.Context(), c, nil, func(Record) error { time.Sleep(time.Millisecond); return nil }, func(p Progress) {
			s := p.Last
			if s.Asked != last.Elapsed || s.Begun < s.Asked || s.Computed != s.Begun || s.Taken < s.Computed || s.Handed != p.Elapsed {
				t.Errorf("step %+v after %v, then %v", s, last.Elapsed, p.Elapsed)
			}
			host += s.Taken - s.Asked
			waited += s.Handed - s.Taken
			last = p
		})
		if err != nil {
			t.Fatal(err)
		}
		// All games but those that the channel and the sink hold in the end.
		if want := (2*waitingRecords - 1) * time.Millisecond; waited < want-4*time.Millisecond || waited > want {
			t.Errorf("waited %v, want %v", waited, want)
		}
		if host != 3*waitingRecords*time.Microsecond || last.Waited != waited || last.Engine != 0 || last.Elapsed != host+waited {
			t.Errorf("host %v, waited %v of %+v", host, waited, last)
		}
	})
}

// What a step says of its batch is what the engine was given.
func TestRunSteps(t *testing.T) {
	c, e := newRun(t, makeJobs(100))
	var seen counting
	seen.fakeEngine = e
	err := Run(t.Context(), c, &seen, func(Record) error { return nil }, func(p Progress) {
		if got := (Step{Rows: p.Last.Rows, Copies: p.Last.Copies, CopiedCells: p.Last.CopiedCells}); got != seen.step {
			t.Errorf("%+v, the engine saw %+v", got, seen.step)
		}
		seen.step = Step{}
	})
	if err != nil || seen.copies == 0 {
		t.Errorf("%v, %d copies", err, seen.copies)
	}
}

// counting is the fake engine that counts what it was given in a step.
type counting struct {
	*fakeEngine
	step   Step
	copies int
}

func (e *counting) Forward(b *inference.Batch) error {
	e.step.Rows += len(b.Rows)
	return e.fakeEngine.Forward(b)
}

func (e *counting) Copy(c inference.Copy) error {
	e.copies++
	e.step.Copies++
	e.step.CopiedCells += c.Cells
	return e.fakeEngine.Copy(c)
}
