package inference

import (
	"encoding/json"
	"fmt"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// tekkenSpecial are the special tokens of files that do not list theirs.
var tekkenSpecial = []string{
	"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
	"[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
	"[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
}

// tekkenFile is Mistral's tekken.json: bytes by rank, and special tokens, whose
// ids come before those of the bytes.
type tekkenFile struct {
	Config struct {
		Pattern string `json:"pattern"`
		Size    int    `json:"default_vocab_size"`
		Special int    `json:"default_num_special_tokens"`
	} `json:"config"`
	Vocab []struct {
		Rank  int    `json:"rank"`
		Bytes []byte `json:"token_bytes"`
	} `json:"vocab"`
	Special []struct {
		Rank int    `json:"rank"`
		Text string `json:"token_str"`
	} `json:"special_tokens"`
}

// tekkenKeys turns a tekken.json into the keys of a GGUF file's vocabulary.
func tekkenKeys(data []byte) (fsggml.KV, error) {
	var f tekkenFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("tekken.json: %s", oneLine(err.Error()))
	}
	if f.Config.Pattern != tekkenPattern {
		return nil, fmt.Errorf("tekken.json: another pattern than Tekken's: %.200q", f.Config.Pattern)
	}
	words := f.Config.Size - f.Config.Special
	if f.Config.Special < 3 || f.Config.Special > 1<<16 || words < 256 || words > len(f.Vocab) {
		return nil, fmt.Errorf("tekken.json: %d special tokens of %d; its list holds %d others", f.Config.Special, f.Config.Size, len(f.Vocab))
	}
	tokens, err := f.special()
	if err != nil {
		return nil, err
	}
	runes := byteRunes()
	for rank, t := range f.Vocab[:words] {
		if t.Rank != rank || len(t.Bytes) == 0 {
			return nil, fmt.Errorf("tekken.json: token %d of its list has rank %d and %d bytes", rank, t.Rank, len(t.Bytes))
		}
		spelt := make([]rune, len(t.Bytes))
		for i, b := range t.Bytes {
			spelt[i] = runes[b]
		}
		tokens = append(tokens, string(spelt))
	}
	pairs, err := mergesInto(tokens[f.Config.Special:])
	if err != nil {
		return nil, fmt.Errorf("tekken.json: %w", err)
	}
	merges := make([]string, len(pairs))
	for i, p := range pairs {
		merges[i] = p[0] + " " + p[1]
	}
	types := make([]int32, len(tokens))
	for id := range types {
		types[id] = typeNormal
		if id < f.Config.Special {
			types[id] = typeControl
		}
	}
	return fsggml.KV{
		"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "tekken", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types,
		"tokenizer.ggml.merges": merges, "tokenizer.ggml.bos_token_id": uint32(1), "tokenizer.ggml.eos_token_id": uint32(2), "tokenizer.ggml.add_bos_token": true,
	}, nil
}

// special are the texts of the special tokens by id; those without a use have
// made-up ones.
func (f *tekkenFile) special() ([]string, error) {
	texts := make([]string, f.Config.Special)
	for id := range texts {
		texts[id] = fmt.Sprintf("<SPECIAL_%d>", id)
	}
	if f.Special == nil {
		copy(texts, tekkenSpecial)
	}
	for _, t := range f.Special {
		if t.Rank < 0 || t.Rank >= len(texts) || t.Text == "" {
			return nil, fmt.Errorf("tekken.json: special token %q has rank %d of %d", t.Text, t.Rank, len(texts))
		}
		texts[t.Rank] = t.Text
	}
	if texts[1] != "<s>" || texts[2] != "</s>" {
		return nil, fmt.Errorf("tekken.json: special tokens 1 and 2 are %q and %q, not <s> and </s>", texts[1], texts[2])
	}
	return texts, nil
}
