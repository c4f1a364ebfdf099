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
// how many cells that is.
type source struct{ slot, cells int }

// source finds the longest known beginning of a prompt. The last token is always
// computed, since its output is what the first token is drawn from.
func (c *Core) source(prompt []int32) source {
	if c.cfg.NoReuse {
		return source{}
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

// place gives m's turn its slot and the cells that are known already. They stay
// where they are if the slot itself holds them, else they are copied.
//
// Slots change here as they will in the engine, copy by copy, before any row of
// the step is computed: what counts as held now is there when its copy's turn
// comes.
func (c *Core) place(m *match, from source) int {
	histories, kept := 0, 0
	if !c.cfg.NoReuse {
		histories = c.modelSeats * c.stats.Live()
	}
	i := c.slots.take(m, histories)
	s := &c.slots.all[i]
	if !c.cfg.NoReuse {
		kept = commonPrefix(s.tokens[:s.held], m.prompt[:len(m.prompt)-1])
		if !c.keeps(i, kept) {
			kept = 0
		}
	}
	c.held.remove(i)
	if kept < from.cells {
		c.batch.Copies = append(c.batch.Copies, inference.Copy{Dst: i, Src: from.slot, Cells: from.cells})
		m.turn.Copied, s.lowest = from.cells, c.slots.all[from.slot].lowest
	} else {
		m.turn.Kept = kept
	}
	s.load(m.prompt, m.turn.Copied+m.turn.Kept)
	m.turn.Prefill = s.prompt - s.held
	c.stats.CopiedTokens += m.turn.Copied
	c.stats.KeptTokens += m.turn.Kept
	s.known = s.held
	c.held.add(i)
	return i
}

// learn has the index know all cells that slot i holds. The tokens of a turn in
// progress are not worth it one by one: it learns of them when the turn ends.
func (c *Core) learn(i int) {
	s := &c.slots.all[i]
	if c.cfg.NoReuse || s.known == s.held {
		return
	}
	c.held.remove(i)
	s.known = s.held
	c.held.add(i)
}
