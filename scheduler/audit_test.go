package scheduler

import (
	"slices"
	"testing"

	"selfplay/inference"
)

// audit checks what must hold between two steps: the core's picture of every
// slot is the engine's, every cell is free, used or cached, and every live game
// waits in exactly one place. b is the batch in flight, nil after Done.
func audit(t testing.TB, c *Core, e *fakeEngine, b *inference.Batch) {
	t.Helper()
	if !c.cfg.usesModel() {
		return
	}
	auditCells(t, c)
	waits := map[int]int{}
	if c.half >= 0 {
		waits[c.half]++
	}
	for _, i := range c.decode {
		waits[i]++
	}
	if b != nil {
		for _, row := range b.Rows {
			if row.Slot != c.half {
				waits[row.Slot]++
			}
		}
	}
	owners := map[*match]int{}
	for i := range c.slots.all[:c.slots.end()] {
		s := &c.slots.all[i]
		if b == nil {
			auditSlot(t, c, e, i)
		}
		want := 0
		if s.match != nil {
			want = 1
			owners[s.match]++
			if s.match.slots[s.match.turn.Seat] != i || s.past != nil {
				t.Fatalf("slot %d belongs to a game in slot %d", i, s.match.slots[s.match.turn.Seat])
			}
			if s.prompt+len(s.sampled()) != len(s.tokens) || s.held == len(s.tokens) {
				t.Fatalf("slot %d: %d prompt tokens, %d held, %d in all", i, s.prompt, s.held, len(s.tokens))
			}
		}
		if waits[i] != want {
			t.Fatalf("slot %d waits in %d places, want %d", i, waits[i], want)
		}
	}
	for _, m := range slices.Concat(c.line, c.over) {
		if owners[m]++; owners[m] > 1 {
			t.Fatalf("%s waits in two places", m.job.ID)
		}
	}
	if !slices.IsSortedFunc(c.line, byAge) {
		t.Fatal("a turn waits behind one of a younger game")
	}
	if c.stats.Live() != len(owners) || c.stats.Live() > c.cfg.mostLive() {
		t.Fatalf("%d games have a turn, %d live", len(owners), c.stats.Live())
	}
	auditIndex(t, c)
}

// auditSlot compares a slot with the engine's, cell by cell.
func auditSlot(t testing.TB, c *Core, e *fakeEngine, i int) {
	t.Helper()
	s := &c.slots.all[i]
	if most := min(c.cfg.Limits.Cells, s.block.Cells); s.held > most || s.held > len(s.tokens) ||
		len(s.tokens) > s.block.Cells+1 || cap(s.tokens) < len(s.tokens) || s.block.Cells > 0 && cap(s.tokens) <= s.block.Cells {
		t.Fatalf("slot %d: %d of %d tokens held in %d cells", i, s.held, len(s.tokens), s.block.Cells)
	}
	if err := e.holds(i, s.block, s.held); s.block.Cells > 0 && err != nil {
		t.Fatal(err)
	}
	memory := uint64(0)
	for p, token := range s.tokens[:s.held] {
		q := s.block.First + p
		memory = remember(memory, token, p >= s.prompt)
		if e.tokens[q] != token || e.memory[q] != memory || int(e.writer[q]) != i {
			t.Fatalf("slot %d: core and engine differ on position %d", i, p)
		}
		if c.keeps(i, p+1) != e.resumes(i, s.block, p+1) {
			t.Fatalf("slot %d with %d tokens held: can it go on after %d? core %v", i, s.held, p+1, c.keeps(i, p+1))
		}
	}
}

