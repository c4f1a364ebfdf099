package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// After one win K is 1 + b (1/m - 1), whose mean over the bets is 1 + B (1/m - 1)
// with the mean bet B = (2 - 1/128) / 8: it is 2 / 0.05 = 40 at m = B / (39 + B).
func TestIntervalByHand(t *testing.T) {
	low, high := sums{}.interval()
	if !near(low, -1) || !near(high, 1) {
		t.Errorf("of nothing: %v to %v", low, high)
	}
	mean := (2 - 1./128) / 8
	low, high = sums{4: 1}.interval()
	if want := 2*mean/(39+mean) - 1; !near(low, want) || !near(high, 1) {
		t.Errorf("of one win: %v to %v, want %v to 1", low, high, want)
	}
	low, high = sums{0: 1}.interval()
	if want := 1 - 2*mean/(39+mean); !near(low, -1) || !near(high, want) {
		t.Errorf("of one loss: %v to %v, want -1 to %v", low, high, want)
	}
	// Only 0: bounded by both sides alike.
	if low, high = (sums{2: 100}).interval(); !near(low, -high) || low > -0.05 || low < -0.2 {
		t.Errorf("of 100 draws: %v to %v", low, high)
	}
}

// At its bounds the wealth, multiplied out, is 40.
func TestIntervalMultiplied(t *testing.T) {
	s := sums{3, 5, 9, 8, 6}
	low, high := s.interval()
	for _, c := range []struct {
		m    float64 // of X
		sign float64
	}{{(1 + low) / 2, 1}, {(1 - high) / 2, -1}} {
		sum := 0.0
		for _, bet := range []float64{1, .5, .25, .125, .0625, .03125, .015625, .0078125} {
			k := 1.0
			for v, n := range s {
				x := (1 + c.sign*(float64(v)-2)/2) / 2
				for range n {
					k *= 1 + bet*(x/c.m-1)
				}
			}
			sum += k
		}
		if got := sum / 8; math.Abs(got-40) > 1e-6 {
			t.Errorf("the wealth at %v is %v", c.m, got)
		}
	}
}

// Looked at after every observation, the interval misses the mean ever in no more
// than 5 % of 2,000 runs, whatever the distribution. And it is of use: it narrows.
func TestIntervalCovers(t *testing.T) {
	const runs, n = 2000, 400
	for name, weights := range map[string][5]float64{
		"even":        {.2, .2, .2, .2, .2},
		"coin":        {.5, 0, 0, 0, .5},
		"seldom lost": {.02, 0, 0, 0, .98},
		"leaning":     {.1, .1, .2, .25, .35},
		"mostly even": {.05, 0, .9, 0, .05},
	} {
		margin := 0.0
		for v, w := range weights {
			margin += w * (float64(v) - 2) / 2
		}
		r := rand.New(rand.NewPCG(8, 1))
		missed, width := 0, 0.0
		for range runs {
			var s sums
			from, to := newWalk((1+margin)/2), newWalk((1-margin)/2)
			out := false
			for range n {
				u, v := r.Float64(), 0
				for v < 4 && u >= weights[v] {
					u -= weights[v]
					v++
				}
				s[v]++
				out = from.rulesOut(v) || out
				out = to.rulesOut(4-v) || out
			}
			if w := s.wealth((1 + margin) / 2); math.Abs(w-from.wealth()) > 1e-6 {
				t.Fatalf("the wealth is %v, %v step by step", w, from.wealth())
			}
			if out {
				missed++
			}
			width += s.halfWidth() / runs
		}
		share := float64(missed) / runs
		t.Logf("%s: missed in %.2f %%, within %.3f in the end", name, 100*share, width)
		if share > alpha {
			t.Errorf("%s: the interval missed the margin in %.1f %% of the runs", name, 100*share)
		}
		if width > 0.2 {
			t.Errorf("%s: within %.3f after %d observations", name, width, n)
		}
	}
}

// A walk is the wealth at one mean, observation by observation.
type walk struct {
	steps [5][len(bets)]float64
	logs  [len(bets)]float64
}

func newWalk(m float64) *walk {
	var w walk
	for v := range w.steps {
		for i, bet := range bets {
			w.steps[v][i] = math.Log(1 + bet*(float64(v)/4/m-1))
		}
	}
	return &w
}

func (w *walk) wealth() float64 {
	sum := 0.0
	for _, l := range w.logs {
		sum += math.Exp(l) / float64(len(bets))
	}
	return math.Log(sum)
}

// rulesOut says whether one more observation rules the mean out.
func (w *walk) rulesOut(v int) bool {
	limit := math.Log(2 / alpha)
	for i := range w.logs {
		w.logs[i] += w.steps[v][i]
	}
	// The mean over the bets can't be above the limit if none is.
	return slices.Max(w.logs[:]) >= limit && w.wealth() >= limit
}

func TestBlocks(t *testing.T) {
	var ends []int
	for end := 0; end < 600; {
		end = blockEnd(end, 600)
		ends = append(ends, end)
	}
	if want := []int{50, 100, 150, 200, 250, 312, 390, 487, 600}; !slices.Equal(ends, want) {
		t.Errorf("%v, want %v", ends, want)
	}
}
