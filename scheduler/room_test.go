package scheduler

import (
	"slices"
	"testing"

	"selfplay/games"
	"selfplay/inference"
)

// Room is made in the block whose last use is longest ago, and neither where a
// slot is in use nor where the spared one is. A block of 32 cells has two slots.
func TestRoom(t *testing.T) {
	for _, test := range []struct {
		name      string
		cached    []int // in order of use; the others are in use
		i, spared int
		first     int // of the block; none: no room
		left      []int
	}{
		{"both of the second half were used before 1", []int{0, 2, 3, 1}, none, none, 32, []int{0, 1}},
		{"both of the first half", []int{2, 1, 0, 3}, none, none, 0, []int{2, 3}},
		{"one is spared", []int{0, 2, 3, 1}, none, 3, 0, []int{2, 3}},
		{"one is in use", []int{0, 2, 1}, none, none, 0, []int{2, 3}},
		{"one in use in each", []int{0, 2}, none, none, none, []int{0, 1, 2, 3}},
		{"a slot in use grows around itself", []int{0, 2}, 3, none, 32, []int{0, 1, 3}},
		{"a slot in use moves to what was used before", []int{0, 1, 2}, 3, none, 0, []int{2, 3}},
		{"a cached slot grows around itself", []int{0, 2, 3}, 2, none, 32, []int{0, 1, 2}},
		{"the spared slot itself grows", []int{0, 2, 3}, 2, 2, 32, []int{0, 1, 2}},
		{"nothing to evict", nil, none, none, none, []int{0, 1, 2, 3}},
	} {
		c, err := NewCore(fakeConfig(inference.Limits{Slots: 4, Rows: 4, Tokens: 9, Cells: 32, Pool: 64, Least: 8}, nil))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			c.slots.use(i, &match{})
			b, _ := c.slots.blocks.take(16)
			c.slots.put(i, b)
		}
		for _, i := range test.cached {
			c.slots.release(i)
		}
		b, ok := c.room(test.i, test.spared, 32)
		if ok != (test.first != none) || ok && b != (inference.Block{First: test.first, Cells: 32}) {
			t.Errorf("%s: %+v %v, want one at %d", test.name, b, ok, test.first)
		}
		var left []int
		for i := range 4 {
			if c.slots.all[i].block.Cells > 0 {
				left = append(left, i)
			}
		}
		if !slices.Equal(left, test.left) {
			t.Errorf("%s: slots %v are left, want %v", test.name, left, test.left)
		}
		c.Close()
	}
}

