package inference

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml"
)

// newFamily makes a tiny model of an architecture with random weights: three
// layers, heads whose size is not hidden/heads, tied embeddings. The vocabulary
// is that of newTiny.
func newFamily(arch string, kind fsggml.TensorType) *tinyModel {
	const layers, hidden, mlp, heads, kvHeads, headDim = 3, 64, 96, 4, 2, 32
	size := synthetic{
		arch: arch, layers: layers, hidden: hidden, mlp: mlp, heads: heads, kvHeads: kvHeads, headDim: headDim,
		context: 512, eps: 1e-6, ropeBase: 10000,
	}
	m := &tinyModel{kv: size.keys()}
	maps.Copy(m.kv, madeUpVocab(tinyVocab))
	if arch == "qwen3" {
		delete(m.kv, "qwen3.rope.dimension_count") // which public files lack
	}
	rng := rand.New(rand.NewPCG(7, 8))
	add := func(name string, shape ...uint64) {
		if len(shape) == 1 { // a norm
			m.add(rng, fsggml.TensorTypeF32, name+".weight", shape...)
		} else {
			m.add(rng, kind, name+".weight", shape...)
		}
	}
	add("token_embd", hidden, tinyVocab)
	add("output_norm", hidden)
	for i := range layers {
		p := "blk." + strconv.Itoa(i) + "."
		add(p+"attn_norm", hidden)
		add(p+"attn_q", hidden, heads*headDim)
		add(p+"attn_k", hidden, kvHeads*headDim)
		add(p+"attn_v", hidden, kvHeads*headDim)
		add(p+"attn_output", heads*headDim, hidden)
		add(p+"ffn_norm", hidden)
		add(p+"ffn_gate", hidden, mlp)
		add(p+"ffn_up", hidden, mlp)
		add(p+"ffn_down", mlp, hidden)
		if arch == "qwen3" {
			add(p+"attn_q_norm", headDim)
			add(p+"attn_k_norm", headDim)
		}
	}
	return m
}

// randomPrompts are four prompts of n tokens of the tiny models' vocabulary.
func randomPrompts(n int) (p [4][]int32) {
	rng := rand.New(rand.NewPCG(9, 10))
	for i := range p {
		for range n {
			p[i] = append(p[i], int32(madeUpControls+rng.IntN(256)))
		}
	}
	return p
}

// One scaling in the keys of Ollama's converter and in those of llama.cpp's. The
// prompts of the tests go far beyond its original context.
var (
	ollamasYarn = fsggml.KV{
		"mistral3.rope.scaling.type": "yarn", "mistral3.rope.scaling.factor": float32(4),
		"mistral3.rope.scaling.original_context_length": uint32(24),
		"mistral3.rope.scaling.beta_fast":               float32(1), "mistral3.rope.scaling.beta_slow": float32(0.5),
		"mistral3.rope.scaling.mscale": float32(1), "mistral3.rope.scaling.mscale_all_dim": float32(1),
		"mistral3.rope.scaling_beta": float32(0.2),
	}
	// llama.cpp reads no bounds for Qwen3: they are the authors' own.
	qwen3sYarn = fsggml.KV{
		"qwen3.rope.scaling.type": "yarn", "qwen3.rope.scaling.factor": float32(4),
		"qwen3.rope.scaling.original_context_length": uint32(24),
		"qwen3.rope.scaling.yarn_beta_fast":          float32(32), "qwen3.rope.scaling.yarn_beta_slow": float32(1),
	}
	publicYarn = fsggml.KV{
		"mistral3.rope.scaling.type": "yarn", "mistral3.rope.scaling.factor": float32(4),
		"mistral3.rope.scaling.original_context_length": uint32(24),
		"mistral3.rope.scaling.yarn_beta_fast":          float32(1), "mistral3.rope.scaling.yarn_beta_slow": float32(0.5),
		"mistral3.rope.scaling.yarn_log_multiplier": float32(1),
		"mistral3.attention.temperature_scale":      float32(0.2),
	}
)

// A family is a variant of an architecture, made from its tiny model.
type family struct {
	name, arch string
	change     func(m *tinyModel, rng *rand.Rand)
}

func (f family) make(kind fsggml.TensorType) *tinyModel {
	if f.arch == "gemma4" {
		return newGemma4Family(kind, f.name == gemma4Small)
	}
	m := newFamily(f.arch, kind)
	f.change(m, rand.New(rand.NewPCG(11, 12)))
	return m
}

