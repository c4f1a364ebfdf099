package inference

import (
	"encoding/json"
	"fmt"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// tekkenFile is Mistral's tekken.json: bytes by rank, and special tokens, whose
// ids come before those of the bytes.
type tekkenFile struct {
	Config struct {
		Pattern string `json:"pattern"`
		Size    int    `json:"default_vocab_size"`
		Special int    `json:"default_num_special_tokens"`
	} `json:"config"`
	Vocab []struct {
		Bytes []byte `json:"token_bytes"`
	} `json:"vocab"`
	Special []struct {
		Rank int    `json:"rank"`
		Text string `json:"token_str"`
	} `json:"special_tokens"`
}

// tekkenSpecial are the special tokens of the files that do not list theirs.
var tekkenSpecial = []string{
	"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
	"[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
	"[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
}

// tekkenKeys are the keys of a GGUF file with the vocabulary of a tekken.json,
// as converters write them.
func tekkenKeys(t testing.TB, data string) fsggml.KV {
	t.Helper()
	var f tekkenFile
	if err := json.Unmarshal([]byte(data), &f); err != nil {
		t.Fatal(err)
	}
	if f.Config.Pattern != tekkenPattern {
		t.Fatalf("Tekken has another pattern: %q", f.Config.Pattern)
	}
	tokens, types := make([]string, f.Config.Special), make([]int32, f.Config.Size)
	for id := range types {
		types[id] = typeNormal
	}
	for id := range tokens {
		tokens[id], types[id] = fmt.Sprintf("<SPECIAL_%d>", id), typeControl // a token without a use
	}
	if f.Special == nil {
		copy(tokens, tekkenSpecial)
	}
	for _, s := range f.Special {
		tokens[s.Rank] = s.Text
	}
	runes := byteRunes()
	for _, word := range f.Vocab[:f.Config.Size-f.Config.Special] {
		var spelt []rune
		for _, b := range word.Bytes {
			spelt = append(spelt, runes[b])
		}
		tokens = append(tokens, string(spelt))
	}
	pairs, err := mergesInto(tokens[f.Config.Special:])
	if err != nil {
		t.Fatal(err)
	}
	merges := make([]string, len(pairs))
	for i, p := range pairs {
		merges[i] = p[0] + " " + p[1]
	}
	return fsggml.KV{
		"general.architecture": "mistral3",
		"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "tekken", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types,
		"tokenizer.ggml.merges": merges, "tokenizer.ggml.bos_token_id": uint32(1), "tokenizer.ggml.eos_token_id": uint32(2), "tokenizer.ggml.add_bos_token": true,
	}
}
