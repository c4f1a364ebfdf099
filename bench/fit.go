package bench

import "math"

// A Fit is the straight line nearest to points by least squares, and how well
// it describes them.
type Fit struct {
	N         int     `json:"n"`         // points
	Slope     float64 `json:"slope"`     // change of y for 1 of x
	Intercept float64 `json:"intercept"` // y at x = 0
	R         float64 `json:"r"`         // Pearson's correlation, in [-1, 1]
	P         float64 `json:"p"`         // of an r at least as far from 0 if there were no correlation, two-sided
}

// FitLine fits y = Intercept + Slope x. It is false with fewer than three
// points, through which a line says nothing, where x or y do not vary, and where
// a number is not finite. x and y have the same length.
func FitLine(x, y []float64) (Fit, bool) {
	n := len(x)
	if n < 3 || n != len(y) {
		return Fit{}, false
	}
	mx, _ := mean(x)
	my, _ := mean(y)
	var xx, xy, yy float64 // sums of squares and products about the means
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx += dx * dx
		xy += dx * dy
		yy += dy * dy
	}
	r := xy / math.Sqrt(xx) / math.Sqrt(yy)
	if xx == 0 || yy == 0 || math.IsNaN(r) || math.IsInf(xx, 0) || math.IsInf(yy, 0) {
		return Fit{}, false
	}
	r = max(-1, min(1, r)) // rounding may carry it beyond
	slope := xy / xx
	return Fit{N: n, Slope: slope, Intercept: my - slope*mx, R: r, P: pearsonP(r, n)}, true
}

// pearsonP is the probability that n independent normal pairs correlate by |r|
// or more. r sqrt(n-2) / sqrt(1-r^2) follows Student's t with n-2 degrees of
// freedom, whose integral is a finite sum for whole ones: with sin = |r| and
// cos = sqrt(1-r^2), 1 - p is
//
//	odd:  2/pi (asin + sin (cos + 2/3 cos^3 + (2 4)/(3 5) cos^5 + ...))
//	even: sin (1 + 1/2 cos^2 + (1 3)/(2 4) cos^4 + ...)
//
// up to the power n-4.
func pearsonP(r float64, n int) float64 {
	sin := math.Abs(r)
	cos := math.Sqrt((1 - sin) * (1 + sin))
	sum, term, power := 0.0, 1.0, 0
	if n%2 == 1 {
		term, power = cos, 1
	}
	for ; power <= n-4; power += 2 {
		sum += term
		term *= cos * cos * float64(power+1) / float64(power+2)
	}
	inside := sin * sum
	if n%2 == 1 {
		inside = 2 / math.Pi * (math.Asin(sin) + inside)
	}
	return max(0, min(1, 1-inside))
}
