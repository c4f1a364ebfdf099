package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"selfplay/games"
	"selfplay/inference"
)

// randomConfig is a run with settings of all sorts, most of them too tight.
func randomConfig(r *rand.Rand) Config {
	limits := inference.Limits{
		Slots:  1 + r.IntN(12),
		Cells:  2 + r.IntN(300),
		Tokens: 1 + r.IntN(40),
	}
	if r.IntN(2) == 0 {
		limits.Tokens = 1 + r.IntN(1000)
	}
	if r.IntN(3) == 0 {
		limits.Window = 2 + r.IntN(60)
		limits.Ring = limits.Window + r.IntN(100)
	}
	if r.IntN(3) > 0 {
		limits = cut(r, limits)
	}
	jobs := makeJobs
	if r.IntN(2) == 0 {
		jobs = sharedJobs
	}
	cfg := fakeConfig(limits, jobs(r.IntN(40)))
	cfg.Seed = r.Int64()
	cfg.Chunk = r.IntN(3) * r.IntN(30)
	cfg.MaxTokens = r.IntN(3) * r.IntN(12)
	cfg.NoReuse = r.IntN(3) == 0
	cfg.Codec = fakeCodec{open: r.IntN(4) == 0}
	if r.IntN(4) == 0 {
		setPolicy(&cfg, r.IntN(2), Random{})
	}
	return cfg
}

// cut gives limits a pool of blocks of several sizes, mostly too small for all
// slots, and rows of its own.
func cut(r *rand.Rand, l inference.Limits) inference.Limits {
	l.Rows = 1 + r.IntN(12)
	l.Least = max(1, l.Cells>>r.IntN(9)-r.IntN(2))
	l.Pool = l.BlockFor(l.Cells) * (1 + r.IntN(4))
	return l
}

func TestEqualsReference(t *testing.T) {
	runs := 500
	if testing.Short() {
		runs = 50
	}
	var seen Stats
	for seed := range runs {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		cfg := randomConfig(r)
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			sample := []sampler{byHash, chatty}[seed%2]
			often := r.IntN(3)
			records, c := playOn(t, cfg, sample, func() bool { return r.IntN(2) < often })
			sameRecords(t, records, reference(t, cfg, sample))
			checkStats(t, c, records)
			s := c.Stats()
			seen.Moved, seen.Preempted, seen.Replayed = seen.Moved+s.Moved, seen.Preempted+s.Preempted, seen.Replayed+s.Replayed
		})
		if !ok {
			t.Fatalf("limits %+v chunk %d max %d", cfg.Limits, cfg.Chunk, cfg.MaxTokens)
		}
	}
	if seen.Moved < 20*runs || seen.Preempted < runs/10 || seen.Replayed < runs {
		t.Errorf("too little happened: %d cells moved, %d turns preempted, %d tokens replayed", seen.Moved, seen.Preempted, seen.Replayed)
	}
}

// checkStats sums the records of a whole run and compares.
func checkStats(t *testing.T, c *Core, records []Record) {
	t.Helper()
	got := c.Stats()
	want := Stats{Started: len(records), Ended: len(records), Total: c.cfg.Total}
	want.Steps, want.DecodeRows, want.HeldBack = got.Steps, got.DecodeRows, got.HeldBack
	want.Moved, want.Preempted, want.Replayed = got.Moved, got.Preempted, got.Replayed
	decodes := got.Replayed
	for _, r := range records {
		for i := range r.Turns {
			turn := &r.Turns[i]
			want.count(turn)
			want.PromptTokens += turn.PromptTokens
			want.PrefillTokens += turn.Prefill
			want.CopiedTokens += turn.Copied
			want.KeptTokens += turn.Kept
			want.CompletionTokens += turn.CompletionTokens
			decodes += max(0, turn.CompletionTokens-1) // the first one is drawn from the prompt
			computed := turn.Finish != FinishPolicy && turn.PromptTokens < c.cfg.Limits.Cells
			again := got.Preempted > 0 // then a prompt may be computed, copied and kept more than once
			if computed != (turn.Prefill > 0) || turn.Prefill > turn.PromptTokens && !again || turn.Start > turn.End {
				t.Fatalf("%s turn %d: %d of %d prompt tokens computed, from %d to %d",
					r.Job.ID, i, turn.Prefill, turn.PromptTokens, turn.Start, turn.End)
			}
			if sum := turn.Prefill + turn.Copied + turn.Kept; computed && (sum < turn.PromptTokens || sum > turn.PromptTokens && !again) || !computed && sum > 0 {
				t.Fatalf("%s turn %d: %d computed, %d copied and %d kept of %d prompt tokens",
					r.Job.ID, i, turn.Prefill, turn.Copied, turn.Kept, turn.PromptTokens)
			}
			if computed && c.cfg.NoReuse && turn.Copied+turn.Kept > 0 {
				t.Fatalf("%s turn %d: reuse although off", r.Job.ID, i)
			}
		}
	}
	if got != want || got.DecodeRows != decodes {
		t.Fatalf("\n got %+v\nwant %+v, %d decode rows", got, want, decodes)
	}
}

