package scheduler

import (
	"slices"
	"testing"

	"selfplay/inference"
)

// audit checks what must hold between two steps: the core's picture of every
// slot is the engine's, every cell is free, used or cached, and every slot in
// use waits in exactly one place. b is the batch in flight, nil after Done.
func audit(t testing.TB, c *Core, e *fakeEngine, b *inference.Batch) {
	t.Helper()
	waits := map[int]int{}
	for i := range c.prefill.n {
		waits[c.prefill.ring[(c.prefill.head+i)%len(c.prefill.ring)]]++
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
	free, used, cached, freeSlots := 0, 0, 0, 0
	for i := range c.slots.all {
		s := &c.slots.all[i]
		if s.held > c.cfg.Limits.Cells || s.held > len(s.tokens) || len(s.tokens) > c.cfg.Limits.Cells+1 {
			t.Fatalf("slot %d: %d of %d tokens held in %d cells", i, s.held, len(s.tokens), c.cfg.Limits.Cells)
		}
		if b == nil && !slices.Equal(s.tokens[:s.held], e.cells[i][:min(s.held, len(e.cells[i]))]) {
			t.Fatalf("slot %d: core and engine differ on what it holds", i)
		}
		free += c.cfg.Limits.Cells - s.held
		want := 0
		if s.match == nil {
			freeSlots++
			cached += s.held
			if i < c.slots.lowest {
				t.Fatalf("slot %d is free, below the lowest free slot %d", i, c.slots.lowest)
			}
		} else {
			want = 1
			used += s.held
			owners[s.match]++
			if s.match.slot != i {
				t.Fatalf("slot %d belongs to a game in slot %d", i, s.match.slot)
			}
			if s.prompt+len(s.sampled()) != len(s.tokens) || s.held == len(s.tokens) {
				t.Fatalf("slot %d: %d prompt tokens, %d held, %d in all", i, s.prompt, s.held, len(s.tokens))
			}
		}
		if waits[i] != want {
			t.Fatalf("slot %d waits in %d places, want %d", i, waits[i], want)
		}
	}
	if all := len(c.slots.all) * c.cfg.Limits.Cells; free+used+cached != all {
		t.Fatalf("%d free + %d used + %d cached cells are not %d", free, used, cached, all)
	}
	if freeSlots != c.slots.free || c.stats.Live() != len(owners) {
		t.Fatalf("%d slots free, counted %d; %d games own one, %d live", freeSlots, c.slots.free, len(owners), c.stats.Live())
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
		b := c.Next()
		if b == nil {
			break
		}
		if c.cfg.usesModel() {
			audit(t, c, e, b)
			auditRows(t, c, b)
		}
		if len(b.Rows) > 0 {
			if err := e.Forward(b); err != nil {
				t.Fatal(err)
			}
		}
		b.At++
		records = append(records, c.Done(b)...)
		if c.cfg.usesModel() {
			audit(t, c, e, nil)
		}
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