const gemma4Small = "Gemma 4 as E2B"

// Families that one of the oracles does not compute.
const (
	turnsHalf = "Llama that turns half of each head" // llama.cpp loads no such file
	qwen3YaRN = "Qwen3 with YaRN"                    // ollama leaves out YaRN's scaling of attention
)

var families = []family{
	{"Qwen3 with tied embeddings", "qwen3", func(*tinyModel, *rand.Rand) {}},
	{"Qwen3 with its own output", "qwen3", func(m *tinyModel, rng *rand.Rand) {
		m.add(rng, fsggml.TensorType(m.tensor("token_embd.weight").Kind), "output.weight", 64, 261)
	}},
	{qwen3YaRN, "qwen3", func(m *tinyModel, _ *rand.Rand) { maps.Copy(m.kv, qwen3sYarn) }},
	{"Llama", "llama", func(*tinyModel, *rand.Rand) {}},
	{turnsHalf, "llama", func(m *tinyModel, _ *rand.Rand) {
		m.kv["llama.rope.dimension_count"] = uint32(16)
	}},
	{"Llama 3.1 with rope factors", "llama", func(m *tinyModel, rng *rand.Rand) {
		m.add(rng, fsggml.TensorTypeF32, "rope_freqs.weight", 16)
	}},
	{"Llama with linear scaling", "llama", func(m *tinyModel, _ *rand.Rand) {
		m.kv["llama.rope.scaling.type"] = "linear"
		m.kv["llama.rope.scaling.factor"] = float32(3)
	}},
	{"Mistral Small 3 without scaling", "mistral3", func(*tinyModel, *rand.Rand) {}},
	{"Ministral 3 beyond the original context", "mistral3", func(m *tinyModel, _ *rand.Rand) {
		maps.Copy(m.kv, ollamasYarn)
	}},
	{"YaRN that scales attention", "mistral3", func(m *tinyModel, _ *rand.Rand) {
		maps.Copy(m.kv, ollamasYarn)
		m.kv["mistral3.rope.scaling.mscale_all_dim"] = float32(0)
	}},
	{gemma4Small, "gemma4", nil},
	{"Gemma 4 as the 31B", "gemma4", nil},
}

// prompt is what the goldens are the answers to, or the beginning of it.
func (f family) prompt() []int32 {
	if f.arch == "gemma4" {
		return randomPrompts(500)[1]
	}
	return randomPrompts(110)[1]
}

// TestFamilies computes each with ollama's own graph of it. A lone row of Q4_1
// takes the same kernel as one among others, and so our engine computes it
// alone, as ollama does.
func TestFamilies(t *testing.T) {
	for _, f := range families {
		if f.name == qwen3YaRN {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			p := randomPrompts(110)
			ours, theirs := f.make(fsggml.TensorTypeQ4_1), f.make(fsggml.TensorTypeQ4_1)
			narrow(theirs)
			ollamaCheck{ours.write(t), theirs.write(t), 128, ml.DTypeF16, 0}.run(t, ollamaScript(p[0], p[1], p[2], p[3]))
		})
	}
}

// TestFamiliesOfLlamaCpp compares the most likely tokens after a prompt with
// those of llama.cpp (that of llama-cpp-python 0.3.36, its server on one thread,
// the same weights in F32). Both keep keys and values in f16, and add up in
// different orders: 0.010 at most when this was written. Gemma's prompts are
// longer than its window and its ring.
func TestFamiliesOfLlamaCpp(t *testing.T) {
	b, err := os.ReadFile("testdata/families.json")
	if err != nil {
		t.Fatal(err)
	}
	var goldens map[string]struct {
		Tokens int // of the prompt
		Top    []struct {
			ID      int32
			LogProb float64
		}
	}
	if err := json.Unmarshal(b, &goldens); err != nil {
		t.Fatal(err)
	}
	var off noise
	for _, f := range families {
		golden, ok := goldens[f.name]
		if !ok && f.name == turnsHalf {
			continue
		}
		if len(golden.Top) != 8 {
			t.Errorf("%s: %d tokens in the golden", f.name, len(golden.Top))
			continue
		}
		prompt := f.prompt()[:golden.Tokens]
		logits := lastLogits(t, f.make(fsggml.TensorTypeF32), prompt)
		var at []Candidate
		for _, top := range golden.Top {
			at = append(at, Candidate{top.ID, logits[top.ID]})
		}
		for i, p := range LogProb(logits, at) {
			d := p - golden.Top[i].LogProb
			if off.add(d); math.Abs(d) > 0.02 {
				t.Errorf("%s: the log-probability of token %d differs by %.4f", f.name, at[i].ID, d)
			}
		}
	}
	t.Logf("rms %.4f, max %.4f", off.rms(), off.max)
}

