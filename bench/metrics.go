package bench

import "selfplay/scheduler"

// An Outcome is what the metrics need to know of one ended game.
type Outcome struct {
	Job     scheduler.Job
	Rewards [2]int  // of the seats: 1 won, -1 lost, 0 drawn
	Invalid [2]bool // the seat lost by a second invalid move in a row
}

func outcomeOf(r scheduler.Record) Outcome {
	return Outcome{Job: r.Job, Rewards: r.Result.Rewards, Invalid: r.Result.Invalid}
}

// A Tally counts the games of one ordered language pair by who won.
type Tally struct {
	Wins0 int // won by seat 0
	Wins1 int
	Draws int
}

// Games is the number of games counted.
func (t Tally) Games() int { return t.Wins0 + t.Wins1 + t.Draws }

// add counts one more game.
func (t *Tally) add(rewards [2]int) {
	switch {
	case rewards[0] > rewards[1]:
		t.Wins0++
	case rewards[0] < rewards[1]:
		t.Wins1++
	default:
		t.Draws++
	}
}

// A Matrix holds the results of one game: a tally for every ordered pair of
// languages (of seat 0, of seat 1) that was played.
type Matrix map[[2]string]Tally

// add counts an outcome.
func (m Matrix) add(o Outcome) {
	t := m[o.Job.Langs]
	t.add(o.Rewards)
	m[o.Job.Langs] = t
}

// Margin is the win-loss margin of language a over b, Delta(a,b) in section
// "Metrics" of the paper (arXiv 2608.25832): (wins - losses) / games, over the
// games (a,b) and (b,a) together, so that each language moves first equally
// often; draws count zero. It lies in [-1, 1] and Delta(b,a) = -Delta(a,b). It
// is false if no game of the pair was played, or if a is b: a language cannot
// beat itself, see FirstMover.
func (m Matrix) Margin(a, b string) (float64, bool) {
	ab, ba := m[[2]string{a, b}], m[[2]string{b, a}]
	n := ab.Games() + ba.Games()
	if n == 0 || a == b {
		return 0, false
	}
	won := ab.Wins0 + ba.Wins1
	lost := ab.Wins1 + ba.Wins0
	return float64(won-lost) / float64(n), true
}

// FirstMover is the margin of seat 0 over seat 1 where both play in language a:
// what moving first is worth, with no difference of language. False if no such
// game was played.
func (m Matrix) FirstMover(a string) (float64, bool) {
	t := m[[2]string{a, a}]
	if t.Games() == 0 {
		return 0, false
	}
	return float64(t.Wins0-t.Wins1) / float64(t.Games()), true
}

// MeanMargin is the mean margin of language a, mu(a) in the paper: the mean of
// Margin(a, b) over the other languages. Pairs without games are left out, so
// the mean of an unfinished run is over the pairs played so far.
func (m Matrix) MeanMargin(a string, langs []string) (float64, bool) {
	var margins []float64
	for _, b := range langs {
		if d, ok := m.Margin(a, b); ok {
			margins = append(margins, d)
		}
	}
	return mean(margins)
}

// Gap is the language gap of the paper's Table 2: the largest mean margin less
// the smallest. False with fewer than two languages.
func Gap(means []float64) (float64, bool) {
	if len(means) < 2 {
		return 0, false
	}
	low, high := means[0], means[0]
	for _, m := range means {
		low, high = min(low, m), max(high, m)
	}
	return high - low, true
}

// mean is false for no values.
func mean(values []float64) (float64, bool) {
	if len(values) == 0 {
		return 0, false
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values)), true
}
