package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// text is the object of a folder's config.json that describes its text's part.
func (f *folder) text() map[string]any {
	if t, ok := f.config["text_config"].(map[string]any); ok {
		return t
	}
	return f.config
}

func (f *folder) remove(name string) {
	delete(f.tensors, name)
	f.order = slices.DeleteFunc(f.order, func(n string) bool { return n == name })
}

func (f *folder) replace(dtype, name string, shape ...int) {
	f.remove(name)
	f.add(dtype, name, shape...)
}

// TestBrokenFolders: what is wrong with a folder is one line that names the file
// and what in it.
func TestBrokenFolders(t *testing.T) {
	set := func(key string, value any) func(*folder) {
		return func(f *folder) { f.text()[key] = value }
	}
	unset := func(key string) func(*folder) { return func(f *folder) { delete(f.text(), key) } }
	in := func(object, key string, value any) func(*folder) {
		return func(f *folder) { f.text()[object].(map[string]any)[key] = value }
	}
	without := func(object, key string) func(*folder) {
		return func(f *folder) { delete(f.text()[object].(map[string]any), key) }
	}
	for _, test := range []struct {
		name   string
		make   func() *folder
		change func(*folder)
		file   string // that the error names
		want   string
	}{
		{"architecture", newLlama, set("architectures", []string{"Qwen2ForCausalLM"}), "config.json", `"Qwen2ForCausalLM" is not supported`},
		{"no architecture", newLlama, unset("architectures"), "config.json", "field architectures names 0 of them"},
		{"type of a field", newLlama, set("hidden_size", "24"), "config.json", `field hidden_size is "24"`},
		{"fraction of a layer", newLlama, set("num_hidden_layers", 2.5), "config.json", "field num_hidden_layers is 2.5"},
		{"negative", newLlama, set("intermediate_size", -40), "config.json", "field intermediate_size is -40"},
		{"huge", newLlama, set("vocab_size", 1<<40), "config.json", "field vocab_size is 1099511627776"},
		{"millions of layers", newLlama, set("num_hidden_layers", 1<<24), "", "names 16777216 layers, but there are 30 tensors"},
		{"no epsilon", newLlama, unset("rms_norm_eps"), "config.json", "field rms_norm_eps is missing"},
		{"no base", newLlama, unset("rope_theta"), "config.json", "field rope_theta is missing"},
		{"base", newLlama, set("rope_theta", -1), "config.json", "field rope_theta is -1"},
		{"activation", newLlama, set("hidden_act", "gelu"), "config.json", "field hidden_act is gelu; only silu is supported"},
		{"no activation", newLlama, unset("hidden_act"), "config.json", "field hidden_act is missing"},
		{"bias", newLlama, set("attention_bias", true), "config.json", "field attention_bias is true; only false is supported"},
		{"bias of the MLP", newLlama, set("mlp_bias", true), "config.json", "field mlp_bias is true"},
		{"quantized", newLlama, set("quantization_config", map[string]any{"quant_method": "fp8"}), "config.json", "field quantization_config: quantized folders"},
		{"quantized parts", newMinistral, func(f *folder) { f.config["quantization_config"] = map[string]any{} }, "config.json", "field quantization_config: quantized folders"},
		{"unknown field", newLlama, set("logit_scale", 0.5), "config.json", "field logit_scale (0.5) is not known here"},
		{"unknown field that is off", newLlama, set("use_qk_norm", false), "config.json", "field use_qk_norm (false) is not known here"},
		{"unknown field beside the parts", newMinistral, func(f *folder) { f.config["logit_scale"] = 2 }, "config.json", "field logit_scale (2) is not known here"},
		{"scaling", newLlama, set("rope_scaling", map[string]any{"rope_type": "longrope", "factor": 2}), "config.json", `rope_scaling: field rope_type: "longrope" is not supported`},
		{"scaling without a type", newLlama, set("rope_scaling", map[string]any{"factor": 2}), "config.json", "rope_scaling: field rope_type is missing"},
		{"scaling of two types", newLlama, set("rope_scaling", map[string]any{"rope_type": "linear", "type": "yarn", "factor": 2}), "config.json", `field type is "yarn", and rope_type "linear"`},
		{"scaling without its factor", newLlama, set("rope_scaling", map[string]any{"rope_type": "linear"}), "config.json", "rope_scaling: field factor is missing"},
		{"scaling with more", newLlama, set("rope_scaling", map[string]any{"rope_type": "linear", "factor": 2, "mscale": 1}), "config.json", "rope_scaling: field mscale (1) is not known"},
		{"two scalings", newLlama, func(f *folder) {
			f.config["rope_scaling"], f.config["rope_parameters"] = map[string]any{"rope_type": "default"}, map[string]any{"rope_type": "default"}
		}, "config.json", "field rope_scaling is given, and rope_parameters too"},
		{"two bases", newLlama, set("rope_parameters", map[string]any{"rope_type": "default", "rope_theta": 3}), "config.json", "field rope_theta is 500000; only 3 is supported"},
		{"part of a head", newLlama, set("partial_rotary_factor", 0.5), "config.json", "field partial_rotary_factor is 0.5"},
		{"llama3 without a number", newLlama, set("rope_scaling", map[string]any{"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4}), "config.json", "field original_max_position_embeddings is missing"},
		{"window", newLlama, set("sliding_window", 4096), "config.json", "field sliding_window: 4096 is not supported"},
		{"window in use", newQwen3, set("use_sliding_window", true), "config.json", "field use_sliding_window is true"},
		{"window in a layer", newQwen3, set("layer_types", []string{"full_attention", "sliding_attention", "full_attention"}), "config.json", `field layer_types: "sliding_attention"`},
		{"no size of heads", newQwen3, unset("head_dim"), "config.json", "field head_dim is missing"},
		{"no key heads", newQwen3, unset("num_key_value_heads"), "config.json", "field num_key_value_heads is missing"},
		{"truncate", newMinistral, in("rope_parameters", "truncate", false), "config.json", "field truncate is false"},
		{"no temperature", newMinistral, without("rope_parameters", "llama_4_scaling_beta"), "config.json", "field llama_4_scaling_beta is missing"},
		{"no mscale", newMinistral, without("rope_parameters", "mscale_all_dim"), "config.json", "field mscale_all_dim is missing"},
		{"mistral 4", newMinistral, set("model_type", "mistral4"), "config.json", `field model_type is "mistral4"`},
		{"experts", newGemma4, set("enable_moe_block", true), "config.json", "field enable_moe_block is true"},
		{"both directions", newGemma4, set("use_bidirectional_attention", "all"), "config.json", "field use_bidirectional_attention is all"},
		{"kind of a layer", newGemma4, set("layer_types", []string{"a", "full_attention", "full_attention", "full_attention"}), "config.json", `field layer_types: "a"`},
		{"kinds of layers", newGemma4, set("layer_types", []string{"full_attention"}), "config.json", "field layer_types has 1 entries for 4 layers"},
		{"all layers borrow", newGemma4, set("num_kv_shared_layers", 4), "config.json", "field num_kv_shared_layers is 4 of 4"},
		{"no rope", newGemma4, unset("rope_parameters"), "config.json", "field rope_parameters is missing"},
		{"rope of one kind", newGemma4, without("rope_parameters", "sliding_attention"), "config.json", "lacks full_attention or sliding_attention"},
		{"rope", newGemma4, in("rope_parameters", "full_attention", map[string]any{"rope_type": "default", "rope_theta": 1e6}), "config.json", "full_attention: field rope_type is default; only proportional"},
		{"embedding for each layer", newGemma4, set("vocab_size_per_layer_input", 5), "config.json", "field vocab_size_per_layer_input is 5; only 12"},

		{"no rope parameters", newMinistral, func(f *folder) { delete(f.text(), "rope_parameters"); f.text()["rope_theta"] = 1e6 }, "config.json", "field rope_parameters is missing"},

		{"no tokenizer", newLlama, func(f *folder) { f.tokenizer = nil }, "tokenizer.json", "is missing: the folder has no tokenizer"},
		{"tekken", newLlama, func(f *folder) { f.tokenizer, f.texts["tekken.json"] = nil, "{}" }, "tokenizer.json", "tekken.json is not read"},
		{"kind of tokenizer", newLlama, func(f *folder) { f.tokenizer["model"].(map[string]any)["type"] = "WordPiece" }, "tokenizer.json", `a tokenizer of type "WordPiece"`},
		{"token beyond", newLlama, func(f *folder) { f.tokenizer["model"].(map[string]any)["vocab"].(map[string]int)["g"] = 12 }, "tokenizer.json", `token "g" has id 12, but config.json has vocab_size 12`},
		{"two tokens", newLlama, func(f *folder) { f.tokenizer["model"].(map[string]any)["vocab"].(map[string]int)["g"] = 0 }, "tokenizer.json", `have the same id 0`},
		{"nothing ends", newLlama, unset("eos_token_id"), "tokenizer_config.json", "field eos_token is missing"},
		{"end beyond", newLlama, set("eos_token_id", []int{1, 99}), "config.json", "field eos_token_id is [1,99], but there are 12 tokens"},
		{"unknown end", newLlama, func(f *folder) { f.texts["tokenizer_config.json"] = `{"eos_token": {"content": "<x>"}}` }, "tokenizer_config.json", `field eos_token is "<x>"`},
		{"templates", newLlama, func(f *folder) {
			f.texts["tokenizer_config.json"] = `{"chat_template": [{"name": "tool_use", "template": "x"}]}`
		}, "tokenizer_config.json", "1 templates, none of them named default"},
		{"nonsense", newLlama, func(f *folder) { f.texts["tokenizer_config.json"] = `{"eos_token": ` }, "tokenizer_config.json", "EOF"},
		{"no object", newLlama, func(f *folder) { f.texts["config.json"] = `[]` }, "config.json", "no JSON object"},
		{"field twice", newLlama, func(f *folder) { f.texts["config.json"] = `{"a": 1, "a": 2}` }, "config.json", `"a" is there twice`},

		{"missing tensor", newLlama, func(f *folder) { f.remove("model.layers.1.mlp.up_proj.weight") }, "", `tensor "model.layers.1.mlp.up_proj.weight" is missing`},
		{"missing output", newLlama, func(f *folder) { f.remove("lm_head.weight") }, "", `tensor "lm_head.weight" is missing`},
		{"keys of a layer that does not borrow", newGemma4, func(f *folder) { f.remove("model.language_model.layers.1.self_attn.k_proj.weight") }, "", `tensor "model.layers.1.self_attn.k_proj.weight" is missing`},
		{"shape", newLlama, func(f *folder) { f.replace("BF16", "model.layers.2.self_attn.k_proj.weight", 32, 24) }, "model.safetensors",
			`tensor "model.layers.2.self_attn.k_proj.weight" has shape [32 24]; config.json asks for [16 24]`},
		{"dimensions", newLlama, func(f *folder) { f.replace("BF16", "model.norm.weight", 24, 1) }, "model.safetensors", `tensor "model.norm.weight" has shape [24 1]`},
		{"shape of what is borrowed", newGemma4, func(f *folder) { f.add("BF16", "model.language_model.layers.2.self_attn.k_norm.weight", 16) }, "model.safetensors", "has shape [16]; config.json asks for [8]"},
		{"type", newLlama, func(f *folder) { f.replace("F8_E4M3", "model.layers.0.mlp.up_proj.weight", 40, 24) }, "model.safetensors", `tensor "model.layers.0.mlp.up_proj.weight" has type F8_E4M3`},
		{"type I8", newQwen3, func(f *folder) { f.replace("I8", "model.layers.0.self_attn.q_norm.weight", 8) }, "model.safetensors", `has type I8`},
		{"unknown tensor", newLlama, func(f *folder) { f.add("BF16", "model.layers.0.self_attn.q_proj.bias", 32) }, "model.safetensors", `tensor "model.layers.0.self_attn.q_proj.bias" is not known`},
		{"tensor of another family", newLlama, func(f *folder) { f.add("BF16", "model.layers.0.self_attn.q_norm.weight", 8) }, "model.safetensors", `q_norm.weight" is not known`},
		{"layer beyond", newLlama, func(f *folder) { f.add("BF16", "model.layers.3.input_layernorm.weight", 24) }, "model.safetensors", `"model.layers.3.input_layernorm.weight" is not known`},
		{"images in a model of text", newLlama, func(f *folder) { f.add("BF16", "vision_tower.x.weight", 2) }, "model.safetensors", `"vision_tower.x.weight" is not known`},
		{"a tensor under two names", newMinistral, func(f *folder) { f.add("BF16", "model.norm.weight", 24) }, "model.safetensors", "is in"},
	} {
		f := test.make()
		test.change(f)
		dir := f.write(t)
		_, err := finder(t).Find(context.Background(), dir)
		checkError(t, test.name, err, filepath.Join(dir, test.file), test.want)
	}
}

func checkError(t *testing.T, name string, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want %q", name, want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %q, want %q in it", name, err, w)
		}
	}
}

