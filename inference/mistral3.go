package inference

import (
	"math"

	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
	"github.com/ollama/ollama/ml/nn/rope"
)

// mistral3 is the decoder of Mistral Small 3 and of the Ministral 3 models: as
// Llama's, with YaRN for long contexts, and attention that grows sharper beyond
// the context that the model was first trained on.
type mistral3 struct {
	Embedding  *nn.Embedding   `gguf:"token_embd"`
	Layers     []mistral3Layer `gguf:"blk"`
	OutputNorm *nn.RMSNorm     `gguf:"output_norm"`
	Output     *nn.Linear      `gguf:"output"` // the runtime gives tied embeddings this name too

	decoderSizes
	yarn *yarn // nil: positions are not scaled
}

type mistral3Layer struct {
	AttentionNorm *nn.RMSNorm `gguf:"attn_norm"`
	Query         *nn.Linear  `gguf:"attn_q"`
	Key           *nn.Linear  `gguf:"attn_k"`
	Value         *nn.Linear  `gguf:"attn_v"`
	AttentionOut  *nn.Linear  `gguf:"attn_output"`

	MLPNorm *nn.RMSNorm `gguf:"ffn_norm"`
	MLP     gatedMLP    `gguf:""`
}

func newMistral3(h *header, vocab int) (architecture, error) {
	c := keyCheck{h: h}
	z := c.decoder(vocab)
	z.headDim = c.countOr("attention.key_length", z.hidden/max(1, z.heads))
	z.ropeDim = c.count("rope.dimension_count")
	y := c.yarn()
	c.fit(z)
	if c.err != nil {
		return nil, c.err
	}
	s := shapeCheck{h: h}
	z.check(&s)
	s.none("rope_freqs.weight")
	return &mistral3{Layers: make([]mistral3Layer, z.layers), decoderSizes: z, yarn: y}, s.err
}

// forward gives the logits, [vocab, outputs].
func (m *mistral3) forward(s *step) ml.Tensor {
	h := m.Embedding.Forward(s.ctx, s.tokens)
	var sharpness ml.Tensor
	if m.yarn != nil {
		sharpness = s.decidedBy(m.yarn.sharpness)
	}
	for i := range m.Layers {
		l := &m.Layers[i]
		a := m.attention(s, l, i, l.AttentionNorm.Forward(s.ctx, h, m.eps), sharpness)
		if i == len(m.Layers)-1 {
			a, h = s.onlyOutputs(a), s.onlyOutputs(h)
		}
		h = a.Add(s.ctx, h)
		h = l.MLP.forward(s.ctx, l.MLPNorm.Forward(s.ctx, h, m.eps)).Add(s.ctx, h)
	}
	return m.Output.Forward(s.ctx, m.OutputNorm.Forward(s.ctx, h, m.eps))
}

// attention maps [hidden, tokens] to [hidden, tokens].
func (m *mistral3) attention(s *step, l *mistral3Layer, i int, x, sharpness ml.Tensor) ml.Tensor {
	n := x.Dim(1)
	turn := func(t ml.Tensor) ml.Tensor {
		return nn.RoPE(s.ctx, t, s.positions, m.ropeDim, m.ropeBase, m.yarn.scale(), m.yarn.options()...)
	}
	q := turn(l.Query.Forward(s.ctx, x).Reshape(s.ctx, m.headDim, m.heads, n))
	k := turn(l.Key.Forward(s.ctx, x).Reshape(s.ctx, m.headDim, m.kvHeads, n))
	v := l.Value.Forward(s.ctx, x)
	if sharpness != nil {
		q = q.Mul(s.ctx, sharpness)
	}
	return l.AttentionOut.Forward(s.ctx, s.attend(i, q, k, v, 1/math.Sqrt(float64(m.headDim))))
}

// yarn stretches rotary positions: slow turns by the factor, fast ones not at
// all, those between by part of it.
type yarn struct {
	factor      float32
	original    int // tokens of the context that the model was first trained on
	fast, slow  float32
	attention   float32 // that the runtime is to scale attention with, beyond its own 1 + ln(factor)/10
	temperature float32
}

