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
	waits := map[int]int{}
	if c.half >= 0 {
		waits[c.half]++
	}
	for _, i := range c.decode {
		waits[i]++
	}
	if b != nil {
		for _, row := range b.Rows {
			if row.Sample {
				waits[row.Slot]++
			}
		}
	}
	owners := map[*match]int{}
	free, used, cached, usedSlots := 0, 0, 0, 0
	slots := c.slots.all[:len(c.slots.all)-1]
	for i := range slots {
		s := &slots[i]
		if s.held > c.cfg.Limits.Cells || s.held > len(s.tokens) || len(s.tokens) > c.cfg.Limits.Cells+1 {
			t.Fatalf("slot %d: %d of %d tokens held in %d cells", i, s.held, len(s.tokens), c.cfg.Limits.Cells)
		}
		if b == nil && !slices.Equal(s.tokens[:s.held], e.cells[i][:min(s.held, len(e.cells[i]))]) {
			t.Fatalf("slot %d: core and engine differ on what it holds", i)
		}
		for n := 1; b == nil && n <= s.held; n++ {
			if c.keeps(i, n) != e.resumes(i, n) {
				t.Fatalf("slot %d with %d tokens held: can it go on after %d? core %v, engine %v", i, s.held, n, c.keeps(i, n), e.resumes(i, n))
			}
		}
		free += c.cfg.Limits.Cells - s.held
		want := 0
		if s.match == nil {
			cached += s.held
		} else {
			want = 1
			usedSlots++
			used += s.held
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
		if i >= c.slots.begun && (s.match != nil || len(s.tokens) > 0) {
			t.Fatalf("slot %d is free, yet had a turn", i)
		}
	}
	if all := len(slots) * c.cfg.Limits.Cells; free+used+cached != all {
		t.Fatalf("%d free + %d used + %d cached cells are not %d", free, used, cached, all)
	}
	for _, m := range c.line {
		if owners[m]++; owners[m] > 1 {
			t.Fatalf("%s waits for a slot and has one", m.job.ID)
		}
	}
	if usedSlots != c.slots.used || c.stats.Live() != len(owners) || c.stats.Live() > min(len(slots), c.budget) {
		t.Fatalf("%d slots used, counted %d; %d games have a turn, %d live", usedSlots, c.slots.used, len(owners), c.stats.Live())
	}
	auditCached(t, c)
	auditIndex(t, c)
}

// auditCached checks the list of cached slots, from both ends.
func auditCached(t testing.TB, c *Core) {
	t.Helper()
	end, n := len(c.slots.all)-1, 0
	for i := c.slots.all[end].newer; i != end; i = c.slots.all[i].newer {
		if s := &c.slots.all[i]; s.match != nil || c.slots.all[s.older].newer != i || c.slots.all[s.newer].older != i {
			t.Fatalf("slot %d is listed as cached: %+v", i, s)
		}
		n++
	}
	if n+c.slots.used != c.slots.begun {
		t.Fatalf("%d cached and %d used slots, %d begun", n, c.slots.used, c.slots.begun)
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
		decodes := c.slots.all[row.Slot].decoding()
		if decodes && prefill {
			t.Fatal("a decode row behind a prefill row")
		}
		prefill = prefill || !decodes
	}
}

// playSteps plays up to steps steps, audited, and returns the games that ended.
func playSteps(t testing.TB, c *Core, e *fakeEngine, steps int) []Record {
	t.Helper()
	var records []Record
	for range steps {
		before := known(c)
		b := c.Next()
		if b == nil {
			break
		}
		audit(t, c, e, b)
		auditRows(t, c, b)
		auditReuse(t, c, e, before, b)
		if len(b.Rows) > 0 {
			if err := e.compute(b); err != nil {
				t.Fatal(err)
			}
		}
		b.At++
		records = append(records, c.Done(b)...)
		audit(t, c, e, nil)
	}
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	return records
}

// play plays all of cfg with a fake engine.
func play(t testing.TB, cfg Config, sample sampler) ([]Record, *Core) {
	t.Helper()
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	records := playSteps(t, c, newFakeEngine(cfg.Limits, sample), 1_000_000)
	if c.Next() != nil {
		t.Fatal("the run did not end")
	}
	return records, c
}
