package bench

import (
	"math"
	"math/rand/v2"
)

// binomial draws how many of n trials succeed, each with chance p. Few expected
// successes are counted by the gaps between them; for many, a scaled density is
// laid over the distribution and what exceeds it is thrown away (Hörmann 1993,
// transformed rejection), so that the time does not grow with n.
func binomial(rng *rand.Rand, n int, p float64) int {
	switch {
	case n <= 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	case p > 0.5:
		return n - binomial(rng, n, 1-p)
	case float64(n)*p < 10:
		return byGaps(rng, n, p)
	}
	return byRejection(rng, n, p)
}

// byGaps adds up geometric gaps between successes until they exceed n.
func byGaps(rng *rand.Rand, n int, p float64) int {
	q := math.Log1p(-p)
	for k, at := 0, 0.0; ; k++ {
		at += math.Floor(math.Log(1-rng.Float64())/q) + 1
		if at > float64(n) {
			return k
		}
	}
}

func byRejection(rng *rand.Rand, trials int, p float64) int {
	n := float64(trials)
	sd := math.Sqrt(n * p * (1 - p))
	b := 1.15 + 2.53*sd
	a := -0.0873 + 0.0248*b + 0.01*p
	middle := n*p + 0.5
	sure := 0.92 - 4.2/b
	alpha := (2.83 + 5.1/b) * sd
	mode := math.Floor((n + 1) * p)
	logOdds := math.Log(p / (1 - p))
	top := logFactorial(mode) + logFactorial(n-mode)
	for {
		u, v := rng.Float64()-0.5, rng.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + middle)
		if us >= 0.07 && v <= sure {
			return int(k)
		}
		if k < 0 || k > n {
			continue
		}
		v = math.Log(v * alpha / (a/(us*us) + b))
		if v <= top-logFactorial(k)-logFactorial(n-k)+(k-mode)*logOdds {
			return int(k)
		}
	}
}

func logFactorial(k float64) float64 {
	v, _ := math.Lgamma(k + 1)
	return v
}
