package scheduler

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever is told of turns is told of each once, in order, and what it was told
// before stays as it was.
func TestTurned(t *testing.T) {
	var mu sync.Mutex
	told := map[string][][]Turn{}
	cfg := fakeConfig(runLimits, makeJobs(60))
	want := reference(t, cfg, byHash)
	cfg.Turned = func(j Job, turns []Turn) {
		mu.Lock()
		defer mu.Unlock()
		told[j.ID] = append(told[j.ID], turns)
	}
	synctest.Test(t, func(t *testing.T) {
		team, _ := newTeam(rand.New(rand.NewPCG(1, 1)), cfg, 3, byHash)
		cfg := cfg
		cfg.Total = 60
		o := runTeam(t, t.Context(), cfg, team, nil)
		if o.err != nil {
			t.Fatal(o.err)
		}
		sameRecords(t, o.records, want)
		for _, r := range o.records {
			if len(told[r.Job.ID]) != len(r.Turns) {
				t.Fatalf("%s: told %d times of %d turns", r.Job.ID, len(told[r.Job.ID]), len(r.Turns))
			}
			for i, turns := range told[r.Job.ID] {
				if !reflect.DeepEqual(turns, r.Turns[:i+1]) {
					t.Fatalf("%s: at turn %d it was told %+v", r.Job.ID, i, turns)
				}
			}
		}
	})
}

// A run that is held between steps plays the same games, and the time is one of
// waiting. One that is held when it is to stop does.
func TestHold(t *testing.T) {
	for _, replicas := range []int{0, 3} {
		synctest.Test(t, func(t *testing.T) {
			jobs := makeJobs(40)
			cfg := fakeConfig(runLimits, jobs)
			cfg.Total = len(jobs)
			want := reference(t, cfg, byHash)
			held := func(ctx context.Context) {
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
				}
			}
			run := func(ctx context.Context) (o outcome) {
				if replicas > 0 {
					team, _ := newTeam(rand.New(rand.NewPCG(1, 1)), cfg, replicas, byHash)
					return runTeam(t, ctx, cfg, team, nil)
				}
				cfg := cfg
				cfg.Jobs = slices.Values(jobs)
				core, err := NewCore(cfg)
				if err != nil {
					t.Fatal(err)
				}
				o.err = Run(ctx, core, newFakeEngine(runLimits, byHash), func(r Record) error { o.records = append(o.records, r); return nil },
					func(p Progress) { o.last = p })
				return o
			}
			cfg.Hold = held
			o := run(t.Context())
			if o.err != nil {
				t.Fatal(o.err)
			}
			sameRecords(t, o.records, want)
			if o.last.Steps < 10 || o.last.Waited < o.last.Elapsed*9/10 || o.last.Waited > o.last.Elapsed {
				t.Errorf("%d replicas: %d steps, %v of %v waited", replicas, o.last.Steps, o.last.Waited, o.last.Elapsed)
			}

			ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
			defer cancel()
			from := time.Now()
			if o := run(ctx); !errors.Is(o.err, context.DeadlineExceeded) || time.Since(from) > 5600*time.Millisecond {
				t.Errorf("%d replicas: stopped with %v after %v", replicas, o.err, time.Since(from))
			}
		})
	}
}
