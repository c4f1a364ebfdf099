package inference

import (
	"math"

	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
	"github.com/ollama/ollama/ml/nn/rope"
)

// llama is the decoder of Llama 2 and 3 and of what shares its graph (SmolLM2
// among them): grouped-query attention with rotary positions, RMS norms before
// each half, a SiLU-gated MLP.
type llama struct {
	Embedding  *nn.Embedding `gguf:"token_embd"`
	Layers     []llamaLayer  `gguf:"blk"`
	OutputNorm *nn.RMSNorm   `gguf:"output_norm"`
	Output     *nn.Linear    `gguf:"output"` // the runtime gives tied embeddings this name too

	decoderSizes
	ropeScale float32
}

type llamaLayer struct {
	AttentionNorm *nn.RMSNorm `gguf:"attn_norm"`
	Query         *nn.Linear  `gguf:"attn_q"`
	Key           *nn.Linear  `gguf:"attn_k"`
	Value         *nn.Linear  `gguf:"attn_v"`
	AttentionOut  *nn.Linear  `gguf:"attn_output"`
	RopeFactors   ml.Tensor   `gguf:"rope_freqs.weight,optional"` // [ropeDim/2], Llama 3.1 and later

	MLPNorm *nn.RMSNorm `gguf:"ffn_norm"`
	MLP     gatedMLP    `gguf:""`
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
	return &llama{Layers: make([]llamaLayer, z.layers), decoderSizes: z, ropeScale: scale}, s.err
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
	h := m.Embedding.Forward(s.ctx, s.tokens)
	for i := range m.Layers {
		l := &m.Layers[i]
		a := m.attention(s, l, i, l.AttentionNorm.Forward(s.ctx, h, m.eps))
		if i == len(m.Layers)-1 {
			a, h = s.onlyOutputs(a), s.onlyOutputs(h)
		}
		h = a.Add(s.ctx, h)
		h = l.MLP.forward(s.ctx, l.MLPNorm.Forward(s.ctx, h, m.eps)).Add(s.ctx, h)
	}
	return m.Output.Forward(s.ctx, m.OutputNorm.Forward(s.ctx, h, m.eps))
}

// attention maps [hidden, tokens] to [hidden, tokens].
func (m *llama) attention(s *step, l *llamaLayer, i int, x ml.Tensor) ml.Tensor {
	n := x.Dim(1)
	turn := func(t ml.Tensor) ml.Tensor {
		return nn.RoPE(s.ctx, t, s.positions, m.ropeDim, m.ropeBase, m.ropeScale, rope.WithFactors(l.RopeFactors))
	}
	q := turn(l.Query.Forward(s.ctx, x).Reshape(s.ctx, m.headDim, m.heads, n))
	k := turn(l.Key.Forward(s.ctx, x).Reshape(s.ctx, m.headDim, m.kvHeads, n))
	v := l.Value.Forward(s.ctx, x)
	return l.AttentionOut.Forward(s.ctx, s.attend(i, q, k, v, 1/math.Sqrt(float64(m.headDim))))
}
