package scheduler

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"selfplay/games"
	"selfplay/inference"
)

var errDead = errors.New("the device is gone")

// A brittle engine dies in a step.
type brittle struct {
	*fakeEngine
	dies int    // in this step, from 1; 0: never
	wait func() // called before, if not nil
	last func() // called in each step, if not nil
}

func (e *brittle) Forward(b *inference.Batch) error {
	if e.last != nil {
		e.last()
	}
	if e.dies > 0 && e.step+1 >= e.dies {
		if e.wait != nil && e.fail == nil {
			e.wait()
		}
		e.fail = errDead
	}
	time.Sleep(time.Millisecond)
	return e.fakeEngine.Forward(b)
}

// newTeam makes n replicas with limits as those of cfg or, some of them, with
// other slots, pools and tokens a step.
func newTeam(r *rand.Rand, cfg Config, n int, sample sampler) (team []Replica, engines []*brittle) {
	for i := range n {
		l := cfg.Limits
		if r.IntN(2) == 0 {
			l.Slots, l.Tokens = 1+r.IntN(12), 1+r.IntN(200)
			l.Rows = min(l.Rows, l.Slots)
			l.Pool = l.BlockFor(l.Cells) * (l.Slots + r.IntN(4))
		}
		e := &brittle{fakeEngine: newFakeEngine(l, sample)}
		engines = append(engines, e)
		team = append(team, Replica{Name: fmt.Sprintf("r%d", i), Engine: e, Codec: cfg.Codec})
	}
	return team, engines
}

// outcome is what a run on replicas told.
type outcome struct {
	records []Record
	last    Progress
	lost    []string
	err     error
}

// runTeam plays cfg in a bubble, which no goroutine may outlive.
func runTeam(t *testing.T, ctx context.Context, cfg Config, team []Replica, sink func(Record) error) (o outcome) {
	t.Helper()
	busy := false // sink and progress come one at a time, which the race detector sees
	o.err = RunReplicas(ctx, cfg, team, func(r Record) error {
		if sink != nil {
			if err := sink(r); err != nil {
				return err
			}
		}
		o.records = append(o.records, r)
		return nil
	}, func(p Progress) {
		if busy {
			t.Error("two at a time")
		}
		busy = true
		if p.Elapsed < o.last.Elapsed || p.Engine < o.last.Engine || p.Engine+p.Waited > p.Elapsed || p.Live() < 0 ||
			p.Total != cfg.Total || p.Replicas != len(team) || p.Lost < o.last.Lost || p.Replica >= len(team) {
			t.Errorf("progress %+v after %+v", p, o.last)
		}
		o.last = p
		busy = false
	}, func(r Replica, err error) {
		o.lost = append(o.lost, r.Name)
		if !errors.Is(err, errDead) || !strings.HasPrefix(err.Error(), "replica "+r.Name+": ") {
			t.Errorf("%s is lost: %v", r.Name, err)
		}
	})
	return o
}

// Whoever plays them, games are those that the reference plays, each once. In
// half of the runs all replicas but one die at some step.
func TestReplicasEqualReference(t *testing.T) {
	runs := 300
	if testing.Short() {
		runs = 40
	}
	for seed := range runs {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		cfg := randomConfig(r)
		sample := []sampler{byHash, chatty}[r.IntN(2)]
		want := reference(t, cfg, sample)
		synctest.Test(t, func(t *testing.T) {
			team, engines := newTeam(r, cfg, 1+r.IntN(4), sample)
			if seed%2 == 0 {
				for _, e := range engines[1:] {
					e.dies = 1 + r.IntN(1<<r.IntN(9))
				}
				r.Shuffle(len(team), func(i, j int) { team[i], team[j] = team[j], team[i] })
			}
			o := runTeam(t, t.Context(), cfg, team, nil)
			if o.err != nil {
				t.Fatalf("seed %d: %v", seed, o.err)
			}
			sameRecords(t, o.records, want)
			checkTeam(t, engines, o, len(want))
		})
	}
}

// checkTeam checks what the last progress says: games that a lost replica had
// begun don't count, all that was computed does.
func checkTeam(t *testing.T, engines []*brittle, o outcome, n int) {
	t.Helper()
	dead, turns := 0, 0
	for _, e := range engines {
		if e.fail != nil {
			dead++
		}
	}
	for _, r := range o.records {
		turns += len(r.Turns)
	}
	if dead != len(o.lost) || n > 0 && (o.last.Lost != dead || o.last.Ended != n || o.last.Started != n || o.last.Turns < turns || dead == 0 && o.last.Turns != turns) {
		t.Errorf("%d died, %v lost, %d games of %d turns, at last %+v", dead, o.lost, n, turns, o.last)
	}
}

