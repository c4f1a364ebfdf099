package bench

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// The 95 % intervals of margins, and of what is made of them, are percentile
// bootstrap intervals over games, stratified by cell: a cell is a game and an
// ordered pair of languages, and as many games are drawn from each as were
// played. All that counts of a game is who won, so drawing n games with
// replacement is drawing a cell's wins, losses and draws from the multinomial
// distribution of its tally, and margins take of these only wins less losses: one
// draw a cell, however many games, from the distribution of that balance.
//
// Two things are better than in the plain bootstrap. A cell that was won
// throughout has no spread to draw from, though it may be of three games: one win
// and one loss are added to the shares that are drawn from, as Agresti and Coull
// do for proportions. And what that moves the mean by is taken off again: only
// the errors are of the draws, the estimate is that of the games. Margins are
// means of many games with little skew, so corrected percentiles (BCa) would
// move the ends by less than the draws' own error.
//
// Games of one index share a deal in all cells, which matters in Kuhn Poker
// alone: the other games deal nothing. A margin sets a language's games in seat 0
// against those in seat 1, so luck that a deal gives to a seat cancels: intervals
// of margins, mean margins, gaps and of differences between languages are then
// rather too wide than too narrow. It does not cancel in what moving first is
// worth, whose intervals are therefore over deals, see deals.

const (
	// draws of the bootstrap: the ends of an interval are then known to some 2 %
	// of its width.
	draws = 2000

	countedCell = 1000 // games

	z95 = 1.959963984540054 // the normal distribution has 2.5 % above it
)

// errorsOf draws how far chance moves wins less losses of seat 0 in a cell, in
// games. Up to countedCell games it draws from their exact distribution; sums of
// more are as good as normal.
func errorsOf(t Tally, rng *rand.Rand) []float64 {
	errors := make([]float64, draws)
	n := t.Games()
	if n == 0 {
		return errors
	}
	won, lost := float64(t.Wins0+1)/float64(n+2), float64(t.Wins1+1)/float64(n+2)
	mean := float64(n) * (won - lost)
	if n > countedCell {
		sd := math.Sqrt(float64(n) * (won + lost - (won-lost)*(won-lost)))
		for i := range errors {
			errors[i] = sd * rng.NormFloat64()
		}
		return errors
	}
	upTo := balances(n, []float64{lost, max(0, 1-won-lost), won})
	for i := 1; i < len(upTo); i++ {
		upTo[i] += upTo[i-1]
	}
	for i := range errors {
		at, _ := slices.BinarySearch(upTo, rng.Float64()*upTo[len(upTo)-1])
		errors[i] = float64(at-n) - mean
	}
	return errors
}

// balances are the chances that n games, each lost, drawn or won with the chances
// of one, have a balance of -n, ..., n.
func balances(n int, one []float64) []float64 {
	if n == 1 {
		return slices.Clone(one)
	}
	half := balances(n/2, one)
	all := convolve(half, half)
	if n%2 == 1 {
		all = convolve(one, all)
	}
	return all
}

// convolve gives the chances of sums.
func convolve(a, b []float64) []float64 {
	sums := make([]float64, len(a)+len(b)-1)
	for i, p := range a {
		for j, q := range b {
			sums[i+j] += p * q
		}
	}
	return sums
}

// around is the interval of a value from the errors that chance makes, within
// low and high.
func around(value float64, errors []float64, low, high float64) Interval {
	sorted := slices.Clone(errors)
	slices.Sort(sorted)
	at := func(q float64) float64 { return sorted[int(math.Round(q*float64(len(sorted)-1)))] }
	return Interval{max(low, min(high, value+at(0.025))), min(high, max(low, value+at(0.975)))}
}

// mirrored is the interval of the same value with its sign turned, of which 0 has none.
func (i Interval) mirrored() Interval { return Interval{0 - i[1], 0 - i[0]} }

