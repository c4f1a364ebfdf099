package inference

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Types of tokens in a GGUF vocabulary.
const (
	typeNormal      = 1
	typeUnknown     = 2
	typeControl     = 3 // belongs to the template; never made from text
	typeUserDefined = 4 // a whole word of its own, also in text
	typeUnused      = 5
	typeByte        = 6
)

// A vocab is the vocabulary inside a GGUF file.
type vocab struct {
	path   string
	tokens []string
	types  []int32
	merges []string
	pre    string // the pre-tokenizer's name
}

func readVocab(h *header) (*vocab, error) {
	v := &vocab{
		path:   h.path,
		tokens: h.kv.Strings("tokenizer.ggml.tokens"),
		types:  h.kv.Ints("tokenizer.ggml.token_type"),
		merges: h.kv.Strings("tokenizer.ggml.merges"),
		pre:    h.kv.String("tokenizer.ggml.pre"),
	}
	if kind := h.kv.String("tokenizer.ggml.model"); kind != "gpt2" {
		return nil, fmt.Errorf("%s: key tokenizer.ggml.model: vocabularies of kind %q are not supported", h.path, kind)
	}
	if len(v.tokens) == 0 || len(v.types) != len(v.tokens) {
		return nil, fmt.Errorf("%s: key tokenizer.ggml.tokens holds %d tokens and tokenizer.ggml.token_type %d types", h.path, len(v.tokens), len(v.types))
	}
	if len(v.merges) == 0 { // every text would become single bytes
		return nil, fmt.Errorf("%s: key tokenizer.ggml.merges is missing", h.path)
	}
	if _, ok := preTokenizers[v.pre]; !ok {
		return nil, fmt.Errorf("%s: key tokenizer.ggml.pre: unknown pre-tokenizer %q", h.path, v.pre)
	}
	return v, nil
}

// A preTokenizer says how text is cut into words before the merges are applied.
type preTokenizer struct {
	steps []map[string]any // of Hugging Face's tokenizers, before the bytes are written as characters
	gpt2  bool             // whether GPT-2's own pattern cuts last
	whole bool             // a word that is a token is taken whole, whatever the merges say
	// composed: the text is put into Unicode's form NFC first. GGUF files do not
	// say so, but the models were trained on such text.
	composed bool
	bos      bool // a prompt begins with BOS where the file does not say
}

func split(pattern string) map[string]any {
	return map[string]any{"type": "Split", "pattern": map[string]string{"Regex": pattern}, "behavior": "Isolated", "invert": false}
}

// preTokenizers by the name that a GGUF file gives them. A name that is not
// here is refused: a wrong cut gives other tokens in silence.
var preTokenizers = map[string]preTokenizer{
	"gpt-2":     {gpt2: true},
	"smollm":    {steps: []map[string]any{{"type": "Digits", "individual_digits": true}}, gpt2: true},
	"llama-bpe": {steps: []map[string]any{split(`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`)}, whole: true, bos: true},
	"qwen2":     {steps: []map[string]any{split(`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`)}, composed: true},
	"tekken":    {steps: []map[string]any{split(`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`)}, whole: true, bos: true},
}

// tokenizerJSON writes the vocabulary as a tokenizer.json of Hugging Face's
// library. Control tokens are left out, so that no text can become one.
func (v *vocab) tokenizerJSON() ([]byte, error) {
	pre := preTokenizers[v.pre]
	words := make(map[string]int, len(v.tokens))
	added := []map[string]any{}
	for id, t := range v.tokens {
		switch v.types[id] {
		case typeNormal:
			words[t] = id
		case typeUserDefined:
			words[t] = id
			added = append(added, map[string]any{"id": id, "content": t, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false})
		}
	}
	merges := make([][2]string, 0, len(v.merges))
	for i, m := range v.merges {
		a, b, ok := strings.Cut(m, " ")
		if !ok {
			return nil, fmt.Errorf("%s: key tokenizer.ggml.merges: merge %d is %q, not two parts", v.path, i, m)
		}
		merges = append(merges, [2]string{a, b})
	}
	steps := append(append([]map[string]any{}, pre.steps...),
		map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": pre.gpt2})
	var normalizer any
	if pre.composed {
		normalizer = map[string]any{"type": "NFC"}
	}
	return json.Marshal(map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "normalizer": normalizer, "post_processor": nil,
		"added_tokens":  added,
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": steps},
		"decoder":       map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
		"model": map[string]any{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
			"fuse_unk": false, "byte_fallback": false, "ignore_merges": pre.whole, "vocab": words, "merges": merges,
		},
	})
}

// markers are the control tokens by their text, the longest first.
func (v *vocab) markers() []marker {
	var m []marker
	for id, t := range v.tokens {
		if v.types[id] == typeControl && t != "" {
			m = append(m, marker{t, int32(id)})
		}
	}
	sort.SliceStable(m, func(a, b int) bool { return len(m[a].text) > len(m[b].text) })
	return m
}

// texts are the bytes that each token stands for in an answer.
func (v *vocab) texts() []string {
	bytes := map[rune]byte{}
	for b, r := range byteRunes() {
		bytes[r] = byte(b)
	}
	texts := make([]string, len(v.tokens))
	for id, t := range v.tokens {
		switch v.types[id] {
		case typeUserDefined:
			texts[id] = t
		case typeNormal:
			var b []byte
			for _, r := range t {
				if x, ok := bytes[r]; ok {
					b = append(b, x)
				} else { // no byte-level token: plain text
					b = []byte(t)
					break
				}
			}
			texts[id] = string(b)
		}
	}
	return texts
}

// bytesWithoutToken are the bytes that the vocabulary cannot write: text with
// one of them would lose it.
func (v *vocab) bytesWithoutToken() (missing [256]bool) {
	have := map[string]bool{}
	for id, t := range v.tokens {
		have[t] = v.types[id] == typeNormal || have[t]
	}
	for b, r := range byteRunes() {
		missing[b] = !have[string(r)]
	}
	return missing
}

// byteRunes is the printable character that stands for each byte in a
// byte-level vocabulary: itself where it is printable in Latin-1, else one from
// U+0100 on, in order.
func byteRunes() (runes [256]rune) {
	next := rune(0x100)
	for b := range runes {
		r := rune(b)
		if r < '!' || r > '~' && r < '¡' || r == 0xad {
			r = next
			next++
		}
		runes[b] = r
	}
	return runes
}
