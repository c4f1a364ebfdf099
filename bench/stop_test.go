package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"selfplay/locales/wholefile"
)

// Reading that is told to end does, with an error: no part of a run passes for the
// whole.
func TestUntil(t *testing.T) {
	r := mustPlay(t, testExperiment())
	ctx, cancel := context.WithCancel(t.Context())
	r.Until(ctx)
	seen := 0
	err := r.Outcomes(func(Outcome) error {
		if seen++; seen == 3 {
			cancel()
		}
		return nil
	})
	checkLine(t, err, []string{"stopped (context canceled)"})
	if !errors.Is(err, context.Canceled) || seen < 3 {
		t.Errorf("%v after %d games", err, seen)
	}
	if _, err := r.Report(); !errors.Is(err, context.Canceled) {
		t.Errorf("report: %v", err)
	}
	out := filepath.Join(t.TempDir(), "games.jsonl")
	if err := wholefile.Write(out, r.ExportJSONL); !errors.Is(err, context.Canceled) {
		t.Errorf("export: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	r.Until(t.Context())
	if n, err := r.Games(); n != 36 || err != nil {
		t.Errorf("again: %d games, %v", n, err)
	}
}

// Play is stopped while it reads, before any game and after all.
func TestPlayStopsReading(t *testing.T) {
	for _, c := range []struct{ doing, before, after string }{
		{"reading what has been played", "stopped (context canceled)", "stopped (context canceled)"},
		{"computing the tables", "36 of 36 games have ended and are kept", "the same command prints the tables"},
	} {
		for _, why := range []error{nil, ErrHurry} {
			ctx, cancel := context.WithCancelCause(t.Context())
			o := Options{Dir: t.TempDir(), Experiment: testExperiment(), Player: fakePlayer}
			o.Doing = func(what string) func() {
				if what == c.doing {
					cancel(why)
				}
				return func() {}
			}
			sum, err := Play(ctx, o)
			checkLine(t, err, []string{"stopped", c.before, c.after})
			if sum.Report != nil {
				t.Errorf("%s: a report", c.doing)
			}
			o.Doing = nil
			if sum, err := Play(t.Context(), o); err != nil || sum.Report == nil || sum.WholeRun.Games != 36 {
				t.Errorf("%s, again: %v, %+v", c.doing, err, sum.WholeRun)
			}
		}
	}
}
