package inference

import "slices"

// A Step of greedy decoding: the token taken, and the best with their
// log-probabilities under the whole distribution.
type Step struct {
	ID  int32
	Top []Scored
}

// Scored is a token with the natural logarithm of its probability.
type Scored struct {
	ID      int32   `json:"id"`
	LogProb float64 `json:"logprob"`
}

// Greedy decodes up to n tokens after the prompt in slot 0, always the likeliest
// one, and stops at the end of the turn. Each step lists the top best.
func (m *Model) Greedy(prompt []int32, n, top int) ([]Step, error) {
	var steps []Step
	block := Block{0, m.limits.BlockFor(m.limits.Cells)}
	at, next := 0, prompt
	for len(steps) < n && at+len(next) <= m.limits.Cells {
		var logits []float32
		for chunk := range slices.Chunk(next, m.limits.Tokens) {
			all, err := m.Logits(&Batch{Rows: []Row{{Block: block, Pos: at, Tokens: chunk, Decode: len(steps) > 0, Sample: true}}})
			if err != nil {
				return nil, err
			}
			logits, at = all[0], at+len(chunk)
		}
		best, err := Best(logits, max(top, 1))
		if err != nil {
			return nil, err
		}
		s := Step{ID: best[0].ID}
		for i, p := range LogProb(logits, best) {
			s.Top = append(s.Top, Scored{best[i].ID, p})
		}
		steps = append(steps, s)
		if m.Codec.End(s.ID) {
			break
		}
		next = []int32{s.ID}
	}
	return steps, nil
}
