package inference

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
)

// same gives n equal logits.
func same(n int) []float32 { return make([]float32, n) }

// logs gives the logits of probabilities.
func logs(p ...float64) []float32 {
	logits := make([]float32, len(p))
	for i, x := range p {
		logits[i] = float32(math.Log(x))
	}
	return logits
}

// TestBest compares with a sort of the whole vocabulary, on logits with many
// equal ones.
func TestBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		logits := make([]float32, rng.IntN(300))
		all := make([]Candidate, len(logits))
		for i := range logits {
			switch rng.IntN(3) {
			case 0:
				logits[i] = float32(rng.IntN(5))
			case 1:
				logits[i] = float32(rng.NormFloat64())
			default:
				logits[i] = -inf
			}
			all[i] = Candidate{int32(i), logits[i]}
		}
		slices.SortFunc(all, func(a, b Candidate) int {
			return cmp.Or(cmp.Compare(b.Logit, a.Logit), cmp.Compare(a.ID, b.ID))
		})
		for _, k := range []int{0, 1, 2, 3, 64, 300} {
			got, err := Best(logits, k)
			if want := all[:min(k, len(all))]; err != nil || !slices.Equal(got, want) {
				t.Fatalf("best %d of %v: error %v, %v, want %v", k, logits, err, got, want)
			}
		}
	}
}

// TestSample draws with numbers for which the token is worked out by hand.
func TestSample(t *testing.T) {
	const last = 0.999999999
	for _, test := range []struct {
		name   string
		logits []float32
		draw   float64
		want   int32
	}{
		{"one token", []float32{-3}, 0.5, 0},
		{"one likely token", []float32{0, 30, 0}, last, 1},
		// 0.6 and 0.3 do not reach 0.95, the third does: three kept, of 0.98.
		{"first", logs(0.3, 0.6, 0.02, 0.08), 0, 1},
		{"end of the first", logs(0.3, 0.6, 0.02, 0.08), 0.6/0.98 - 0.001, 1},
		{"beginning of the second", logs(0.3, 0.6, 0.02, 0.08), 0.6/0.98 + 0.001, 0},
		{"end of the second", logs(0.3, 0.6, 0.02, 0.08), 0.9/0.98 - 0.001, 0},
		{"beginning of the third", logs(0.3, 0.6, 0.02, 0.08), 0.9/0.98 + 0.001, 3},
		{"last kept", logs(0.3, 0.6, 0.02, 0.08), last, 3},
		{"just enough in one", logs(0.951, 0.049), last, 0},
		{"just not enough in one", logs(0.949, 0.051), last, 1},
		// Of 20 equal ones 19 are exactly 0.95; the lower tokens go first.
		{"exactly enough", same(20), last, 18},
		{"exactly enough, in the middle", same(20), 0.5, 9},
		{"equal ones by number", same(20), 0, 0},
		// 64 of 100 equal ones are left, and of these 61 reach 0.95. The other way
		// round it would be 64.
		{"top-k before top-p", same(100), last, 60},
		{"fewer than top-k", same(40), last, 37},
		{"minus infinity", []float32{-inf, 1, -inf, 1, -inf}, last, 3},
		{"minus infinity all but one", []float32{-inf, -inf, -1000, -inf}, last, 2},
		{"large", []float32{3e38, 3e38, -3e38}, 0.5, 1},
	} {
		got, err := Sample(test.logits, test.draw)
		if err != nil || got != test.want {
			t.Errorf("%s: error %v, token %d, want %d", test.name, err, got, test.want)
		}
	}
}

func TestSampleErrors(t *testing.T) {
	for i := range 100 { // wherever it stands: beyond the first 64 too
		for _, bad := range []float32{nan, inf} {
			logits := same(100)
			logits[i] = bad
			if _, err := Sample(logits, 0.5); err == nil {
				t.Errorf("%v at %d is no error", bad, i)
			}
		}
	}
	for name, logits := range map[string][]float32{"none": nil, "all minus infinity": {-inf, -inf}} {
		if got, err := Sample(logits, 0.5); err == nil {
			t.Errorf("%s: token %d", name, got)
		}
	}
}

// TestSampleFrequencies draws often: each token comes as often as its
// probability among those kept says, within five standard deviations.
func TestSampleFrequencies(t *testing.T) {
	const draws = 100_000
	p := []float64{0.05, 0.4, 0.2, 0.02, 0.3, 0.03} // kept: 0.4, 0.3, 0.2, 0.05
	logits := logs(p...)
	rng := rand.New(rand.NewPCG(3, 4))
	counts := make([]int, len(p))
	for range draws {
		id, err := Sample(logits, rng.Float64())
		if err != nil {
			t.Fatal(err)
		}
		counts[id]++
	}
	for id, kept := range []float64{0.05, 0.4, 0.2, 0, 0.3, 0} {
		want := kept / 0.95
		if got := float64(counts[id]) / draws; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/draws) {
			t.Errorf("token %d: %.4f of the draws, want %.4f", id, got, want)
		}
	}
}

func TestLogProb(t *testing.T) {
	p := []float64{0.1, 0.2, 0.3, 0.4}
	logits := logs(p...)
	for i := range logits {
		logits[i] += 50 // any constant cancels out
	}
	for i, got := range LogProb(logits, []Candidate{{3, logits[3]}, {0, logits[0]}}) {
		if want := math.Log([]float64{0.4, 0.1}[i]); math.Abs(got-want) > 1e-5 {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	for _, vocab := range []int{49_152, 152_000} {
		b.Run(fmt.Sprint(vocab), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(5, 6))
			logits := make([]float32, vocab)
			for i := range logits {
				logits[i] = float32(3 * rng.NormFloat64())
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Sample(logits, 0.5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
