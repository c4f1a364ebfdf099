package bench

import (
	"slices"

	"selfplay/scheduler"
)

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
func (m Matrix) MeanMargin(a string, labels []string) (float64, bool) {
	var margins []float64
	for _, b := range m.rivals(a, labels) {
		d, _ := m.Margin(a, b)
		margins = append(margins, d)
	}
	return mean(margins)
}

// rivals are the languages that the mean margin of a is over: those of another
// interface than a's that a has played, each reasoning in its own language. So the mean
// margins of zh+fr and of zh are over the same others, and can be compared.
func (m Matrix) rivals(a string, labels []string) []string {
	var others []string
	for _, b := range labels {
		if _, played := m.Margin(a, b); played && isRival(a, b) {
			others = append(others, b)
		}
	}
	return others
}

// isRival says whether the mean margin of a counts b.
func isRival(a, b string) bool { return isPlain(b) && InterfaceOf(b) != InterfaceOf(a) }

// Recover is the recovery of the paper's Table 3: what of the distance from the
// weak language's mean margin to the best one's a mean margin makes up. 1 is all
// of it; it is below 0 for one that is weaker still. False if the weak language
// is the best.
func Recover(mu, weak, best float64) (float64, bool) {
	if best <= weak {
		return 0, false
	}
	return (mu - weak) / (best - weak), true
}

// recoveries lists a row for every label with another language to reason in, from
// the mean margins of one game.
func recoveries(mu map[string]float64, labels []string) []Recovery {
	var rows []Recovery
	best, ok := strongest(mu, labels)
	for _, label := range labels {
		own, played := mu[label]
		floor, has := mu[InterfaceOf(label)]
		if isPlain(label) || !ok || !played || !has {
			continue
		}
		r := Recovery{Label: label, Interface: InterfaceOf(label), Best: best, Mu: own, MuFloor: floor, MuBest: mu[best]}
		if share, ok := Recover(own, floor, mu[best]); ok {
			r.Share = &share
		}
		rows = append(rows, r)
	}
	return rows
}

// strongest is the plain label with the largest mean margin.
func strongest(mu map[string]float64, labels []string) (string, bool) {
	best := ""
	for _, label := range labels {
		if v, ok := mu[label]; ok && isPlain(label) && (best == "" || v > mu[best]) {
			best = label
		}
	}
	return best, best != ""
}

// Gap is the language gap of the paper's Table 2: the largest mean margin less
// the smallest. False with fewer than two languages.
func Gap(means []float64) (float64, bool) {
	if len(means) < 2 {
		return 0, false
	}
	return slices.Max(means) - slices.Min(means), true
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
