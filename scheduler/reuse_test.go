package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"selfplay/inference"
)

// auditIndex checks that the index is in order and has every slot with all that
// it should know: what is computed of its prompt.
func auditIndex(t testing.TB, c *Core) {
	t.Helper()
	if c.cfg.NoReuse {
		if len(c.held.order)+len(c.coming.order) > 0 {
			t.Fatal("an index although reuse is off")
		}
		return
	}
	indexed := 0
	for i := range c.slots.all {
		s := &c.slots.all[i]
		if want := min(s.held, s.prompt); s.known != want {
			t.Fatalf("slot %d: %d of %d held cells are known", i, s.known, want)
		}
		if s.known > 0 {
			indexed++
		}
	}
	if len(c.held.order) != indexed {
		t.Fatalf("%d slots in the index, want %d", len(c.held.order), indexed)
	}
	for k := 1; k < indexed; k++ {
		a, b := c.held.order[k-1], c.held.order[k]
		if order := slices.Compare(c.held.key(int(a)), c.held.key(int(b))); order > 0 || order == 0 && a >= b {
			t.Fatalf("slots %d and %d are out of order", a, b)
		}
	}
}

// auditReuse checks, by looking at every slot, that a turn placed in the step b
// has the longest beginning of its prompt that was known and that a slot can
// still lend, and that a turn left in line waits for something. before is what
// was known before the step, which e has not computed yet.
func auditReuse(t testing.TB, c *Core, e *fakeEngine, before picture, b *inference.Batch) {
	t.Helper()
	others := map[int]int{} // cells copied from other slots
	seen := map[int]bool{}
	for _, op := range b.Copies {
		if seen[op.Dst] || op.Cells < 1 {
			t.Fatalf("copies %+v", b.Copies)
		}
		if seen[op.Dst] = true; op.Dst != op.Src {
			others[op.Dst] = op.Cells
		}
	}
	if c.cfg.NoReuse {
		if len(others) > 0 {
			t.Fatal("a copy although reuse is off")
		}
		return
	}
	longest := func(prompt []int32) int {
		n := 0
		for i, held := range before.known {
			if k := commonPrefix(held, prompt[:len(prompt)-1]); k > n && e.resumes(i, e.slots[i].block, k) {
				n = k
			}
		}
		return n
	}
	grown, placed := false, 0
	for _, row := range b.Rows {
		s := &c.slots.all[row.Slot]
		if row.Decode {
			grown = grown || before.blocks[row.Slot] != row.Block
		}
		if row.Decode || row.Slot == before.half && row.Pos == before.held && c.stats.Preempted == before.preempted {
			continue // it was placed in an earlier step
		}
		placed++
		// What growing slots and those placed before it in this step took is gone.
		if want := longest(s.tokens[:s.prompt]); row.Pos > want || row.Pos < want && placed == 1 && !grown {
			t.Fatalf("slot %d: the first %d tokens were known, %d are reused", row.Slot, want, row.Pos)
		}
		if n := others[row.Slot]; n > 0 && n != row.Pos {
			t.Fatalf("slot %d goes on at %d after a copy of %d", row.Slot, row.Pos, n)
		}
		delete(others, row.Slot)
	}
	if len(others) > 0 {
		t.Fatalf("copies without a row: %v", others)
	}
	if b.Tokens() == c.budget || c.blocked {
		return
	}
	for _, m := range c.line {
		coming := 0
		for _, row := range b.Rows {
			if s := &c.slots.all[row.Slot]; !row.Decode {
				coming = max(coming, commonPrefix(s.tokens[:s.held+len(row.Tokens)], m.prompt[:len(m.prompt)-1]))
			}
		}
		if m.waited < 1 || m.waited > c.patience || coming < worthWaiting {
			t.Fatalf("%s waits the %d. time for %d tokens while a step has room", m.job.ID, m.waited, coming)
		}
	}
}

// A picture is what the slots were before a step.
type picture struct {
	known     [][]int32 // the cells that the index should know
	blocks    []inference.Block
	half      int
	held      int // of the half computed prompt
	preempted int
}

func known(c *Core) picture {
	p := picture{half: c.half, preempted: c.stats.Preempted}
	for i := range c.slots.all {
		s := &c.slots.all[i]
		p.known = append(p.known, slices.Clone(s.tokens[:s.known]))
		p.blocks = append(p.blocks, s.block)
		if i == c.half {
			p.held = s.held
		}
	}
	return p
}

// The index against a look at every slot, with few words so that keys are often
// equal or begin another.
func TestIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() []int32 {
		w := make([]int32, r.IntN(9))
		for i := range w {
			w[i] = int32(r.IntN(2))
		}
		return w
	}
	keys := make([][]int32, 40)
	x := index{key: func(slot int) []int32 { return keys[slot] }}
	for range 20_000 {
		i := r.IntN(len(keys))
		x.remove(i)
		keys[i] = word()
		x.add(i)
		mean := r.IntN(3) // refuses some slots some lengths, or none
		lends := func(slot, n int) bool { return mean == 0 || (slot+n)%(3*mean) == 0 }
		prompt, want := word(), 0
		for i, k := range keys {
			if n := commonPrefix(k, prompt); n > want && lends(i, n) {
				want = n
			}
		}
		ask := lends
		if mean == 0 {
			ask = nil
		}
		if slot, n := x.longest(prompt, ask); n != want || n > 0 && (commonPrefix(keys[slot], prompt) != n || !lends(slot, n)) {
			t.Fatalf("%v: %d tokens of slot %d %v, want %d", prompt, n, slot, keys[slot], want)
		}
	}
	for i := range keys {
		x.remove(i)
	}
	if len(x.order) > 0 {
		t.Errorf("left: %v", x.order)
	}
	defer func() {
		if recover() == nil {
			t.Error("a slot was removed that is not there")
		}
	}()
	keys[3] = []int32{1}
	x.remove(3)
}

