package inference

import (
	"fmt"

	"github.com/ollama/ollama/ml/nn"
)

// gemma4Sizes are the sizes that Gemma 4's layers have in common.
type gemma4Sizes struct {
	layers       int
	keeping      int // the first so many layers keep keys and values
	hidden       int
	vocab        int
	heads        int
	perLayerSize int // 0: the layers have no embeddings of their own
	eps          float32
	softcap      float64 // that bounds the logits; 0: nothing does
}

// gemma4LayerSizes are those that the two kinds of layers have of their own.
type gemma4LayerSizes struct {
	window           int // 0: the layer looks back over everything
	headDim, kvHeads int
	ropeDim          int
	ropeBase         float32
	mlp              int
	keeper           int // the layer whose keys and values are attended over
}

// Keys of the same number under two names, as llama.cpp's converter and recent
// versions of Ollama's write them, and as earlier ones did.
var gemma4WindowBase = []string{"rope.freq_base_swa", "rope.local.freq_base"}

const gemma4FullHeads = "attention.global_head_count_kv" // beside a single head count, of the others

func newGemma4(h *header, vocab int) (architecture, error) {
	c := keyCheck{h: h}
	m := &gemma4{gemma4Sizes: c.gemma4(vocab)}
	if c.err != nil {
		return nil, c.err
	}
	m.Layers = make([]gemma4Layer, m.layers)
	c.gemma4Layers(m)
	if c.err != nil {
		return nil, c.err
	}
	if m.perLayerSize > 0 {
		m.PerLayer = &gemma4Embeddings{}
	}
	s := shapeCheck{h: h}
	m.check(&s)
	return m, s.err
}

func (c *keyCheck) gemma4(vocab int) gemma4Sizes {
	z := gemma4Sizes{
		layers: c.layers(), hidden: c.count("embedding_length"), vocab: vocab, heads: c.count("attention.head_count"),
		perLayerSize: c.countOrNone("embedding_length_per_layer_input"),
		eps:          c.float("attention.layer_norm_rms_epsilon"),
	}
	z.keeping = z.layers - c.countOrNone("attention.shared_kv_layers")
	if z.keeping < 1 {
		c.fail("attention.shared_kv_layers", " leaves none of %d layers", z.layers)
	}
	if c.has("final_logit_softcapping") {
		z.softcap = float64(c.float("final_logit_softcapping"))
	}
	c.plain("attention.sliding_window", "final_logit_softcapping")
	c.scaling([]string{"none"})
	return z
}

// gemma4Layers reads the sizes of both kinds of layers and gives each its own.
func (c *keyCheck) gemma4Layers(m *gemma4) {
	window := gemma4LayerSizes{
		window: c.count("attention.sliding_window"), headDim: c.count("attention.key_length_swa"),
		ropeBase: c.either(gemma4WindowBase),
	}
	window.ropeDim = c.countOr("rope.dimension_count_swa", window.headDim)
	full := gemma4LayerSizes{
		headDim: c.count("attention.key_length"), ropeDim: c.count("rope.dimension_count"), ropeBase: c.float("rope.freq_base"),
	}
	c.same("attention.value_length_swa", window.headDim)
	c.same("attention.value_length", full.headDim)
	slides := c.h.kv.Bools("attention.sliding_window_pattern")
	if c.err == nil && len(slides) != m.layers {
		c.fail("attention.sliding_window_pattern", " holds %d truth values for %d layers", len(slides), m.layers)
	}
	mlp, kvHeads := c.perLayer("feed_forward_length", m.layers), c.perLayer("attention.head_count_kv", m.layers)
	if c.err != nil {
		return
	}
	last := map[bool]int{} // of the keeping layers, of each kind
	for i, slide := range slides {
		z := full
		if slide {
			z = window
		}
		z.mlp, z.kvHeads = mlp[i], kvHeads[i]
		if !slide && c.has(gemma4FullHeads) {
			z.kvHeads = c.count(gemma4FullHeads)
		}
		if i < m.keeping {
			last[slide] = i
		}
		keeper, ok := last[slide]
		if z.keeper = keeper; !ok {
			c.fail("attention.shared_kv_layers", ": no layer keeps keys and values for layer %d", i)
			return
		}
		m.Layers[i].gemma4LayerSizes = z
		c.fit(decoderSizes{heads: m.heads, kvHeads: z.kvHeads, headDim: z.headDim, ropeDim: z.ropeDim})
		if m.Layers[keeper].kvHeads != z.kvHeads {
			c.fail("attention.head_count_kv", ": layer %d has %d and attends over layer %d, which has %d", i, z.kvHeads, keeper, m.Layers[keeper].kvHeads)
		}
	}
}

// check compares the shapes in the file with the sizes it claims, and makes
// what only some layers have.
func (m *gemma4) check(c *shapeCheck) {
	c.want("token_embd.weight", m.hidden, m.vocab)
	c.want("output_norm.weight", m.hidden)
	c.optional("output.weight", m.hidden, m.vocab)
	if m.perLayerSize > 0 {
		c.want("per_layer_token_embd.weight", m.perLayerSize*m.layers, m.vocab)
		c.want("per_layer_model_proj.weight", m.hidden, m.perLayerSize*m.layers)
		c.want("per_layer_proj_norm.weight", m.perLayerSize)
	}
	for i := range m.Layers {
		m.checkLayer(c, fmt.Sprintf("blk.%d.", i), i, &m.Layers[i])
	}
}

func (m *gemma4) checkLayer(c *shapeCheck, p string, i int, l *gemma4Layer) {
	q, kv := m.heads*l.headDim, l.kvHeads*l.headDim
	for _, norm := range []string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"} {
		c.want(p+norm+".weight", m.hidden)
	}
	c.want(p+"attn_q.weight", m.hidden, q)
	c.want(p+"attn_q_norm.weight", l.headDim)
	c.want(p+"attn_output.weight", q, m.hidden)
	c.want(p+"ffn_gate.weight", m.hidden, l.mlp)
	c.want(p+"ffn_up.weight", m.hidden, l.mlp)
	c.want(p+"ffn_down.weight", l.mlp, m.hidden)
	c.optional(p+"layer_output_scale.weight", 1)
	c.none(p+"attn_qkv.weight", p+"ffn_gate_inp.weight")
	if i < m.keeping {
		l.Key, l.KeyNorm = &nn.Linear{}, &nn.RMSNorm{}
		c.want(p+"attn_k.weight", m.hidden, kv)
		c.want(p+"attn_k_norm.weight", l.headDim)
		if c.optional(p+"attn_v.weight", m.hidden, kv) {
			l.Value = &nn.Linear{}
		}
	}
	if l.window == 0 {
		c.want("rope_freqs.weight", l.ropeDim/2)
	}
	if m.perLayerSize > 0 {
		l.PerLayer = &gemma4Mixing{}
		c.want(p+"inp_gate.weight", m.hidden, m.perLayerSize)
		c.want(p+"proj.weight", m.perLayerSize, m.hidden)
		c.want(p+"post_norm.weight", m.hidden)
	}
}

func (m *gemma4) streams() []streamShape {
	shapes := make([]streamShape, m.layers)
	for i := range shapes[:m.keeping] {
		l := &m.Layers[i]
		shapes[i] = streamShape{l.headDim, l.kvHeads, l.window}
	}
	return shapes
}
