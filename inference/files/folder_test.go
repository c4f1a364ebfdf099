package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// A folder is a tiny Hugging Face folder that a test makes.
type folder struct {
	config    map[string]any
	tokenizer map[string]any
	texts     map[string]string // further files
	tensors   map[string]tensor
	order     []string // of the tensors
	shards    int      // files with tensors; with more than one there is an index
}

type tensor struct {
	dtype string
	shape []int
	data  []byte
}

const tinyVocab = 12 // one more than the tokenizer has

func newFolder(config map[string]any) *folder {
	return &folder{
		config: config, texts: map[string]string{}, tensors: map[string]tensor{}, shards: 1,
		tokenizer: map[string]any{
			"added_tokens": []map[string]any{
				{"id": 0, "content": "<bos>", "special": true}, {"id": 1, "content": "<end>", "special": true},
				{"id": 10, "content": "<tool>", "special": false},
			},
			"model": map[string]any{"type": "BPE", "byte_fallback": true, "merges": []string{}, "vocab": map[string]int{
				"a": 2, "b": 3, "c": 4, "d": 5, "<0x0A>": 6, "e": 7, "f": 9}},
			"post_processor": map[string]any{"type": "Sequence", "processors": []map[string]any{
				{"type": "ByteLevel"},
				{"type": "TemplateProcessing", "single": []map[string]any{{"SpecialToken": map[string]any{"id": "<bos>", "type_id": 0}}, {"Sequence": map[string]any{"id": "A"}}}}}},
		},
	}
}

var bytesOf = map[string]int{"BF16": 2, "F16": 2, "F32": 4, "F8_E4M3": 1, "I8": 1}

// add makes a tensor of random bytes.
func (f *folder) add(dtype, name string, shape ...int) {
	n := bytesOf[dtype]
	for _, d := range shape {
		n *= d
	}
	rng := rand.New(rand.NewPCG(uint64(len(f.order)), 3))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	f.tensors[name] = tensor{dtype, shape, data}
	f.order = append(f.order, name)
}

func (f *folder) write(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny-model")
	put := func(name string, data []byte) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	object := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	put("config.json", object(f.config))
	if f.tokenizer != nil {
		put("tokenizer.json", object(f.tokenizer))
	}
	if f.shards == 1 {
		put("model.safetensors", f.safetensors(t, f.order))
	} else {
		index := map[string]string{}
		for i := range f.shards {
			name := "model-0000" + string(rune('1'+i)) + "-of-0000" + string(rune('0'+f.shards)) + ".safetensors"
			names := f.order[i*len(f.order)/f.shards : (i+1)*len(f.order)/f.shards]
			for _, n := range names {
				index[n] = name
			}
			put(name, f.safetensors(t, names))
		}
		put("model.safetensors.index.json", object(map[string]any{"weight_map": index}))
	}
	for name, text := range f.texts {
		put(name, []byte(text))
	}
	return dir
}

// safetensors are the bytes of a file with some of the tensors.
func (f *folder) safetensors(t testing.TB, names []string) []byte {
	head, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	for _, name := range names {
		x := f.tensors[name]
		shape := x.shape
		if shape == nil {
			shape = []int{}
		}
		head[name] = map[string]any{"dtype": x.dtype, "shape": shape, "data_offsets": []int{len(data), len(data) + len(x.data)}}
		data = append(data, x.data...)
	}
	b, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b, data)
}

// config.json's fields that the tiny models of three families share: three
// layers, four heads of eight values, of which two have keys and values.
func plainConfig(architecture, modelType string) map[string]any {
	return map[string]any{
		"architectures": []string{architecture}, "model_type": modelType, "torch_dtype": "bfloat16", "bos_token_id": 0, "eos_token_id": 1,
		"vocab_size": tinyVocab, "hidden_size": 24, "num_hidden_layers": 3, "intermediate_size": 40, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
		"rms_norm_eps": 1e-5, "rope_theta": 500000.0, "hidden_act": "silu", "max_position_embeddings": 512, "attention_bias": false,
		"sliding_window": nil, "tie_word_embeddings": false,
	}
}

