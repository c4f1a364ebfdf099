package bench

import (
	"context"
	"iter"
	"sync"

	"selfplay/games"
	"selfplay/scheduler"
)

// A Deal is what there is to play.
type Deal struct {
	Jobs  iter.Seq[scheduler.Job]
	Total int // how many jobs those are, at most

	// For scheduler.Config; nil: nothing depends on what has ended.
	Ready func() bool
	Ended func(scheduler.Job, games.Result)

	// For scheduler.Config as well; nil: nobody looks on, and nobody stops it.
	Turned func(scheduler.Job, []scheduler.Turn)
	Hold   func(context.Context)

	planned func() int // games of the whole run, as far as is known by now; nil: it never changes
}

// setOn sets what a scheduler is told of the deal.
func (d Deal) setOn(cfg *scheduler.Config) {
	cfg.Jobs, cfg.Total, cfg.Ready, cfg.Ended, cfg.Turned, cfg.Hold = d.Jobs, d.Total, d.Ready, d.Ended, d.Turned, d.Hold
}

// deal is what remains of the run.
func (s *Store) deal() (Deal, error) {
	total := s.Experiment.Plan().Len()
	if s.Experiment.UntilCI == 0 {
		jobs, err := s.Remaining()
		if err != nil {
			return Deal{}, err
		}
		before, err := s.Games()
		return Deal{Jobs: jobs, Total: total - before}, err
	}
	d, err := newDeck(s)
	if err != nil {
		return Deal{}, err
	}
	return Deal{Jobs: d.jobs(), Total: d.planned() - len(d.ended), Ready: d.ready, Ended: d.tell, planned: d.planned}, nil
}

// A deck yields the games of a run whose cells may stop early, in plan order but
// for those whose cell is not decided yet. It may be used by several goroutines.
type deck struct {
	mu    sync.Mutex
	stops *stops
	ended map[int]bool // games that ended before, by position
	next  []int        // of each cell, as index * 2 + role: those before were yielded or had ended
}

func newDeck(s *Store) (*deck, error) {
	ended, err := s.ended()
	if err != nil {
		return nil, err
	}
	d := &deck{stops: newStops(s.Experiment), ended: ended}
	d.next = make([]int, len(d.stops.cells))
	return d, s.Outcomes(func(o Outcome) error { // by index in each cell, as add needs it
		d.stops.add(o.Job, o.Rewards)
		return nil
	})
}

// first is the cell of the first game that may begin now; false if there is none.
func (d *deck) first() (cell int, ok bool) {
	best := 0
	for i := range d.stops.cells {
		for d.next[i] < 2*d.stops.cells[i].end && d.ended[d.position(i)] {
			d.next[i]++
		}
		if p := d.position(i); d.next[i] < 2*d.stops.cells[i].end && (!ok || p < best) {
			cell, best, ok = i, p, true
		}
	}
	return cell, ok
}

// position is that of a cell's next game, as Plan.positions tells it.
func (d *deck) position(cell int) int {
	pairs := len(d.stops.pairs)
	index, role := d.next[cell]/2, d.next[cell]%2
	return ((cell/pairs*d.stops.plan.N+index)*pairs+cell%pairs)*2 + role
}

// jobs ends when no game may begin now.
func (d *deck) jobs() iter.Seq[scheduler.Job] {
	return func(yield func(scheduler.Job) bool) {
		for {
			job, ok := d.take()
			if !ok || !yield(job) {
				return
			}
		}
	}
}

func (d *deck) take() (scheduler.Job, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	cell, ok := d.first()
	if !ok {
		return scheduler.Job{}, false
	}
	at := d.next[cell]
	d.next[cell]++
	pairs, plan := d.stops.pairs, d.stops.plan
	return plan.job(plan.Games[cell/len(pairs)], at/2, pairs[cell%len(pairs)], at%2), true
}

func (d *deck) ready() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.first()
	return ok
}

func (d *deck) tell(j scheduler.Job, r games.Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stops.add(j, r.Rewards)
}

func (d *deck) planned() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stops.plan.Len() - d.stops.saved("")
}