// A replica dies when the others have nothing left to play: they play its games.
func TestReplicaDiesLast(t *testing.T) {
	for _, n := range []int{2, 4} {
		synctest.Test(t, func(t *testing.T) {
			cfg := fakeConfig(runLimits, makeJobs(20))
			want := reference(t, cfg, byHash)
			team, engines := newTeam(rand.New(rand.NewPCG(1, 1)), cfg, n, byHash)
			idle := make([]int, n)
			kept, late := 0, 0
			engines[1].dies = 2
			engines[1].wait = func() {
				synctest.Wait() // the others sleep in a step, or wait for games
				time.Sleep(time.Hour)
				synctest.Wait()
				for i, e := range engines {
					idle[i] = e.step
				}
				late = 20 - kept
			}
			o := runTeam(t, t.Context(), cfg, team, func(Record) error { kept++; return nil })
			if o.err != nil || !slices.Equal(o.lost, []string{"r1"}) {
				t.Fatalf("%v, %v lost", o.err, o.lost)
			}
			sameRecords(t, o.records, want)
			again := 0
			for i, e := range engines {
				if i != 1 && e.step > idle[i] {
					again++
				}
			}
			if again == 0 || o.last.Elapsed < time.Hour {
				t.Errorf("%d replicas went on after %v", again, o.last.Elapsed)
			}
			for _, r := range o.records {
				if r.Turns[0].Start >= time.Hour {
					late--
				}
			}
			if late != 0 {
				t.Errorf("%d more games than began later were played later", late)
			}
			// An hour of waiting is no work of the host's.
			if o.last.Elapsed-o.last.Engine-o.last.Waited > time.Millisecond {
				t.Errorf("%+v", o.last)
			}
		})
	}
}

// Where all replicas die, what had ended is kept, and the error names them all.
func TestAllReplicasDie(t *testing.T) {
	for _, first := range []int{1, 40} {
		synctest.Test(t, func(t *testing.T) {
			cfg := fakeConfig(runLimits, makeJobs(300))
			team, engines := newTeam(rand.New(rand.NewPCG(1, 1)), cfg, 3, byHash)
			for i, e := range engines {
				e.dies = first * (i + 1)
			}
			o := runTeam(t, t.Context(), cfg, team, nil)
			if !errors.Is(o.err, errDead) || len(o.lost) != 3 || o.last.Lost != 3 || strings.Contains(o.err.Error(), "\n") {
				t.Fatalf("%v, %v lost", o.err, o.lost)
			}
			for _, r := range team {
				if !strings.Contains(o.err.Error(), "replica "+r.Name+": ") {
					t.Errorf("%s is missing in %v", r.Name, o.err)
				}
			}
			if n := len(byID(t, o.records)); n != o.last.Ended || n > 250 || first > 1 && n == 0 {
				t.Errorf("%d games kept, at last %+v", n, o.last)
			}
		})
	}
}

// A run that is cancelled keeps all that ended, and waits for nothing.
func TestReplicasCancelled(t *testing.T) {
	for step := 1; step < 60; step += 7 {
		synctest.Test(t, func(t *testing.T) {
			cfg := fakeConfig(runLimits, makeJobs(200))
			team, engines := newTeam(rand.New(rand.NewPCG(uint64(step), 1)), cfg, 3, byHash)
			ctx, cancel := context.WithCancel(t.Context())
			engines[0].last = func() {
				if engines[0].step+1 == step {
					cancel()
				}
			}
			o := runTeam(t, ctx, cfg, team, nil)
			if o.err != context.Canceled || len(o.records) != o.last.Ended || len(o.lost) > 0 || len(o.records) == 200 {
				t.Errorf("%v, %d games, at last %+v", o.err, len(o.records), o.last)
			}
			for _, e := range engines {
				if e.step > step+1 {
					t.Errorf("%d steps after a stop at %d", e.step, step)
				}
			}
		})
	}
}

