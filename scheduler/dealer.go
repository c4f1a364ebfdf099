package scheduler

import (
	"context"
	"slices"
	"sync"

	"selfplay/games"
)

// A dealer hands the jobs of a run to replicas, which ask for one whenever they
// have room for a game. The games of a replica that is lost are dealt again.
type dealer struct {
	mu    sync.Mutex
	woken sync.Cond               // a job waits again, or all games have ended
	next  func() (Job, bool)      // of the run's jobs
	ready func() bool             // see Config.Ready; nil: always
	told  func(Job, games.Result) // see Config.Ended; nil: nobody
	queue []Job                   // dealt before those
	left  int                     // games that have not ended
	hands []hand                  // of each replica
}

// A hand is what a replica has of the games.
type hand struct {
	cells int   // of its pool
	lost  bool  // it gets no more
	jobs  []Job // begun and not ended
}

func newDealer(cfg Config, next func() (Job, bool), replicas []Replica) *dealer {
	d := &dealer{next: next, ready: cfg.Ready, told: cfg.Ended, left: cfg.Total, hands: make([]hand, len(replicas))}
	d.woken.L = &d.mu
	for i, r := range replicas {
		d.hands[i].cells = r.Engine.Limits().Pool
	}
	return d
}

// take deals replica i a job; false if none waits, or if the replica has its share.
func (d *dealer) take(i int) (Job, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := &d.hands[i]
	if len(h.jobs) >= d.share(i) || !d.waiting() {
		return Job{}, false
	}
	job := d.queue[0]
	d.queue = d.queue[1:]
	h.jobs = append(h.jobs, job)
	return job, true
}

// share is how many of the games that have not ended replica i may have at once:
// as many as its cells are of all that there are, so that few games, and the last
// ones of many, are spread too.
func (d *dealer) share(i int) int {
	cells := 0
	for _, h := range d.hands {
		if !h.lost {
			cells += h.cells
		}
	}
	return max(1, (d.left*d.hands[i].cells+cells-1)/cells)
}

// waiting says whether a job waits.
func (d *dealer) waiting() bool {
	if len(d.queue) == 0 && (d.ready == nil || d.ready()) {
		if job, ok := d.next(); ok {
			d.queue = append(d.queue, job)
		}
	}
	return len(d.queue) > 0
}

// ended takes note that a game of replica i has ended and is kept.
func (d *dealer) ended(i int, r Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := &d.hands[i]
	h.jobs = slices.DeleteFunc(h.jobs, func(j Job) bool { return j.ID == r.Job.ID })
	d.left--
	if d.told != nil {
		d.told(r.Job, r.Result)
	}
	// What it was told may let jobs begin that were not ready.
	if d.over() || d.ready != nil {
		d.woken.Broadcast()
	}
}

// over says whether no replica has a game.
func (d *dealer) over() bool {
	return !slices.ContainsFunc(d.hands, func(h hand) bool { return len(h.jobs) > 0 })
}

// lose takes back the games of replica i, and says how many replicas are left.
func (d *dealer) lose(i int) (living int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := &d.hands[i]
	d.queue = append(h.jobs, d.queue...)
	h.jobs, h.lost = nil, true
	for _, h := range d.hands {
		if !h.lost {
			living++
		}
	}
	d.woken.Broadcast()
	return living
}

// wait waits until there is a job for a replica that has no game; false if there
// will be none, or ctx has ended.
func (d *dealer) wait(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.woken.Broadcast()
	})
	defer stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for ctx.Err() == nil {
		if d.waiting() {
			return true
		}
		if d.over() {
			return false
		}
		d.woken.Wait()
	}
	return false
}
