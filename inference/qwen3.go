package inference

import (
	"fmt"
	"math"

	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
	"github.com/ollama/ollama/ml/nn/rope"
)

// qwen3 is the decoder of the dense Qwen3 models: as Llama's, but with a head
// size of its own, an RMS norm over each head's query and key, and rotary
// positions that pair a head's two halves.
type qwen3 struct {
	Embedding  *nn.Embedding `gguf:"token_embd"`
	Layers     []qwen3Layer  `gguf:"blk"`
	OutputNorm *nn.RMSNorm   `gguf:"output_norm"`
	Output     *nn.Linear    `gguf:"output"` // the runtime gives tied embeddings this name too

	decoderSizes
}

type qwen3Layer struct {
	AttentionNorm *nn.RMSNorm `gguf:"attn_norm"`
	Query         *nn.Linear  `gguf:"attn_q"`
	QueryNorm     *nn.RMSNorm `gguf:"attn_q_norm"`
	Key           *nn.Linear  `gguf:"attn_k"`
	KeyNorm       *nn.RMSNorm `gguf:"attn_k_norm"`
	Value         *nn.Linear  `gguf:"attn_v"`
	AttentionOut  *nn.Linear  `gguf:"attn_output"`

	MLPNorm *nn.RMSNorm `gguf:"ffn_norm"`
	MLP     gatedMLP    `gguf:""`
}

func newQwen3(h *header, vocab int) (architecture, error) {
	c := keyCheck{h: h}
	z := c.decoder(vocab)
	z.headDim = c.count("attention.key_length")
	if n := c.countOr("rope.dimension_count", z.headDim); n != z.headDim {
		c.fail("rope.dimension_count", " is %d; this architecture turns whole heads, of %d", n, z.headDim)
	}
	z.ropeDim = z.headDim
	c.scaling([]string{"none"})
	c.fit(z)
	if c.err != nil {
		return nil, c.err
	}
	s := shapeCheck{h: h}
	z.check(&s)
	s.none("rope_freqs.weight")
	for i := range z.layers {
		s.want(fmt.Sprintf("blk.%d.attn_q_norm.weight", i), z.headDim)
		s.want(fmt.Sprintf("blk.%d.attn_k_norm.weight", i), z.headDim)
	}
	return &qwen3{Layers: make([]qwen3Layer, z.layers), decoderSizes: z}, s.err
}

// forward gives the logits, [vocab, outputs].
func (m *qwen3) forward(s *step) ml.Tensor {
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
func (m *qwen3) attention(s *step, l *qwen3Layer, i int, x ml.Tensor) ml.Tensor {
	n := x.Dim(1)
	turn := func(t ml.Tensor) ml.Tensor {
		return nn.RoPE(s.ctx, t, s.positions, m.ropeDim, m.ropeBase, 1, rope.WithTypeNeoX())
	}
	q := l.Query.Forward(s.ctx, x).Reshape(s.ctx, m.headDim, m.heads, n)
	k := l.Key.Forward(s.ctx, x).Reshape(s.ctx, m.headDim, m.kvHeads, n)
	q = turn(l.QueryNorm.Forward(s.ctx, q, m.eps))
	k = turn(l.KeyNorm.Forward(s.ctx, k, m.eps))
	v := l.Value.Forward(s.ctx, x)
	return l.AttentionOut.Forward(s.ctx, s.attend(i, q, k, v, 1/math.Sqrt(float64(m.headDim))))
}
