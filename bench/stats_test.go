package bench

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Two games, won with 0.5, drawn with 0.3, lost with 0.2:
//
//	-2: 0.04   -1: 2*0.06 = 0.12   0: 0.09 + 2*0.1 = 0.29   1: 2*0.15 = 0.3   2: 0.25
func TestBalancesByHand(t *testing.T) {
	one := []float64{0.2, 0.3, 0.5}
	for i, want := range []float64{0.04, 0.12, 0.29, 0.30, 0.25} {
		if got := balances(2, one); !near(got[i], want) {
			t.Errorf("two games: %v", got)
		}
	}
	// Mean n(p-q), variance n(p+q-(p-q)^2).
	for _, n := range []int{1, 3, 7, 40, 399} {
		mean, square, all := 0.0, 0.0, 0.0
		for i, p := range balances(n, one) {
			mean, square, all = mean+p*float64(i-n), square+p*float64(i-n)*float64(i-n), all+p
		}
		if math.Abs(all-1) > 1e-9 || math.Abs(mean-0.3*float64(n)) > 1e-9 || math.Abs(square-mean*mean-0.61*float64(n)) > 1e-6 {
			t.Errorf("%d games: sum %v, mean %v, variance %v", n, all, mean, square-mean*mean)
		}
	}
}

// What is drawn has the mean 0 and the variance of the tally with a win and a
// loss more: of 400 games 251-101-50 of 402, of 4,000 nearly the same a game.
func TestErrorsOf(t *testing.T) {
	for _, tally := range []Tally{{250, 100, 50}, {2500, 1000, 500}, {3, 0, 0}} {
		n := float64(tally.Games())
		p, q := float64(tally.Wins0+1)/(n+2), float64(tally.Wins1+1)/(n+2)
		want := n * (p + q - (p-q)*(p-q))
		sum, squares := 0.0, 0.0
		for _, e := range errorsOf(tally, rand.New(rand.NewPCG(1, 1))) {
			sum, squares = sum+e, squares+e*e
		}
		if math.Abs(sum/draws) > 4*math.Sqrt(want/draws) || math.Abs(squares/draws/want-1) > 0.12 {
			t.Errorf("%v: mean %v, variance %v, want %v", tally, sum/draws, squares/draws, want)
		}
	}
}

// randomTally draws n games of which seat 0 wins 55 %, seat 1 35 %.
func randomTally(rng *rand.Rand, n int) Tally {
	var t Tally
	for range n {
		switch u := rng.Float64(); {
		case u < 0.55:
			t.Wins0++
		case u < 0.90:
			t.Wins1++
		default:
			t.Draws++
		}
	}
	return t
}

// Over 200 runs of random play, where every margin, mean margin and gap is truly
// zero, the intervals hold zero in about 95 % of cases; those of gaps, and of all
// pairs together after Holm's correction, in no fewer.
func TestCoverage(t *testing.T) {
	labels := []string{"a", "b", "c", "d"}
	const runs, n = 200, 40
	var margin, mu, muMean, gap, gapMean, pairs, seat [2]int // covered, of
	count := func(c *[2]int, ok bool) { c[0], c[1] = c[0]+oneIf(ok), c[1]+1 }
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 7))
		c := newCollector(Experiment{Games: []string{"g", "h"}, Langs: labels, N: n})
		for _, game := range []string{"g", "h"} {
			for _, a := range labels {
				for _, b := range labels {
					c.matrices[game][[2]string{a, b}] = randomTally(rng, n)
				}
			}
			for index := range n {
				luck := []float64{0.2, 0.8}[rng.IntN(2)]
				for range 12 { // the deal's luck is that of all games of its index
					rewards := [][2]int{{1, -1}, {-1, 1}}[oneIf(rng.Float64() < luck)]
					c.first[game].add(index, n, false, rewards)
				}
			}
		}
		rep := c.report()
		for _, game := range []string{"g", "h"} {
			for i, a := range labels {
				for _, b := range labels[i+1:] {
					count(&margin, rep.MarginsCI[game][a][b].Contains(0))
				}
				count(&mu, rep.MuCI[game][a].Contains(0))
			}
			count(&gap, rep.GapCI[game].Contains(0))
			if rep.GapCI[game].Contains(0) != (rep.Tests[game].P > 0.05) {
				t.Errorf("gap %v in %v, p %v", rep.Gap[game], rep.GapCI[game], rep.Tests[game].P)
			}
			held := true
			for _, p := range rep.Tests[game].Pairs {
				held = held && p.PHolm > 0.05
			}
			count(&pairs, held)
			count(&seat, rep.SeatMarginCI[game].Contains(0))
		}
		for _, a := range labels {
			count(&muMean, rep.MuMeanCI[a].Contains(0))
		}
		count(&gapMean, rep.GapMeanCI.Contains(0))
	}
	for _, c := range []struct {
		name        string
		of          [2]int
		independent int // of these; mean margins of one game sum to zero
		atLeast     bool
	}{
		{"margins", margin, margin[1], false}, {"mean margins", mu, 2 * runs, false}, {"mean margins over games", muMean, runs, false},
		{"gaps", gap, gap[1], true}, {"mean gap", gapMean, runs, true}, {"pairs after Holm", pairs, pairs[1], true},
		{"moving first, deals shared", seat, seat[1], false},
	} {
		rate := float64(c.of[0]) / float64(c.of[1])
		t.Logf("%s: %.4f of %d", c.name, rate, c.of[1])
		bound := 3 * math.Sqrt(0.95*0.05/float64(c.independent))
		if rate < 0.95-bound || !c.atLeast && rate > 0.95+bound {
			t.Errorf("%s: covered in %.4f of %d, want 0.95 within %.4f", c.name, rate, c.of[1], bound)
		}
	}
}