// sharedJobs are n games in two languages that begin with the same long rules.
func sharedJobs(n int) []Job {
	jobs := makeJobs(n)
	for i := range jobs {
		jobs[i].Game = "shared"
		jobs[i].Langs = [2]string{[]string{"en", "de"}[i%2], []string{"en", "de"}[i/2%2]}
	}
	return jobs
}

// Games that begin together compute each opening once, and lose no more than a
// few steps by it.
func TestOpeningsAreComputedOnce(t *testing.T) {
	cfg := fakeConfig(inference.Limits{Slots: 200, Cells: 1000, Tokens: 10_000}, sharedJobs(200))
	run := func(patience int) Stats {
		c, err := NewCore(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.patience = patience
		sameRecords(t, playSteps(t, c, newFakeEngine(cfg.Limits, byHash), 1_000_000), reference(t, cfg, byHash))
		return c.Stats()
	}
	eager, patient := run(0), run(patience)
	t.Logf("%d prompt tokens; eager: %d computed in %d steps; patient: %d in %d, held back %d times", patient.PromptTokens,
		eager.PrefillTokens, eager.Steps, patient.PrefillTokens, patient.Steps, patient.HeldBack)
	if patient.PrefillTokens > eager.PrefillTokens*2/3 || patient.Steps > eager.Steps+2*patience || eager.HeldBack > 0 {
		t.Errorf("eager %+v\npatient %+v", eager, patient)
	}
}

// While there are slots for each seat of each game, a seat computes nothing of
// its prompt twice.
func TestHistoriesStay(t *testing.T) {
	cfg := fakeConfig(inference.Limits{Slots: 40, Cells: 1000, Tokens: 300}, sharedJobs(20))
	records, c := play(t, cfg, byHash)
	checkStats(t, c, records)
	later := 0
	for _, r := range records {
		var last [2]*Turn
		for i := range r.Turns {
			turn := &r.Turns[i]
			if before := last[turn.Seat]; before != nil {
				// All but the token that opens the answer.
				if later++; turn.Kept < before.PromptTokens-1 {
					t.Errorf("%s turn %d: %d kept of the %d tokens before", r.Job.ID, i, turn.Kept, before.PromptTokens)
				}
			}
			last[turn.Seat] = turn
		}
	}
	if later == 0 {
		t.Error("no seat had a second turn")
	}
}

// A hundred thousand games, stopped and resumed at random: each ends once and as
// it should.
func TestSoak(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 5_000
	}
	jobs := makeJobs(n)
	for i, j := range sharedJobs(n) {
		if i%3 > 0 {
			jobs[i] = j
		}
	}
	r := rand.New(rand.NewPCG(7, 7))
	ended := make(map[string]bool, n)
	var sample []Record
	cfg := fakeConfig(inference.Limits{}, jobs)
	cfg.System = func(string) string { return "You play." } // games differ with it: here each ends within n/40 steps
	for try := 0; len(ended) < n; try++ {
		cfg.Limits = whole(inference.Limits{Slots: 1 + r.IntN(300), Cells: 800, Tokens: 64 + r.IntN(2000)})
		if r.IntN(3) > 0 { // few cells
			cfg.Limits.Least = 25 << r.IntN(6)
			cfg.Limits.Rows, cfg.Limits.Pool = 1+r.IntN(300), 800*(1+r.IntN(60))
		}
		if r.IntN(2) == 0 {
			cfg.Limits.Window, cfg.Limits.Ring = 50, 50+r.IntN(200)
		}
		jobs = slices.DeleteFunc(jobs, func(j Job) bool { return ended[j.ID] })
		cfg.Jobs = slices.Values(jobs)
		c, err := NewCore(cfg)
		if err != nil {
			t.Fatal(err)
		}
		e := newFakeEngine(cfg.Limits, byHash)
		for steps := r.IntN(1 + n/40); steps > 0 && !(c.dry && c.stats.Live() == 0); steps-- {
			for _, r := range soakStep(t, c, e, steps%500 == 0) {
				if ended[r.Job.ID] {
					t.Fatalf("%s ended twice", r.Job.ID)
				}
				ended[r.Job.ID] = true
				if r.Job.Index%50 == 0 {
					sample = append(sample, r)
				}
			}
		}
		c.Close()
	}
	var sampled []Job
	for _, r := range sample {
		sampled = append(sampled, r.Job)
	}
	cfg.Limits.Cells, cfg.Jobs = 800, slices.Values(sampled)
	sameRecords(t, sample, reference(t, cfg, byHash))
}

// soakStep is a step, audited or fast.
func soakStep(t *testing.T, c *Core, e *fakeEngine, audited bool) []Record {
	if audited {
		return playSteps(t, c, e, 1)
	}
	b := c.Next()
	if b == nil {
		return nil
	}
	if err := e.compute(b); err != nil {
		t.Fatal(err)
	}
	return finish(c, b)
}

func TestRunCopyFails(t *testing.T) {
	c, e := newRun(t, sharedJobs(50))
	e.failCopy = fmt.Errorf("no memory")
	err := Run(t.Context(), c, e, func(Record) error { return nil }, nil)
	if err == nil || c.Stats().CopiedTokens == 0 {
		t.Errorf("%v after %d tokens copied", err, c.Stats().CopiedTokens)
	}
}
