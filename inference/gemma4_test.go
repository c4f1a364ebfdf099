package inference

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml"
)

// tinyWindow is how far the tiny Gemmas' sliding layers look back.
const tinyWindow = 16

// newGemma4Family is a tiny Gemma 4 of eight layers, the last three without
// keys and values of their own. Window layers have two key/value heads of 32
// values, the others one of 64, of which a quarter turns.
func newGemma4Family(kind fsggml.TensorType) *tinyModel {
	const layers, hidden, mlp, heads, perLayer = 8, 64, 96, 4, 32
	slides := []bool{true, true, false, true, true, false, true, false}
	m := &tinyModel{kv: fsggml.KV{
		"general.architecture":                    "gemma4",
		"gemma4.block_count":                      uint32(layers),
		"gemma4.context_length":                   uint32(1024),
		"gemma4.embedding_length":                 uint32(hidden),
		"gemma4.embedding_length_per_layer_input": uint32(perLayer),
		"gemma4.attention.head_count":             uint32(heads),
		"gemma4.attention.head_count_kv":          []int32{2, 2, 1, 2, 2, 1, 2, 1},
		"gemma4.attention.key_length":             uint32(64),
		"gemma4.attention.value_length":           uint32(64),
		"gemma4.attention.key_length_swa":         uint32(32),
		"gemma4.attention.value_length_swa":       uint32(32),
		"gemma4.attention.layer_norm_rms_epsilon": float32(1e-6),
		"gemma4.attention.sliding_window":         uint32(tinyWindow),
		"gemma4.attention.sliding_window_pattern": slides,
		"gemma4.attention.shared_kv_layers":       uint32(3),
		"gemma4.feed_forward_length":              []int32{mlp, mlp, mlp, mlp, mlp, 2 * mlp, 2 * mlp, 2 * mlp},
		"gemma4.rope.freq_base":                   float32(1e6),
		"gemma4.rope.freq_base_swa":               float32(1e4),
		"gemma4.rope.dimension_count":             uint32(64),
		"gemma4.rope.dimension_count_swa":         uint32(32),
		"gemma4.final_logit_softcapping":          float32(5),
	}}
	for key, value := range newTiny(fsggml.TensorTypeF32).kv {
		if strings.HasPrefix(key, "tokenizer.") {
			m.kv[key] = value
		}
	}
	vocab := uint64(len(m.kv["tokenizer.ggml.tokens"].([]string)))
	rng := rand.New(rand.NewPCG(7, 8))
	add := func(name string, shape ...uint64) {
		if len(shape) == 1 {
			m.add(rng, fsggml.TensorTypeF32, name+".weight", shape...)
		} else {
			m.add(rng, kind, name+".weight", shape...)
		}
	}
	add("token_embd", hidden, vocab)
	add("per_layer_token_embd", perLayer*layers, vocab)
	add("per_layer_model_proj", hidden, perLayer*layers)
	add("per_layer_proj_norm", perLayer)
	add("output_norm", hidden)
	factors := slices.Repeat([]float32{1}, 8) // a quarter of 32 pairs turns
	m.addFloats("rope_freqs.weight", append(factors, slices.Repeat([]float32{1e30}, 24)...))
	for i, slide := range slides {
		p := "blk." + strconv.Itoa(i) + "."
		headDim, kvRow, width := uint64(64), uint64(64), uint64(mlp)
		if slide {
			headDim = 32
		}
		for _, norm := range []string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm", "post_norm"} {
			add(p+norm, hidden)
		}
		add(p+"attn_q", hidden, heads*headDim)
		add(p+"attn_q_norm", headDim)
		if i < 5 {
			add(p+"attn_k", hidden, kvRow)
			add(p+"attn_v", hidden, kvRow)
			add(p+"attn_k_norm", headDim)
		} else {
			width *= 2
		}
		add(p+"attn_output", heads*headDim, hidden)
		add(p+"ffn_gate", hidden, width)
		add(p+"ffn_up", hidden, width)
		add(p+"ffn_down", width, hidden)
		add(p+"inp_gate", hidden, perLayer)
		add(p+"proj", perLayer, hidden)
		add(p+"layer_output_scale", 1)
	}
	return m
}