// Intervals also cover margins that are not zero, near the edge too.
func TestCoverageOfUnequal(t *testing.T) {
	for _, p := range []float64{0.6, 0.85, 0.97} {
		covered, runs := 0, 400
		rng := rand.New(rand.NewPCG(3, uint64(1000*p)))
		for range runs {
			ab, ba := Tally{}, Tally{}
			for range 40 {
				ab.add([][2]int{{-1, 1}, {1, -1}}[oneIf(rng.Float64() < p)])
				ba.add([][2]int{{1, -1}, {-1, 1}}[oneIf(rng.Float64() < p)])
			}
			m := Matrix{{"a", "b"}: ab, {"b", "a"}: ba}
			v, _ := m.Margin("a", "b")
			e := resample("g", m, []string{"a", "b"})
			covered += oneIf(around(v, e.margins[[2]string{"a", "b"}], -1, 1).Contains(2*p - 1))
		}
		if rate := float64(covered) / float64(runs); rate < 0.92 {
			t.Errorf("p %v: covered in %.3f", p, rate)
		}
	}
}

// Where a language won all of its few games, the interval says that they are few.
func TestIntervalOfCertainty(t *testing.T) {
	for _, c := range []struct {
		n        int
		from, to float64
	}{{3, -0.5, 0.5}, {20, 0.7, 0.92}, {400, 0.98, 0.999}} {
		m := Matrix{{"a", "b"}: {Wins0: c.n}, {"b", "a"}: {Wins1: c.n}}
		ci := around(1, resample("g", m, []string{"a", "b"}).margins[[2]string{"a", "b"}], -1, 1)
		if ci[1] != 1 || ci[0] < c.from || ci[0] > c.to {
			t.Errorf("%d games: %v", 2*c.n, ci)
		}
	}
}

// Worked out by hand:
//
//	2-0-0 against 0-2-0: four games, two won by seat 0. Of the 6 ways to deal them
//	to two cells of two, 1 is this and 1 its mirror: 2/6.
//	1-0-0 and 0-1-0: both ways are as far: 1.
//	3-0-0 and 0-3-0: 20 ways, 2 as far: 0.1.
//	2-0-1 and 0-1-2: six games, 2 won, 1 lost, 3 drawn: seat 0's balance in three
//	of them is expected to be 1/2, and is 2. As far off are 2 and -1:
//	2: both wins and a draw: 3 ways. -1: the loss and two draws: 3 ways. 6/20.
func TestPairPByHand(t *testing.T) {
	for _, c := range []struct {
		ab, ba Tally
		want   float64
	}{
		{Tally{2, 0, 0}, Tally{0, 2, 0}, 1. / 3},
		{Tally{1, 0, 0}, Tally{0, 1, 0}, 1},
		{Tally{3, 0, 0}, Tally{0, 3, 0}, 0.1},
		{Tally{2, 0, 1}, Tally{0, 1, 2}, 0.3},
		{Tally{5, 1, 0}, Tally{5, 1, 0}, 1}, // moving first wins: no difference of languages
		{Tally{9, 0, 0}, Tally{}, 1},        // one direction tells nothing
		{Tally{0, 0, 9}, Tally{0, 0, 9}, 1},
		{Tally{}, Tally{}, 1},
	} {
		if got := PairP(c.ab, c.ba); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v, %v: %v, want %v", c.ab, c.ba, got, c.want)
		}
		if a, b := PairP(c.ab, c.ba), PairP(c.ba, c.ab); math.Abs(a-b) > 1e-9 {
			t.Errorf("%v, %v: %v, the other way round %v", c.ab, c.ba, a, b)
		}
	}
	// Beyond what is counted, the normal distribution joins on.
	counted, approximated := PairP(Tally{520, 400, 80}, Tally{480, 440, 80}), PairP(Tally{521, 400, 80}, Tally{480, 440, 80})
	if math.Abs(counted-approximated) > 0.01 || counted < 0.02 || counted > 0.2 {
		t.Errorf("1,000 games %v, 1,001 games %v", counted, approximated)
	}
}

