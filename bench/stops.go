package bench

import (
	"slices"

	"selfplay/scheduler"
)

// A StoppedCell is a cell that was known well enough before its N games in each role.
type StoppedCell struct {
	Cell
	N    int     `json:"n"` // games in each role
	Low  float64 `json:"low"`
	High float64 `json:"high"` // the interval of A's margin: see sums
}

// stops follows which cells of a run are done. Games of a cell are begun block by
// block, see blockEnd, the next one only after all games of this one have ended and
// left the margin too uncertain. So which games are played is a function of what
// came out of them, whatever the order in which they end and however often the run
// is interrupted.
type stops struct {
	plan  Plan
	until float64 // half-width at which a cell stops; 0: never
	pairs []pair
	at    map[pair]int // in pairs
	cells []cellState  // of the first game, then of the second
}

// A cellState is how far a cell is.
type cellState struct {
	end     int         // of its block: games below this index may begin
	ended   int         // games, in both roles
	half    map[int]int // what A won in one role of those that have not ended in both, by index
	seen    sums
	stopped bool
}

func newStops(e Experiment) *stops {
	s := &stops{plan: e.Plan(), until: e.UntilCI, at: map[pair]int{}}
	s.pairs = s.plan.pairs()
	for i, c := range s.pairs {
		s.at[c] = i
	}
	end := s.plan.N
	if s.until > 0 {
		end = blockEnd(0, end)
	}
	for i := range len(s.plan.Games) * len(s.pairs) {
		c := cellState{half: map[int]int{}}
		if s.plan.has(i, 0) { // whole cells: else until is 0, and ends are not looked at
			c.end = end
		}
		s.cells = append(s.cells, c)
	}
	return s
}

// add takes note of a game that ended. One that is not of the plan changes nothing.
func (s *stops) add(j scheduler.Job, rewards [2]int) {
	pair := pairOf(j)
	at, ok := s.at[pair]
	game := slices.Index(s.plan.Games, j.Game)
	if s.until == 0 || !ok || game < 0 || j.Index >= s.plan.N {
		return
	}
	c := &s.cells[game*len(s.pairs)+at]
	for j.Index >= c.end {
		// It was begun, so the cell went on: where games do not come out alike again
		// to the last bit, as on GPUs, one that was played again may tell otherwise.
		c.stopped, c.end = false, blockEnd(c.end, s.plan.N)
	}
	c.ended++
	won := rewards[0]
	if j.Role == 1 && (pair.labels[0] != pair.labels[1] || pair.opponent != "") {
		won = rewards[1] // A sits there; of a language with itself seat 0 is A
	}
	if first, ok := c.half[j.Index]; ok {
		delete(c.half, j.Index)
		c.seen[2+first+won]++
	} else {
		c.half[j.Index] = won
	}
	if c.ended == 2*c.end && c.end < s.plan.N {
		if c.stopped = c.seen.halfWidth() < s.until; !c.stopped {
			c.end = blockEnd(c.end, s.plan.N)
		}
	}
}

// saved is how many games of the plan are not to be played, of one game or, with
// "", of all.
func (s *stops) saved(game string) (n int) {
	for i, c := range s.cells {
		if c.stopped && s.plan.has(i, 0) && (game == "" || game == s.plan.Games[i/len(s.pairs)]) {
			n += 2 * (s.plan.N - c.end)
		}
	}
	return n
}

// list has the cells that stopped, in plan order.
func (s *stops) list() (all []StoppedCell) {
	for i, c := range s.cells {
		if c.stopped {
			pair := s.pairs[i%len(s.pairs)]
			low, high := c.seen.interval()
			all = append(all, StoppedCell{Cell: Cell{Game: s.plan.Games[i/len(s.pairs)], Labels: pair.labels, Opponent: pair.opponent}, N: c.end, Low: low, High: high})
		}
	}
	return all
}
