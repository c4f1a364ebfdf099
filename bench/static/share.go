package static

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

const (
	leastShared = 32  // tokens at the beginning that are worth a copy
	mostTaken   = 128 // texts that one of several engines begins at once, so that all end together
)

// Score gives done the sums of the log-probabilities of each text's choices, in
// the order in which texts end, one at a time. What neighbouring texts share at the
// beginning is computed once. Several engines share the texts; who scores one
// changes nothing of it. One that fails is lost, and lost is told: what it had begun
// is scored by the others. When none is left, that is an error. Score stops at the
// first error of done, and when ctx ends.
func Score(ctx context.Context, engines []Scorer, texts []Text, done func(i int, choices []float64) error, lost func(engine int, err error)) error {
	for i := range texts {
		t := &texts[i]
		if len(t.Context) == 0 || len(t.Choices) == 0 || slices.ContainsFunc(t.Choices, func(c []int32) bool { return len(c) == 0 }) {
			return fmt.Errorf("text %d has no tokens to be scored", i)
		}
	}
	s := &scoring{engines: engines, texts: texts, done: done, lost: lost, ended: make([]bool, len(texts)), errs: make([]error, len(engines))}
	for { // what the lost have left is for the next round
		places := s.left()
		switch {
		case len(places) == 0:
			return nil
		case slices.Contains(s.errs, nil):
		case len(engines) == 1:
			return s.errs[0]
		default:
			return fmt.Errorf("no replica is left: %w", errors.Join(s.errs...))
		}
		if err := s.round(ctx, places); err != nil {
			return err
		}
	}
}

// A scoring is what Score does.
type scoring struct {
	engines []Scorer
	texts   []Text
	done    func(i int, choices []float64) error
	lost    func(engine int, err error)

	mu    sync.Mutex // for what follows
	ended []bool     // of each text
	errs  []error    // of the engines that were lost
}

// left are the texts that have not ended.
func (s *scoring) left() (places []int) {
	for i, ended := range s.ended {
		if !ended {
			places = append(places, i)
		}
	}
	return places
}

// round has the engines that there are score the texts at these places.
func (s *scoring) round(ctx context.Context, places []int) error {
	texts, longest := make([]Text, len(places)), 0
	for i, place := range places {
		texts[i] = s.texts[place]
		longest = max(longest, texts[i].cells())
	}
	q, most := &queue{groups: groups(texts)}, len(texts)
	if len(s.engines) > 1 {
		most = mostTaken
	}
	living, ctx := errgroup.WithContext(ctx)
	for i, e := range s.engines {
		if s.errs[i] != nil {
			continue
		}
		living.Go(func() error {
			runtime.LockOSThread() // as whoever drives an engine does
			defer runtime.UnlockOSThread()
			p, err := newPlanner(e.Limits(), texts, longest, q, most)
			if err != nil {
				return err
			}
			return s.run(ctx, i, p, places)
		})
	}
	return living.Wait()
}

// run has engine i compute what its planner plans.
func (s *scoring) run(ctx context.Context, i int, p *planner, places []int) error {
	for {
		step := p.next()
		if step == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		scores, err := compute(s.engines[i], step)
		if err != nil {
			s.lose(i, err)
			return nil
		}
		for _, j := range p.ended(step, scores) {
			if err := s.end(places[j.text], j.sums()); err != nil {
				return err
			}
		}
	}
}

func compute(e Scorer, s *step) ([][]float64, error) {
	for _, c := range s.batch.Copies {
		if err := e.Copy(c); err != nil {
			return nil, err
		}
	}
	return e.Score(&s.batch, s.wanted)
}

func (s *scoring) lose(i int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.errs[i] = err; len(s.engines) > 1 {
		s.lost(i, err)
	}
}

func (s *scoring) end(place int, choices []float64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[place] = true
	return s.done(place, choices)
}

// A queue hands out texts to planners.
type queue struct {
	mu     sync.Mutex
	groups []group
}

// take gives a group of at most so many texts to whoever has that many free slots;
// nil if there is none for it. Whoever waits for a beginning needs another slot than
// that.
func (q *queue) take(free, most int) *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	if free == 0 || len(q.groups) == 0 {
		return nil
	}
	g := q.groups[0]
	if n := g.to - g.from; n > 1 && most > 1 && free == 1 {
		return nil
	} else if n <= most {
		q.groups = q.groups[1:]
	} else {
		g.to = g.from + most
		q.groups[0].from = g.to
	}
	if g.to-g.from == 1 {
		g.shared = 0
	}
	return &g
}

// groups are the texts in order, those with the same beginning together.
func groups(texts []Text) (all []group) {
	for i := range texts {
		if n := len(all); n > 0 {
			g := &all[n-1]
			if c := common(texts[g.from].Context, texts[i].Context); c >= leastShared {
				if g.to-g.from == 1 || c < g.shared {
					g.shared = c
				}
				g.to = i + 1
				continue
			}
		}
		all = append(all, group{from: i, to: i + 1})
	}
	return all
}