// plainFolder is a model of one of these families, its tensors' names beginning
// with two prefixes.
func plainFolder(config map[string]any, dtype, inner, outer string) *folder {
	f := newFolder(config)
	f.add(dtype, inner+"embed_tokens.weight", tinyVocab, 24)
	f.add(dtype, inner+"norm.weight", 24)
	f.add(dtype, outer+"lm_head.weight", tinyVocab, 24)
	for _, i := range []string{"0", "1", "2"} {
		p := inner + "layers." + i + "."
		f.add(dtype, p+"input_layernorm.weight", 24)
		f.add(dtype, p+"post_attention_layernorm.weight", 24)
		f.add(dtype, p+"self_attn.q_proj.weight", 32, 24)
		f.add(dtype, p+"self_attn.k_proj.weight", 16, 24)
		f.add(dtype, p+"self_attn.v_proj.weight", 16, 24)
		f.add(dtype, p+"self_attn.o_proj.weight", 24, 32)
		f.add(dtype, p+"mlp.gate_proj.weight", 40, 24)
		f.add(dtype, p+"mlp.up_proj.weight", 40, 24)
		f.add(dtype, p+"mlp.down_proj.weight", 24, 40)
	}
	return f
}

func newLlama() *folder {
	return plainFolder(plainConfig("LlamaForCausalLM", "llama"), "BF16", "model.", "")
}

func newQwen3() *folder {
	c := plainConfig("Qwen3ForCausalLM", "qwen3")
	maps.Copy(c, map[string]any{"use_sliding_window": false, "max_window_layers": 3, "sliding_window": 4096})
	f := plainFolder(c, "BF16", "model.", "")
	for _, i := range []string{"0", "1", "2"} {
		f.add("BF16", "model.layers."+i+".self_attn.q_norm.weight", 8)
		f.add("BF16", "model.layers."+i+".self_attn.k_norm.weight", 8)
	}
	return f
}

// newMinistral is the text's part beside one for images, as transformers 4
// names its tensors.
func newMinistral() *folder {
	text := plainConfig("", "ministral3")
	delete(text, "architectures")
	delete(text, "rope_theta")
	text["rope_parameters"] = map[string]any{
		"rope_type": "yarn", "type": "yarn", "rope_theta": 1e6, "factor": 16.0, "original_max_position_embeddings": 64,
		"beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1,
	}
	f := plainFolder(map[string]any{
		"architectures": []string{"Mistral3ForConditionalGeneration"}, "model_type": "mistral3", "text_config": text,
		"vision_config": map[string]any{"hidden_size": 4}, "image_token_index": 10, "spatial_merge_size": 2, "vision_feature_layer": -1,
		"multimodal_projector_bias": false, "projector_hidden_act": "gelu",
	}, "BF16", "language_model.model.", "language_model.")
	f.add("F8_E4M3", "vision_tower.patch_conv.weight", 4, 3, 2, 2)
	f.add("BF16", "multi_modal_projector.linear_1.weight", 4, 4)
	return f
}

