package inference

import (
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

func TestDescribe(t *testing.T) {
	m := newTiny(fsggml.TensorTypeQ8_0)
	m.kv["tokenizer.ggml.bos_token_id"], m.kv["tokenizer.ggml.add_bos_token"] = uint32(madeUpBOS), true
	m.kv["general.name"] = "tiny"
	d, err := Describe(m.write(t), "s", "<|end|>")
	if err != nil {
		t.Fatal(err)
	}
	chat := "[2 <|bos|>][1 <|start|>]system\ns[0 <|end|>]\n[1 <|start|>]user\n<|end|>[0 <|end|>]\n[1 <|start|>]assistant"
	if d.Chat != chat { // the user's marker is no control token
		t.Errorf("chat %q, want %q", d.Chat, chat)
	}
	matrices := uint64(64*tinyVocab + 2*64*64 + 2*64*32 + 3*64*128)
	want := []TypeCount{{"Q8_0", 8, matrices}, {"F32", 3, 3 * 64}}
	if !slices.Equal(d.Types, want) || d.Parameters != matrices+3*64 || d.Bytes != matrices/32*34+4*3*64 {
		t.Errorf("%+v; want %+v", d, want)
	}
	if d.Architecture != "llama" || d.Name != "tiny" || d.Layers != 1 || d.Context != 512 || d.Vocab != tinyVocab ||
		d.BOS != "[2 <|bos|>]" || !slices.Equal(d.Ends, []string{"[0 <|end|>]"}) || d.Thinking || d.Note != "" {
		t.Errorf("%+v", d)
	}
	m = newTiny(fsggml.TensorTypeF32)
	m.kv["tokenizer.chat_template"] = "{% if enable_thinking %}think{% endif %}"
	if d, err := Describe(m.write(t), "s", "u"); err != nil || !d.Thinking || d.BOS != "" || d.Chat != "" || !strings.Contains(d.Note, "no system message") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := Describe("synthetic:qwen3-32b", "s", "u"); err != nil || d.Layers != 64 {
		t.Errorf("%+v, %v", d, err)
	}
	for name, change := range map[string]func(m *tinyModel){
		"is not supported":               func(m *tinyModel) { m.kv["general.architecture"] = "mamba" },
		"tokenizer.ggml.tokens":          func(m *tinyModel) { delete(m.kv, "tokenizer.ggml.tokens") },
		"context_length":                 func(m *tinyModel) { delete(m.kv, "llama.context_length") },
		"blk.0.attn_q.weight has shape ": func(m *tinyModel) { m.tensor("attn_q.weight").Shape = []uint64{32, 128} },
		"refuses the chat":               func(m *tinyModel) { m.kv["tokenizer.chat_template"] = "{{ raise_exception('no') }}" },
	} {
		m := newTiny(fsggml.TensorTypeF32)
		change(m)
		path := m.write(t)
		if _, err := Describe(path, "s", "u"); err == nil || !strings.Contains(err.Error(), name) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWorkingSet: it grows with the step and with the slots, and a step computes
// as before.
func TestWorkingSet(t *testing.T) {
	prompt := row(0, 0, randomPrompts(30)[0], true)
	for _, name := range tinySynthetics(t) {
		before := uint64(0)
		for _, o := range []Options{{Slots: 2, Tokens: 32}, {Slots: 2, Tokens: 128}, {Slots: 512, Tokens: 512}} {
			o.Cells, o.Threads = 160, 1
			m, err := Open(name, o)
			if err != nil {
				t.Fatal(err)
			}
			logits := mustLogits(t, m, prompt)[0]
			size, err := m.WorkingSet()
			if err != nil || size <= before || size < uint64(o.Slots*m.vocab*4) {
				t.Errorf("%s: %d bytes for %+v, %d for less: %v", name, size, o, before, err)
			}
			before = size
			if !slices.Equal(logits, mustLogits(t, m, prompt)[0]) {
				t.Errorf("%s: other logits than before", name)
			}
			m.Close()
		}
	}
}

// TestInspect: what the runtime was compiled for, this machine has; each
// feature is told once.
func TestInspect(t *testing.T) {
	m := Inspect()
	if m.CPU == "" || m.Cores < 1 || len(m.Features) == 0 || len(m.Lacking) > 0 || m.MemFree == 0 || m.MemFree > m.MemTotal {
		t.Errorf("%+v", m)
	}
	for _, name := range m.Unused {
		if slices.Contains(m.Features, name) {
			t.Errorf("%s is both compiled for and unused", name)
		}
	}
}
