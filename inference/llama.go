package inference

import (
	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
	"github.com/ollama/ollama/ml/nn/rope"
)

// llama is the decoder of Llama 2 and 3 and of what shares its graph (SmolLM2
// among them): grouped-query attention with rotary positions, RMS norms before
// each half, a SiLU-gated MLP.
type llama struct {
	decoder
	Attention []llamaAttention `gguf:"blk"`

	ropeScale float32
}

type llamaAttention struct {
	projections
	RopeFactors ml.Tensor `gguf:"rope_freqs.weight,optional"` // [ropeDim/2], Llama 3.1 and later
}

func newLlama(h *header, vocab int) (architecture, error) {
	c := keyCheck{h: h}
	z := c.decoder(vocab)
	z.headDim = c.countOr("attention.key_length", z.hidden/max(1, z.heads))
	z.ropeDim = c.count("rope.dimension_count")
	scale := c.linearScale()
	c.fit(z)
	if c.err != nil {
		return nil, c.err
	}
	s := shapeCheck{h: h}
	z.check(&s)
	s.optional("rope_freqs.weight", z.ropeDim/2)
	return &llama{newDecoder(z), make([]llamaAttention, z.layers), scale}, s.err
}

// linearScale is what linear scaling multiplies positions with.
func (c *keyCheck) linearScale() float32 {
	const factor = "rope.scaling.factor"
	switch kind := c.scaling([]string{"none", "linear"}, factor); {
	case kind == "none" && c.has(factor):
		c.fail(factor, " is given, but key rope.scaling.type says none")
	case kind == "linear" || c.has(factor): // a factor alone is linear scaling
		return 1 / c.float(factor)
	}
	return 1
}

// forward gives the logits, [vocab, outputs].
func (m *llama) forward(s *step) ml.Tensor {
	return m.run(s, func(i int, x ml.Tensor) ml.Tensor {
		a := &m.Attention[i]
		turn := func(t ml.Tensor) ml.Tensor {
			return nn.RoPE(s.ctx, t, s.positions, m.ropeDim, m.ropeBase, m.ropeScale, rope.WithFactors(a.RopeFactors))
		}
		q, k, v := a.heads(s.ctx, x, &m.decoderSizes)
		return a.Output.Forward(s.ctx, s.attend(i, turn(q), turn(k), v, m.scale()))
	})
}
