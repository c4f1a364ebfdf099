package bench

import "math"

// When a cell may stop. Its i-th games in both roles, which have one deal, make
// one observation: half the sum of what A won in them, in [-1, 1]. Observations
// are independent and alike, which single games are not, since moving first is
// worth something, and their mean is the margin.
//
// A confidence interval for a fixed number of games is not valid if one looks at
// it again and again, and stops when one likes it. A confidence sequence is: with
// probability 1 - alpha it holds the mean at all times at once. This one is by
// betting (Waudby-Smith and Ramdas, Estimating means of bounded random variables
// by betting, JRSS B 86, 2024, section 4, with their bets mixed, not hedged by the
// past). Let X = (1 + observation) / 2, in [0, 1], with mean m. For any bet b in
// [0, 1],
//
//	K(b) = Π_i (1 + b (X_i / m - 1))
//
// has no negative factor, and each has the mean 1. So K, and the mean of K over
// several bets, is a martingale that begins at 1, which by Ville's inequality ever
// reaches 2 / alpha with probability alpha / 2 at most. Every m for which it has is
// ruled out. It falls as m grows: those are the m below one bound. The same of
// 1 - X bounds m from above, so that both hold with probability 1 - alpha.
//
// K does not depend on the order of the observations: counts of the five
// values that they take are all that the interval is a function of.

// alpha is the probability with which the interval of one cell may ever miss.
const alpha = 0.05

// bets are b above: large ones rule out fast what is far away, small ones what is
// near when much is known.
var bets = [...]float64{1, 1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128}

// sums counts observations, each half of what two games sum to: -1, -1/2, 0, 1/2 and 1.
type sums [5]int

// interval is the confidence sequence of the margin, after these observations.
func (s sums) interval() (low, high float64) {
	var mirrored sums
	for i, n := range s {
		mirrored[len(s)-1-i] = n
	}
	return 2*s.least() - 1, 1 - 2*mirrored.least()
}

// halfWidth is half of what the interval spans.
func (s sums) halfWidth() float64 {
	low, high := s.interval()
	return (high - low) / 2
}

// least is the smallest mean of X, in [0, 1], that is not ruled out.
func (s sums) least() float64 {
	low, high := 0.0, 1.0
	for range 50 {
		if mid := (low + high) / 2; s.wealth(mid) >= math.Log(2/alpha) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// wealth is the logarithm of the mean of K over the bets.
func (s sums) wealth(m float64) float64 {
	var logs [len(bets)]float64
	largest := math.Inf(-1)
	for i, bet := range bets {
		for v, n := range s {
			if n > 0 {
				logs[i] += float64(n) * math.Log(1+bet*(float64(v)/4/m-1))
			}
		}
		largest = max(largest, logs[i])
	}
	if math.IsInf(largest, 0) {
		return largest
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - largest)
	}
	return largest + math.Log(sum/float64(len(bets)))
}

// blockEnd is how many of the first games of a cell, in each role, must have ended
// before it is asked again whether it may stop: 50, 100, 150, 200, 250, and from
// there a quarter more each time; n in the end.
func blockEnd(from, n int) int { return min(n, from+max(50, from/4)) }
