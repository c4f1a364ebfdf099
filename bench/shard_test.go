package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"selfplay/scheduler"
)

// randomPlan is one of any shape.
func randomPlan(rng *rand.Rand) Plan {
	p := Plan{N: 1 + rng.IntN(9), Seed: 3, ByCell: rng.IntN(2) == 0}
	for i := range 1 + rng.IntN(3) {
		p.Games = append(p.Games, fmt.Sprintf("G%d-v0", i))
	}
	p.Langs = []string{"en", "ar", "de", "zh"}[:1+rng.IntN(4)]
	if len(p.Langs) > 1 && rng.IntN(2) == 0 {
		p.Reasoned = []string{"ar+en"}
	}
	if rng.IntN(3) == 0 {
		p.Opponents = []string{"builtin:random"}
	}
	return p
}

// Of any plan in any number of shards, every game is in exactly one, at the place
// that it has in the whole, and no shard has more than its part of a cell, a game
// or the whole.
func TestShardsPartThePlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		whole := randomPlan(rng)
		dealt := len(whole.Games) * len(whole.pairs())
		perDeal := 2 * whole.N
		if !whole.ByCell {
			dealt, perDeal = dealt*whole.N, 2
		}
		of := 1 + rng.IntN(dealt)
		find, seen := whole.positions(), map[string]int{}
		var least, most map[string]int // games of a cell, a game, all, in a shard
		for k := range of {
			p := whole
			p.Shard = Shard{k + 1, of}
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			counts := map[string]int{}
			of := p.positions()
			for at, j := range p.placed() {
				if other, ok := seen[j.ID]; ok {
					t.Fatalf("%+v: %s is in shards %d and %d", whole, j.ID, other, k+1)
				}
				seen[j.ID] = k + 1
				inWhole, err1 := find(j)
				inShard, err2 := of(j)
				if err1 != nil || err2 != nil || inWhole != at || inShard != at {
					t.Fatalf("%s is at %d, %d and %d: %v, %v", j.ID, at, inWhole, inShard, err1, err2)
				}
				counts["all"]++
				counts[j.Game]++
				counts[fmt.Sprint(j.Game, pairOf(j))]++
			}
			if counts["all"] != p.Len() {
				t.Fatalf("%+v: %d games, Len %d", p, counts["all"], p.Len())
			}
			for g, game := range p.Games {
				if counts[game] != p.LenOf(g) {
					t.Fatalf("%+v: %d games of %s, LenOf %d", p, counts[game], game, p.LenOf(g))
				}
			}
			if k == 0 {
				least, most = map[string]int{}, map[string]int{}
				for j := range whole.Jobs() {
					for _, name := range []string{"all", j.Game, fmt.Sprint(j.Game, pairOf(j))} {
						least[name], most[name] = 1<<30, 0
					}
				}
			}
			for name := range least {
				least[name], most[name] = min(least[name], counts[name]), max(most[name], counts[name])
			}
		}
		if len(seen) != whole.Len() {
			t.Fatalf("%+v in %d shards: %d games of %d", whole, of, len(seen), whole.Len())
		}
		for name := range least {
			if most[name]-least[name] > perDeal {
				t.Errorf("%+v in %d shards: of %s one has %d games, another %d", whole, of, name, least[name], most[name])
			}
		}
	}
}

func TestShardsAreRefused(t *testing.T) {
	e := testExperiment() // 2 games, 3 pairs, n 3: 18 deals, 6 cells
	for _, c := range []struct {
		shard Shard
		until float64
		want  string
	}{
		{Shard{18, 18}, 0, ""},
		{Shard{1, 19}, 0, "shard 1 of 19: the plan has 18 deals, so at most as many shards"},
		{Shard{6, 6}, 0.3, ""},
		{Shard{7, 7}, 0.3, "shard 7 of 7: the plan has 6 pairs of languages of a game, which until-ci keeps whole"},
		{Shard{0, 4}, 0, "shard 0 of 4: they are counted from 1 of N to N of N"},
		{Shard{5, 4}, 0, "shard 5 of 4"},
		{Shard{1, 0}, 0, "shard 1 of 0"},
		{Shard{-1, -1}, 0, "shard -1 of -1"},
	} {
		e.Shard, e.UntilCI = c.shard, c.until
		err := e.Plan().Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.shard, err, c.want)
		}
	}
}

