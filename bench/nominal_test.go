package bench

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"selfplay/games"
	"selfplay/locales"
	"selfplay/scheduler"
)

// unjudged hides that a game is solved: judging random play on SimpleTak's board takes
// longer than playing it, and no interval is made of it.
type unjudged struct {
	games.Game
	games.Mover
}

// suitePlayer has random play in both seats, and opponents by their names, as bench
// does for --model builtin:random.
func suitePlayer(seed int64) Player {
	return OnEngine(scheduler.Config{
		Seed:     seed,
		Policies: map[string]scheduler.Policy{"": scheduler.Random{}, "builtin:random": scheduler.Random{}},
		New: func(j scheduler.Job) (games.Game, error) {
			spec, err := games.Lookup(j.Game)
			if err != nil {
				return nil, err
			}
			g, err := spec.New(locales.Embedded(), j.Langs, j.Seed)
			if err == nil && spec.Game == "SimpleTak" {
				g = unjudged{g, g.(games.Mover)}
			}
			return g, err
		},
	}, nil)
}

// playedReport plays an experiment without a run folder: the same plan, games and
// records, and the report that is made of those.
func playedReport(t *testing.T, e Experiment, player Player) *Report {
	t.Helper()
	c := newCollector(e)
	err := player(t.Context(), Deal{Jobs: e.Plan().Jobs(), Total: e.Plan().Len()}, c.add, func(scheduler.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	if c.rep.Games != e.Plan().Len() {
		t.Fatalf("%d games of %d", c.rep.Games, e.Plan().Len())
	}
	return c.report()
}

// stretches are intervals of 80 %, 95 % and 99.9 %, beside those that are printed, as
// far as those are normal.
var stretches = [3]float64{1.2815515655 / z95, 1, 3.2905267315 / z95}

// A coverage counts how many intervals hold what is true: those printed, and
// narrower and wider ones, which a test must be able to tell from them.
type coverage struct {
	held [3]int
	of   int
}

func (c *coverage) add(value float64, ci Interval, truth float64) {
	for i, stretch := range stretches {
		wider := Interval{value + stretch*(ci[0]-value), value + stretch*(ci[1]-value)}
		c.held[i] += oneIf(wider.Contains(truth))
	}
	c.of++
}

// coverages are by what the intervals are of.
type coverages map[string]*coverage

func (c coverages) of(name string) *coverage {
	if c[name] == nil {
		c[name] = &coverage{}
	}
	return c[name]
}

// narrowed is the paper's suite with three of the eight languages, which take turns
// over the seeds, and few games of each cell.
func narrowed(seed int) Experiment {
	suite := Suites[0]
	e := Experiment{Games: suite.Games, N: 5, Seed: int64(seed), Model: Model{Name: "builtin:random"}}
	for _, step := range []int{0, 1, 3} {
		e.Langs = append(e.Langs, suite.Langs[(seed+step)%len(suite.Langs)])
	}
	return e
}

// Random play knows no languages: every margin, mean margin, gap and strength is truly
// zero, both roles being counted, however much moving first is worth. Over 200 runs of
// the whole suite the intervals that the report prints hold zero at their rate, in
// every game and every language, which intervals of 80 % and of 99.9 % would not.
//
// A gap is never below zero, and its interval may hold it at the lower end only. What
// moving first is worth is not zero: it is what all runs together say. Of Kuhn Poker it
// is known that cells share their deals, so that intervals of margins are too wide.
func TestRandomSuite(t *testing.T) {
	const runs = 200
	var reports []*Report
	truth, seats := coverages{}, map[string]Tally{}
	for seed := range runs {
		e := narrowed(seed)
		rep := playedReport(t, e, suitePlayer(e.Seed))
		rep.countZeros(truth)
		for game, c := range rep.ByGame {
			sum := seats[game]
			seats[game] = Tally{sum.Wins0 + c.Wins0, sum.Wins1 + c.Wins1, sum.Draws + c.Draws}
		}
		reports = append(reports, rep)
		if seed%4 == 0 {
			e.Opponents = []string{"builtin:random"}
			playedReport(t, e, suitePlayer(e.Seed)).countOpponents(truth)
		}
	}
	for _, rep := range reports {
		for game, sum := range seats {
			worth := float64(sum.Wins0-sum.Wins1) / float64(sum.Games())
			truth.of("moving first").add(rep.SeatMargin[game], rep.SeatMarginCI[game], worth)
			for lang, ci := range rep.FirstMoverCI[game] {
				truth.of("moving first, one language").add(rep.FirstMover[game][lang], ci, worth)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(truth)) {
		truth[name].check(t, name)
	}
	if n := len(Suites[0].Langs); len(truth) != 17+n {
		t.Errorf("%d kinds of intervals", len(truth))
	}
}

// check says whether the rate is one that intervals of 95 % have by chance, and those of
// 80 % and 99.9 % have not. With five games a cell the shares that are drawn from are
// known so badly that intervals are up to 5 % too narrow, which costs 1 % of cases.
func (c *coverage) check(t *testing.T, name string) {
	t.Helper()
	n := float64(c.of)
	if name == "mean margin" || strings.HasSuffix(name, "over the games") || name == "strength" {
		n *= 2. / 3 // three sum to zero
	}
	bound := 3.5 * math.Sqrt(0.95*0.05/n)
	low, high := 0.95-bound-0.01, 0.95+bound
	rate := func(stretch int) float64 { return float64(c.held[stretch]) / float64(c.of) }
	t.Logf("%-40s %5d: %.4f, from %.4f to %.4f; of 80 %% %.4f, of 99.9 %% %.4f", name, c.of, rate(1), low, high, rate(0), rate(2))
	wide := strings.HasSuffix(name, "KuhnPoker-v0") || name == "gap over the games" // of 200 intervals 99.9 % is no miracle
	if rate(1) < low || rate(1) > high && !wide {
		t.Errorf("%s: the truth is held by %.4f of %d intervals, not by 0.95", name, rate(1), c.of)
	}
	if rate(0) >= low || rate(2) <= high && !wide {
		t.Errorf("%s: %d intervals can't tell 95 %% from 80 %% or 99.9 %%", name, c.of)
	}
}

// countZeros counts each interval of what is truly zero, and of Kuhn Poker what is
// truly one half.
func (rep *Report) countZeros(truth coverages) {
	for _, game := range rep.Experiment.Games {
		shared := game == "KuhnPoker-v0"
		for i, a := range rep.Labels {
			for _, b := range rep.Labels[i+1:] {
				truth.of("margin in "+game).add(rep.Margins[game][a][b], rep.MarginsCI[game][a][b], 0)
			}
			if !shared {
				truth.of("mean margin").add(rep.Mu[game][a], rep.MuCI[game][a], 0)
				truth.of("mean margin of "+a).add(rep.Mu[game][a], rep.MuCI[game][a], 0)
			}
		}
		gap := rep.Gap[game] // as if it could be negative
		reach := rep.GapCI[game][1] - gap
		truth.of("gap").add(gap, Interval{gap - reach, gap + reach}, 0)
		for _, s := range rep.Ratings[game].Langs {
			truth.of("strength").add(s.Elo, s.CI, 0)
		}
	}
	for i, a := range rep.Labels {
		for _, b := range rep.Labels[i+1:] {
			truth.of("margin over the games").add(rep.MarginsMean[a][b], rep.MarginsMeanCI[a][b], 0)
		}
		truth.of("mean margin over the games").add(rep.MuMean[a], rep.MuMeanCI[a], 0)
	}
	gap, reach := *rep.GapMean, rep.GapMeanCI[1]-*rep.GapMean
	truth.of("gap over the games").add(gap, Interval{gap - reach, gap + reach}, 0)
	for _, s := range rep.RatingAll.Langs {
		truth.of("strength over the games").add(s.Elo, s.CI, 0)
	}
	for _, k := range rep.Kuhn["KuhnPoker-v0"] {
		for _, s := range []Share{k.BluffJ, k.BetQ, k.ValueK, k.CallK, k.FoldK} {
			if ci, ok := s.Interval(); ok {
				v, _ := s.Value()
				truth.of("share of bets and calls").add(v, ci, 0.5)
			}
		}
	}
}

// countOpponents counts those of random play against random play.
func (rep *Report) countOpponents(truth coverages) {
	for game, byOpponent := range rep.Opponents {
		if game == "KuhnPoker-v0" {
			continue
		}
		for _, v := range byOpponent["builtin:random"] {
			truth.of("margin over an opponent").add(v.Margin, v.CI, 0)
		}
	}
}