// lastLogits are those after a prompt.
func lastLogits(t *testing.T, m *tinyModel, prompt []int32) []float32 {
	t.Helper()
	e, err := Open(m.write(t), Options{Slots: 1, Cells: 512, Threads: 1, Weights: WeightsFile})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return mustLogits(t, e, row(0, 0, prompt, true))[0]
}

// TestYarnKeys: both converters' keys give the same logits, and each number has
// a part in them.
func TestYarnKeys(t *testing.T) {
	prompt := randomPrompts(110)[0]
	logits := func(yarn fsggml.KV, key string, value any) []float32 {
		m := newFamily("mistral3", fsggml.TensorTypeF32)
		maps.Copy(m.kv, yarn)
		if key != "" {
			m.kv["mistral3."+key] = value
		}
		return lastLogits(t, m, prompt)
	}
	want := logits(ollamasYarn, "", nil)
	if !slices.Equal(want, logits(publicYarn, "", nil)) {
		t.Error("the two converters' keys give different logits")
	}
	for key, value := range map[string]any{
		"rope.scaling.factor": float32(5), "rope.scaling.original_context_length": uint32(40),
		"rope.scaling.yarn_beta_fast": float32(3), "rope.scaling.yarn_beta_slow": float32(0.1),
		"rope.scaling.yarn_log_multiplier": float32(0), "attention.temperature_scale": float32(0.1),
	} {
		if slices.Equal(want, logits(publicYarn, key, value)) {
			t.Errorf("key %s changes no logits", key)
		}
	}
	none := fsggml.KV{"mistral3.rope.scaling.type": "", "mistral3.rope.scaling.factor": float32(0), "mistral3.rope.scaling.beta_fast": float32(0)}
	if !slices.Equal(logits(none, "", nil), logits(nil, "", nil)) {
		t.Error("numbers of 0, without a type of scaling, scale")
	}
}