var clock = regexp.MustCompile(`"(start|end)_ms":\d+`)

// untimed is the export of a run without what the clock tells.
func untimed(t *testing.T, dir string) string { return clock.ReplaceAllString(exportOf(t, dir), "") }

// shardOf is a part of an experiment.
func shardOf(e Experiment, k, of int) Experiment {
	e.Shard = Shard{k, of}
	return e
}

// Shards that the real scheduler plays, each stopped again and again, make the run in
// one go when they are joined.
func TestShardsJoined(t *testing.T) {
	e := testExperiment()
	e.N = 5
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	if _, err := Play(t.Context(), Options{Dir: whole, Experiment: e, Player: randomPlayer(e.Seed)}); err != nil {
		t.Fatal(err)
	}
	cut := errors.New("cut")
	for _, of := range []int{1, 3, 11} {
		run := filepath.Join(dir, fmt.Sprint("run", of))
		for k := of; k > 0; k-- {
			o := Options{Dir: run, Experiment: shardOf(e, k, of)}
			for ended := 3; ; ended += 5 { // more in each session
				o.Player = func(ctx context.Context, d Deal, sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
					left := ended
					return randomPlayer(e.Seed)(ctx, d, func(r scheduler.Record) error {
						if left--; left < 0 {
							return cut
						}
						return sink(r)
					}, progress)
				}
				sum, err := Play(t.Context(), o)
				if err == nil {
					if want := filepath.Join(run, o.Experiment.Shard.Folder()); sum.Dir != want || sum.WholeRun.Planned != o.Experiment.Plan().Len() || sum.WholeRun.Games != sum.WholeRun.Planned {
						t.Errorf("%s, want %s, %d of %d games", sum.Dir, want, sum.WholeRun.Games, sum.WholeRun.Planned)
					}
					break
				}
				if !errors.Is(err, cut) {
					t.Fatal(err)
				}
			}
		}
		out := filepath.Join(dir, fmt.Sprint("joined", of))
		m, err := Merge(out, ShardFolders([]string{run}))
		if err != nil || m != (Merged{Games: 60, Planned: 60}) {
			t.Fatal(m, err)
		}
		if untimed(t, out) != untimed(t, whole) {
			t.Errorf("%d shards, joined, hold other games than the run in one go", of)
		}
	}
}

// Cells that stop early do so in shards as in one run, and what is joined says so.
func TestShardsStopEarly(t *testing.T) {
	e := stopping()
	dir := t.TempDir()
	whole, err := Play(t.Context(), Options{Dir: filepath.Join(dir, "whole"), Experiment: e, Player: shuffling(1, 9, 1<<30)})
	if err != nil {
		t.Fatal(err)
	}
	run, planned := filepath.Join(dir, "run"), 0
	for k := range 4 {
		sum, err := Play(t.Context(), Options{Dir: run, Experiment: shardOf(e, k+1, 4), Player: shuffling(uint64(k), 7, 1<<30)})
		if err != nil {
			t.Fatal(err)
		}
		planned += sum.WholeRun.Planned
	}
	if planned != whole.WholeRun.Planned || planned >= e.Plan().Len() {
		t.Errorf("%d games in shards, %d in one run, of %d", planned, whole.WholeRun.Planned, e.Plan().Len())
	}
	out := filepath.Join(dir, "joined")
	if m, err := Merge(out, ShardFolders([]string{run})); err != nil || m != (Merged{Games: planned, Planned: planned}) {
		t.Error(m, err)
	}
	if exportOf(t, out) != exportOf(t, filepath.Join(dir, "whole")) {
		t.Error("other games than in one run")
	}
	// Without one, what is missing of it is told, and of no shard that stopped early.
	m, err := Merge(filepath.Join(dir, "part"), ShardFolders([]string{run})[1:])
	if err != nil || m.Missing != "shard 1 of 4 is missing" {
		t.Error(m, err)
	}
}