// TestBrokenShards changes the files of a folder in four parts.
func TestBrokenShards(t *testing.T) {
	const second = "model-00002-of-00004.safetensors"
	index := func(dir string) string { return filepath.Join(dir, "model.safetensors.index.json") }
	for _, test := range []struct {
		name   string
		change func(dir string) error
		file   string
		want   string
	}{
		{"whole", func(string) error { return nil }, "", ""},
		{"no index", func(dir string) error { return os.Remove(index(dir)) }, "", ""},
		{"missing shard", func(dir string) error { return os.Remove(filepath.Join(dir, second)) }, second, "is missing: model.safetensors.index.json names it"},
		{"missing shard without an index", func(dir string) error {
			os.Remove(index(dir))
			return os.Remove(filepath.Join(dir, second))
		}, second, "is missing"},
		{"nonsense for an index", func(dir string) error { return os.WriteFile(index(dir), []byte("{"), 0o644) }, "model.safetensors.index.json", "unexpected end"},
		{"index of nothing", func(dir string) error { return os.WriteFile(index(dir), []byte("{}"), 0o644) }, "model.safetensors.index.json", "weight_map"},
		{"shard elsewhere", func(dir string) error {
			return os.WriteFile(index(dir), []byte(`{"weight_map": {"a": "../b.safetensors"}}`), 0o644)
		}, "model.safetensors.index.json", `"../b.safetensors", which is no file of the folder`},
		{"shard in a folder within", func(dir string) error {
			return os.WriteFile(index(dir), []byte(`{"weight_map": {"a": "c/b.safetensors"}}`), 0o644)
		}, "model.safetensors.index.json", `"c/b.safetensors", which is no file of the folder`},
		{"truncated", func(dir string) error { return os.Truncate(filepath.Join(dir, second), 3000) }, second, "truncated safetensors"},
		{"truncated header", func(dir string) error { return os.Truncate(filepath.Join(dir, second), 100) }, second, "truncated or no safetensors"},
		{"empty", func(dir string) error { return os.Truncate(filepath.Join(dir, second), 0) }, second, "truncated safetensors"},
		{"the same twice", func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, second))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "model-00001-of-00004.safetensors"), b, 0o644)
			}
			return err
		}, second, "is in"},
	} {
		f := newLlama()
		f.shards = 4
		dir := f.write(t)
		if err := test.change(dir); err != nil {
			t.Fatal(err)
		}
		m, err := finder(t).Find(context.Background(), dir)
		if test.want != "" {
			checkError(t, test.name, err, filepath.Join(dir, test.file), test.want)
		} else if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else {
			compareTensors(t, f, decode(t, m.Path), false, true)
		}
	}
}

