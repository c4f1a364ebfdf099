package inference

import (
	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
)

// mistral3 is the decoder of Mistral Small 3 and of the Ministral 3 models: as
// Llama's, with YaRN for long contexts, and attention that grows sharper beyond
// the context that the model was first trained on.
type mistral3 struct {
	decoder
	Attention []projections `gguf:"blk"`

	yarn *yarn // nil: positions are not scaled
}

func newMistral3(h *header, vocab int) (architecture, error) {
	c := keyCheck{h: h}
	z := c.decoder(vocab)
	z.headDim = c.countOr("attention.key_length", z.hidden/max(1, z.heads))
	z.ropeDim = c.count("rope.dimension_count")
	y := c.yarn(true)
	c.fit(z)
	if c.err != nil {
		return nil, c.err
	}
	s := shapeCheck{h: h}
	z.check(&s)
	s.none("rope_freqs.weight")
	return &mistral3{newDecoder(z), make([]projections, z.layers), y}, s.err
}

// forward gives the logits, [vocab, outputs].
func (m *mistral3) forward(s *step) ml.Tensor {
	turn := func(t ml.Tensor) ml.Tensor {
		return nn.RoPE(s.ctx, t, s.positions, m.ropeDim, m.ropeBase, m.yarn.scale(), m.yarn.options()...)
	}
	var sharpness ml.Tensor
	if m.yarn != nil {
		sharpness = s.decidedBy(m.yarn.sharpness)
	}
	return m.run(s, func(i int, x ml.Tensor) ml.Tensor {
		a := &m.Attention[i]
		q, k, v := a.heads(s.ctx, x, &m.decoderSizes)
		q, k = turn(q), turn(k)
		if sharpness != nil {
			q = q.Mul(s.ctx, sharpness)
		}
		return a.Output.Forward(s.ctx, s.attend(i, q, k, v, m.scale()))
	})
}
