package inference

import (
	"fmt"
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

	llamaSizes
}

type llamaLayer struct {
	AttentionNorm *nn.RMSNorm `gguf:"attn_norm"`
	Query         *nn.Linear  `gguf:"attn_q"`
	Key           *nn.Linear  `gguf:"attn_k"`
	Value         *nn.Linear  `gguf:"attn_v"`
	AttentionOut  *nn.Linear  `gguf:"attn_output"`
	RopeFactors   ml.Tensor   `gguf:"rope_freqs.weight,optional"` // [ropeDim/2], Llama 3.1 and later

	MLPNorm *nn.RMSNorm `gguf:"ffn_norm"`
	Gate    *nn.Linear  `gguf:"ffn_gate"`
	Up      *nn.Linear  `gguf:"ffn_up"`
	Down    *nn.Linear  `gguf:"ffn_down"`
}

type llamaSizes struct {
	hidden, mlp, vocab      int
	heads, kvHeads, headDim int
	ropeDim                 int
	eps, ropeBase           float32
}

func newLlama(h *header, vocab int) (architecture, error) {
	z := llamaSizes{vocab: vocab}
	for _, k := range []struct {
		key string
		to  *int
	}{
		{"embedding_length", &z.hidden}, {"feed_forward_length", &z.mlp},
		{"attention.head_count", &z.heads}, {"rope.dimension_count", &z.ropeDim},
	} {
		var err error
		if *k.to, err = h.count(k.key); err != nil {
			return nil, err
		}
	}
	z.kvHeads = int(h.kv.Uint("attention.head_count_kv", uint32(z.heads)))
	z.headDim = int(h.kv.Uint("attention.key_length", uint32(z.hidden/z.heads)))
	var err error
	if z.eps, err = h.float("attention.layer_norm_rms_epsilon"); err != nil {
		return nil, err
	}
	if z.ropeBase, err = h.float("rope.freq_base"); err != nil {
		return nil, err
	}
	if n := h.kv.Uint("expert_count"); n > 0 {
		return nil, fmt.Errorf("%s: a mixture of %d experts is not supported", h.path, n)
	}
	if kind := h.kv.String("rope.scaling.type", "none"); kind != "none" {
		return nil, fmt.Errorf("%s: key %s.rope.scaling.type: %q is not supported for this architecture", h.path, h.kv.Architecture(), kind)
	}
	if z.kvHeads < 1 || z.heads%z.kvHeads != 0 || z.ropeDim > z.headDim || z.ropeDim%2 != 0 {
		return nil, fmt.Errorf("%s: %d heads, %d key/value heads, head size %d, rope size %d do not fit together", h.path, z.heads, z.kvHeads, z.headDim, z.ropeDim)
	}
	layers, err := h.count("block_count")
	if err != nil {
		return nil, err
	}
	if layers > len(h.tensors) {
		return nil, fmt.Errorf("%s: key %s.block_count names %d layers, but there are %d tensors", h.path, h.kv.Architecture(), layers, len(h.tensors))
	}
	m := &llama{Layers: make([]llamaLayer, layers), llamaSizes: z}
	return m, m.check(h)
}

// check compares the shapes in the file with the sizes it claims: the runtime
// aborts the process where they do not fit.
func (m *llama) check(h *header) error {
	q, kv := m.heads*m.headDim, m.kvHeads*m.headDim
	c := shapeCheck{h: h}
	c.want("token_embd.weight", m.hidden, m.vocab)
	c.want("output_norm.weight", m.hidden)
	c.optional("output.weight", m.hidden, m.vocab)
	c.optional("rope_freqs.weight", m.ropeDim/2)
	for i := range m.Layers {
		p := fmt.Sprintf("blk.%d.", i)
		c.want(p+"attn_norm.weight", m.hidden)
		c.want(p+"attn_q.weight", m.hidden, q)
		c.want(p+"attn_k.weight", m.hidden, kv)
		c.want(p+"attn_v.weight", m.hidden, kv)
		c.want(p+"attn_output.weight", q, m.hidden)
		c.want(p+"ffn_norm.weight", m.hidden)
		c.want(p+"ffn_gate.weight", m.hidden, m.mlp)
		c.want(p+"ffn_up.weight", m.hidden, m.mlp)
		c.want(p+"ffn_down.weight", m.mlp, m.hidden)
		for name, n := range map[string]int{"attn_q": q, "attn_k": kv, "attn_v": kv, "attn_output": m.hidden, "ffn_gate": m.mlp, "ffn_up": m.mlp, "ffn_down": m.hidden} {
			c.optional(p+name+".bias", n)
		}
	}
	return c.err
}

func (m *llama) streams() []streamShape {
	s := make([]streamShape, len(m.Layers))
	for i := range s {
		s[i] = streamShape{headDim: m.headDim, kvHeads: m.kvHeads}
	}
	return s
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
		x := l.MLPNorm.Forward(s.ctx, h, m.eps)
		x = l.Gate.Forward(s.ctx, x).SILU(s.ctx, l.Up.Forward(s.ctx, x))
		h = l.Down.Forward(s.ctx, x).Add(s.ctx, h)
	}
	return m.Output.Forward(s.ctx, m.OutputNorm.Forward(s.ctx, h, m.eps))
}

// attention maps [hidden, tokens] to [hidden, tokens].
func (m *llama) attention(s *step, l *llamaLayer, i int, x ml.Tensor) ml.Tensor {
	n := x.Dim(1)
	turn := func(t ml.Tensor) ml.Tensor {
		return nn.RoPE(s.ctx, t, s.positions, m.ropeDim, m.ropeBase, 1, rope.WithFactors(l.RopeFactors))
	}
	q := turn(l.Query.Forward(s.ctx, x).Reshape(s.ctx, m.headDim, m.heads, n))
	k := turn(l.Key.Forward(s.ctx, x).Reshape(s.ctx, m.headDim, m.kvHeads, n))
	v := l.Value.Forward(s.ctx, x)
	return l.AttentionOut.Forward(s.ctx, s.attend(i, q, k, v, 1/math.Sqrt(float64(m.headDim))))
}