// What is missing is told by shard, and can be played by the joined run.
func TestMergeTellsMissingShards(t *testing.T) {
	e := testExperiment()
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	two := errors.New("two")
	for _, k := range []int{1, 3} {
		o := Options{Dir: run, Experiment: shardOf(e, k, 4), Player: fakePlayer}
		if k == 3 {
			o.Player = func(ctx context.Context, d Deal, sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
				n := 0
				return fakePlayer(ctx, d, func(r scheduler.Record) error {
					if n++; n > 2 {
						return two
					}
					return sink(r)
				}, progress)
			}
		}
		if _, err := Play(t.Context(), o); err != nil && !errors.Is(err, two) {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "joined")
	m, err := Merge(out, ShardFolders([]string{run}))
	want := Merged{Games: 12, Planned: 36, Missing: "shard 2 of 4 is missing; shard 3 of 4 ended 2 of 8 games; shard 4 of 4 is missing"}
	if err != nil || m != want {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := Play(t.Context(), Options{Dir: out, Experiment: e, Player: fakePlayer}); err != nil {
		t.Error(err)
	}
	// A part that has been joined and one more shard tell what both lack.
	if _, err := Play(t.Context(), Options{Dir: filepath.Join(dir, "more"), Experiment: shardOf(e, 2, 4), Player: fakePlayer}); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(dir, "part")
	if _, err := Merge(part, ShardFolders([]string{run})); err != nil {
		t.Fatal(err)
	}
	m, err = Merge(filepath.Join(dir, "both"), ShardFolders([]string{part, filepath.Join(dir, "more")}))
	if err != nil || m.Games != 22 || m.Missing != "shard 3 of 4 ended 2 of 8 games; shard 4 of 4 is missing" {
		t.Errorf("%+v, %v", m, err)
	}
}

// Each of these would make shards that cannot be joined, or mix runs.
func TestShardFoldersRefuse(t *testing.T) {
	e := testExperiment()
	other := e
	other.Weights = "bf16"
	for _, c := range []struct {
		name          string
		first, second Experiment
		spoil         func(t *testing.T, dir string)
		want          []string
	}{
		{"another number of shards", shardOf(e, 1, 4), shardOf(e, 2, 5), nil, []string{"holds an experiment in 4 shards, not in 5", "--run"}},
		{"another experiment", shardOf(e, 1, 4), shardOf(other, 2, 4), nil, []string{"holds shards of another experiment: weights is none there, bf16 here"}},
		{"the whole into shards", shardOf(e, 1, 4), e, nil, []string{"holds an experiment in shards: say which with --shard"}},
		{"a shard into the whole", e, shardOf(e, 1, 4), nil, []string{"holds a run in one piece"}},
		{"damaged", shardOf(e, 1, 4), shardOf(e, 2, 4), func(t *testing.T, dir string) { write(t, filepath.Join(dir, shardsName), "{") }, []string{"shards.json is damaged"}},
		{"newer", shardOf(e, 1, 4), shardOf(e, 2, 4), func(t *testing.T, dir string) { write(t, filepath.Join(dir, shardsName), `{"format": 99}`) }, []string{"shards.json has format 99"}},
		{"another shard's folder", shardOf(e, 1, 4), shardOf(e, 2, 4), func(t *testing.T, dir string) {
			from, to := shardOf(e, 1, 4).Shard.Folder(), shardOf(e, 2, 4).Shard.Folder()
			if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
				t.Fatal(err)
			}
		}, []string{"shard-0002-of-0004 holds another experiment: shard is 1 of 4 there, 2 of 4 here"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if _, err := Play(t.Context(), Options{Dir: dir, Experiment: c.first, Player: fakePlayer}); err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				c.spoil(t, dir)
			}
			before := exportOf(t, ShardFolders([]string{dir})[0])
			_, err := Play(t.Context(), Options{Dir: dir, Experiment: c.second, Player: fakePlayer})
			checkLine(t, err, c.want)
			if exportOf(t, ShardFolders([]string{dir})[0]) != before {
				t.Error("games were played all the same")
			}
		})
	}
	// Of two numbers nothing is joined.
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for dir, shard := range map[string]Experiment{a: shardOf(e, 1, 2), b: shardOf(e, 2, 3)} {
		if _, err := Play(t.Context(), Options{Dir: dir, Experiment: shard, Player: fakePlayer}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Merge(filepath.Join(t.TempDir(), "out"), ShardFolders([]string{a, b}))
	checkLine(t, err, []string{"shard-0001-of-0002 is shard 1 of 2 and ", "shard-0002-of-0003 is shard 2 of 3", "only shards of one number"})
	_, err = Open(a)
	checkLine(t, err, []string{a + " holds shards (1 by now) and no run: join them with selfplay merge"})
}

// However many shards begin at once, with whatever settings, those of one experiment
// alone play.
func TestShardsBeginAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var wg sync.WaitGroup
	errs := make([]error, 12)
	for k := range errs {
		e := shardOf(testExperiment(), k+1, len(errs))
		e.Seed += int64(k % 2)
		wg.Go(func() { _, errs[k] = Play(t.Context(), Options{Dir: dir, Experiment: e, Player: fakePlayer}) })
	}
	wg.Wait()
	f, err := readShardsFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	for k, err := range errs {
		if mine := f.Experiment.Seed == 1+int64(k%2); mine != (err == nil) {
			t.Errorf("shard %d with seed %d beside %d: %v", k+1, 1+k%2, f.Experiment.Seed, err)
		}
	}
	if n := len(shardsIn(dir)); n != len(errs)/2 {
		t.Errorf("%d shards", n)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != len(errs)/2+1 {
		t.Errorf("something else is left: %v", entries)
	}
}

// A report of a shard says that it is a part, in words and in JSON, and counts that
// part alone.
func TestReportOfAShard(t *testing.T) {
	e := shardOf(testExperiment(), 2, 5)
	dir := t.TempDir()
	sum, err := Play(t.Context(), Options{Dir: dir, Experiment: e, Player: fakePlayer})
	if err != nil {
		t.Fatal(err)
	}
	rep := sum.Report
	if rep.Planned != 8 || rep.Games != 8 || rep.ByGame["TicTacToe-v0"].Planned+rep.ByGame["Nim-v0"].Planned != 8 {
		t.Errorf("%d of %d games, %+v", rep.Games, rep.Planned, rep.ByGame)
	}
	var b strings.Builder
	if err := rep.WriteText(&b, sum.Dir); err != nil || !strings.HasPrefix(b.String(), "shard 2 of 5, a part of the experiment: selfplay merge joins the parts\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	data, err := json.Marshal(rep)
	if err != nil || !strings.Contains(string(data), `"shard":{"number":2,"of":5}`) {
		t.Errorf("%v\n%s", err, data)
	}
	b.Reset()
	if err := SideBySide([]*Report{rep, rep}).WriteText(&b); err != nil || !strings.Contains(b.String(), "8 of 8 games, shard 2 of 5, ") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if got := e.Describe(""); !strings.HasPrefix(got, "planned: 8 games: shard 2 of 5 of 36 games: 2 games x ") {
		t.Error(got)
	}
	if data, _ := json.Marshal(testExperiment()); strings.Contains(string(data), "shard") {
		t.Errorf("the whole experiment names a shard: %s", data)
	}
}

// Told to end soon, Play keeps what has ended and reads nothing more.
func TestHurry(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	o := Options{Dir: t.TempDir(), Experiment: testExperiment()}
	o.Player = func(ctx context.Context, d Deal, sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		ended := 0
		return fakePlayer(ctx, d, sink, func(p scheduler.Progress) {
			if ended++; ended == 10 {
				cancel(ErrHurry)
			}
		})
	}
	sum, err := Play(ctx, o)
	checkLine(t, err, []string{"stopped", "10 of 36 games have ended and are kept in " + o.Dir})
	if sum.Report != nil || sum.Games != 10 {
		t.Errorf("%d games, report %v", sum.Games, sum.Report)
	}
	// Nor does it where nothing is left to play.
	o.Player = fakePlayer
	if _, err := Play(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	sum, err = Play(ctx, o)
	checkLine(t, err, []string{"stopped"})
	if sum.Report != nil {
		t.Error("a report")
	}
}
