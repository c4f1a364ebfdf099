package inference

import (
	"math"

	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
	"github.com/ollama/ollama/ml/nn/rope"
)

// gemma4 is the text decoder of the dense Gemma 4 models. Most layers look back
// over a sliding window, every few over everything, with heads of another size
// and rotary positions that turn a part of them. The last layers keep no keys
// and values, but attend over those of the last layer of their kind that does.
// Each layer mixes in an embedding of the token that is the layer's own.
type gemma4 struct {
	Embedding  *nn.Embedding     `gguf:"token_embd"`
	PerLayer   *gemma4Embeddings `gguf:",optional"` // nil: the layers have no embeddings of their own
	Layers     []gemma4Layer     `gguf:"blk"`
	OutputNorm *nn.RMSNorm       `gguf:"output_norm"`
	Output     *nn.Linear        `gguf:"output"` // the runtime gives tied embeddings this name too

	gemma4Sizes
}

// gemma4Embeddings are small embeddings for each layer: the token's own, and one
// that is made of its large embedding.
type gemma4Embeddings struct {
	Tokens     *nn.Embedding `gguf:"per_layer_token_embd"`
	Projection *nn.Linear    `gguf:"per_layer_model_proj"`
	Norm       *nn.RMSNorm   `gguf:"per_layer_proj_norm"`
}

type gemma4Layer struct {
	AttentionNorm     *nn.RMSNorm `gguf:"attn_norm"`
	Query             *nn.Linear  `gguf:"attn_q"`
	QueryNorm         *nn.RMSNorm `gguf:"attn_q_norm"`
	Key               *nn.Linear  `gguf:"attn_k,optional"`      // nil, as its norm: another layer's are attended over
	KeyNorm           *nn.RMSNorm `gguf:"attn_k_norm,optional"` //
	Value             *nn.Linear  `gguf:"attn_v,optional"`      // nil: the key, before its norm
	RopeFactors       ml.Tensor   `gguf:"rope_freqs.weight,optional"`
	AttentionOut      *nn.Linear  `gguf:"attn_output"`
	PostAttentionNorm *nn.RMSNorm `gguf:"post_attention_norm"`

	MLPNorm     *nn.RMSNorm `gguf:"ffn_norm"`
	Gate        *nn.Linear  `gguf:"ffn_gate"`
	Up          *nn.Linear  `gguf:"ffn_up"`
	Down        *nn.Linear  `gguf:"ffn_down"`
	PostMLPNorm *nn.RMSNorm `gguf:"post_ffw_norm"`

	PerLayer *gemma4Mixing `gguf:",optional"`
	Scale    ml.Tensor     `gguf:"layer_output_scale.weight,optional"` // [1]

	gemma4LayerSizes
}

// gemma4Mixing adds the layer's own embedding to what comes out of the layer.
type gemma4Mixing struct {
	Gate       *nn.Linear  `gguf:"inp_gate"`
	Projection *nn.Linear  `gguf:"proj"`
	Norm       *nn.RMSNorm `gguf:"post_norm"`
}

// forward gives the logits, [vocab, outputs].
func (m *gemma4) forward(s *step) ml.Tensor {
	h := m.Embedding.Forward(s.ctx, s.tokens).Scale(s.ctx, math.Sqrt(float64(m.hidden)))
	var all ml.Tensor
	if m.PerLayer != nil {
		all = m.perLayer(s, h)
	}
	for i := range m.Layers {
		l := &m.Layers[i]
		a := l.PostAttentionNorm.Forward(s.ctx, m.attention(s, l, l.AttentionNorm.Forward(s.ctx, h, m.eps)), m.eps)
		if i == m.keeping-1 { // from here on no token is of use to the tokens after it
			a, h = s.onlyOutputs(a), s.onlyOutputs(h)
			if all != nil {
				all = s.onlyOutputs(all.Reshape(s.ctx, m.perLayerSize*m.layers, all.Dim(2))).Reshape(s.ctx, m.perLayerSize, m.layers, h.Dim(1))
			}
			s = s.tail
		}
		h = a.Add(s.ctx, h)
		h = l.feedForward(s.ctx, l.MLPNorm.Forward(s.ctx, h, m.eps), m.eps).Add(s.ctx, h)
		if l.PerLayer != nil {
			own := all.View(s.ctx, i*all.Stride(1), m.perLayerSize, all.Stride(2), all.Dim(2))
			h = h.Add(s.ctx, l.PerLayer.forward(s.ctx, h, own, m.eps))
		}
		if l.Scale != nil {
			h = h.Mul(s.ctx, l.Scale)
		}
		s.watch(h)
	}
	logits := m.Output.Forward(s.ctx, m.OutputNorm.Forward(s.ctx, h, m.eps))
	if m.softcap > 0 {
		logits = logits.Scale(s.ctx, 1/m.softcap).Tanh(s.ctx).Scale(s.ctx, m.softcap)
	}
	return logits
}