// header puts a JSON header in front of n bytes of data.
func header(json string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(json)))
	return append(append(b, json...), make([]byte, n)...)
}

// TestSafetensors reads headers that lie.
func TestSafetensors(t *testing.T) {
	const a = `"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	for _, test := range []struct {
		name string
		data []byte
		want string // "" for none
	}{
		{"one", header(`{`+a+`}`, 8), ""},
		{"none", header(`{}`, 0), ""},
		{"a number", header(`{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}`, 4), ""},
		{"unknown type", header(`{"a":{"dtype":"Q7","shape":[3],"data_offsets":[0,4]}}`, 4), ""},
		{"length beyond the file", append(binary.LittleEndian.AppendUint64(nil, 1<<62), "{}"...), "claims 4611686018427387904 bytes"},
		{"cut length", []byte{1, 2}, "truncated"},
		{"no object", header(`[]`, 0), "no JSON object"},
		{"cut object", header(`{`+a, 8), "EOF"},
		{"more than an object", header(`{`+a+`} x`, 8), "more follows"},
		{"two objects", header(`{`+a+`}{}`, 8), "more follows"},
		{"a tensor twice", header(`{`+a+`,`+a+`}`, 8), `"a" is there twice`},
		{"a tensor of text", header(`{"a":"b"}`, 8), `tensor "a"`},
		{"negative shape", header(`{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, 8), `tensor "a"`},
		{"no offsets", header(`{"a":{"dtype":"F32","shape":[2]}}`, 8), `tensor "a": data_offsets are []`},
		{"offsets that go back", header(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, 8), `data_offsets are [8 0]`},
		{"data beyond the file", header(`{`+a+`}`, 7), `tensor "a" ends at byte 8 of 7`},
		{"size", header(`{"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,8]}}`, 8), `hold 8 bytes, its shape [2] of BF16 4`},
		{"shape that overflows", header(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}}`, 0), `has shape`},
		{"overlap", header(`{`+a+`,"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12), `tensors "a" and "b" overlap`},
		{"overlap around nothing", header(`{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"b":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},"c":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}}`, 16), `tensors "a" and "c" overlap`},
	} {
		_, err := decodeSafetensors(bytes.NewReader(test.data), uint64(len(test.data)))
		if test.want != "" {
			checkError(t, test.name, err, test.want)
		} else if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// allocated gives the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzSafetensors reads anything: an error, or tensors that lie within the file
// and apart from each other, in memory that a file of this size needs.
func FuzzSafetensors(f *testing.F) {
	f.Add(newLlama().safetensors(f, []string{"model.norm.weight", "model.layers.0.input_layernorm.weight"}))
	f.Add(header(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}}`, 10))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var slabs []slab
		var err error
		if n := allocated(func() { slabs, err = readSafetensors(path) }); n > 1<<20+64*uint64(len(data)) {
			t.Errorf("%d bytes of memory for a file of %d", n, len(data))
		}
		if err != nil && (!strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("error %q", err)
		}
		if err != nil && slabs != nil {
			t.Fatalf("%d tensors and error %v", len(slabs), err)
		}
		used := map[uint64]bool{}
		for _, s := range slabs {
			for i := s.at; i < s.at+s.size; i++ {
				if i < 8 || i >= uint64(len(data)) || used[i] {
					t.Fatalf("byte %d of %d is part of tensor %q", i, len(data), s.name)
				}
				used[i] = true
			}
		}
	})
}

// TestTokenizerFiles: other files that say which tokens end a turn, and templates.
func TestTokenizerFiles(t *testing.T) {
	for _, test := range []struct {
		name  string
		texts map[string]string
		want  map[string]any // by key, without "tokenizer."
	}{
		{"generation_config", map[string]string{"generation_config.json": `{"eos_token_id": [10, 1], "bos_token_id": 2}`},
			map[string]any{"ggml.eos_token_id": uint32(10), "ggml.eos_token_ids": "[10,1]", "ggml.bos_token_id": uint32(2), "ggml.add_bos_token": false}},
		{"tokenizer_config", map[string]string{
			"generation_config.json": `{"eos_token_id": [10, 1]}`,
			"tokenizer_config.json":  `{"eos_token": "<end>", "bos_token": {"content": "<bos>"}, "add_bos_token": false, "chat_template": "own"}`},
			map[string]any{"ggml.eos_token_id": uint32(1), "ggml.eos_token_ids": "[10,1]", "ggml.bos_token_id": uint32(0), "ggml.add_bos_token": false, "chat_template": "own"}},
		{"templates", map[string]string{"tokenizer_config.json": `{"bos_token": null, "chat_template": [{"name": "tool_use", "template": "x"}, {"name": "default", "template": "{{ y }}"}]}`},
			map[string]any{"chat_template": "{{ y }}", "ggml.add_bos_token": true}},
		{"chat_template.jinja", map[string]string{"tokenizer_config.json": `{"chat_template": "own"}`, "chat_template.jinja": "file\n"},
			map[string]any{"chat_template": "file\n"}},
		{"none", nil, map[string]any{"chat_template": nil, "ggml.add_bos_token": true}},
	} {
		f := newLlama()
		maps.Copy(f.texts, test.texts)
		m, err := finder(t).Find(context.Background(), f.write(t))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got := decode(t, m.Path).kv
		for key, want := range test.want {
			if got["tokenizer."+key] != want {
				t.Errorf("%s: key %s is %v, want %v", test.name, key, got["tokenizer."+key], want)
			}
		}
	}
}