// newGemma4 has four layers: window, full, window, full, of which the last two
// borrow keys and values; the full ones have heads twice as wide.
func newGemma4() *folder {
	text := map[string]any{
		"model_type": "gemma4_text", "bos_token_id": 0, "vocab_size": tinyVocab, "vocab_size_per_layer_input": tinyVocab, "hidden_size": 24, "num_hidden_layers": 4,
		"intermediate_size": 40, "num_attention_heads": 4, "num_key_value_heads": 1, "num_global_key_value_heads": nil, "head_dim": 8, "global_head_dim": 16,
		"rms_norm_eps": 1e-6, "hidden_activation": "gelu_pytorch_tanh", "max_position_embeddings": 1024, "sliding_window": 32, "attention_bias": false,
		"layer_types":             []string{"sliding_attention", "full_attention", "sliding_attention", "full_attention"},
		"final_logit_softcapping": 30.0, "hidden_size_per_layer_input": 4, "num_kv_shared_layers": 2, "attention_k_eq_v": false, "use_double_wide_mlp": true,
		"enable_moe_block": false, "num_experts": nil, "top_k_experts": nil, "use_bidirectional_attention": nil, "tie_word_embeddings": true,
		"rope_parameters": map[string]any{
			"full_attention":    map[string]any{"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
			"sliding_attention": map[string]any{"rope_type": "default", "rope_theta": 1e4},
		},
	}
	f := newFolder(map[string]any{
		"architectures": []string{"Gemma4ForConditionalGeneration"}, "model_type": "gemma4", "text_config": text, "audio_config": map[string]any{},
		"vision_config": map[string]any{}, "boi_token_id": 9, "audio_token_id": 9, "eos_token_id": []int{1, 10}, "vision_soft_tokens_per_image": 280, "tie_word_embeddings": true,
	})
	const inner = "model.language_model."
	f.add("BF16", inner+"embed_tokens.weight", tinyVocab, 24)
	f.add("BF16", inner+"embed_tokens_per_layer.weight", tinyVocab, 16)
	f.add("BF16", inner+"per_layer_model_projection.weight", 16, 24)
	f.add("BF16", inner+"per_layer_projection_norm.weight", 4)
	f.add("BF16", inner+"norm.weight", 24)
	for i, dim := range []int{8, 16, 8, 16} {
		p := inner + "layers." + string(rune('0'+i)) + "."
		mlp := 40
		if i > 1 {
			mlp = 80
		} else {
			f.add("BF16", p+"self_attn.k_proj.weight", dim, 24)
			f.add("BF16", p+"self_attn.v_proj.weight", dim, 24)
			f.add("BF16", p+"self_attn.k_norm.weight", dim)
		}
		f.add("BF16", p+"self_attn.q_proj.weight", 4*dim, 24)
		f.add("BF16", p+"self_attn.q_norm.weight", dim)
		f.add("BF16", p+"self_attn.o_proj.weight", 24, 4*dim)
		f.add("BF16", p+"mlp.gate_proj.weight", mlp, 24)
		f.add("BF16", p+"mlp.up_proj.weight", mlp, 24)
		f.add("BF16", p+"mlp.down_proj.weight", 24, mlp)
		f.add("BF16", p+"per_layer_input_gate.weight", 4, 24)
		f.add("BF16", p+"per_layer_projection.weight", 24, 4)
		for _, norm := range []string{"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm", "post_per_layer_input_norm"} {
			f.add("BF16", p+norm+".weight", 24)
		}
		f.add("BF16", p+"layer_scalar", 1)
	}
	f.add("I8", "model.vision_tower.patch_embedder.input_proj.weight", 2, 2)
	f.add("F32", "model.audio_tower.layers.0.input_max")
	f.add("BF16", "model.embed_vision.embedding_projection.weight", 2, 2)
	f.add("BF16", "model.embed_audio.embedding_projection.weight", 2, 2)
	return f
}

// finder has a cache of its own.
func finder(t testing.TB) *Finder { return &Finder{Cache: filepath.Join(t.TempDir(), "selfplay")} }

// decoded is a GGUF file as the runtime reads it.
type decoded struct {
	kv      map[string]any
	tensors map[string]*fsggml.Tensor
	data    map[string][]byte
}

func decode(t testing.TB, path string) decoded {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := fsggml.Decode(bytes.NewReader(b), -1)
	if err != nil {
		t.Fatal(err)
	}
	d := decoded{map[string]any{}, map[string]*fsggml.Tensor{}, map[string][]byte{}}
	for key, v := range g.KV() {
		if key != "general.parameter_count" {
			d.kv[key] = values(v)
		}
	}
	for _, x := range g.Tensors().Items() {
		if x.Offset%32 != 0 || g.Tensors().Offset%32 != 0 {
			t.Errorf("%s: the data of %s lies at %d+%d", path, x.Name, g.Tensors().Offset, x.Offset)
		}
		at := g.Tensors().Offset + x.Offset
		d.tensors[x.Name], d.data[x.Name] = x, b[at:at+x.Size()]
	}
	return d
}

// values takes the runtime's own type of arrays apart.
func values(v any) any {
	if reflect.ValueOf(v).Kind() != reflect.Pointer {
		return v
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// floats are vectors in F32, widened here by the runtime's own rule.
func floats(bf16 []byte) (b []byte) {
	for i := 0; i < len(bf16); i += 2 {
		b = append(b, 0, 0, bf16[i], bf16[i+1])
	}
	return b
}

// paired orders the rows of a matrix anew for heads of dim values: row i of the
// first half of a head goes before row i of its second half.
func paired(x tensor, dim int) (b []byte) {
	row := len(x.data) / x.shape[0]
	for r := range x.shape[0] {
		in := r % dim
		from := r - in + in/2 + in%2*(dim/2)
		b = append(b, x.data[from*row:(from+1)*row]...)
	}
	return b
}

// plainNames are the names in a layer of three families.
var plainNames = map[string]string{
	"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
	"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
	"self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
	"mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}

var gemma4Names = map[string]string{
	"input_layernorm": "attn_norm", "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
	"post_feedforward_layernorm": "post_ffw_norm", "post_per_layer_input_norm": "post_norm", "per_layer_input_gate": "inp_gate", "per_layer_projection": "proj",
	"layer_scalar": "layer_output_scale",
}

var outerNames = map[string]string{
	"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output",
	"embed_tokens_per_layer": "per_layer_token_embd", "per_layer_model_projection": "per_layer_model_proj", "per_layer_projection_norm": "per_layer_proj_norm",
}

// nameInGGUF is worked out here without the table of the program.
func nameInGGUF(name string, gemma bool) string {
	for _, p := range []string{"language_model.", "model."} {
		name = strings.Replace(name, p, "", 1)
	}
	name = strings.TrimPrefix(strings.TrimSuffix(name, ".weight"), "model.")
	if to := outerNames[name]; to != "" {
		return to + ".weight"
	}
	parts := strings.SplitN(name, ".", 3)
	if parts[0] != "layers" {
		return ""
	}
	to := plainNames[parts[2]]
	if gemma && gemma4Names[parts[2]] != "" {
		to = gemma4Names[parts[2]]
	}
	return "blk." + parts[1] + "." + to + ".weight"
}

var described4 = map[string]any{
	"general.file_type":            uint32(32),
	"tokenizer.ggml.model":         "huggingface",
	"tokenizer.ggml.tokens":        `["\u003cbos\u003e","\u003cend\u003e","a","b","c","d","\u003c0x0A\u003e","e","[PAD8]","f","\u003ctool\u003e","[PAD11]"]`,
	"tokenizer.ggml.token_type":    "[3,3,1,1,1,1,6,1,5,1,4,5]",
	"tokenizer.ggml.bos_token_id":  uint32(0),
	"tokenizer.ggml.eos_token_id":  uint32(1),
	"tokenizer.ggml.eos_token_ids": "[1]",
	"tokenizer.ggml.add_bos_token": true,
}

var plainKeys = map[string]any{
	"block_count": uint32(3), "embedding_length": uint32(24), "vocab_size": uint32(tinyVocab), "context_length": uint32(512), "feed_forward_length": uint32(40),
	"attention.head_count": uint32(4), "attention.head_count_kv": uint32(2), "attention.layer_norm_rms_epsilon": float32(1e-5),
	"attention.key_length": uint32(8), "attention.value_length": uint32(8), "rope.dimension_count": uint32(8), "rope.freq_base": float32(500000),
}

// TestFolders converts each family and compares every key and every byte.
func TestFolders(t *testing.T) {
	qwenYarn := newQwen3()
	qwenYarn.config["rope_scaling"] = map[string]any{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}
	ministral := newMinistral()
	ministral.config["text_config"].(map[string]any)["rope_parameters"].(map[string]any)["mscale"] = 0.5
	small := newMinistral()
	maps.Copy(small.config["text_config"].(map[string]any), map[string]any{"model_type": "mistral", "rope_parameters": nil, "rope_theta": 500000.0})
	tied := newLlama()
	tied.config["tie_word_embeddings"] = true // and the file has the output nevertheless
	linear := newLlama()
	linear.config["rope_scaling"] = map[string]any{"type": "linear", "factor": 2.0}
	causal := newMinistral()
	causal.config = causal.config["text_config"].(map[string]any)
	causal.config["architectures"] = []string{"Ministral3ForCausalLM"}
	gemma := newGemma4()
	gemmaKeys := map[string]any{
		"block_count": uint32(4), "embedding_length": uint32(24), "vocab_size": uint32(tinyVocab), "context_length": uint32(1024), "feed_forward_length": "[40,40,80,80]",
		"attention.head_count": uint32(4), "attention.head_count_kv": uint32(1), "attention.layer_norm_rms_epsilon": float32(1e-6),
		"attention.key_length": uint32(16), "attention.value_length": uint32(16), "attention.key_length_swa": uint32(8), "attention.value_length_swa": uint32(8),
		"attention.sliding_window": uint32(32), "attention.sliding_window_pattern": "[true,false,true,false]", "attention.shared_kv_layers": uint32(2),
		"rope.dimension_count": uint32(16), "rope.dimension_count_swa": uint32(8), "rope.freq_base": float32(1e6), "rope.freq_base_swa": float32(1e4),
		"embedding_length_per_layer_input": uint32(4), "final_logit_softcapping": float32(30),
	}
	yarn := func(mscale any) map[string]any {
		m := map[string]any{
			"rope.freq_base": float32(1e6), "rope.scaling.type": "yarn", "rope.scaling.factor": float32(16), "rope.scaling.original_context_length": uint32(64),
			"rope.scaling.yarn_beta_fast": float32(32), "rope.scaling.yarn_beta_slow": float32(1), "rope.scaling.yarn_log_multiplier": float32(1),
			"attention.temperature_scale": float32(0.1),
		}
		if mscale != nil {
			m["rope.scaling.mscale"] = mscale
		}
		return m
	}
	for _, test := range []struct {
		name   string
		folder *folder
		arch   string
		keys   []map[string]any
		turned bool
	}{
		{"llama", newLlama(), "llama", []map[string]any{plainKeys}, true},
		{"llama, tied", tied, "llama", []map[string]any{plainKeys}, true},
		{"llama, linear scaling", linear, "llama", []map[string]any{plainKeys, {"rope.scaling.type": "linear", "rope.scaling.factor": float32(2)}}, true},
		{"mistral 7B", plainFolder(plainConfig("MistralForCausalLM", "mistral"), "BF16", "model.", ""), "llama", []map[string]any{plainKeys}, true},
		{"qwen3", newQwen3(), "qwen3", []map[string]any{plainKeys}, false},
		{"qwen3, yarn", qwenYarn, "qwen3", []map[string]any{plainKeys,
			{"rope.scaling.type": "yarn", "rope.scaling.factor": float32(4), "rope.scaling.original_context_length": uint32(128), "rope.scaling.yarn_beta_fast": float32(32), "rope.scaling.yarn_beta_slow": float32(1)}}, false},
		{"ministral 3", newMinistral(), "mistral3", []map[string]any{plainKeys, yarn(nil)}, true},
		{"ministral 3, mscale", ministral, "mistral3", []map[string]any{plainKeys, yarn(float32(0.5))}, true},
		{"ministral 3 alone", causal, "mistral3", []map[string]any{plainKeys, yarn(nil)}, true},
		{"mistral small 3", small, "mistral3", []map[string]any{plainKeys}, true},
		{"gemma 4", gemma, "gemma4", []map[string]any{gemmaKeys}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := maps.Clone(described4)
			want["general.architecture"] = test.arch
			if test.arch == "gemma4" {
				want["tokenizer.ggml.eos_token_ids"] = "[1,10]"
			}
			raw, _ := json.Marshal(test.folder.tokenizer)
			want["tokenizer.huggingface.json"] = string(raw)
			for _, keys := range test.keys {
				for k, v := range keys {
					want[test.arch+"."+k] = v
				}
			}
			f := finder(t)
			m, err := f.Find(context.Background(), test.folder.write(t))
			if err != nil {
				t.Fatal(err)
			}
			if m.Name != "tiny-model" {
				t.Errorf("name %q", m.Name)
			}
			got := decode(t, m.Path)
			if !maps.Equal(got.kv, want) {
				for _, k := range slices.Sorted(maps.Keys(want)) {
					if got.kv[k] != want[k] {
						t.Errorf("key %s is %v, want %v", k, got.kv[k], want[k])
					}
				}
				for k, v := range got.kv {
					if want[k] == nil {
						t.Errorf("key %s is %v", k, v)
					}
				}
			}
			compareTensors(t, test.folder, got, test.arch == "gemma4", test.turned)
		})
	}
}

// compareTensors compares the bytes of all tensors.
func compareTensors(t *testing.T, f *folder, got decoded, gemma, turned bool) {
	t.Helper()
	n := 0
	tied, _ := f.config["tie_word_embeddings"].(bool)
	for name, x := range f.tensors {
		to := nameInGGUF(name, gemma)
		if strings.Contains(name, "vision") || strings.Contains(name, "audio") || strings.Contains(name, "multi_modal") || tied && name == "lm_head.weight" {
			continue
		}
		n++
		have := got.tensors[to]
		if have == nil {
			t.Errorf("%s: no tensor %s", name, to)
			continue
		}
		data, kind := x.data, uint32(fsggml.TensorTypeBF16)
		if len(x.shape) == 1 {
			data, kind = floats(data), uint32(fsggml.TensorTypeF32)
		} else if turned && (strings.Contains(name, "q_proj") || strings.Contains(name, "k_proj")) {
			data = paired(x, 8)
		}
		var shape []uint64
		for _, d := range slices.Backward(x.shape) {
			shape = append(shape, uint64(d))
		}
		if !slices.Equal(have.Shape, shape) || have.Kind != kind || !bytes.Equal(got.data[to], data) {
			t.Errorf("%s: shape %v of type %d, equal bytes %v", to, have.Shape, have.Kind, bytes.Equal(got.data[to], data))
		}
	}
	if got.tensors["rope_freqs.weight"] != nil {
		n++
	}
	if len(got.tensors) != n {
		t.Errorf("%d tensors, want %d", len(got.tensors), n)
	}
}

// TestRopeFactors: Llama 3.1's and 3.2's own numbers in llama.cpp's converter,
// and Gemma 4's that let three quarters of a head stand still.
func TestRopeFactors(t *testing.T) {
	scaling := func(factor float64) map[string]any {
		return map[string]any{"rope_type": "llama3", "factor": factor, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
	}
	wide := func(dim int, factor float64) *folder {
		f := newLlama()
		f.config["head_dim"], f.config["rope_scaling"] = dim, scaling(factor)
		for _, i := range []string{"0", "1", "2"} {
			p := "model.layers." + i + ".self_attn."
			f.replace("BF16", p+"q_proj.weight", 4*dim, 24)
			f.replace("BF16", p+"k_proj.weight", 2*dim, 24)
			f.replace("BF16", p+"v_proj.weight", 2*dim, 24)
			f.replace("BF16", p+"o_proj.weight", 24, 4*dim)
		}
		return f
	}
	for _, test := range []struct {
		folder *folder
		n      int
		want   map[int]float64
	}{
		{wide(128, 8), 64, map[int]float64{0: 1, 28: 1, 29: 1.2074840, 30: 1.5534146, 31: 2.0263131, 33: 3.6842530, 34: 5.2573266, 35: 8, 63: 8}},
		{wide(64, 32), 32, map[int]float64{0: 1, 14: 1, 15: 1.6513292, 16: 3.2922626, 17: 9.6667299, 18: 32, 31: 32}},
		{newGemma4(), 8, map[int]float64{0: 1, 1: 1, 2: 1e30, 7: 1e30}},
	} {
		m, err := finder(t).Find(context.Background(), test.folder.write(t))
		if err != nil {
			t.Fatal(err)
		}
		b := decode(t, m.Path).data["rope_freqs.weight"]
		if len(b) != 4*test.n {
			t.Errorf("%d bytes for %d factors", len(b), test.n)
			continue
		}
		for i, want := range test.want {
			if got := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))); math.Abs(got/want-1) > 1e-5 {
				t.Errorf("factor %d of %d is %g, want %g", i, test.n, got, want)
			}
		}
	}
}

// TestGemma4Variants: what the larger models have in place of the smaller ones'
// per-layer inputs and borrowed keys: full layers whose keys are their values.
func TestGemma4Variants(t *testing.T) {
	f := newGemma4()
	maps.Copy(f.text(), map[string]any{
		"attention_k_eq_v": true, "num_global_key_value_heads": 2, "num_key_value_heads": 4, "hidden_size_per_layer_input": nil, "num_kv_shared_layers": 0, "use_double_wide_mlp": false, "final_logit_softcapping": nil,
	})
	f.config["architectures"] = []string{"Gemma4ForCausalLM"}
	for _, name := range slices.Clone(f.order) {
		if strings.Contains(name, "per_layer") {
			f.remove(name)
		}
	}
	for i, dim := range []int{8, 16, 8, 16} {
		p := "model.language_model.layers." + string(rune('0'+i)) + "."
		heads := 4
		if i%2 == 1 {
			heads = 2
		}
		f.replace("BF16", p+"self_attn.k_proj.weight", heads*dim, 24)
		f.replace("BF16", p+"self_attn.k_norm.weight", dim)
		if f.remove(p + "self_attn.v_proj.weight"); i%2 == 0 {
			f.add("BF16", p+"self_attn.v_proj.weight", heads*dim, 24)
		}
		f.replace("BF16", p+"mlp.gate_proj.weight", 40, 24)
		f.replace("BF16", p+"mlp.up_proj.weight", 40, 24)
		f.replace("BF16", p+"mlp.down_proj.weight", 24, 40)
	}
	m, err := finder(t).Find(context.Background(), f.write(t))
	if err != nil {
		t.Fatal(err)
	}
	got := decode(t, m.Path)
	for key, want := range map[string]any{
		"attention.head_count_kv": "[4,2,4,2]", "feed_forward_length": uint32(40), "attention.shared_kv_layers": uint32(0),
		"embedding_length_per_layer_input": uint32(0), "final_logit_softcapping": nil,
	} {
		if got.kv["gemma4."+key] != want {
			t.Errorf("key %s is %v, want %v", key, got.kv["gemma4."+key], want)
		}
	}
	compareTensors(t, f, got, true, false)
	f.add("BF16", "model.language_model.layers.1.self_attn.v_proj.weight", 32, 24)
	_, err = finder(t).Find(context.Background(), f.write(t))
	checkError(t, "values where keys are", err, `layers.1.self_attn.v_proj.weight" is not known`)
}