// 0.01 of 4, 0.02 of 3, 0.03 of 2 is under the one before, 0.9 of 1.
func TestHolmByHand(t *testing.T) {
	got := Holm([]float64{0.9, 0.01, 0.03, 0.02})
	for i, want := range []float64{0.9, 0.04, 0.06, 0.06} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%v, want %v", got[i], want)
		}
	}
	if len(Holm(nil)) != 0 || Holm([]float64{0.6, 0.7})[0] != 1 {
		t.Error("of none, or above 1")
	}
}

// Two languages, 80 games: a wins 30 of 40 in each seat. Without draws and with
// seats that are worth the same, the odds are 3 to 1: 400 log10(3) = 190.85 Elo
// points between them, half to each side. Var of the logit is 1/60 + 1/20, and of
// half of it a quarter: 0.1291 logits or 22.4 points.
func TestRatingByHand(t *testing.T) {
	r, ok := rate([]Matrix{{{"a", "b"}: {30, 10, 0}, {"b", "a"}: {10, 30, 0}}}, []string{"a", "b", "c"})
	if !ok || len(r.Langs) != 2 || r.Langs[0].Lang != "a" {
		t.Fatalf("%+v %v", r, ok)
	}
	a, b := r.Langs[0], r.Langs[1]
	if math.Abs(a.Elo-95.42) > 0.5 || math.Abs(a.Elo+b.Elo) > 1e-3 || math.Abs(a.SE-22.43) > 0.2 || math.Abs(r.First) > 1e-3 {
		t.Errorf("%+v", r)
	}
	if a.Ranks != [2]int{1, 1} || b.Ranks != [2]int{2, 2} || len(a.Ties) != 0 {
		t.Errorf("%+v", r.Langs)
	}
}

// Zero has no sign, neither as the strength of what is in the middle nor at the end of
// an interval: files are read by programs, and pages by people.
func TestZeroHasNoSign(t *testing.T) {
	for n := 1; n <= 20; n++ {
		r, _ := rate([]Matrix{{{"a", "b"}: {n, 0, 1}, {"b", "a"}: {1, n, 0}, {"c", "b"}: {0, n, 1}, {"b", "c"}: {n, 1, 0}}}, []string{"a", "b", "c"})
		if middle := r.Langs[1]; middle.Lang != "b" || middle.Elo != 0 || math.Signbit(middle.Elo) {
			t.Errorf("%d: %+v", n, r.Langs)
		}
	}
	if i := (Interval{0, 0.5}).mirrored(); i != (Interval{-0.5, 0}) || math.Signbit(i[1]) {
		t.Errorf("%v", i)
	}
}

// The fit finds what games were drawn from: strengths, the worth of moving first,
// and who can't be told apart.
func TestRatingRecovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	labels, strength := []string{"a", "b", "c"}, []float64{0.5, -0.25, -0.25}
	const first, draw = 0.4, -1.0
	var matrices []Matrix
	for range 2 {
		m := Matrix{}
		for i, a := range labels {
			for j, b := range labels {
				w0, w1, d := math.Exp(strength[i]+first/2), math.Exp(strength[j]-first/2), math.Exp((strength[i]+strength[j])/2+draw)
				var tally Tally
				for range 4000 {
					switch u := rng.Float64() * (w0 + w1 + d); {
					case u < w0:
						tally.Wins0++
					case u < w0+w1:
						tally.Wins1++
					default:
						tally.Draws++
					}
				}
				m[[2]string{a, b}] = tally
			}
		}
		matrices = append(matrices, m)
	}
	r, ok := rate(matrices, labels)
	if !ok || math.Abs(r.First-first*eloALogit) > 6 {
		t.Fatalf("%+v %v", r, ok)
	}
	for _, s := range r.Langs {
		want := map[string]float64{"a": 0.5, "b": -0.25, "c": -0.25}[s.Lang] * eloALogit
		if math.Abs(s.Elo-want) > 4*s.SE || s.SE < 1 || s.SE > 5 {
			t.Errorf("%+v, want %v", s, want)
		}
	}
	if a, b := r.Langs[0], r.Langs[1]; a.Lang != "a" || a.Ranks != [2]int{1, 1} || b.Ranks != [2]int{2, 3} || len(b.Ties) != 1 {
		t.Errorf("%+v", r.Langs)
	}
}

