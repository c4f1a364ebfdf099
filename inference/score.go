package inference

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Score computes the rows of a batch and gives, for each row that samples, the
// natural logarithms of the probabilities that wanted[i], any tokens, have behind
// it; nil for the others. The logits stay here: no more than one graph's are held.
// Nothing is drawn.
func (m *Model) Score(b *Batch, wanted [][]int32) (scores [][]float64, err error) {
	if len(wanted) != len(b.Rows) {
		return nil, fmt.Errorf("%d rows, and wanted tokens for %d", len(b.Rows), len(wanted))
	}
	for i, tokens := range wanted {
		for _, t := range tokens {
			if t < 0 || int(t) >= m.vocab {
				return nil, fmt.Errorf("token %d is wanted behind row %d; the vocabulary has %d", t, i, m.vocab)
			}
		}
	}
	scores = make([][]float64, len(b.Rows))
	computed := 0 // rows in the parts before
	err = m.compute(b.Rows, false, func(part []Row, g *graph, outputs []int) error {
		logits, from := g.logits.Floats(), computed
		computed += len(part)
		var scoring errgroup.Group
		scoring.SetLimit(runtime.GOMAXPROCS(0))
		for i, r := range outputs {
			scoring.Go(func() (err error) {
				scores[from+r], err = logProbs(logits[i*m.vocab:(i+1)*m.vocab], wanted[from+r])
				return err
			})
		}
		return scoring.Wait()
	})
	if errors.Is(err, errNaN) {
		err = fmt.Errorf("%w%s", err, m.whereNaN(b.Rows))
	}
	return scores, err
}

// logProbs is LogProb of tokens. What is not a number is an error.
func logProbs(logits []float32, tokens []int32) ([]float64, error) {
	wanted := make([]Candidate, len(tokens))
	for i, t := range tokens {
		wanted[i] = Candidate{t, logits[t]}
	}
	p := LogProb(logits, wanted)
	for _, x := range p {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, errNaN
		}
	}
	return p, nil
}

// Document gives the tokens of a text that is no chat, as the model's own
// tokenizer begins one: with the token that opens a document, if it has one.
// Markers stay text.
func (c *Codec) Document(text string) ([]int32, error) {
	var ids []int32
	if c.bos >= 0 {
		ids = append(ids, c.bos)
	}
	return c.plain(ids, text)
}

// TrainedContext is how many tokens of context a model file was trained on.
func TrainedContext(path string) (int, error) {
	h, err := readHeader(path)
	if err != nil {
		return 0, err
	}
	return h.count("context_length")
}