// A turn takes the slot of its source where there is no other room: here its
// seat's own slot, 0, is beside one in use, and its source, 2, needs its neighbour.
func TestTakesItsSource(t *testing.T) {
	c, err := NewCore(fakeConfig(inference.Limits{Slots: 4, Rows: 4, Tokens: 9, Cells: 32, Pool: 64, Least: 8}, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, prompt := &match{}, bytesToIDs("a prompt of 25 characters")
	for i, held := range []*match{m, {}, {}, {}} {
		c.slots.use(i, held)
		b, _ := c.slots.blocks.take(16)
		c.slots.put(i, b)
		c.slots.all[i].load(prompt[:4*i], nil, 4*i)
		c.learn(i)
	}
	for _, i := range []int{3, 2, 0} {
		c.slots.release(i)
	}
	m.prompt = prompt
	from := c.source(prompt)
	if from != (source{3, 12}) {
		t.Fatalf("the source is %+v", from)
	}
	c.evict(3)
	from = c.source(prompt)
	i, ok := c.place(m, from)
	s := &c.slots.all[2]
	if !ok || i != 2 || s.match != m || s.block != (inference.Block{First: 32, Cells: 32}) || m.turn.Kept != 8 || len(c.batch.Copies) > 0 {
		t.Errorf("slot %d %v, %+v, copies %+v", i, ok, s, c.batch.Copies)
	}
	if own := &c.slots.all[0]; !own.cached() || own.past != nil {
		t.Errorf("the seat's last slot is %+v", own)
	}
}

// A plainCodec's prompt is what the player has seen and nothing else, so that the
// next prompt goes on with what was sampled.
type plainCodec struct{ fakeCodec }

func (plainCodec) Prompt(_, user string) ([]int32, bool, error) { return bytesToIDs(user), false, nil }

// A monologue is a game that shows what was said.
type monologue struct{ fakeGame }

func (g *monologue) ToMove() int { return g.turns[0] / 3 % 2 }

func (g *monologue) Observation() string { return g.log[0] }

func (g *monologue) Result() (games.Result, bool) { return games.Result{}, g.turns[0] == 9 }

func (g *monologue) Step(action string) games.Event {
	g.turns[0]++
	g.log[0] += action
	return games.Event{Action: action}
}

// What was sampled is computed again as a prompt where it has become one.
func TestSampledIsNotLent(t *testing.T) {
	for _, pool := range []int{256, 4096} {
		limits := inference.Limits{Slots: 12, Rows: 6, Tokens: 100, Cells: 256, Pool: pool, Least: 16}
		cfg := fakeConfig(limits, makeJobs(30))
		cfg.Codec, cfg.MaxTokens = plainCodec{}, 20
		cfg.New = func(j Job) (games.Game, error) {
			g, err := newFakeGame(j)
			return &monologue{*g.(*fakeGame)}, err
		}
		records, c := play(t, cfg, byHash)
		sameRecords(t, records, reference(t, cfg, byHash))
		if s := c.Stats(); s.KeptTokens == 0 || s.PrefillTokens < s.CompletionTokens/2 {
			t.Errorf("%+v", s)
		}
	}
}

// A pool of one block for a whole turn finishes every game, though many are live
// and every turn wants more and more cells.
func TestTinyPool(t *testing.T) {
	for _, live := range []int{1, 2, 30} {
		for _, least := range []int{1, 5, 20, 40, 320} {
			limits := inference.Limits{Slots: 2 * live, Rows: live, Tokens: 100, Cells: 320, Least: least}
			limits.Pool = limits.BlockFor(limits.Cells)
			cfg := fakeConfig(limits, append(makeJobs(40), sharedJobs(60)[40:]...))
			cfg.System = func(string) string { return "You play." } // what is sampled differs with it: here turns are long enough
			records, c := play(t, cfg, chatty)
			sameRecords(t, records, reference(t, cfg, chatty))
			if s := c.Stats(); live > 1 && least < 40 && (s.Preempted == 0 || s.Replayed == 0 || s.Moved == 0) {
				t.Errorf("%d live, blocks from %d cells: %+v", live, least, s)
			}
		}
	}
}

// The oldest game is never preempted, so that each gets on in the end.
func TestOldestGoesOn(t *testing.T) {
	limits := inference.Limits{Slots: 40, Rows: 20, Tokens: 60, Cells: 256, Pool: 512, Least: 8}
	cfg := fakeConfig(limits, makeJobs(60))
	cfg.MaxTokens = 100
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e := newFakeEngine(cfg.Limits, func([]int32, uint64, float64) int32 { return 'x' })
	var oldest *match
	had, done := 0, 0 // turns of the oldest game, and tokens of its turn
	for !c.dry || c.stats.Live() > 0 {
		playSteps(t, c, e, 1)
		first, at := oldestSlot(c)
		if first == oldest && at >= 0 && len(first.turns) == had {
			s := &c.slots.all[at]
			if n := len(s.sampled()); n < done || s.held < s.prompt && done > 0 {
				t.Fatalf("%s had sampled %d tokens, now %d", first.job.ID, done, n)
			}
		}
		if oldest, done = first, 0; first != nil {
			had = len(first.turns)
		}
		if at >= 0 {
			done = len(c.slots.all[at].sampled())
		}
	}
	if c.stats.Preempted == 0 {
		t.Error("no turn was preempted")
	}
}

// oldestSlot is the oldest live game and its slot, or none.
func oldestSlot(c *Core) (oldest *match, at int) {
	at = none
	if len(c.line) > 0 {
		oldest = c.line[0]
	}
	for i := range c.slots.all {
		if m := c.slots.all[i].match; m != nil && (oldest == nil || m.age < oldest.age) {
			oldest, at = m, i
		}
	}
	return oldest, at
}