// Settings that only change the order of the work change no game.
func TestOrderOfWorkChangesNothing(t *testing.T) {
	jobs := append(makeJobs(40), sharedJobs(60)[40:]...)
	cfg := fakeConfig(inference.Limits{Slots: 1, Cells: 2000, Tokens: 1000}, jobs)
	want := reference(t, cfg, byHash)
	for _, slots := range []int{1, 2, 7, 60, 100} {
		for _, tokens := range []int{1, 13, 4000} {
			for _, noReuse := range []bool{false, true} {
				shuffled := slices.Clone(jobs)
				rand.New(rand.NewPCG(uint64(slots), uint64(tokens))).Shuffle(len(jobs), func(i, j int) {
					shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
				})
				cfg := fakeConfig(inference.Limits{Slots: slots, Cells: 2000, Tokens: tokens}, shuffled)
				cfg.NoReuse = noReuse
				records, c := play(t, cfg, byHash)
				sameRecords(t, records, want)
				if s := c.Stats(); !noReuse && s.PrefillTokens >= s.PromptTokens {
					t.Errorf("%d slots: nothing was reused", slots)
				}
			}
		}
	}
}

// Whatever is stopped and resumed, the union of what ended is the whole run.
func TestStopAndResume(t *testing.T) {
	for seed := range 40 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		cfg := randomConfig(r)
		want := reference(t, cfg, byHash)
		jobs := slices.Collect(cfg.Jobs)
		var records []Record
		for try := 0; len(records) < len(want); try++ {
			ended := byID(t, records)
			cfg.Jobs = slices.Values(slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool {
				_, is := ended[j.ID]
				return is
			}))
			c, err := NewCore(cfg)
			if err != nil {
				t.Fatal(err)
			}
			// At first the run is stopped early, then ever later.
			records = append(records, playSteps(t, c, newFakeEngine(cfg.Limits, byHash), 1+r.IntN(20<<min(try, 20)))...)
			c.Close()
		}
		sameRecords(t, records, want)
	}
}

// A letterGame is written in one letter, its own. The model parrots what its
// slot holds, so a foreign letter anywhere would betray a leak.
type letterGame struct {
	fakeGame
	letter string
}

func (g *letterGame) Observation() string {
	return strings.Repeat(g.letter, 3+len(g.log[g.seat])%17)
}

func TestCanary(t *testing.T) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	parrot := func(tokens []int32, memory uint64, draw float64) int32 {
		// Only now and then the end of the turn, and never the template's tokens.
		if int(draw*1e6)%9 == 0 {
			return tokenEnd
		}
		if id := tokens[int(draw*float64(len(tokens)))]; id < 256 {
			return id
		}
		return tokens[2]
	}
	for _, noReuse := range []bool{false, true} {
		jobs := makeJobs(len(letters))
		cfg := fakeConfig(inference.Limits{Slots: 5, Cells: 40, Tokens: 23}, jobs)
		cfg.System, cfg.NoReuse = nil, noReuse
		cfg.New = func(j Job) (games.Game, error) {
			g, err := newFakeGame(j)
			return &letterGame{*g.(*fakeGame), letters[j.Index : j.Index+1]}, err
		}
		records, _ := play(t, cfg, parrot)
		if len(records) != len(jobs) {
			t.Fatalf("%d games ended", len(records))
		}
		typed := 0
		for _, r := range records {
			for _, turn := range r.Turns {
				typed += len(turn.Completion)
				if strings.Trim(turn.Completion, letters[r.Job.Index:r.Job.Index+1]) != "" {
					t.Fatalf("%s was told %q", r.Job.ID, turn.Completion)
				}
			}
		}
		if typed < 1000 {
			t.Fatalf("only %d letters were typed", typed)
		}
	}
}

// vLLM #16732, #1655: one overlong prompt concerns only its own game.
func TestOverlongPrompt(t *testing.T) {
	jobs := makeJobs(30)
	jobs[11].Game = "long"
	cfg := fakeConfig(inference.Limits{Slots: 4, Cells: 500, Tokens: 64}, jobs)
	records, c := play(t, cfg, byHash)
	sameRecords(t, records, reference(t, cfg, byHash))
	for _, r := range records {
		if !strings.Contains(r.Turns[0].Observation, "and so on") {
			continue
		}
		first := r.Turns[0]
		if first.Finish != FinishContext || first.Completion != "" || !first.Event.Invalid {
			t.Errorf("the turn of %d prompt tokens: %+v", first.PromptTokens, first)
		}
		if r.Result.Rewards != [2]int{-1, 1} || !r.Result.Invalid[0] || r.Turns[1].Finish != FinishContext {
			t.Errorf("two prompts that don't fit do not forfeit: %+v", r.Result)
		}
	}
	if c.Stats().Context != 2 {
		t.Errorf("%d turns without room", c.Stats().Context)
	}
}

