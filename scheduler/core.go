package scheduler

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"selfplay/games"
	"selfplay/inference"
)

// endsPerStep bounds how many games may begin and end within one call of Next
// without the engine, as policies' games do: records keep flowing and whoever
// drives the core can stop it.
const endsPerStep = 64

// A Core plays games in steps: Next says what to compute, Done takes what came
// of it, and Settle plays the turns that this ended and hands out the games that
// ended. It has no goroutine and no clock, and is used by one goroutine at a time.
//
//	for b := core.Next(); b != nil; b = core.Next() {
//		... engine.Copy of b.Copies, engine.Forward(b) unless it has no rows, and set b.At
//		core.Done(b)
//		records := core.Settle()
//	}
//	err := core.Err()
//
// Settle may as well come after the Next that follows, beside the engine's work
// on its batch: it leaves alone what the batch refers to. The turns that it begins
// join a step later then. That changes no game.
type Core struct {
	cfg    Config
	budget int // tokens of a step
	next   func() (Job, bool)
	stop   func()

	slots    slots
	held     index // slots by what they hold of prompts
	coming   index // slots whose prompt has a row in this step, by what they will hold
	model    bool  // the engine may have to answer for a seat
	seats    int   // of live games, those that it answers for
	patience int   // see there

	lends, willLend func(slot, n int) bool // keeps and willKeep; nil: always

	// A live game's turn is in one of these or, between Next and Done, in a row
	// that leaves nothing of its prompt to compute.
	line   []*match // turns that have no slot, those of the oldest games first
	half   int      // slot whose prompt is computed in part, or none
	decode []int    // slots with a sampled token to compute
	over   []*match // turns that ended since the last Settle

	// In Next, the turns in line [0,back) are held back for this step, and the
	// ones from tried on have not been asked. blocked: there is no room for the
	// next one, which those behind it and all new games wait for.
	back, tried int
	blocked     bool
	full        []int // slots that have to grow

	batch inference.Batch // the step's work, reused
	open  bool            // between Next and Done
	dry   bool            // no job is left
	ended []Record        // since the last Settle
	now   time.Duration   // Batch.At of the last step
	stats Stats
	err   error
}

// NewCore makes a core that has played nothing yet. Close it in the end.
func NewCore(cfg Config) (*Core, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	c := &Core{cfg: cfg, half: none, model: cfg.usesModel(), patience: patience}
	if c.model {
		n := cfg.mostLive()
		c.budget = cfg.budget()
		c.slots = newSlots(cfg.Limits)
		c.held.key = func(i int) []int32 { s := &c.slots.all[i]; return s.tokens[:s.known] }
		c.coming.key = func(i int) []int32 { s := &c.slots.all[i]; return s.tokens[:s.coming] }
		c.decode, c.full = make([]int, 0, n), make([]int, 0, n)
		c.batch.Rows = make([]inference.Row, 0, n)
	}
	if cfg.Limits.Ring > 0 {
		c.lends, c.willLend = c.keeps, c.willKeep
	}
	c.next, c.stop = iter.Pull(cfg.Jobs)
	return c, nil
}

// Next is the work of the next step; nil when nothing is left to do but Settle, or
// when the run has failed, see Err. A batch without rows needs no engine but goes to Done
// like any other. The batch and the tokens of its rows belong to the core; they
// stay as they are until Done.
func (c *Core) Next() *inference.Batch {
	if c.open {
		panic("scheduler: Next before Done of the last batch")
	}
	c.batch.Rows, c.batch.Copies = c.batch.Rows[:0], c.batch.Copies[:0]
	c.coming.order = c.coming.order[:0]
	c.blocked = false
	c.grow()
	left := c.addDecodes(c.budget)
	left = c.addHalf(left)
	left = c.addPrompts(left)
	for c.admits(left) && c.admit() {
		left = c.addPrompts(left)
	}
	c.line = slices.Delete(c.line, c.back, c.tried)
	c.back, c.tried = 0, 0
	if c.err != nil {
		c.batch.Rows, c.batch.Copies = c.batch.Rows[:0], c.batch.Copies[:0]
	}
	if len(c.batch.Rows) == 0 && len(c.ended) == 0 {
		return nil
	}
	c.open = true
	return &c.batch
}

// Done takes the sampled tokens of the batch that Next gave. Turns that they end
// give their slots away and wait for Settle.
func (c *Core) Done(b *inference.Batch) {
	if !c.open || b != &c.batch {
		panic("scheduler: Done of a batch that Next didn't give")
	}
	if len(c.over) > 0 {
		panic("scheduler: Done although the turns that the step before ended are not settled")
	}
	c.open = false
	c.now = b.At
	c.stats.Steps++
	for i := range b.Rows {
		c.computed(&b.Rows[i])
	}
}

