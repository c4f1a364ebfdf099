package bench

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"selfplay/games"
	"selfplay/inference"
	"selfplay/locales"
	"selfplay/scheduler"
)

// TestSizesChangeNothing plays the same games on real engines with one slot and
// no reuse, and with random numbers of slots, tokens a step and cells, with reuse
// or not, down to pools of one block in which games lose their slots and get
// them again: the games are the same.
func TestSizesChangeNothing(t *testing.T) {
	preempted, moved, copied := 0, 0, 0
	for model, cache := range map[string]inference.Cache{
		"synthetic:llama-tiny:q4_1": inference.CacheQ8, "synthetic:gemma4-tiny:q4_1": inference.CacheF16,
	} {
		const context = 1400 // tokens are bytes: a first turn grows from a block of 768 into one of 1,536
		first, _ := playSized(t, inference.Options{Slots: 1, Cells: context, Cache: cache}, model, true)
		rng := rand.New(rand.NewPCG(7, 8))
		for i := range 3 {
			o := inference.Options{Slots: 2 + rng.IntN(6), Cells: context, Pool: context * (1 + i*rng.IntN(4)), Tokens: 20 + rng.IntN(900), Cache: cache}
			games, sum := playSized(t, o, model, i == 2)
			if !reflect.DeepEqual(games, first) {
				t.Errorf("%s with %+v: other games than with one slot and no reuse", model, o)
			}
			preempted, moved, copied = preempted+sum.Preempted, moved+sum.MovedCells, copied+sum.CopiedTokens
		}
	}
	t.Logf("%d turns lost their slots, %d cells moved, %d were copied", preempted, moved, copied)
	if preempted == 0 || moved == 0 || copied == 0 {
		t.Errorf("%d turns lost their slots, %d cells moved, %d were copied: this shows too little", preempted, moved, copied)
	}
}

// playSized plays on an engine of this size, and gives the games without what
// was done for them.
func playSized(t *testing.T, o inference.Options, model string, noReuse bool) ([]scheduler.Record, Summary) {
	t.Helper()
	o.Threads, o.Weights = 1, inference.WeightsFile
	m, err := inference.Open(model, o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e := testExperiment()
	e.Games, e.Langs, e.N = []string{"Nim-v0"}, []string{"en"}, 1
	cfg := scheduler.Config{
		Seed: e.Seed, System: e.SystemOf, MaxTokens: 480, Codec: m.Codec, Limits: m.Limits(), NoReuse: noReuse,
		New: func(j scheduler.Job) (games.Game, error) {
			spec, err := games.Lookup(j.Game)
			if err != nil {
				return nil, err
			}
			return spec.New(locales.Embedded(), j.Langs, j.Seed)
		},
	}
	run := Options{Dir: t.TempDir(), Experiment: e, Player: OnEngine(cfg, m)}
	sum, err := Play(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	all := collectGames(t, run.Dir)
	for _, r := range all {
		for i := range r.Turns {
			r.Turns[i].Prefill, r.Turns[i].Copied, r.Turns[i].Kept = 0, 0, 0
		}
	}
	return all, sum
}