// ollama #10127, llama.cpp #14097: a tiny cache finishes every game.
func TestTinyCells(t *testing.T) {
	for cells := 2; cells < 60; cells++ {
		cfg := fakeConfig(inference.Limits{Slots: 3, Cells: cells, Tokens: 8}, makeJobs(20))
		cfg.System = nil
		records, _ := play(t, cfg, byHash)
		sameRecords(t, records, reference(t, cfg, byHash))
	}
}

// llama.cpp #15916: more than 256 games at once.
func TestManyLive(t *testing.T) {
	for _, slots := range []int{257, 2000} {
		jobs := makeJobs(slots + 100)
		cfg := fakeConfig(inference.Limits{Slots: slots, Cells: 400, Tokens: 1 << 20}, jobs)
		c, err := NewCore(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		e := newFakeEngine(cfg.Limits, byHash)
		records, live := []Record(nil), 0
		for !c.dry || c.stats.Live() > 0 {
			records = append(records, playSteps(t, c, e, 1)...)
			live = max(live, c.stats.Live())
		}
		if live != slots {
			t.Errorf("at most %d games were live in %d slots", live, slots)
		}
		sameRecords(t, records, reference(t, cfg, byHash))
	}
}

// Nobody starves: every decoding turn has its token in every step, and no token
// of a step is left over while a prompt waits.
func TestStarvation(t *testing.T) {
	endless := func([]int32, uint64, float64) int32 { return 'x' }
	for _, tokens := range []int{1, 3, 8, 9, 50} {
		cfg := fakeConfig(inference.Limits{Slots: 8, Cells: 200, Tokens: tokens}, makeJobs(30))
		cfg.MaxTokens = 40
		c, err := NewCore(cfg)
		if err != nil {
			t.Fatal(err)
		}
		e := newFakeEngine(cfg.Limits, endless)
		records, most := 0, 0
		for b := c.Next(); b != nil; b = c.Next() {
			if len(c.decode) > 0 {
				t.Fatalf("%d tokens: slots %v are left out", tokens, c.decode)
			}
			if left := tokens - b.Tokens(); left > 0 && (c.half >= 0 || slices.ContainsFunc(c.line, func(m *match) bool { return m.waited == 0 })) {
				t.Fatalf("%d of %d tokens unused while a prompt waits", left, tokens)
			}
			most = max(most, c.stats.Live())
			if err := e.compute(b); err != nil {
				t.Fatal(err)
			}
			records += len(finish(c, b))
		}
		if records != 30 || most != min(8, tokens) {
			t.Errorf("%d tokens: %d games ended, %d at once", tokens, records, most)
		}
		c.Close()
	}
}

// Prompts are computed in the order in which their turns began.
func TestPrefillOrder(t *testing.T) {
	cfg := fakeConfig(inference.Limits{Slots: 20, Cells: 800, Tokens: 50}, append(makeJobs(50), sharedJobs(100)[50:]...))
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e := newFakeEngine(cfg.Limits, byHash)
	head := -1
	for {
		before := slices.Clone(c.line)
		b := c.Next()
		if b == nil {
			break
		}
		// What the step has no room for is what began last.
		i := len(c.line)
		for i > 0 && c.line[i-1].waited == 0 {
			i--
		}
		if late := c.line[i:]; len(late) > len(before) || !slices.Equal(late, before[len(before)-len(late):]) {
			t.Fatal("a turn was served before one that began earlier")
		}
		for _, m := range c.line[:i] {
			if m.waited == 0 {
				t.Fatal("a turn was left out, yet not held back")
			}
		}
		for _, row := range b.Rows {
			if head >= 0 && !row.Decode {
				if row.Slot != head {
					t.Fatalf("slot %d is served before slot %d, whose prompt is half computed", row.Slot, head)
				}
				head = -1
			}
		}
		head = c.half
		if err := e.compute(b); err != nil {
			t.Fatal(err)
		}
		finish(c, b)
	}
}

func TestPoliciesAlone(t *testing.T) {
	jobs := makeJobs(1000)
	cfg := Config{Seed: 3, New: newFakeGame, Jobs: slices.Values(jobs), Policies: map[string]Policy{"": Random{}}}
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var steps [][]Record // kept as they were handed out: they are the caller's
	for b := c.Next(); b != nil; b = c.Next() {
		if len(b.Rows) > 0 {
			t.Fatal("policies need no engine")
		}
		steps = append(steps, finish(c, b))
		if n := len(steps[len(steps)-1]); n > endsPerStep {
			t.Fatalf("%d games in one step", n)
		}
	}
	sameRecords(t, slices.Concat(steps...), reference(t, cfg, nil))
}
