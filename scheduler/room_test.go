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