// A sink that fails, or a game that can't be dealt, stops all replicas, those
// that wait for games too.
func TestReplicasStop(t *testing.T) {
	full := errors.New("disk full")
	for name, c := range map[string]struct {
		edit func(jobs []Job)
		sink func(n int) error
		want string
	}{
		"sink": {func([]Job) {}, func(n int) error {
			if n >= 5 {
				return full
			}
			return nil
		}, "could not be kept: disk full"},
		"deal":   {func(j []Job) { j[30].Game = "broken" }, func(int) error { return nil }, "game g30 (broken): no such game"},
		"prompt": {func(j []Job) { j[3].Langs[0] = "unspeakable" }, func(int) error { return nil }, "game g3 (fake): no token"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := makeJobs(60)
				c.edit(jobs)
				cfg := fakeConfig(runLimits, jobs)
				team, _ := newTeam(rand.New(rand.NewPCG(2, 1)), cfg, 3, byHash)
				asked := 0
				o := runTeam(t, t.Context(), cfg, team, func(Record) error { asked++; return c.sink(asked) })
				if o.err == nil || !strings.Contains(o.err.Error(), c.want) || len(o.lost) > 0 || asked > len(o.records)+1 {
					t.Errorf("%v after %d games, %d asked", o.err, len(o.records), asked)
				}
			})
		})
	}
}

// Few games are spread evenly over replicas of the same size, and by size over
// others.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		games int
		pools []int // in slots
		want  []int
	}{
		{6, []int{6, 6}, []int{3, 3}},
		{7, []int{6, 6}, []int{4, 3}},
		{8, []int{6, 2}, []int{6, 2}},
		{1, []int{6, 6, 6}, []int{1, 0, 0}},
		{100, []int{4, 4}, []int{4, 4}},
	} {
		jobs := makeJobs(c.games)
		var team []Replica
		for _, n := range c.pools {
			team = append(team, Replica{Engine: newFakeEngine(whole(inference.Limits{Slots: n, Cells: 50, Tokens: 50}), byHash)})
		}
		next, stop := iter.Pull(slices.Values(jobs))
		defer stop()
		d := newDealer(Config{Total: len(jobs)}, next, team)
		for i, r := range team {
			n := 0
			for n < r.Engine.Limits().Slots {
				if _, ok := d.take(i); !ok {
					break
				}
				n++
			}
			if n != c.want[i] {
				t.Errorf("%d games for pools %v: replica %d began %d, want %d", c.games, c.pools, i, n, c.want[i])
			}
		}
	}
}

// A game is dealt again where it was begun before all that were not.
func TestDealtAgain(t *testing.T) {
	jobs := makeJobs(10)
	next, stop := iter.Pull(slices.Values(jobs))
	defer stop()
	e := newFakeEngine(whole(inference.Limits{Slots: 5, Cells: 50, Tokens: 50}), byHash)
	d := newDealer(Config{Total: len(jobs)}, next, []Replica{{Engine: e}, {Engine: e}})
	for range 3 {
		d.take(0)
	}
	d.ended(0, Record{Job: jobs[1]})
	if living := d.lose(0); living != 1 {
		t.Errorf("%d live", living)
	}
	var got []string
	for {
		j, ok := d.take(1)
		if !ok {
			break
		}
		got = append(got, j.ID)
	}
	if want := []string{"g0", "g2", "g3", "g4", "g5", "g6", "g7", "g8", "g9"}; !slices.Equal(got, want) {
		t.Errorf("dealt %v, want %v", got, want)
	}
}

// Policies need no engine's rows, but each game still ends once.
func TestReplicasWithPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := fakeConfig(runLimits, makeJobs(200))
		setPolicy(&cfg, 1, Random{})
		var mu sync.Mutex
		dealt := map[string]int{}
		cfg.New = func(j Job) (games.Game, error) {
			mu.Lock()
			defer mu.Unlock()
			dealt[j.ID]++
			return newFakeGame(j)
		}
		want := reference(t, cfg, byHash)
		clear(dealt)
		team, _ := newTeam(rand.New(rand.NewPCG(5, 1)), cfg, 3, byHash)
		o := runTeam(t, t.Context(), cfg, team, nil)
		if o.err != nil {
			t.Fatal(o.err)
		}
		sameRecords(t, o.records, want)
		for id, n := range dealt {
			if n != 1 {
				t.Errorf("%s was begun %d times", id, n)
			}
		}
	})
}

// add leaves no count out.
func TestStatsAdd(t *testing.T) {
	var a, b Stats
	va, vb := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
	for i := range va.NumField() {
		va.Field(i).SetInt(int64(i + 1))
		vb.Field(i).SetInt(int64(100 * i))
	}
	a.add(b)
	for i := range va.NumField() {
		if got, want := va.Field(i).Int(), int64(101*i+1); got != want {
			t.Errorf("%s: %d, want %d", va.Type().Field(i).Name, got, want)
		}
	}
}