// Unsettled is how many turns wait for Settle.
func (c *Core) Unsettled() int { return len(c.over) }

// Overlaps says whether turns wait for Settle while others have work for a step.
func (c *Core) Overlaps() bool { return len(c.over) > 0 && len(c.over) < c.stats.Live() }

// Settle plays the turns that ended, puts what follows them into line, and
// returns the games that ended, which the caller owns.
func (c *Core) Settle() []Record {
	for _, m := range c.over {
		c.answer(m)
		c.advance(m)
	}
	c.over = slices.Delete(c.over, 0, len(c.over))
	records := c.ended
	c.ended = nil
	return records
}

// Err is why the run failed, if it did: a game that could not be dealt, a
// prompt that could not be tokenized.
func (c *Core) Err() error { return c.err }

// Close lets go of the iterator over the jobs. The core must not be used after.
func (c *Core) Close() { c.stop() }

// addDecodes gives every turn that is decoding its next token. There is a row and
// a token for each, since there are never more live games than those in a step.
func (c *Core) addDecodes(left int) int {
	for _, i := range c.decode {
		c.addRow(i, 1)
	}
	left -= len(c.decode)
	c.decode = c.decode[:0]
	return left
}

// addHalf goes on with the prompt that the last step left incomplete.
func (c *Core) addHalf(left int) int {
	if i := c.half; i != none && left > 0 {
		c.half = none
		return c.addPrompt(i, left)
	}
	return left
}

// addPrompts spends what is left of the budget on the turns in line, but for
// those held back, until there is no room for one. Only the last one can stay
// incomplete.
func (c *Core) addPrompts(left int) int {
	for ; left > 0 && c.tried < len(c.line); c.tried++ {
		m := c.line[c.tried]
		from := c.source(m.prompt)
		if c.holdBack(m, from) {
			c.line[c.back] = m
			c.back++
			continue
		}
		i, ok := c.place(m, from)
		if !ok {
			c.blocked = true
			break
		}
		left = c.addPrompt(i, left)
	}
	return left
}

// addPrompt has as much as possible of the prompt in slot i computed.
func (c *Core) addPrompt(i, left int) int {
	s := &c.slots.all[i]
	n := min(left, s.prompt-s.held)
	c.addRow(i, n)
	if s.coming = s.held + n; s.coming < s.prompt {
		c.half = i
	}
	if !c.cfg.NoReuse {
		c.coming.add(i)
	}
	return left - n
}

// addRow has the next n tokens of slot i computed. After the last one that
// there is, a token is sampled.
func (c *Core) addRow(i, n int) {
	s := &c.slots.all[i]
	row := inference.Row{
		Slot:   i,
		Block:  s.block,
		Pos:    s.held,
		Tokens: s.tokens[s.held : s.held+n],
		Decode: s.decoding(),
		Sample: s.held+n == len(s.tokens),
	}
	if row.Sample {
		m := s.match
		row.Draw = m.key.draw(m.turn.Seat, len(m.turns), len(s.sampled()))
	}
	c.batch.Rows = append(c.batch.Rows, row)
}

// admits says whether one more game fits into this step: a slot for each turn, a
// row and a token in every step, one to begin its prompt with in this one, no
// other turn that waits for room, and a job that may begin.
func (c *Core) admits(left int) bool {
	if c.dry || c.err != nil || len(c.ended) >= endsPerStep {
		return false
	}
	if c.model && (left <= 0 || c.blocked || c.stats.Live() >= c.cfg.mostLive()) {
		return false
	}
	return c.cfg.Ready == nil || c.cfg.Ready()
}

// admit begins the next waiting game; false if none is left.
func (c *Core) admit() bool {
	job, ok := c.next()
	if !ok {
		c.dry = true
		return false
	}
	policies, err := c.cfg.policies(job)
	if err != nil {
		c.fail(job, err)
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
	m := &match{job: job, age: c.stats.Started, game: game, policies: policies, key: newKey(c.cfg.Seed, job.ID)}
	c.stats.Started++
	c.seats += m.modelSeats()
	c.advance(m)
	return true
}

// fail stops the run: Next has no more work.
func (c *Core) fail(job Job, err error) {
	c.err = fmt.Errorf("game %s (%s): %w", job.ID, job.Game, err)
}
