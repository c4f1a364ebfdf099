package inference

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Sampling is fixed: temperature 1, then the TopK best logits, then of these
// the fewest whose probabilities sum to TopP. This is vLLM's order.
const (
	TopK = 64
	TopP = 0.95
)

// A Candidate is a token with its logit.
type Candidate struct {
	ID    int32
	Logit float32
}

var errNaN = errors.New("the model computed a logit that is not a number: the weights are broken, or their type overflows")

// Best gives the k largest logits, best first; of equal ones the lower token
// first. Logits that are not numbers are an error.
func Best(logits []float32, k int) ([]Candidate, error) {
	k = min(k, len(logits))
	if k == 0 {
		return nil, nil
	}
	// A heap of the best so far with the worst of them on top: one comparison
	// for nearly every logit, no sort of the vocabulary.
	heap := make([]Candidate, k)
	for i, x := range logits[:k] {
		if x != x {
			return nil, errNaN
		}
		heap[i] = Candidate{int32(i), x}
	}
	for i := k/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	worst := heap[0].Logit
	for i, x := range logits[k:] {
		if x <= worst {
			continue
		}
		if x != x {
			return nil, errNaN
		}
		heap[0] = Candidate{int32(k + i), x}
		sink(heap, 0)
		worst = heap[0].Logit
	}
	slices.SortFunc(heap, byLogit)
	return heap, nil
}

// worse orders candidates for the heap; of equal logits the higher token is worse.
func worse(a, b Candidate) bool {
	return a.Logit < b.Logit || a.Logit == b.Logit && a.ID > b.ID
}

func sink(heap []Candidate, i int) {
	for {
		c := 2*i + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && worse(heap[c+1], heap[c]) {
			c++
		}
		if !worse(heap[c], heap[i]) {
			return
		}
		heap[i], heap[c] = heap[c], heap[i]
		i = c
	}
}

// Sample draws one token from the logits, [vocab], with a uniform number in
// [0,1).
func Sample(logits []float32, draw float64) (int32, error) {
	best, err := Best(logits, TopK)
	if err != nil || len(best) == 0 {
		return 0, cmp.Or(err, errors.New("no logits to sample from"))
	}
	return sampleBest(best, draw)
}

// sampleBest draws one of the TopK best, best first.
func sampleBest(best []Candidate, draw float64) (int32, error) {
	var p [TopK]float64
	total := 0.0
	for i, c := range best {
		p[i] = math.Exp(float64(c.Logit - best[0].Logit))
		total += p[i]
	}
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return 0, errNaN
	}
	kept, sum := 0, 0.0
	for kept < len(best) && sum < TopP*total {
		sum += p[kept]
		kept++
	}
	at := draw * sum
	for i := range kept - 1 {
		if at < p[i] {
			return best[i].ID, nil
		}
		at -= p[i]
	}
	return best[kept-1].ID, nil
}

// LogProb is the natural logarithm of each candidate's probability under the
// whole distribution at temperature 1.
func LogProb(logits []float32, candidates []Candidate) []float64 {
	top := float64(slices.Max(logits))
	sum := 0.0
	for _, x := range logits {
		sum += math.Exp(float64(x) - top)
	}
	p := make([]float64, len(candidates))
	for i, c := range candidates {
		p[i] = float64(c.Logit) - top - math.Log(sum)
	}
	return p
}
