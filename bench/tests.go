package bench

import (
	"cmp"
	"math"
	"slices"
)

// PairP tests whether two languages differ, from the tallies of the games (A,B)
// and (B,A): the chance of a margin at least as far from what is expected if it
// made no difference which of them sits where. Then the games of both cells are
// of one kind, and every way of dealing them out to the cells is as likely: a
// permutation test, which knows of moving first and of draws and assumes
// neither. All ways are counted up to a thousand games a cell; beyond, the
// number of seat 0's wins less losses in a cell is as good as normal.
//
// It is 1 unless both cells were played. Games of one index share a deal, and
// luck of the deal cancels between the cells: p is then rather too large.
func PairP(ab, ba Tally) float64 {
	n1, n := ab.Games(), ab.Games()+ba.Games()
	won, lost := ab.Wins0+ba.Wins0, ab.Wins1+ba.Wins1
	if n1 == 0 || n1 == n || won+lost == 0 {
		return 1
	}
	expected := float64(n1) * float64(won-lost) / float64(n)
	far := math.Abs(float64(ab.Wins0-ab.Wins1)-expected) - 1e-9
	if n1 > 1000 || n-n1 > 1000 {
		m := float64(won-lost) / float64(n)
		variance := float64(n1) * float64(n-n1) / float64(n-1) * (float64(won+lost)/float64(n) - m*m)
		return math.Erfc(max(0, far) / math.Sqrt(2*max(variance, 1e-300)))
	}
	logs := make([]float64, n+1) // of factorials
	for i := 2; i <= n; i++ {
		logs[i] = logs[i-1] + math.Log(float64(i))
	}
	choose := func(n, k int) float64 { return logs[n] - logs[k] - logs[n-k] }
	p, all, drawn := 0.0, choose(n, n1), n-won-lost
	for i := range min(won, n1) + 1 {
		for j := max(0, n1-i-drawn); j <= min(lost, n1-i); j++ {
			if math.Abs(float64(i-j)-expected) >= far {
				p += math.Exp(choose(won, i) + choose(lost, j) + choose(drawn, n1-i-j) - all)
			}
		}
	}
	return min(1, p)
}

// Holm corrects p-values for being many: those that stay under 0.05 hold
// together, with a chance of 5 % that any of them is wrong.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out, last := make([]float64, len(p)), 0.0
	for rank, i := range order {
		last = max(last, min(1, p[i]*float64(len(p)-rank)))
		out[i] = last
	}
	return out
}

// pairTests compares each pair of labels that played each other.
func pairTests(m Matrix, labels []string) []PairTest {
	tests := []PairTest{}
	var p []float64
	for i, a := range labels {
		for _, b := range labels[i+1:] {
			if margin, ok := m.Margin(a, b); ok {
				test := PairTest{A: a, B: b, Margin: margin, P: PairP(m[[2]string{a, b}], m[[2]string{b, a}])}
				tests, p = append(tests, test), append(p, test.P)
			}
		}
	}
	for i, v := range Holm(p) {
		tests[i].PHolm = v
	}
	return tests
}
