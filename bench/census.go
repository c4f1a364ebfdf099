package bench

import (
	"fmt"
	"strings"

	"selfplay/bench/screen"
	"selfplay/scheduler"
)

// A census counts ended games of an experiment by the shard that they belong to,
// whichever runs hold them.
type census struct {
	plan     Plan // of the whole
	position func(scheduler.Job) (int, error)
	stops    *stops
	of       int   // shards; 0: the experiment is not split
	ended    []int // games of each
	games    int
}

func newCensus(e Experiment, of int) *census {
	return &census{plan: e.Plan(), position: e.Plan().positions(), stops: newStops(e), of: of, ended: make([]int, of)}
}

func (c *census) add(o Outcome) error {
	at, err := c.position(o.Job)
	if err != nil {
		return err
	}
	c.games++
	c.stops.add(o.Job, o.Rewards)
	if c.of > 0 {
		pairs := len(c.stops.pairs)
		row := at / 2 / pairs // of an index of a game
		c.ended[c.plan.dealt(row/c.plan.N*pairs+at/2%pairs, row%c.plan.N)%c.of]++
	}
	return nil
}

func (c *census) merged() Merged {
	var missing []string
	for i, ended := range c.ended {
		s := *c.stops
		s.plan.Shard = Shard{i + 1, c.of}
		switch planned := s.plan.Len() - s.saved(""); {
		case ended == 0:
			missing = append(missing, fmt.Sprintf("shard %s is missing", s.plan.Shard))
		case ended < planned:
			missing = append(missing, fmt.Sprintf("shard %s ended %s of %s games", s.plan.Shard, screen.Thousands(ended), screen.Thousands(planned)))
		}
	}
	return Merged{Games: c.games, Planned: c.plan.Len() - c.stops.saved(""), Missing: strings.Join(missing, "; ")}
}

// splitOf is the number of shards that the experiment of the sources is split
// into; 0 where none is a shard.
func splitOf(sources []source) (int, error) {
	var first *source
	for i, s := range sources {
		shard := s.Experiment.Shard
		switch {
		case shard == (Shard{}):
		case first == nil:
			first = &sources[i]
		case first.Experiment.Shard.Of != shard.Of:
			return 0, fmt.Errorf("%s is shard %s and %s is shard %s: only shards of one number can be joined", first.Dir, first.Experiment.Shard, s.Dir, shard)
		}
	}
	if first == nil {
		return 0, nil
	}
	return first.Experiment.Shard.Of, nil
}
