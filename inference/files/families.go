package files

import (
	"math"
	"slices"
)

// A set of families, as bits.
type set uint8

const (
	llama set = 1 << iota
	qwen3
	mistral3
	gemma4

	turned = llama | mistral3 // pair the neighbours of a head in rotary positions, not its halves
	plain  = llama | qwen3 | mistral3
	all    = plain | gemma4
)

// A family is how a folder's model is written as GGUF.
type family struct {
	set      set
	arch     string // GGUF's name
	tied     bool   // whether the output is the embedding where config.json does not say
	describe func(c *config, m *metadata, z *sizes)
	// leaveOut are prefixes of tensors of other parts than the text's.
	leaveOut []string
}

var (
	otherParts = []string{
		"vision_tower.", "multi_modal_projector.", "model.vision_tower.", "model.multi_modal_projector.",
		"model.audio_tower.", "model.embed_vision.", "model.embed_audio.",
	}
	llamaFamily    = family{set: llama, arch: "llama", describe: describeLlama}
	mistral3Family = family{set: mistral3, arch: "mistral3", describe: describeMistral3, leaveOut: otherParts}
	gemma4Family   = family{set: gemma4, arch: "gemma4", tied: true, describe: describeGemma4, leaveOut: otherParts}
)

// families by the architecture in config.json.
var families = map[string]family{
	"LlamaForCausalLM":                 llamaFamily,
	"MistralForCausalLM":               llamaFamily,
	"Qwen3ForCausalLM":                 {set: qwen3, arch: "qwen3", describe: describeQwen3},
	"Mistral3ForConditionalGeneration": mistral3Family,
	"Ministral3ForCausalLM":            mistral3Family,
	"Gemma4ForConditionalGeneration":   gemma4Family,
	"Gemma4ForCausalLM":                gemma4Family,
}

// sizes are those of a model, as tensors' shapes name them, and what a layer
// has of its own. A size of 0 is of a tensor that the model does not have.
type sizes struct {
	layers int
	of     map[string]int
	layer  []map[string]int // nil: all layers are alike
	tied   bool             // the output is the embedding
	freqs  []float32        // what each pair of values of a head has its turns divided by; nil: nothing
}

// get is a size in a layer, or outside of all in layer -1.
func (z *sizes) get(name string, layer int) int {
	if layer >= 0 && z.layer != nil {
		if n, ok := z.layer[layer][name]; ok {
			return n
		}
	}
	return z.of[name]
}

// shared describes what all families have, but for the sizes of heads.
func shared(c *config, m *metadata, z *sizes, arch string) {
	z.layers = c.count("num_hidden_layers")
	hidden, vocab := c.count("hidden_size"), c.count("vocab_size")
	z.of = map[string]int{"hidden": hidden, "vocab": vocab, "one": 1}
	m.set("general.architecture", arch)
	m.set(arch+".block_count", uint32(z.layers))
	m.set(arch+".embedding_length", uint32(hidden))
	m.set(arch+".vocab_size", uint32(vocab))
	m.set(arch+".context_length", uint32(c.count("max_position_embeddings")))
	m.set(arch+".attention.head_count", uint32(c.count("num_attention_heads")))
	m.set(arch+".attention.layer_norm_rms_epsilon", c.float("rms_norm_eps"))
	want(c, "attention_bias", false)
	want(c, "mlp_bias", false)
	notQuantized(c)
}

func notQuantized(c *config) {
	if c.has("quantization_config") {
		c.fail("quantization_config", ": quantized folders are not supported: give the GGUF file, or the folder with weights in BF16")
	}
}

// decoder describes a model whose layers are all alike.
func decoder(c *config, m *metadata, z *sizes, arch string, headDim, kvHeads int) {
	shared(c, m, z, arch)
	heads, mlp := c.count("num_attention_heads"), c.count("intermediate_size")
	z.of["mlp"], z.of["head"], z.of["q"], z.of["kv"] = mlp, headDim, heads*headDim, kvHeads*headDim
	m.set(arch+".feed_forward_length", uint32(mlp))
	m.set(arch+".attention.head_count_kv", uint32(kvHeads))
	m.set(arch+".attention.key_length", uint32(headDim))
	m.set(arch+".attention.value_length", uint32(headDim))
	m.set(arch+".rope.dimension_count", uint32(headDim))
	must(c, "hidden_act", "silu")
	want(c, "pretraining_tp", 1)
	want(c, "partial_rotary_factor", float32(1))
	var kinds []string
	c.get("layer_types", &kinds)
	if i := slices.IndexFunc(kinds, func(k string) bool { return k != "full_attention" }); i >= 0 {
		c.fail("layer_types", ": %q is not supported for this architecture", kinds[i])
	}
	if headDim%2 != 0 {
		c.fail("head_dim", " is %d, an odd number", headDim)
	}
}

// noWindow refuses layers that do not see the whole context.
func noWindow(c *config) {
	if c.has("sliding_window") {
		c.fail("sliding_window", ": %s is not supported for this architecture", short(c.fields["sliding_window"]))
	}
}

// headDim is that of config.json, or the share of a head.
func headDim(c *config) int {
	return c.countOr("head_dim", c.count("hidden_size")/c.count("num_attention_heads"))
}

