package live

import (
	"slices"
	"sync"
	"time"

	"selfplay/bench"
	"selfplay/prompts"
	"selfplay/scheduler"
)

const (
	ratesOver  = 30 * time.Second // see Rates
	loadEvery  = time.Second
	lingerOver = 4 * time.Second // a game that was shown stays when it has ended
	mostNotes  = 100
)

// A Collector looks on at a run. It is a bench.Viewer.
type Collector struct {
	clock func() time.Duration // since the start
	gate  *Gate
	load  func() Load

	loaded   Load // Snapshot's
	loadedAt time.Duration

	mu       sync.Mutex // for what follows, never held while anything waits
	at       Snapshot   // what needs no more than copying; Kinds and Answers are ours
	kind     map[string]int
	row      map[string]int
	column   map[string]int
	live     map[string]*liveGame
	begun    int // live games so far
	shown    string
	over     *Game // what was shown, once it has ended
	overAt   time.Duration
	progress scheduler.Progress
	pace     Pace
	marks    []mark
}

// A liveGame is one of which a turn has ended.
type liveGame struct {
	job   scheduler.Job
	turns []scheduler.Turn
	age   int
}

// A mark is what had been done by a time in which the run was not paused.
type mark struct {
	at                          time.Duration
	games, written, read, reuse int
}

// NewCollector makes one for an experiment. load may be nil.
func NewCollector(e bench.Experiment, clock func() time.Duration, gate *Gate, load func() Load) *Collector {
	c := &Collector{clock: clock, gate: gate, load: load, kind: map[string]int{}, row: map[string]int{}, column: map[string]int{}, live: map[string]*liveGame{}, loadedAt: -loadEvery}
	c.at.Model, c.at.Rows, c.at.Columns = e.Model.Name, e.Labels(), e.Labels()
	if len(e.Opponents) > 0 {
		c.at.Columns = e.Opponents
	}
	for i, label := range c.at.Rows {
		c.row[label] = i
		c.at.Answers = append(c.at.Answers, Answers{Label: label})
	}
	for i, label := range c.at.Columns {
		c.column[label] = i
	}
	for i, game := range e.Games {
		c.kind[game] = i
		c.at.Kinds = append(c.at.Kinds, Kind{Name: game, Planned: e.Plan().Len() / len(e.Games), Scores: make([]Score, len(c.at.Rows)*len(c.at.Columns))})
	}
	return c
}

// Earlier counts a game that ended before.
func (c *Collector) Earlier(o bench.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at.Earlier++
	c.count(o.Job, o.Rewards)
}

// Progress takes note of how far the run is.
func (c *Collector) Progress(p scheduler.Progress, planned int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress, c.at.Planned = p, planned
}

// Turned takes note of the turns of a live game.
func (c *Collector) Turned(j scheduler.Job, turns []scheduler.Turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.live[j.ID]
	if g == nil {
		g = &liveGame{job: j, age: c.begun}
		c.live[j.ID] = g
		c.begun++
	}
	g.turns = turns
	c.answered(j, &turns[len(turns)-1])
}

// Ended counts a game.
func (c *Collector) Ended(r scheduler.Record) {
	_, _, paused := c.gate.state()
	now := c.clock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Job.ID == c.shown {
		c.over, c.overAt = &Game{Job: r.Job, Turns: r.Turns, Result: r.Result, Over: true}, now
	}
	delete(c.live, r.Job.ID)
	c.pace.Add(now - paused)
	c.count(r.Job, r.Result.Rewards)
}

// count counts a game in its kind's scores.
func (c *Collector) count(j scheduler.Job, rewards [2]int) {
	kind, ok := c.kind[j.Game]
	if !ok {
		return
	}
	k := &c.at.Kinds[kind]
	k.Ended++
	c.at.Ended++
	for seat := range 2 {
		against := j.Langs[1-seat]
		if c.at.opponents() {
			if j.Players[seat] != "" {
				continue // the row is the model's
			}
			against = j.Players[1-seat]
		} else if seat == 1 && j.Langs[0] == j.Langs[1] {
			continue
		}
		row, known := c.row[j.Langs[seat]]
		column, played := c.column[against]
		if known && played {
			k.Scores[row*len(c.at.Columns)+column].add(rewards[seat])
		}
	}
}

