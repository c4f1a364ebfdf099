package scheduler

import (
	"fmt"
	"iter"
	"time"

	"selfplay/games"
	"selfplay/inference"
)

// endsPerStep bounds how many games may begin and end within one call of Next
// without the engine, as policies' games do: records keep flowing and whoever
// drives the core can stop it.
const endsPerStep = 64

// A Core plays games in steps: Next says what to compute, Done takes what came
// of it and hands out the games that ended. It has no goroutine and no clock,
// and is used by one goroutine at a time.
//
//	for b := core.Next(); b != nil; b = core.Next() {
//		... engine.Forward(b) unless it has no rows, and set b.At
//		records := core.Done(b)
//	}
//	err := core.Err()
type Core struct {
	cfg    Config
	budget int // tokens of a step
	next   func() (Job, bool)
	stop   func()

	slots slots
	// A slot in use is in one of these or, between Next and Done, in a row that
	// samples.
	prefill queue // turns with prompt tokens to compute, in the order they began
	decode  []int // turns with one token to compute

	batch inference.Batch // the step's work, reused
	open  bool            // between Next and Done
	dry   bool            // no job is left
	ended []Record        // since the last Done
	now   time.Duration   // Batch.At of the last step
	stats Stats
	err   error
}

// NewCore makes a core that has played nothing yet. Close it in the end.
func NewCore(cfg Config) (*Core, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	c := &Core{cfg: cfg}
	if cfg.usesModel() {
		n := cfg.Limits.Slots
		c.budget = cfg.budget()
		c.slots = newSlots(n, cfg.Limits.Cells)
		c.prefill, c.decode = newQueue(n), make([]int, 0, n)
		c.batch.Rows = make([]inference.Row, 0, n)
	}
	c.next, c.stop = iter.Pull(cfg.Jobs)
	return c, nil
}

// Next is the work of the next step; nil when nothing is left to do or the run
// has failed, see Err. A batch without rows needs no engine but goes to Done
// like any other. The batch and the tokens of its rows belong to the core; they
// stay as they are until Done.
func (c *Core) Next() *inference.Batch {
	if c.open {
		panic("scheduler: Next before Done of the last batch")
	}
	c.batch.Rows = c.batch.Rows[:0]
	left := c.addDecodes(c.budget)
	left = c.addPrefills(left)
	for c.room(left) && c.admit() {
		left = c.addPrefills(left)
	}
	if c.err != nil {
		c.batch.Rows = c.batch.Rows[:0]
	}
	if len(c.batch.Rows) == 0 && len(c.ended) == 0 {
		return nil
	}
	c.open = true
	return &c.batch
}

// Done takes the sampled tokens of the batch that Next gave, plays the turns
// that they end, and returns the games that ended, which the caller owns.
func (c *Core) Done(b *inference.Batch) []Record {
	if !c.open || b != &c.batch {
		panic("scheduler: Done of a batch that Next didn't give")
	}
	c.open = false
	c.now = b.At
	c.stats.Steps++
	for i := range b.Rows {
		c.computed(&b.Rows[i])
	}
	records := c.ended
	c.ended = nil
	return records
}

// Err is why the run failed, if it did: a game that could not be dealt, a
// prompt that could not be tokenized.
func (c *Core) Err() error { return c.err }

// Close lets go of the iterator over the jobs. The core must not be used after.
func (c *Core) Close() { c.stop() }

// addDecodes gives every turn that is decoding its one token. There is one for
// each: a game is only admitted to a step with tokens to spare, so there are
// never more live games than tokens in a step.
func (c *Core) addDecodes(left int) int {
	for _, i := range c.decode {
		c.addRow(i, 1)
	}
	left -= len(c.decode)
	c.decode = c.decode[:0]
	return left
}

// addPrefills spends what is left of the budget on prompts, the longest waiting
// first. Only the last one can stay incomplete; it keeps its place.
func (c *Core) addPrefills(left int) int {
	for left > 0 && c.prefill.n > 0 {
		i := c.prefill.first()
		s := &c.slots.all[i]
		n := min(left, len(s.tokens)-s.held)
		if s.held+n == len(s.tokens) {
			c.prefill.pop()
		}
		c.addRow(i, n)
		left -= n
	}
	return left
}

// addRow has the next n tokens of slot i computed. After the last one that
// there is, a token is sampled.
func (c *Core) addRow(i, n int) {
	s := &c.slots.all[i]
	row := inference.Row{
		Slot:   i,
		Pos:    s.held,
		Tokens: s.tokens[s.held : s.held+n],
		Sample: s.held+n == len(s.tokens),
	}
	if row.Sample {
		m := s.match
		row.Draw = m.key.draw(m.turn.Seat, len(m.turns), len(s.sampled()))
	}
	c.batch.Rows = append(c.batch.Rows, row)
}

// room says whether one more game fits into this step: a free slot, and tokens
// to begin its prompt with.
func (c *Core) room(left int) bool {
	if c.dry || c.err != nil || len(c.ended) >= endsPerStep {
		return false
	}
	return !c.cfg.usesModel() || left > 0 && c.slots.free > 0
}

// admit begins the next waiting game; false if none is left.
func (c *Core) admit() bool {
	job, ok := c.next()
	if !ok {
		c.dry = true
		return false
	}
	game, err := c.cfg.New(job)
	if err != nil {
		c.fail(job, err)
		return false
	}
	if s, ok := game.(games.Solved); ok {
		s.Judge() // what each move loses goes into the records
	}
	m := &match{job: job, game: game, key: newKey(c.cfg.Seed, job.ID)}
	if c.cfg.usesModel() {
		m.slot = c.slots.take(m)
	}
	c.stats.Started++
	c.advance(m)
	return true
}

// fail stops the run: Next has no more work.
func (c *Core) fail(job Job, err error) {
	c.err = fmt.Errorf("game %s (%s): %w", job.ID, job.Game, err)
}
