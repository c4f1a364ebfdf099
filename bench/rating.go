package bench

import (
	"cmp"
	"math"
	"slices"
)

// The strengths are those of Davidson's model (1970), Bradley and Terry's with
// draws, and with what moving first is worth. With strengths a and b of seat 0
// and seat 1, in logits, a game is won by seat 0, by seat 1, or drawn with
// chances in the ratio of
//
//	exp(a + first/2)   exp(b - first/2)   exp((a+b)/2 + draw)
//
// first and draw are of the game; a strength is of the language, in one game or
// in several. Newton's method finds the most likely values. Games of a language
// with itself tell of first and draw. A weak pull towards zero, of ratingPull,
// keeps the values finite where a language won everything, and makes the
// strengths sum to zero; with as few as ten games it moves nothing that shows.
//
// Standard errors take the games to be independent. Where they share deals (Kuhn
// Poker), those of strengths are rather too large, as in intervals.
const (
	ratingPull = 1.0 / 25 // one over the square of its standard deviation, 5 logits
	eloALogit  = 400 / math.Ln10
)

// rate fits the strengths of the labels to one or more games; false if fewer
// than two labels have played each other.
func rate(matrices []Matrix, labels []string) (*Rating, bool) {
	var played []string
	for _, a := range labels {
		if slices.ContainsFunc(matrices, func(m Matrix) bool { _, ok := m.MeanMargin(a, labels); return ok }) {
			played = append(played, a)
		}
	}
	if len(played) < 2 {
		return nil, false
	}
	theta, covariance := fit(matrices, played)
	k := len(played)
	r := &Rating{}
	for g := range matrices {
		r.First += theta[k+2*g] * eloALogit / float64(len(matrices))
	}
	for i, lang := range played {
		// 0 + makes 0 of -0.
		s := Strength{Lang: lang, Elo: 0 + math.Round(theta[i]*eloALogit*1e6)/1e6, SE: eloALogit * math.Sqrt(centred(covariance, i, k)), Ties: []string{}}
		s.CI = Interval{s.Elo - z95*s.SE, s.Elo + z95*s.SE}
		r.Langs = append(r.Langs, s)
	}
	slices.SortStableFunc(r.Langs, func(a, b Strength) int { return cmp.Compare(b.Elo, a.Elo) })
	for i := range r.Langs {
		s := &r.Langs[i]
		s.Ranks = [2]int{1, k}
		for _, o := range r.Langs {
			switch {
			case o.Lang == s.Lang:
			case o.CI[0] > s.CI[1]:
				s.Ranks[0]++
			case o.CI[1] < s.CI[0]:
				s.Ranks[1]--
			default:
				s.Ties = append(s.Ties, o.Lang)
			}
		}
	}
	return r, true
}

// centred is the variance of the i-th of the first k values less their mean.
func centred(covariance [][]float64, i, k int) float64 {
	row, all := 0.0, 0.0
	for a := range k {
		row += covariance[i][a]
		for b := range k {
			all += covariance[a][b]
		}
	}
	n := float64(k)
	return max(0, covariance[i][i]-2*row/n+all/(n*n))
}

// fit gives the most likely values, the strengths and then first and draw of
// each game, and their covariance.
func fit(matrices []Matrix, labels []string) (theta []float64, covariance [][]float64) {
	size := len(labels) + 2*len(matrices)
	theta = make([]float64, size)
	like, gradient, hessian := likelihood(matrices, labels, theta)
	for range 100 {
		covariance = invert(hessian)
		step, largest := make([]float64, size), 0.0
		for i := range step {
			for j := range step {
				step[i] += covariance[i][j] * gradient[j]
			}
			largest = max(largest, math.Abs(step[i]))
		}
		if largest < 1e-10 {
			break
		}
		for scale := 1.0; scale > 1e-6; scale /= 2 { // a whole step may go too far
			next := slices.Clone(theta)
			for i := range next {
				next[i] += scale * step[i]
			}
			l, g, h := likelihood(matrices, labels, next)
			if l >= like-1e-9*math.Abs(like) {
				theta, like, gradient, hessian = next, l, g, h
				break
			}
		}
	}
	return theta, covariance
}

// likelihood is the logarithm of how likely the games are, with the pull, its
// gradient, and its second derivatives with the sign turned.
func likelihood(matrices []Matrix, labels []string, theta []float64) (like float64, gradient []float64, hessian [][]float64) {
	size := len(theta)
	gradient, hessian = make([]float64, size), make([][]float64, size)
	for i := range hessian {
		hessian[i] = make([]float64, size)
		hessian[i][i] = ratingPull
		gradient[i] = -ratingPull * theta[i]
		like -= ratingPull * theta[i] * theta[i] / 2
	}
	for g, m := range matrices {
		first := len(labels) + 2*g
		for a, langA := range labels {
			for b, langB := range labels {
				t := m[[2]string{langA, langB}]
				if t.Games() == 0 {
					continue
				}
				// The values that each outcome's logit is a sum of, and how much of each.
				at := [4]int{a, b, first, first + 1}
				parts := [3][4]float64{{1, 0, 0.5, 0}, {0, 1, -0.5, 0}, {0.5, 0.5, 0, 1}}
				like += addCell(at, parts, [3]int{t.Wins0, t.Wins1, t.Draws}, theta, gradient, hessian)
			}
		}
	}
	return like, gradient, hessian
}

// addCell adds one cell's games to the derivatives.
func addCell(at [4]int, parts [3][4]float64, counts [3]int, theta, gradient []float64, hessian [][]float64) (like float64) {
	var logits, chances [3]float64
	for k, part := range parts {
		for i, w := range part {
			logits[k] += w * theta[at[i]]
		}
	}
	top, sum := max(logits[0], logits[1], logits[2]), 0.0
	for k, l := range logits {
		chances[k] = math.Exp(l - top)
		sum += chances[k]
	}
	var mean [4]float64
	n := float64(counts[0] + counts[1] + counts[2])
	for k := range chances {
		chances[k] /= sum
		like += float64(counts[k]) * (logits[k] - top - math.Log(sum))
		for i, w := range parts[k] {
			mean[i] += chances[k] * w
			gradient[at[i]] += (float64(counts[k]) - n*chances[k]) * w
		}
	}
	for i := range at {
		for j := range at {
			cross := -mean[i] * mean[j]
			for k := range chances {
				cross += chances[k] * parts[k][i] * parts[k][j]
			}
			hessian[at[i]][at[j]] += n * cross
		}
	}
	return like
}

// invert inverts a positive definite matrix, by elimination.
func invert(a [][]float64) [][]float64 {
	n := len(a)
	work, inverse := make([][]float64, n), make([][]float64, n)
	for i := range a {
		work[i], inverse[i] = slices.Clone(a[i]), make([]float64, n)
		inverse[i][i] = 1
	}
	for c := range n {
		pivot := work[c][c]
		for j := range n {
			work[c][j] /= pivot
			inverse[c][j] /= pivot
		}
		for r := range n {
			f := work[r][c]
			if r == c || f == 0 {
				continue
			}
			for j := range n {
				work[r][j] -= f * work[c][j]
				inverse[r][j] -= f * inverse[c][j]
			}
		}
	}
	return inverse
}
