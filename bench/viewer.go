package bench

import (
	"context"

	"selfplay/scheduler"
)

// A Viewer looks on while a run is played. Several goroutines call it, and none of
// them waits: its methods return at once.
type Viewer interface {
	// Earlier is told of each game that ended before this session. These come first.
	Earlier(Outcome)
	// Progress is told before the first step and after each, and how many games are
	// planned in all, those that ended earlier included.
	Progress(p scheduler.Progress, planned int)
	// Turned is told of each turn that ended, see scheduler.Config.
	Turned(scheduler.Job, []scheduler.Turn)
	// Ended is told of each game that ended and is on its way into the store.
	Ended(scheduler.Record)
}

// viewed shows a viewer what has ended in the store, and gives a player at whose
// games it looks on.
func viewed(v Viewer, player Player, s *Store, planned int) (Player, error) {
	if err := s.Outcomes(func(o Outcome) error { v.Earlier(o); return nil }); err != nil {
		return nil, err
	}
	v.Progress(scheduler.Progress{}, planned)
	return func(ctx context.Context, d Deal,
		sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		d.Turned = v.Turned
		return player(ctx, d, func(r scheduler.Record) error {
			err := sink(r)
			if err == nil {
				v.Ended(r)
			}
			return err
		}, func(p scheduler.Progress) {
			progress(p)
			if d.planned != nil {
				planned = d.planned()
			}
			v.Progress(p, planned)
		})
	}, nil
}
