package inference

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"

	"selfplay/inference/files"
)

// folderNames are the names of a tiny model's tensors in a Hugging Face folder;
// those of layers begin after the layer's number.
var folderNames = map[string]string{
	"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
	"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
	"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
	"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
	"ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}

// gemma4Names are those that Gemma 4 has besides, or that mean another there.
var gemma4Names = map[string]string{
	"post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
	"inp_gate": "per_layer_input_gate", "proj": "per_layer_projection", "post_norm": "post_per_layer_input_norm", "layer_output_scale": "layer_scalar",
	"per_layer_token_embd": "model.embed_tokens_per_layer", "per_layer_model_proj": "model.per_layer_model_projection", "per_layer_proj_norm": "model.per_layer_projection_norm",
}

// asFolder writes a tiny model as a Hugging Face folder. Heads of families that
// turn neighbours have their rows put back into halves.
func (m *tinyModel) asFolder(t *testing.T, config map[string]any) string {
	t.Helper()
	arch, names := m.kv.Architecture(), maps.Clone(folderNames)
	if arch == "gemma4" {
		maps.Copy(names, gemma4Names)
	}
	head, data := map[string]any{}, []byte{}
	for _, x := range m.tensors {
		if arch == "gemma4" && x.Name == "rope_freqs.weight" { // it follows from config.json
			continue
		}
		b, err := io.ReadAll(x.WriterTo.(io.Reader))
		if err != nil {
			t.Fatal(err)
		}
		x.WriterTo = bytes.NewReader(b) // it is written again, as GGUF
		name := strings.TrimSuffix(x.Name, ".weight")
		if rest, ok := strings.CutPrefix(name, "blk."); ok {
			layer, inner, _ := strings.Cut(rest, ".")
			name = "model.layers." + layer + "." + names[inner]
			if (arch == "llama" || arch == "mistral3") && (inner == "attn_q" || inner == "attn_k") {
				b = halves(b, int(x.Shape[1]), 32)
			}
		} else {
			name = names[name]
		}
		if !strings.HasSuffix(name, "layer_scalar") {
			name += ".weight"
		}
		shape := slices.Clone(x.Shape)
		slices.Reverse(shape)
		head[name] = map[string]any{"dtype": x.Type(), "shape": shape, "data_offsets": []int{len(data), len(data) + len(b)}}
		data = append(data, b...)
	}
	dir := t.TempDir()
	put := func(name string, v any) []byte {
		b, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	full := map[string]any{
		"vocab_size": 261, "hidden_size": 64, "num_hidden_layers": 3, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
		"rms_norm_eps": 1e-6, "max_position_embeddings": 1024, "tie_word_embeddings": m.has("output.weight") == false,
	}
	if arch != "gemma4" {
		full["hidden_act"] = "silu"
	}
	maps.Copy(full, config)
	put("config.json", full)
	put("tokenizer.json", m.tokenizer(t))
	put("tokenizer_config.json", map[string]any{"eos_token": "<|end|>", "add_bos_token": false, "chat_template": m.kv["tokenizer.chat_template"]})
	b := put("model.safetensors", head)
	b = slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b, data)
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (m *tinyModel) has(name string) bool {
	return slices.ContainsFunc(m.tensors, func(x *fsggml.Tensor) bool { return x.Name == name })
}

// halves puts the rows of each head of dim: even ones first, then odd ones.
func halves(b []byte, rows, dim int) (out []byte) {
	size := len(b) / rows
	for first := 0; first < rows; first += dim {
		for _, odd := range []int{0, 1} {
			for r := odd; r < dim; r += 2 {
				out = append(out, b[(first+r)*size:(first+r+1)*size]...)
			}
		}
	}
	return out
}

// tokenizer is the vocabulary as a tokenizer.json with its control tokens.
func (m *tinyModel) tokenizer(t *testing.T) map[string]any {
	t.Helper()
	h, err := readHeader((&tinyModel{kv: m.kv}).write(t))
	if err != nil {
		t.Fatal(err)
	}
	v, err := readVocab(h)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	b, err := v.tokenizerJSON()
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	var added []map[string]any
	for id := range madeUpControls {
		added = append(added, map[string]any{"id": id, "content": v.tokens[id], "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
	}
	all["added_tokens"] = added
	return all
}

// TestFoldersAreEqual: a converted folder and the GGUF of the same weights give
// the same logits.
func TestFoldersAreEqual(t *testing.T) {
	yarn := map[string]any{
		"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 24, "beta_fast": 1.0, "beta_slow": 0.5,
		"mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.2,
	}
	gemma4 := func(more map[string]any) map[string]any {
		config := map[string]any{
			"architectures": []string{"Gemma4ForCausalLM"}, "hidden_activation": "gelu_pytorch_tanh", "num_hidden_layers": 8, "global_head_dim": 64,
			"sliding_window": tinyWindow, "final_logit_softcapping": 15.0,
			"rope_parameters": map[string]any{
				"full_attention":    map[string]any{"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
				"sliding_attention": map[string]any{"rope_type": "default", "rope_theta": 1e4},
			},
		}
		for _, slide := range tinySlides {
			kinds, _ := config["layer_types"].([]string)
			config["layer_types"] = append(kinds, map[bool]string{true: "sliding_attention", false: "full_attention"}[slide])
		}
		maps.Copy(config, more)
		return config
	}
	configs := map[string]map[string]any{ // by the name of a family
		qwen3YaRN: {"architectures": []string{"Qwen3ForCausalLM"}, "rope_theta": 10000.0,
			"rope_scaling": map[string]any{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 24}},
		gemma4Small:                               gemma4(map[string]any{"num_kv_shared_layers": 3, "hidden_size_per_layer_input": 32, "vocab_size_per_layer_input": 261, "num_key_value_heads": 1, "use_double_wide_mlp": true}),
		"Gemma 4 as the 31B":                      gemma4(map[string]any{"num_kv_shared_layers": 0, "num_global_key_value_heads": 1, "attention_k_eq_v": true}),
		"Qwen3 with tied embeddings":              {"architectures": []string{"Qwen3ForCausalLM"}, "rope_theta": 10000.0},
		"Qwen3 with its own output":               {"architectures": []string{"Qwen3ForCausalLM"}, "rope_theta": 10000.0},
		"Llama":                                   {"architectures": []string{"LlamaForCausalLM"}, "rope_theta": 10000.0},
		"Llama with linear scaling":               {"architectures": []string{"LlamaForCausalLM"}, "rope_theta": 10000.0, "rope_scaling": map[string]any{"rope_type": "linear", "factor": 3.0}},
		"Mistral Small 3 without scaling":         {"architectures": []string{"Mistral3ForConditionalGeneration"}, "model_type": "mistral", "rope_theta": 10000.0},
		"Ministral 3 beyond the original context": {"architectures": []string{"Ministral3ForCausalLM"}, "model_type": "ministral3", "rope_parameters": yarn},
	}
	prompt := randomPrompts(110)[2]
	done := 0
	for _, f := range families {
		config := configs[f.name]
		if config == nil {
			continue
		}
		done++
		for _, kind := range []fsggml.TensorType{fsggml.TensorTypeBF16, fsggml.TensorTypeF16, fsggml.TensorTypeF32} {
			m := f.make(kind)
			find := files.Finder{Cache: t.TempDir()}
			converted, err := find.Find(context.Background(), m.asFolder(t, config))
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			want := lastLogits(t, m, prompt)
			e, err := Open(converted.Path, Options{Slots: 1, Cells: 128, Threads: 1, Weights: WeightsFile})
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			if got := mustLogits(t, e, row(0, 0, prompt, true))[0]; !slices.Equal(got, want) {
				t.Errorf("%s in %s: the logits differ by up to %g", f.name, kind, farthest(got, want))
			}
			e.Close()
		}
	}
	if done != len(configs) {
		t.Errorf("%d of %d families", done, len(configs))
	}
}
