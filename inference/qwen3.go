package inference

import (
	"fmt"

	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
	"github.com/ollama/ollama/ml/nn/rope"
)

// qwen3 is the decoder of the dense Qwen3 models: as Llama's, but with a head
// size of its own, an RMS norm over each head's query and key, and rotary
// positions that pair a head's two halves.
type qwen3 struct {
	decoder
	Attention []qwen3Attention `gguf:"blk"`

	yarn *yarn // nil: positions are not scaled
}

type qwen3Attention struct {
	projections
	QueryNorm *nn.RMSNorm `gguf:"attn_q_norm"`
	KeyNorm   *nn.RMSNorm `gguf:"attn_k_norm"`
}

func newQwen3(h *header, vocab int) (architecture, error) {
	c := keyCheck{h: h}
	z := c.decoder(vocab)
	z.headDim = c.count("attention.key_length")
	if n := c.countOr("rope.dimension_count", z.headDim); n != z.headDim {
		c.fail("rope.dimension_count", " is %d; this architecture turns whole heads, of %d", n, z.headDim)
	}
	z.ropeDim = z.headDim
	y := c.yarn(false)
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
	return &qwen3{newDecoder(z), make([]qwen3Attention, z.layers), y}, s.err
}

// forward gives the logits, [vocab, outputs].
func (m *qwen3) forward(s *step) ml.Tensor {
	return m.run(s, func(i int, x ml.Tensor) ml.Tensor {
		a := &m.Attention[i]
		turn := func(t ml.Tensor) ml.Tensor {
			return nn.RoPE(s.ctx, t, s.positions, m.ropeDim, m.ropeBase, m.yarn.scale(), append(m.yarn.options(), rope.WithTypeNeoX())...)
		}
		q, k, v := a.heads(s.ctx, x, &m.decoderSizes)
		q = turn(a.QueryNorm.Forward(s.ctx, q, m.eps))
		k = turn(a.KeyNorm.Forward(s.ctx, k, m.eps))
		return a.Output.Forward(s.ctx, s.attend(i, q, k, v, m.scale()))
	})
}