// auditCells checks that free, used and cached cells are all there are, each of
// them once, and that the lists of free and of cached slots are right.
func auditCells(t testing.TB, c *Core) {
	t.Helper()
	p, end := &c.slots.blocks, c.slots.end()
	taken := make([]bool, len(c.slots.owners))
	cells := 0
	claim := func(b inference.Block) {
		cells += b.Cells
		for u := b.First / p.least; u < (b.First+b.Cells)/p.least; u++ {
			if taken[u] {
				t.Fatalf("block %+v overlaps another", b)
			}
			taken[u] = true
		}
	}
	for k := range p.free {
		for n := range c.cfg.Limits.Pool / p.size(k) {
			if p.free[k].has(n) {
				claim(inference.Block{First: n * p.size(k), Cells: p.size(k)})
			}
		}
	}
	cached := 0
	for i := range c.slots.all[:end] {
		s := &c.slots.all[i]
		if free := s.block.Cells == 0; free != c.slots.free.has(i) || free && (s.match != nil || s.past != nil || len(s.tokens) > 0 || s.known > 0) {
			t.Fatalf("slot %d: free %v: %+v", i, c.slots.free.has(i), s)
		} else if free {
			continue
		}
		claim(s.block)
		if c.slots.owners[s.block.First/p.least] != int32(i) {
			t.Fatalf("slot %d has block %+v, which belongs to %d", i, s.block, c.slots.owners[s.block.First/p.least])
		}
		if s.match == nil {
			cached++
		}
		if s.past != nil && s.past.slots[s.seat] != i {
			t.Fatalf("slot %d is tied to game %s, whose seat was in slot %d since", i, s.past.job.ID, s.past.slots[s.seat])
		}
	}
	if cells != c.cfg.Limits.Pool {
		t.Fatalf("free, used and cached cells are %d of %d", cells, c.cfg.Limits.Pool)
	}
	before := 0
	for i := c.slots.oldest(); i != end; i = c.slots.all[i].newer {
		s := &c.slots.all[i]
		if !s.cached() || s.since <= before || c.slots.all[s.older].newer != i || c.slots.all[s.newer].older != i {
			t.Fatalf("slot %d is listed as cached: %+v", i, s)
		}
		before = s.since
		cached--
	}
	if cached != 0 {
		t.Fatalf("%d cached slots are not listed", cached)
	}
}

// auditRows checks a batch against the budget; the engine checks the rest.
func auditRows(t testing.TB, c *Core, b *inference.Batch) {
	t.Helper()
	if n := b.Tokens(); n > c.cfg.budget() {
		t.Fatalf("%d tokens in a step of %d", n, c.cfg.budget())
	}
	prefill := false
	for _, row := range b.Rows {
		s := &c.slots.all[row.Slot]
		if decode := row.Pos >= s.prompt; row.Decode != decode || row.Block != s.block {
			t.Fatalf("slot %d: a row of its %d tokens of prompt: %+v", row.Slot, s.prompt, row)
		}
		if row.Decode && prefill {
			t.Fatal("a decode row behind a prefill row")
		}
		prefill = prefill || !row.Decode
	}
}

// playSteps plays up to steps steps, audited, and returns the games that ended.
func playSteps(t testing.TB, c *Core, e *fakeEngine, steps int) []Record {
	t.Helper()
	return playLate(t, c, e, steps, func() bool { return false })
}

// playLate is playSteps where turns that a step ended are settled after the next
// step has been given out, if late says so.
func playLate(t testing.TB, c *Core, e *fakeEngine, steps int, late func() bool) []Record {
	t.Helper()
	var records []Record
	for range steps {
		before := known(c)
		b := c.Next()
		if b == nil && c.Unsettled() > 0 {
			records = append(records, c.Settle()...)
			before, b = known(c), c.Next()
		}
		if b == nil {
			break
		}
		audit(t, c, e, b)
		auditRows(t, c, b)
		auditReuse(t, c, e, before, b)
		if c.Unsettled() > 0 {
			records = append(records, c.Settle()...)
			audit(t, c, e, b)
		}
		if len(b.Rows) > 0 {
			if err := e.compute(b); err != nil {
				t.Fatal(err)
			}
		}
		b.At++
		c.Done(b)
		if c.Unsettled() == 0 || !late() {
			records = append(records, c.Settle()...)
		}
		audit(t, c, e, nil)
	}
	records = append(records, c.Settle()...)
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	return records
}

// finish ends a step.
func finish(c *Core, b *inference.Batch) []Record {
	c.Done(b)
	return c.Settle()
}

// play plays all of cfg with a fake engine.
func play(t testing.TB, cfg Config, sample sampler) ([]Record, *Core) {
	t.Helper()
	return playOn(t, cfg, sample, func() bool { return false })
}

// playOn is play, see playLate.
func playOn(t testing.TB, cfg Config, sample sampler, late func() bool) ([]Record, *Core) {
	t.Helper()
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	records := playLate(t, c, newFakeEngine(cfg.Limits, sample), 1_000_000, late)
	if c.Next() != nil {
		t.Fatal("the run did not end")
	}
	return records, c
}