// A language that won everything, languages that never met, and one that did not play.
func TestRatingStaysFinite(t *testing.T) {
	r, ok := rate([]Matrix{{{"a", "b"}: {400, 0, 0}, {"b", "a"}: {0, 400, 0}, {"c", "d"}: {5, 5, 5}}}, []string{"a", "b", "c", "d", "e"})
	if !ok || len(r.Langs) != 4 || r.Langs[0].Lang != "a" {
		t.Fatalf("%+v %v", r, ok)
	}
	for _, s := range r.Langs {
		if math.IsNaN(s.Elo) || math.Abs(s.Elo) > 5000 || !(s.SE > 0 && s.SE < 5000) {
			t.Errorf("%+v", s)
		}
	}
	if _, ok := rate([]Matrix{{{"a", "a"}: {5, 5, 5}}}, []string{"a", "b"}); ok {
		t.Error("a rating of one language")
	}
	if _, ok := rate(nil, nil); ok {
		t.Error("a rating of nothing")
	}
}

// 8 of 10: 0.4902 to 0.9433 by Wilson's formula; 0 of 10: up to 0.2775.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		s    Share
		want Interval
	}{{Share{8, 10}, Interval{0.4902, 0.9433}}, {Share{0, 10}, Interval{0, 0.2775}}, {Share{10, 10}, Interval{0.7225, 1}}} {
		ci, ok := c.s.Interval()
		if !ok || math.Abs(ci[0]-c.want[0]) > 1e-4 || math.Abs(ci[1]-c.want[1]) > 1e-4 {
			t.Errorf("%v: %v, want %v", c.s, ci, c.want)
		}
	}
	data, err := Share{}.MarshalJSON()
	if string(data) != `{"count":0,"of":0}` || err != nil {
		t.Errorf("%s %v", data, err)
	}
}

// Four deals of two games: 2 won, one each, one each, 2 won. The margin is 4/8. Off it
// are 1, -1, -1 and 1, squares 4, times 4/3 for the mean being theirs: 5.333. With a win
// and a loss more, 2+2/4 of squares: half width 3.182 sqrt(7.833)/10 = 0.89, of 3
// degrees of freedom. Each game alone: off are six times 1/2 and twice -3/2, squares 6,
// times 8/7, and 2.5: 2.365 sqrt(9.357)/10 = 0.723.
func TestDealsByHand(t *testing.T) {
	for _, c := range []struct {
		alone bool
		half  float64
	}{{false, 0.89}, {true, 0.723}} {
		var d deals
		for game, won := range []int{1, 1, 1, -1, -1, 1, 1, 1} {
			if err := d.add([]int{0, 1, 2, 4}[game/2], 5, c.alone, [2]int{won, -won}); err != nil {
				t.Fatal(err)
			}
		}
		m, ci, ok := d.margin()
		if !ok || m != 0.5 || math.Abs(ci[0]-(0.5-c.half)) > 0.01 || ci[1] != 1 {
			t.Errorf("%v %v %v", m, ci, ok)
		}
		for _, index := range []int{-1, 5} {
			if d.add(index, 5, c.alone, [2]int{}) == nil {
				t.Errorf("index %d of 5 was taken", index)
			}
		}
	}
	for freedom, want := range map[float64]float64{4: 2.776, 10: 2.228, 30: 2.042, 1000: 1.962} {
		if got := t95(freedom); math.Abs(got-want) > 0.01 {
			t.Errorf("%v degrees of freedom: %v, want %v", freedom, got, want)
		}
	}
	for game, want := range map[string]bool{"KuhnPoker-v0-long": false, "Nim-v0": true, "TicTacToe-v0": true} {
		if dealsNothing(game) != want {
			t.Errorf("%s deals nothing: %v", game, !want)
		}
	}
}

// 0.2 lies half way between -0.2 and 0.6.
func TestRecoverByHand(t *testing.T) {
	if v, ok := Recover(0.2, -0.2, 0.6); !ok || !near(v, 0.5) {
		t.Errorf("%v %v", v, ok)
	}
	if v, ok := Recover(-0.4, -0.2, 0.6); !ok || !near(v, -0.25) {
		t.Errorf("%v %v", v, ok)
	}
	if _, ok := Recover(0, 0.1, 0.1); ok {
		t.Error("a recovery to where it is already")
	}
}