// TestFamilyBatches: a row's logits have the same bits alone and in any batch.
func TestFamilyBatches(t *testing.T) {
	p := randomPrompts(110)
	for _, weights := range []Weights{WeightsFile, WeightsBF16} {
		for _, f := range families {
			m, err := Open(f.make(fsggml.TensorTypeQ4_1).write(t), Options{Slots: 6, Cells: 128, Threads: 1, Weights: weights})
			if err != nil {
				t.Fatal(err)
			}
			// Three prompts decode from one stretch of the original context into
			// the next, with a graph that is computed again.
			t.Run(f.name+" "+string(weights), func(t *testing.T) {
				checkBatchIndependence(t, m, [][]int32{p[0][:97], p[1][:49], p[2][:73], p[3][:33]}, 2, 30)
			})
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestBrokenFamilies: a key that changes logits is read, or the file refused.
func TestBrokenFamilies(t *testing.T) {
	for _, test := range []struct {
		arch, key string
		value     any // nil: the key is missing
		want      string
	}{
		{"qwen3", "attention.key_length", nil, "key qwen3.attention.key_length is missing"},
		{"qwen3", "attention.key_length", uint32(16), "blk.0.attn_q.weight has shape [64 128]"},
		{"qwen3", "attention.head_count_kv", []uint32{2, 2, 2}, "key qwen3.attention.head_count_kv is missing or out of range"},
		{"qwen3", "attention.head_count_kv", uint32(3), "do not fit together"},
		{"qwen3", "attention.layer_norm_rms_epsilon", nil, "key qwen3.attention.layer_norm_rms_epsilon is missing"},
		{"qwen3", "attention.scale", float32(0.5), "key qwen3.attention.scale is not supported"},
		{"qwen3", "attention.temperature_scale", float32(0.1), "key qwen3.attention.temperature_scale is not supported"},
		{"qwen3", "rope.freq_base", nil, "key qwen3.rope.freq_base is missing"},
		{"qwen3", "rope.dimension_count", uint32(16), "key qwen3.rope.dimension_count is 16"},
		{"qwen3", "rope.scaling.type", "longrope", `key qwen3.rope.scaling.type: "longrope" is not supported`},
		{"qwen3", "rope.scaling.type", "yarn", "key qwen3.rope.scaling.factor is missing"},
		{"qwen3", "rope.scaling.type", uint32(1), `key qwen3.rope.scaling.type: 0x1 is not supported`},
		{"qwen3", "rope.scaling.factor", float32(4), "key qwen3.rope.scaling.factor is given, but key rope.scaling.type does not say yarn"},
		{"qwen3", "rope.scaling.yarn_log_multiplier", float32(1), "key qwen3.rope.scaling.yarn_log_multiplier is not supported"},
		{"qwen3", "expert_count", uint32(4), "a mixture of 4 experts"},
		{"llama", "rope.scaling.type", "longrope", `key llama.rope.scaling.type: "longrope" is not supported`},
		{"llama", "rope.scaling.type", "linear", "key llama.rope.scaling.factor is missing"},
		{"llama", "rope.scaling.original_context_length", uint32(8192), "key llama.rope.scaling.original_context_length is not supported"},
		{"llama", "rope.scale_linear", float32(2), "key llama.rope.scale_linear is not supported"},
		{"llama", "attention.clamp_kqv", float32(8), "key llama.attention.clamp_kqv is not supported"},
	} {
		m := newFamily(test.arch, fsggml.TensorTypeF32)
		m.kv[test.arch+"."+test.key] = test.value
		if test.value == nil {
			delete(m.kv, test.arch+"."+test.key)
		}
		checkBroken(t, test.arch+" "+test.key, m.write(t), test.want)
	}
	for _, test := range []struct {
		key   string
		value any
		want  string
	}{
		{"rope.scaling.factor", nil, "rope.scaling.factor is missing"},
		{"rope.scaling.factor", float32(0.5), "rope.scaling.factor is 0.5"},
		{"rope.scaling.original_context_length", nil, "rope.scaling.original_context_length is missing"},
		{"rope.scaling.yarn_beta_fast", nil, "rope.scaling.yarn_beta_fast is missing"},
		{"rope.scaling.yarn_beta_slow", uint32(1), "rope.scaling.yarn_beta_slow is 1, not a number"},
		{"rope.scaling.yarn_beta_slow", float32(0), "the bounds of YaRN are 1 and 0"},
		{"rope.scaling.yarn_log_multiplier", nil, "rope.scaling.yarn_log_multiplier is missing"},
		{"rope.scaling.mscale_all_dim", float32(0.5), "rope.scaling.mscale_all_dim is 0.5, but key mistral3.rope.scaling.yarn_log_multiplier is 1"},
		{"rope.scaling.attn_factor", float32(2), "rope.scaling.attn_factor is not supported"},
		{"attention.temperature_scale", nil, "attention.temperature_scale is missing"},
		{"rope.scaling.type", nil, "is given, but key rope.scaling.type does not say yarn"},
		{"rope.scaling.type", "linear", `"linear" is not supported`},
	} {
		m := newFamily("mistral3", fsggml.TensorTypeF32)
		maps.Copy(m.kv, publicYarn)
		m.kv["mistral3."+test.key] = test.value
		if test.value == nil {
			delete(m.kv, "mistral3."+test.key)
		}
		checkBroken(t, "mistral3 "+test.key, m.write(t), test.want)
	}
	m := newFamily("mistral3", fsggml.TensorTypeF32) // in Ollama's keys
	maps.Copy(m.kv, ollamasYarn)
	delete(m.kv, "mistral3.rope.scaling.mscale")
	checkBroken(t, "mscale", m.write(t), "key mistral3.rope.scaling.mscale is missing")
	m = newFamily("qwen3", fsggml.TensorTypeF32)
	m.tensor("attn_q_norm.weight").Shape = []uint64{64}
	m.tensor("attn_q_norm.weight").WriterTo = bytes.NewReader(make([]byte, 256))
	checkBroken(t, "shape of a head's norm", m.write(t), "tensor blk.0.attn_q_norm.weight has shape [64]; the metadata asks for [32]")
}
