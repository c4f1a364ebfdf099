package bench

import (
	"context"
	"testing"

	"selfplay/scheduler"
)

// looker notes what it is told.
type looker struct {
	t              *testing.T
	earlier, ended int
	turned         int
	at, planned    int // of the last progress
}

func (l *looker) Earlier(o Outcome) {
	if l.earlier++; l.planned != 0 {
		l.t.Error("a game that ended earlier is told of after progress")
	}
}
func (l *looker) Progress(p scheduler.Progress, planned int)     { l.at, l.planned = p.Ended, planned }
func (l *looker) Turned(j scheduler.Job, turns []scheduler.Turn) { l.turned++ }
func (l *looker) Ended(r scheduler.Record) {
	if l.ended++; l.planned != 36 {
		l.t.Errorf("%d games planned when the first one ends", l.planned)
	}
}

// A viewer is told of all that ended, earlier and now, and the player of who wants
// to know of turns and to hold it.
func TestViewer(t *testing.T) {
	held := 0
	l := &looker{t: t}
	o := Options{Dir: t.TempDir(), Experiment: testExperiment(), Viewer: l, Hold: func(context.Context) { held++ }}
	o.Player = func(ctx context.Context, d Deal, sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return fakePlayer(ctx, d, func(r scheduler.Record) error {
			d.Hold(ctx)
			d.Turned(r.Job, r.Turns)
			return sink(r)
		}, func(p scheduler.Progress) {
			progress(p)
			if p.Ended == 20 {
				cancel()
			}
		})
	}
	if _, err := Play(t.Context(), o); err == nil || l.earlier != 0 || l.ended != 20 || l.turned != 20 || held != 20 || l.at != 20 {
		t.Errorf("%v, it saw %+v and held it %d times", err, l, held)
	}
	l = &looker{t: t}
	o.Viewer = l
	if _, err := Play(t.Context(), o); err != nil || l.earlier != 20 || l.ended != 16 || l.at != 16 {
		t.Errorf("resumed: %v, it saw %+v", err, l)
	}
}

// What a scheduler is told goes there from the deal.
func TestDealSetsAll(t *testing.T) {
	n := 0
	d := Deal{Jobs: func(func(scheduler.Job) bool) {}, Total: 3, Turned: func(scheduler.Job, []scheduler.Turn) { n++ }, Hold: func(context.Context) { n++ }}
	var cfg scheduler.Config
	d.setOn(&cfg)
	if cfg.Jobs == nil || cfg.Total != 3 || cfg.Turned == nil || cfg.Hold == nil {
		t.Fatalf("%+v", cfg)
	}
	cfg.Turned(scheduler.Job{}, nil)
	cfg.Hold(t.Context())
	if n != 2 {
		t.Errorf("called %d", n)
	}
}
