package bench

import (
	"math"
	"testing"
)

// Worked out by hand; P with one degree of freedom is 1 - 2/pi asin |r|, with
// two 1 - |r|, with three as below, with four 1 - |r| (1 + (1 - r^2) / 2).
func TestFitLine(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		want Fit
	}{
		// Means 2 and 2, xx = 2, xy = 1, yy = 2.
		{"three points", []float64{1, 2, 3}, []float64{1, 3, 2}, Fit{3, 0.5, 1, 0.5, 2.0 / 3}},
		// Means 2.5 and 5, xx = 5, xy = 10, yy = 26.
		{"four points", []float64{1, 2, 3, 4}, []float64{2, 5, 4, 9}, Fit{4, 2, 0, 10 / math.Sqrt(130), 1 - 10/math.Sqrt(130)}},
		// Means 0 and 0, xx = 10, xy = -9, yy = 10: with three degrees of freedom,
		// 1 - 2/pi (asin 0.9 + 0.9 sqrt(0.19)).
		{"five points", []float64{-2, -1, 0, 1, 2}, []float64{2, 0, 1, -1, -2}, Fit{5, -0.9, 0, -0.9, 1 - 2/math.Pi*(math.Asin(0.9)+0.9*math.Sqrt(0.19))}},
		// Means 0 and 0, xx = 6, xy = 2, yy = 6: r = 1/3, p = 1 - 1/3 (1 + 4/9).
		{"six points", []float64{-1, -1, -1, 1, 1, 1}, []float64{-1, -1, 1, 1, 1, -1}, Fit{6, 1.0 / 3, 0, 1.0 / 3, 1 - 1.0/3*(1+4.0/9)}},
		{"a line", []float64{0, 1, 2, 3}, []float64{1, -1, -3, -5}, Fit{4, -2, 1, -1, 0}},
		{"no correlation", []float64{-1, 0, 1}, []float64{1, -2, 1}, Fit{3, 0, 0, 0, 1}},
	} {
		got, ok := FitLine(c.x, c.y)
		if !ok || got.N != c.want.N || !near(got.Slope, c.want.Slope) || !near(got.Intercept, c.want.Intercept) || !near(got.R, c.want.R) || !near(got.P, c.want.P) {
			t.Errorf("%s: %v %+v, want %+v", c.name, ok, got, c.want)
		}
	}
}

func TestFitLineOfNothing(t *testing.T) {
	for _, c := range [][2][]float64{
		{nil, nil}, {{1, 2}, {1, 2}}, {{1, 1, 1}, {1, 2, 3}}, {{1, 2, 3}, {2, 2, 2}},
		{{1, 2, math.NaN()}, {1, 2, 3}}, {{1, 2, math.Inf(1)}, {1, 2, 3}}, {{1, 2, 3}, {1e300, -1e300, 1e300}}, {{1, 2, 3}, {1, 2}},
	} {
		if fit, ok := FitLine(c[0], c[1]); ok {
			t.Errorf("%v gave %+v", c, fit)
		}
	}
}

// The sum must be Student's t for any number of points: compared with a
// numerical integral of its density.
func TestPearsonP(t *testing.T) {
	for n := 3; n <= 40; n++ {
		for _, r := range []float64{0.01, 0.3, -0.7, 0.95} {
			// The density of r itself is proportional to (1-r^2)^((n-4)/2); put
			// r = sin a, so that no end of the integral is infinite.
			area := func(from float64) float64 {
				const steps = 20000
				sum := 0.0
				h := (math.Pi/2 - from) / steps
				for i := range steps {
					sum += math.Pow(math.Cos(from+(float64(i)+0.5)*h), float64(n-3))
				}
				return sum * h
			}
			want := area(math.Asin(math.Abs(r))) / area(0)
			if got := pearsonP(r, n); math.Abs(got-want) > 1e-7 {
				t.Errorf("n %d, r %v: p %v, want %v", n, r, got, want)
			}
		}
	}
}
