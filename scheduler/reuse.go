package scheduler

import "selfplay/inference"

const (
	// worthWaiting is how many tokens a turn must be spared to wait a step for
	// them. A turn has tens of steps, and most machines compute tens of tokens of
	// prompts in the time that a step takes.
	worthWaiting = 32
	// patience is how often a turn waits so. Prompts part in a few places only:
	// after the system prompt, by game, by language, by seat.
	patience = 4
)

// A source is the slot that holds the longest known beginning of a prompt, and
// how many cells that is; none if no slot has any of it.
type source struct{ slot, cells int }

// source finds the longest known beginning of a prompt. The last token is always
// computed, since its output is what the first token is drawn from.
func (c *Core) source(prompt []int32) source {
	if c.cfg.NoReuse {
		return source{slot: none}
	}
	slot, n := c.held.longest(prompt[:len(prompt)-1], c.lends)
	return source{slot, n}
}

// keeps says whether a slot can go on after the first n of its tokens: those that
// its windows see may have left its rings.
func (c *Core) keeps(slot, n int) bool {
	return c.cfg.Limits.Resumes(c.slots.all[slot].lowest, n)
}

// willKeep is keeps after the step at hand.
func (c *Core) willKeep(slot, n int) bool {
	s := &c.slots.all[slot]
	return c.cfg.Limits.Resumes(c.cfg.Limits.Lowest(s.lowest, s.coming), n)
}

// holdBack says whether m's turn should wait a step, because a slot computes
// tokens in this very step that it can copy in the next: otherwise a hundred
// games that begin together would all compute the same rules. It waits for work
// that is under way, and only so often, so that it always comes to its own.
func (c *Core) holdBack(m *match, from source) bool {
	if c.cfg.NoReuse || m.waited >= c.patience {
		return false
	}
	_, n := c.coming.longest(m.prompt[:len(m.prompt)-1], c.willLend)
	if n-from.cells < worthWaiting {
		return false
	}
	m.waited++
	c.stats.HeldBack++
	return true
}

// place gives m's turn its slot, a block, and the cells that are known already;
// false if there is no room. The cells stay where they are if the slot itself
// holds them, else they are copied.
//
// Slots change here as they will in the engine, copy by copy, before any row of
// the step is computed: what counts as held now is there when its copy's turn
// comes, even if its slot is evicted for a later turn.
func (c *Core) place(m *match, from source) (int, bool) {
	i, to, ok := c.find(m, from)
	if !ok {
		return none, false
	}
	s, copied := &c.slots.all[i], 0
	kept := commonPrefix(s.tokens, m.prompt[:len(m.prompt)-1])
	if !c.keeps(i, kept) {
		kept = 0
	}
	if kept < from.cells {
		kept, copied = 0, from.cells
	}
	c.held.remove(i)
	s.known = 0
	c.slots.use(i, m)
	c.move(i, to, kept)
	if copied > 0 {
		src := &c.slots.all[from.slot]
		c.batch.Copies = append(c.batch.Copies, inference.Copy{Dst: i, Src: from.slot, To: to, From: src.block, Cells: copied})
		s.lowest = src.lowest
	}
	s.load(m.prompt, m.sampled, copied+kept)
	m.turn.Copied += copied
	m.turn.Kept += kept
	c.stats.CopiedTokens += copied
	c.stats.KeptTokens += kept
	c.learn(i)
	return i, true
}

// find chooses the slot of m's turn and takes a block for it: the slot that its
// seat had last, or else a free one. The source of its copy stays where it is;
// only where there is no other room the turn takes the source itself.
func (c *Core) find(m *match, from source) (i int, to inference.Block, ok bool) {
	size, i := c.need(m), c.slots.own(m)
	if i != none || c.another(from.slot) {
		if to, ok = c.room(i, from.slot, size); ok && i == none {
			i = c.free(from.slot)
		}
	}
	if !ok && from.slot != none && c.slots.all[from.slot].cached() {
		i = from.slot
		to, ok = c.room(i, none, size)
	}
	return i, to, ok
}

// need is the size of the block that a turn begins with: room for its prompt, for
// what it had sampled before it was preempted, and for some more tokens.
func (c *Core) need(m *match) int {
	more := c.cfg.Limits.Least
	if c.cfg.MaxTokens > 0 {
		more = min(more, c.cfg.MaxTokens-len(m.sampled))
	}
	return c.cfg.Limits.BlockFor(min(len(m.prompt)+len(m.sampled)+more, c.cfg.Limits.Cells))
}

// another says whether a slot is free, or can be made so although spared is kept.
func (c *Core) another(spared int) bool {
	_, free := c.slots.free.first()
	return free || c.lru(spared) != none
}

// free is the lowest free slot. If there is none the least recently used one is
// evicted; also if the seats of all live games could have a slot each already and
// it is that of a game that ended: the engine attends over cached cells too where
// they lie between others in use.
func (c *Core) free(spared int) int {
	i, ok := c.slots.free.first()
	enough := c.slots.holding >= c.seats
	if old := c.lru(spared); old != none && (!ok || enough && c.slots.all[old].past == nil) {
		c.evict(old)
		i, _ = c.slots.free.first()
	}
	return i
}

// lru is the cached slot used least recently, but for spared, or none.
func (c *Core) lru(spared int) int {
	i := c.slots.oldest()
	if i == spared {
		i = c.slots.all[i].newer
	}
	if i == c.slots.end() {
		return none
	}
	return i
}

// learn has the index know all that slot i holds, which is no more than its
// prompt: nobody tells it of what is sampled, which is not to be lent, since
// prompts may be computed by other kernels.
func (c *Core) learn(i int) {
	s := &c.slots.all[i]
	if c.cfg.NoReuse || s.known == s.held {
		return
	}
	c.held.remove(i)
	s.known = s.held
	c.held.add(i)
}
