package bench

import (
	"context"
	"reflect"
	"testing"
	"time"

	"selfplay/games"
	"selfplay/locales"
	"selfplay/scheduler"
)

// randomPlayer plays real games, drawn uniformly, on the real scheduler.
func randomPlayer(seed int64) Player { return policyPlayer(seed, scheduler.Random{}) }

// policyPlayer has one policy play both seats of real games.
func policyPlayer(seed int64, policy scheduler.Policy) Player {
	return OnEngine(scheduler.Config{
		Seed:     seed,
		Policies: map[string]scheduler.Policy{"": policy, "builtin:random": scheduler.Random{}, "builtin:optimal": scheduler.Optimal{}},
		New: func(j scheduler.Job) (games.Game, error) {
			spec, err := games.Lookup(j.Game)
			if err != nil {
				return nil, err
			}
			return spec.New(locales.Embedded(), j.Langs, j.Seed)
		},
	}, nil)
}

// collectGames reads all games, with the times taken out: a clock is no part
// of an outcome.
func collectGames(t *testing.T, dir string) []scheduler.Record {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []scheduler.Record
	err = r.Each(func(rec scheduler.Record) error {
		for i := range rec.Turns {
			rec.Turns[i].Start, rec.Turns[i].End = 0, 0
		}
		all = append(all, rec)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Real games, played at once and played with a stop in between, are equal.
func TestRealGames(t *testing.T) {
	e := testExperiment()
	e.N = 10
	whole := Options{Dir: t.TempDir(), Experiment: e, Player: randomPlayer(e.Seed)}
	sum, err := Play(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Games != 120 || sum.Turns != sum.WholeRun.Turns || sum.Turns < 5*60+2*60 || sum.WholeRun.Policy != sum.Turns {
		t.Errorf("%+v", sum)
	}

	ctx, cancel := context.WithCancel(t.Context())
	stopped := Options{Dir: t.TempDir(), Experiment: e}
	stopped.Player = func(ctx context.Context, d Deal,
		sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		return randomPlayer(e.Seed)(ctx, d, func(r scheduler.Record) error {
			if r.Job.Index == 4 {
				cancel()
				time.Sleep(time.Millisecond)
			}
			return sink(r)
		}, progress)
	}
	if _, err := Play(ctx, stopped); err != nil { // else it was done before it could be stopped; all games may have ended
		checkLine(t, err, []string{"the same command "})
	}
	stopped.Player = randomPlayer(e.Seed)
	if _, err := Play(t.Context(), stopped); err != nil {
		t.Fatal(err)
	}
	if a, b := collectGames(t, whole.Dir), collectGames(t, stopped.Dir); !reflect.DeepEqual(a, b) {
		t.Errorf("%d and %d games differ", len(a), len(b))
	}
}