func describeLlama(c *config, m *metadata, z *sizes) {
	dim := headDim(c)
	kv := c.countOr("num_key_value_heads", 0)
	if kv == 0 && c.text("model_type") == "llama" { // what that type's own reader takes
		kv = c.count("num_attention_heads")
	}
	if kv == 0 {
		c.fail("num_key_value_heads", " is missing")
	}
	decoder(c, m, z, "llama", dim, kv)
	noWindow(c)
	rope := readRope(c)
	switch rope.kind {
	case "default":
	case "linear":
		m.set("llama.rope.scaling.type", "linear")
		m.set("llama.rope.scaling.factor", rope.c.float("factor"))
	case "llama3":
		z.freqs = llama3Factors(rope, dim)
	default:
		rope.unknown(c)
	}
	rope.finish(m, "llama")
}

// llama3Factors stretch the slow turns of Llama 3.1: those whose wave is longer
// than the first context by the factor, short ones not at all, those between by
// part of it.
func llama3Factors(rope rope, dim int) []float32 {
	factor, low, high := float64(rope.c.float("factor")), float64(rope.c.float("low_freq_factor")), float64(rope.c.float("high_freq_factor"))
	original := float64(rope.c.count("original_max_position_embeddings"))
	if high <= low {
		rope.c.fail("high_freq_factor", " is %g, and low_freq_factor is %g", high, low)
	}
	freqs := make([]float32, dim/2)
	for i := range freqs {
		wave := 2 * math.Pi * math.Pow(float64(rope.base), float64(2*i)/float64(dim))
		switch {
		case wave < original/high:
			freqs[i] = 1
		case wave > original/low:
			freqs[i] = float32(factor)
		default:
			smooth := (original/wave - low) / (high - low)
			freqs[i] = float32(1 / ((1-smooth)/factor + smooth))
		}
	}
	return freqs
}

func describeQwen3(c *config, m *metadata, z *sizes) {
	decoder(c, m, z, "qwen3", c.count("head_dim"), c.count("num_key_value_heads"))
	want(c, "use_sliding_window", false) // the two fields after it say nothing then
	c.has("sliding_window")
	c.has("max_window_layers")
	rope := readRope(c)
	switch rope.kind {
	case "default":
	case "yarn":
		rope.yarn(m, "qwen3")
	default:
		rope.unknown(c)
	}
	rope.finish(m, "qwen3")
}

func describeMistral3(c *config, m *metadata, z *sizes) {
	decoder(c, m, z, "mistral3", headDim(c), c.count("num_key_value_heads"))
	noWindow(c)
	rope := readRope(c)
	switch kind := c.text("model_type"); {
	case kind == "mistral" && rope.kind == "default":
	case kind == "ministral3" && rope.kind == "yarn":
		rope.yarn(m, "mistral3")
		m.set("mistral3.rope.scaling.yarn_log_multiplier", rope.c.float("mscale_all_dim"))
		if mscale := rope.c.float("mscale"); mscale != 1 { // llama.cpp's converter leaves it out, and means 1
			m.set("mistral3.rope.scaling.mscale", mscale)
		}
		m.set("mistral3.attention.temperature_scale", rope.c.float("llama_4_scaling_beta"))
	case kind != "mistral" && kind != "ministral3":
		c.fail("model_type", " is %q; only mistral and ministral3 are supported", kind)
	default:
		rope.unknown(c)
	}
	rope.finish(m, "mistral3")
}

// rope is what config.json says of rotary positions, under one of two names.
type rope struct {
	c    *config // the scaling's own fields
	kind string  // default: no scaling
	base float32
}

func readRope(c *config) rope {
	r := rope{kind: "default"}
	old, now := c.object("rope_scaling"), c.object("rope_parameters")
	if old != nil && now != nil {
		c.fail("rope_scaling", " is given, and rope_parameters too")
	}
	if r.c = now; old != nil {
		r.c = old
	}
	if r.c == nil {
		r.base = c.float("rope_theta")
		return r
	}
	kind, legacy := r.c.text("rope_type"), r.c.text("type")
	if kind == "" {
		kind = legacy
	}
	if legacy != "" && legacy != kind {
		r.c.fail("type", " is %q, and rope_type %q", legacy, kind)
	}
	if kind == "" {
		r.c.fail("rope_type", " is missing")
	}
	r.kind = kind
	if r.c.has("rope_theta") {
		r.base = r.c.float("rope_theta")
		want(c, "rope_theta", r.base)
	} else {
		r.base = c.float("rope_theta")
	}
	want(r.c, "partial_rotary_factor", float32(1))
	return r
}

func (r *rope) unknown(c *config) {
	if r.c == nil {
		c.fail("rope_parameters", " is missing")
		return
	}
	r.c.fail("rope_type", ": %q is not supported for this architecture", r.kind)
}

// yarn writes what all models with YaRN have.
func (r *rope) yarn(m *metadata, arch string) {
	m.set(arch+".rope.scaling.type", "yarn")
	m.set(arch+".rope.scaling.factor", r.c.float("factor"))
	m.set(arch+".rope.scaling.original_context_length", uint32(r.c.count("original_max_position_embeddings")))
	// A config.json names YaRN's bounds only where they are not those of its
	// authors: its readers are transformers', which take these then.
	for _, bound := range []struct {
		name  string
		value float32
	}{{"beta_fast", 32}, {"beta_slow", 1}} {
		if r.c.has(bound.name) {
			bound.value = r.c.float(bound.name)
		}
		m.set(arch+".rope.scaling.yarn_"+bound.name, bound.value)
	}
	want(r.c, "truncate", true)
}

func (r *rope) finish(m *metadata, arch string) {
	m.set(arch+".rope.freq_base", r.base)
	if r.c != nil {
		r.c.rest()
	}
}
