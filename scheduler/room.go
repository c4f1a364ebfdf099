package scheduler

import (
	"cmp"
	"slices"

	"selfplay/inference"
)

// room takes a block of at least size cells for slot i: the one that it has,
// what is around that, or another one. Cached slots are evicted where that makes
// room, but neither i itself nor spared. i and spared may be none.
func (c *Core) room(i, spared, size int) (inference.Block, bool) {
	if i != none && c.slots.all[i].block.Cells >= size {
		return c.slots.all[i].block, true
	}
	b, ok := c.take(i, size)
	if !ok && c.clear(i, spared, size) {
		b, ok = c.take(i, size)
	}
	return b, ok
}

// take takes a block of size cells for slot i that is free, but for i's own
// smaller one, which may lie in it.
func (c *Core) take(i, size int) (inference.Block, bool) {
	if i != none && c.slots.all[i].block.Cells > 0 {
		if b, ok := c.slots.blocks.widen(c.slots.all[i].block, size); ok {
			return b, true
		}
	}
	return c.slots.blocks.take(size)
}

// clear makes a block of size cells free by evicting the cached slots in it, but
// for i's own; false if in every such block there is a slot in use, or the spared
// one. Of several blocks it is the one whose last use is longest ago: that of the
// least recently used slot that is the last one used in its block.
func (c *Core) clear(i, spared, size int) bool {
	s := &c.slots
	for j := s.oldest(); j != s.end(); j = s.all[j].newer {
		b := s.all[j].block
		if b.Cells < size {
			b = around(b, size)
		}
		if j != i && s.lastIn(b, j, i, spared) {
			c.evictIn(b, i)
			return true
		}
	}
	return false
}

// lastIn says whether j is the last one used of the slots in b, all of which but
// i are cached, and none of which is spared.
func (s *slots) lastIn(b inference.Block, j, i, spared int) bool {
	for at := b.First; at < b.First+b.Cells; {
		k := int(s.owners[at/s.blocks.least])
		if k == none {
			at += s.blocks.least
			continue
		}
		r := &s.all[k]
		if k != i && (k == spared || !r.cached() || r.since > s.all[j].since) {
			return false
		}
		at += r.block.Cells
	}
	return true
}

// evictIn evicts all slots in b but i.
func (c *Core) evictIn(b inference.Block, i int) {
	least := c.slots.blocks.least
	for at := b.First; at < b.First+b.Cells; at += least {
		if k := int(c.slots.owners[at/least]); k != none && k != i {
			c.evict(k)
		}
	}
}

// evict makes slot i, which is cached, free.
func (c *Core) evict(i int) {
	c.held.remove(i)
	c.slots.drop(i)
}

// move puts slot i into a block that was taken for it, with the first n cells
// that it holds.
func (c *Core) move(i int, to inference.Block, n int) {
	if from := c.slots.all[i].block; n > 0 && to.First != from.First {
		c.batch.Copies = append(c.batch.Copies, inference.Copy{Dst: i, Src: i, To: to, From: from, Cells: n})
		c.stats.Moved += n
	}
	c.slots.put(i, to)
}

// grow gives every decoding slot that has no cell for its next token a block of
// the next size, those of the oldest games first. Where there is no room the turn
// of the youngest game is preempted, which may be the growing one.
func (c *Core) grow() {
	c.full = c.full[:0]
	for _, i := range c.decode {
		if s := &c.slots.all[i]; s.held == s.block.Cells {
			c.full = append(c.full, i)
		}
	}
	slices.SortFunc(c.full, func(a, b int) int { return byAge(c.slots.all[a].match, c.slots.all[b].match) })
	for _, i := range c.full {
		for s := &c.slots.all[i]; s.match != nil && s.held == s.block.Cells; {
			if to, ok := c.room(i, none, 2*s.block.Cells); ok {
				c.move(i, to, s.held)
			} else {
				c.preempt(c.youngest())
			}
		}
	}
}

// byAge puts the games that began first in front.
func byAge(a, b *match) int { return cmp.Compare(a.age, b.age) }

// youngest is the slot of the youngest game that has one in use. Between two
// steps these are all decoding but one.
func (c *Core) youngest() int {
	y := c.half
	for _, i := range c.decode {
		if y == none || byAge(c.slots.all[i].match, c.slots.all[y].match) > 0 {
			y = i
		}
	}
	return y
}

// preempt takes slot i from its turn, which goes back into line. The slot stays
// cached until its room is needed. The turn computes again what is lost: its
// prompt, then the tokens that it had sampled, one by one.
func (c *Core) preempt(i int) {
	s := &c.slots.all[i]
	m := s.match
	m.sampled = append(m.sampled[:0], s.sampled()...)
	if i == c.half {
		c.half = none
	} else {
		at := slices.Index(c.decode, i)
		c.decode = slices.Delete(c.decode, at, at+1)
	}
	c.release(i)
	c.enqueue(m)
	c.stats.Preempted++
}

// release ends the use of slot i. Without reuse nobody would ask for what it
// holds.
func (c *Core) release(i int) {
	c.slots.release(i)
	if c.cfg.NoReuse {
		c.slots.drop(i)
	}
}

// enqueue puts m's turn in line for a slot: in front of those of younger games.
func (c *Core) enqueue(m *match) {
	at, _ := slices.BinarySearchFunc(c.line, m, byAge)
	c.line = slices.Insert(c.line, at, m)
}