// pairIntervals are those of the margins of each label over each other one.
func pairIntervals(labels []string, margins map[string]map[string]float64, errors func(a, b string) []float64) map[string]map[string]Interval {
	out := map[string]map[string]Interval{}
	for _, a := range labels {
		out[a] = map[string]Interval{}
		for b, v := range margins[a] {
			if other, ok := out[b][a]; ok {
				out[a][b] = other.mirrored()
			} else {
				out[a][b] = around(v, errors(a, b), -1, 1)
			}
		}
	}
	return out
}

// within is the interval of a gap. The gap of equal languages is not negative
// either, so its errors do not scatter around it. But two gaps never differ by
// more than the spread of the errors of all means, so gap and true gap differ by
// less than what 95 % of the spreads keep under (as in Tukey's test of ranges).
// This covers in at least 95 % of cases, also where all languages are equal.
func within(gap float64, spreads []float64) Interval {
	sorted := slices.Sorted(slices.Values(spreads))
	reach := sorted[int(math.Ceil(0.95*float64(len(sorted))))-1]
	low := gap - reach
	if low < 1e-12 { // sums are rounded
		low = 0
	}
	return Interval{low, min(2, gap+reach)}
}

// exceeds is the p-value of a gap: how often chance alone makes a spread as
// large.
func exceeds(gap float64, spreads []float64) float64 {
	n := 1
	for _, s := range spreads {
		if s >= gap-1e-12 {
			n++
		}
	}
	return float64(n) / float64(len(spreads)+1)
}

// addTo adds errors times a weight to a sum, which is made if it is nil.
func addTo(sum, errors []float64, weight float64) []float64 {
	if sum == nil {
		sum = make([]float64, len(errors))
	}
	for i, e := range errors {
		sum[i] += weight * e
	}
	return sum
}

// spreads are, for each draw, the largest error less the smallest.
func spreads(errors map[string][]float64) []float64 {
	out := make([]float64, draws)
	for i := range out {
		low, high := math.Inf(1), math.Inf(-1)
		for _, e := range errors {
			low, high = min(low, e[i]), max(high, e[i])
		}
		out[i] = high - low
	}
	return out
}

// generator is the source of a game's draws: the same for every report.
func generator(game string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(game))
	return rand.New(rand.NewPCG(1, h.Sum64()))
}

// errorsByGame are the errors of one game's margins and mean margins, and the
// spread of the latter.
type errorsByGame struct {
	margins map[[2]string][]float64
	mu      map[string][]float64
	spread  []float64 // nil with fewer than two plain labels
}

// resample draws the errors of one game.
func resample(game string, m Matrix, labels []string) errorsByGame {
	rng := generator(game)
	cells := map[[2]string][]float64{}
	for _, a := range labels {
		for _, b := range labels {
			if pair := [2]string{a, b}; a != b && m[pair].Games() > 0 {
				cells[pair] = errorsOf(m[pair], rng)
			}
		}
	}
	e := errorsByGame{margins: map[[2]string][]float64{}, mu: map[string][]float64{}}
	for _, a := range labels {
		for _, b := range labels {
			ab, ba := [2]string{a, b}, [2]string{b, a}
			n := float64(m[ab].Games() + m[ba].Games())
			if a == b || n == 0 {
				continue
			}
			var sum []float64
			sum = addTo(sum, orZero(cells[ab]), 1/n)
			e.margins[ab] = addTo(sum, orZero(cells[ba]), -1/n)
		}
	}
	plain := map[string][]float64{}
	for _, a := range labels {
		rivals := m.rivals(a, labels)
		for _, b := range rivals {
			e.mu[a] = addTo(e.mu[a], e.margins[[2]string{a, b}], 1/float64(len(rivals)))
		}
		if len(rivals) > 0 && isPlain(a) {
			plain[a] = e.mu[a]
		}
	}
	if len(plain) > 1 {
		e.spread = spreads(plain)
	}
	return e
}

func orZero(errors []float64) []float64 {
	if errors == nil {
		return make([]float64, draws)
	}
	return errors
}