// likeThe31B makes the tiny Gemma one like the largest dense Gemma 4: no
// embeddings of the layers' own, keys and values in every layer, and values that
// are the keys in layers that look back over everything.
func likeThe31B(m *tinyModel, rng *rand.Rand) {
	m.kv["gemma4.embedding_length_per_layer_input"] = uint32(0)
	m.kv["gemma4.attention.shared_kv_layers"] = uint32(0)
	m.tensors = slices.DeleteFunc(m.tensors, func(t *fsggml.Tensor) bool {
		full := strings.HasPrefix(t.Name, "blk.2.") || strings.HasPrefix(t.Name, "blk.5.") || strings.HasPrefix(t.Name, "blk.7.")
		for _, part := range []string{"per_layer_", "inp_gate", ".proj.", ".post_norm."} {
			if strings.Contains(t.Name, part) {
				return true
			}
		}
		return full && strings.Contains(t.Name, "attn_v")
	})
	kind := fsggml.TensorType(m.tensor("token_embd.weight").Kind)
	for i := 5; i < 8; i++ {
		p, headDim := "blk."+strconv.Itoa(i)+".", uint64(64)
		if i == 6 {
			headDim = 32
		}
		m.add(rng, kind, p+"attn_k.weight", 64, 64)
		m.add(rng, fsggml.TensorTypeF32, p+"attn_k_norm.weight", headDim)
		if i == 6 {
			m.add(rng, kind, p+"attn_v.weight", 64, 64)
		}
	}
}

// narrow takes one from a model's sliding window for ollama's cache, which shows
// a token so many others and itself. A window of llama.cpp and of Hugging Face's
// library counts the token itself, and so does ours.
func narrow(m *tinyModel) {
	if m.kv["gemma4.attention.sliding_window"] != nil {
		m.kv["gemma4.attention.sliding_window"] = uint32(tinyWindow - 1)
	}
}

// TestWindowAgainstOllama: prompts that are far longer than the window, and than
// the ring of cells that holds it.
func TestWindowAgainstOllama(t *testing.T) {
	p := randomPrompts(600)
	a, b, c := p[0], p[1], p[2]
	script := []ollamaStep{
		{what: "a row longer than a part", rows: []Row{row(0, 0, a[:500], true), row(1, 0, b[:30], true)}},
		{what: "decode with a ring that came round", rows: []Row{row(0, 500, a[500:501], true), row(1, 30, b[30:31], true)}},
		{what: "chunks over the ring's end", rows: []Row{row(1, 31, b[31:290], true), row(2, 0, c[:250], true), row(0, 501, a[501:560], true)}},
		{what: "decode", rows: []Row{row(0, 560, a[560:561], true), row(1, 290, b[290:291], true), row(2, 250, c[250:251], true)}},
		{what: "a copy of a ring that came round", copy: [3]int{2, 0, 561}, rows: []Row{row(2, 561, c[561:590], true), row(0, 561, a[561:562], true)}},
		{what: "a chunk behind the first end", rows: []Row{row(1, 291, b[291:300], true)}},
	}
	ours, theirs := newGemma4Family(fsggml.TensorTypeF32), newGemma4Family(fsggml.TensorTypeF32)
	narrow(theirs)
	// Their cache and our ring have cells in different orders, which differ in the
	// last bits of a sum. The runtime's GELU looks them up by 10 bits, and so they
	// grow over the layers: 0.001 when this was written. With a window of one more
	// or less it is 1.
	ollamaCheck{ours.write(t), theirs.write(t), 1024, ml.DTypeF32, 0.005}.run(t, script)
}