func (s *Score) add(reward int) {
	switch {
	case reward > 0:
		s.Won++
	case reward < 0:
		s.Lost++
	default:
		s.Drawn++
	}
}

// opponents says whether the model plays opponents, and not itself.
func (s *Snapshot) opponents() bool { return len(s.Columns) > 0 && !slices.Equal(s.Rows, s.Columns) }

// answered counts an answer of the model.
func (c *Collector) answered(j scheduler.Job, t *scheduler.Turn) {
	row, ok := c.row[j.Langs[t.Seat]]
	if !ok || j.Players[t.Seat] != "" {
		return
	}
	a := Answers{Turns: 1, Tokens: t.CompletionTokens}
	if t.Event.Invalid {
		a.Invalid = 1
	}
	if t.Status == prompts.Truncated {
		a.Truncated = 1
	}
	switch t.Finish {
	case scheduler.FinishLength:
		a.Length = 1
	case scheduler.FinishContext:
		a.Context = 1
	}
	c.at.Answers[row].add(a)
}

// Note keeps a line that was said while the view is up.
func (c *Collector) Note(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at.Notes = append(c.at.Notes, line)
	if n := len(c.at.Notes); n > mostNotes {
		c.at.Notes = slices.Clone(c.at.Notes[n-mostNotes:])
	}
}

// Doing has the view say what the run waits for, until the function that it gives is
// called.
func (c *Collector) Doing(what string) (done func()) {
	set := func(what string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.at.Doing = what
	}
	set(what)
	return func() { set("") }
}

// Stop takes note that the run has been told to stop.
func (c *Collector) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at.Stopping = true
}

// Snapshot is the state by now. One goroutine may ask for it.
func (c *Collector) Snapshot() Snapshot {
	shut, held, paused := c.gate.state()
	now := c.clock()
	if c.load != nil && now-c.loadedAt >= loadEvery {
		c.loaded, c.loadedAt = c.load(), now // unlocked: it takes its time
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at
	s.Load = c.loaded
	s.Elapsed, s.Paused, s.Pausing = now, shut && held, shut && !held
	s.Live, s.Replicas, s.Lost, s.Played = c.progress.Live(), c.progress.Replicas, c.progress.Lost, c.progress.Elapsed
	s.Answers, s.Notes = slices.Clone(s.Answers), slices.Clone(s.Notes)
	s.Kinds = slices.Clone(s.Kinds)
	for i := range s.Kinds {
		s.Kinds[i].Scores = slices.Clone(s.Kinds[i].Scores)
		if s.Kinds[i].Ended == 0 {
			s.New++
		}
	}
	s.Rates = c.rates(now - paused)
	s.Left = c.pace.Left(now-paused, s.Planned-s.Ended)
	s.Game = c.game(now)
	return s
}

// rates are the means since the oldest mark that still counts.
func (c *Collector) rates(active time.Duration) Rates {
	p := c.progress.Stats
	m := mark{active, c.at.Ended - c.at.Earlier, p.CompletionTokens, p.PrefillTokens, p.CopiedTokens + p.KeptTokens}
	if len(c.marks) == 0 {
		c.marks = []mark{{}}
	}
	if last := c.marks[len(c.marks)-1]; active-last.at >= time.Second {
		c.marks = append(c.marks, m)
	}
	for len(c.marks) > 2 && active-c.marks[1].at >= ratesOver {
		c.marks = slices.Delete(c.marks, 0, 1)
	}
	from := c.marks[0]
	over := (active - from.at).Seconds()
	if over <= 0 {
		return Rates{}
	}
	// A replica that is lost takes back what it had begun.
	rate := func(now, then int) float64 { return max(0, float64(now-then)/over) }
	return Rates{Games: rate(m.games, from.games), Written: rate(m.written, from.written), Read: rate(m.read, from.read), Reused: rate(m.reuse, from.reuse)}
}