// perLayer gives the layers' own embeddings, [perLayerSize, layers, tokens], of
// the tokens and their embeddings h.
func (m *gemma4) perLayer(s *step, h ml.Tensor) ml.Tensor {
	e, n := m.PerLayer, h.Dim(1)
	own := e.Tokens.Forward(s.ctx, s.tokens).Scale(s.ctx, math.Sqrt(float64(m.perLayerSize)))
	made := e.Projection.Forward(s.ctx, h).Scale(s.ctx, 1/math.Sqrt(float64(m.hidden)))
	made = e.Norm.Forward(s.ctx, made.Reshape(s.ctx, m.perLayerSize, m.layers, n), m.eps)
	return made.Add(s.ctx, own.Reshape(s.ctx, m.perLayerSize, m.layers, n)).Scale(s.ctx, 1/math.Sqrt2)
}

// attention maps [hidden, tokens] to [hidden, tokens].
func (m *gemma4) attention(s *step, l *gemma4Layer, x ml.Tensor) ml.Tensor {
	n := x.Dim(1)
	options := []func(*rope.Options){rope.WithTypeNeoX()}
	if l.window == 0 {
		options = append(options, rope.WithFactors(l.RopeFactors))
	}
	turn := func(t ml.Tensor) ml.Tensor {
		return nn.RoPE(s.ctx, t, s.positions, l.ropeDim, l.ropeBase, 1, options...)
	}
	q := turn(l.QueryNorm.Forward(s.ctx, l.Query.Forward(s.ctx, x).Reshape(s.ctx, l.headDim, m.heads, n), m.eps))
	var k, v ml.Tensor
	if l.Key != nil {
		k = l.Key.Forward(s.ctx, x).Reshape(s.ctx, l.headDim, l.kvHeads, n)
		v = k
		if l.Value != nil {
			v = l.Value.Forward(s.ctx, x).Reshape(s.ctx, l.headDim, l.kvHeads, n)
		}
		k = turn(l.KeyNorm.Forward(s.ctx, k, m.eps))
		v = v.RMSNorm(s.ctx, nil, m.eps)
	}
	return l.AttentionOut.Forward(s.ctx, s.attend(l.keeper, q, k, v, 1))
}

// feedForward maps [hidden, tokens] to [hidden, tokens]: the GELU of one projection
// gates another.
func (l *gemma4Layer) feedForward(ctx ml.Context, x ml.Tensor, eps float32) ml.Tensor {
	return l.PostMLPNorm.Forward(ctx, l.Down.Forward(ctx, l.Gate.Forward(ctx, x).GELU(ctx, l.Up.Forward(ctx, x))), eps)
}

// forward gives what is added to h, [hidden, tokens], for the layer's own
// embeddings, [perLayerSize, tokens].
func (p *gemma4Mixing) forward(ctx ml.Context, h, own ml.Tensor, eps float32) ml.Tensor {
	return p.Norm.Forward(ctx, p.Projection.Forward(ctx, p.Gate.Forward(ctx, h).GELU(ctx, own)), eps)
}