func (y *yarn) scale() float32 {
	if y == nil {
		return 1
	}
	return 1 / y.factor
}

func (y *yarn) options() []func(*rope.Options) {
	if y == nil {
		return nil
	}
	return []func(*rope.Options){
		rope.WithOriginalContextLength(y.original), rope.WithExtrapolationFactor(1),
		rope.WithAttentionFactor(y.attention), rope.WithBetaFast(y.fast), rope.WithBetaSlow(y.slow),
	}
}

// sharpness is what a query is multiplied with: more with each further stretch
// of the original context.
func (y *yarn) sharpness(position int32) float32 {
	stretch := math.Floor(float64(position) / float64(y.original))
	return float32(1 + float64(y.temperature)*math.Log(1+stretch))
}

// The keys of YaRN that mean the same under two names: as llama.cpp's converter
// writes them, and as Ollama's does.
var (
	yarnFast        = []string{"rope.scaling.yarn_beta_fast", "rope.scaling.beta_fast"}
	yarnSlow        = []string{"rope.scaling.yarn_beta_slow", "rope.scaling.beta_slow"}
	yarnMscaleAll   = []string{"rope.scaling.yarn_log_multiplier", "rope.scaling.mscale_all_dim"}
	yarnTemperature = []string{"attention.temperature_scale", "rope.scaling_beta"}
)

const (
	yarnFactor   = "rope.scaling.factor"
	yarnOriginal = "rope.scaling.original_context_length"
	yarnMscale   = "rope.scaling.mscale" // llama.cpp's converter leaves it out, and means 1
)

// yarn reads the scaling, nil where the file has none. Each of its numbers must
// be there.
func (c *keyCheck) yarn() *yarn {
	known := []string{yarnFactor, yarnOriginal, yarnMscale}
	for _, names := range [][]string{yarnFast, yarnSlow, yarnMscaleAll, yarnTemperature} {
		known = append(known, names...)
	}
	if c.scaling([]string{"", "none", "yarn"}, known...) != "yarn" {
		for _, key := range known {
			// Ollama's converter writes zeros for what a model does not have.
			if v := c.value(key); v != nil && v != float32(0) && v != uint32(0) {
				c.fail(key, " is given, but key rope.scaling.type does not say yarn")
			}
		}
		return nil
	}
	y := &yarn{
		factor: c.float(yarnFactor), original: c.count(yarnOriginal),
		fast: c.either(yarnFast), slow: c.either(yarnSlow), temperature: c.either(yarnTemperature),
	}
	all, mscale := c.either(yarnMscaleAll), float32(1)
	if c.has(yarnMscale) || !c.has(yarnMscaleAll[0]) {
		mscale = c.either([]string{yarnMscale})
	}
	if c.err == nil && !(y.factor >= 1 && y.fast > y.slow && y.slow > 0) { // the runtime takes a 0 for its own default
		c.fail(yarnFactor, " is %g and the bounds of YaRN are %g and %g: they make no scaling", y.factor, y.fast, y.slow)
	}
	// The runtime scales attention with 1 + ln(factor)/10 on its own, which is
	// right for an mscale of 1 alone.
	growth := 0.1 * math.Log(float64(y.factor))
	y.attention = float32((growth*float64(mscale)+1)/(growth*float64(all)+1)) / float32(growth+1)
	return y
}

// either is a number, at least 0, that has several names. Where a file uses two
// of them they must agree.
func (c *keyCheck) either(names []string) float32 {
	var found any
	for _, name := range names {
		v := c.value(name)
		if x, ok := v.(float32); v != nil && (!ok || !(x >= 0)) {
			c.fail(name, " is %v, not a number of at least 0", v)
		}
		if v != nil && found != nil && v != found {
			c.fail(name, " is %v, but key %s.%s is %v", v, c.h.kv.Architecture(), names[0], found)
		}
		if v != nil {
			found = v
		}
	}
	if found == nil {
		c.fail(names[0], " is missing")
	}
	x, _ := found.(float32)
	return x
}
