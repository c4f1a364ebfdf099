package inference

import (
	"encoding/json"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// tryVocab uses a vocabulary that may be nonsense: it gives an error of one
// line, or a codec that encodes and decodes.
func tryVocab(t *testing.T, kv fsggml.KV) {
	h, err := readHeader(writeVocab(t, kv))
	if err != nil {
		t.Skip(err) // the reader of GGUF files has a test of its own
	}
	c, err := newCodec(h)
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
		return
	}
	defer c.Close()
	for _, text := range []string{"the cat\n\n sat", "ä\x00\u3000<|start|>", strings.Repeat("A", 300)} {
		ids, err := c.Encode(text)
		if err == nil {
			c.Text(ids)
		}
		for _, id := range ids {
			if id < 0 || int(id) >= c.Vocab() {
				t.Errorf("token %d of %d", id, c.Vocab())
			}
		}
		c.Chat([]Message{{"user", text}})
	}
}

// FuzzVocab takes lines for tokens and merges, and a byte each for types and
// scores.
func FuzzVocab(f *testing.F) {
	f.Add("gpt2", "gpt-2", "a\nb\nab\n<|end|>", "a b", []byte{1, 1, 1, 3})
	f.Add("llama", "default", "a\nb\nab\n\u2581a\n<0x00>", "", []byte{1, 1, 1, 1, 6})
	f.Add("gemma4", "", "\n\n\n\n\n\u2581\n<|turn>", "\n \n", []byte{1, 1, 1, 4})
	f.Add("gpt2", "qwen2", "a\x00\nb\na\x00b", "a\x00 b\nx\x00 y", []byte{1, 1, 1})
	f.Fuzz(func(t *testing.T, kind, pre, tokens, merges string, types []byte) {
		kv := newTiny(fsggml.TensorTypeF32).kv
		kv["tokenizer.ggml.model"], kv["tokenizer.ggml.pre"] = kind, pre
		all := kv["tokenizer.ggml.tokens"].([]string)
		kinds := kv["tokenizer.ggml.token_type"].([]int32)
		if kind != "gpt2" {
			for b := range 256 {
				all[madeUpControls+b], kinds[madeUpControls+b] = byteName(byte(b)), typeByte
			}
		}
		for i, token := range strings.Split(tokens, "\n") {
			all, kinds = append(all, token), append(kinds, typeNormal)
			if i < len(types) {
				kinds[len(kinds)-1] = int32(types[i])
			}
		}
		scores := make([]float32, len(all))
		for i := range scores {
			if i < len(types) {
				scores[i] = float32(types[i])
			}
		}
		kv["tokenizer.ggml.tokens"], kv["tokenizer.ggml.token_type"], kv["tokenizer.ggml.scores"] = all, kinds, scores
		kv["tokenizer.ggml.merges"] = append([]string{"t h"}, strings.Split(merges, "\n")...)
		tryVocab(t, kv)
	})
}

// FuzzHuggingFace takes a tokenizer.json, and makes up the list of tokens that
// agrees with it, as far as it is one.
func FuzzHuggingFace(f *testing.F) {
	f.Add(hfTiny(f, nil)[hfKey].(string))
	f.Add(hfTiny(f, oldMerges)[hfKey].(string))
	f.Add(`{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}, "pre_tokenizer": {"type": "ByteLevel"}}`)
	f.Add(`{"added_tokens": [{"id": 0, "content": ""}], "normalizer": {"type": "NFC"}, "model": {"type": "BPE", "vocab": {}, "merges": []}}`)
	f.Fuzz(func(t *testing.T, source string) {
		var file hfFile
		json.Unmarshal([]byte(source), &file)
		tokens := make([]string, 300)
		types := make([]int32, len(tokens))
		for i := range types {
			types[i] = typeUnused
		}
		put := func(id int, text string) {
			if id >= 0 && id < len(tokens) {
				tokens[id], types[id] = text, typeNormal
			}
		}
		for text, id := range file.Model.Vocab {
			put(id, text)
		}
		for _, a := range file.Added {
			put(a.ID, a.Content)
		}
		tryVocab(t, fsggml.KV{
			"general.architecture": "llama", hfKey: source, "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types,
			"tokenizer.ggml.eos_token_id": uint32(0), "tokenizer.chat_template": "{{ messages[0].content }}",
		})
	})
}
