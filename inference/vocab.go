package inference

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
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
	path     string
	tokens   []string
	types    []int32
	merges   [][2]string // in the order in which they are applied
	pre      preTokenizer
	words    map[string]int     // tokens that text can become: no control tokens, no markers
	added    map[int]addedToken // how user-defined tokens match, where a tokenizer.json says so
	template string             // the chat template's source; "": none
	bos      int32              // put in front of every prompt; -1: none
	ends     map[int32]bool     // tokens that end the model's turn
}

func readVocab(h *header) (*vocab, error) {
	v := &vocab{
		path:     h.path,
		tokens:   h.kv.Strings("tokenizer.ggml.tokens"),
		types:    slices.Clone(h.kv.Ints("tokenizer.ggml.token_type")),
		template: h.kv.ChatTemplate(),
		bos:      -1,
		ends:     map[int32]bool{},
	}
	if len(v.tokens) == 0 || len(v.types) != len(v.tokens) {
		return nil, fmt.Errorf("%s: key tokenizer.ggml.tokens holds %d tokens and tokenizer.ggml.token_type %d types", h.path, len(v.tokens), len(v.types))
	}
	for id, t := range v.tokens {
		if !utf8.ValidString(t) {
			return nil, fmt.Errorf("%s: key tokenizer.ggml.tokens: token %d is no UTF-8", h.path, id)
		}
	}
	read := v.readKind
	if _, ok := h.kv[hfKey]; ok {
		read = v.readHuggingFace
	}
	if err := read(h); err != nil {
		return nil, err
	}
	if err := v.readSpecial(h); err != nil {
		return nil, err
	}
	v.words = make(map[string]int, len(v.tokens))
	for id, t := range v.tokens {
		switch v.types[id] {
		case typeNormal, typeUserDefined, typeByte:
			if !v.marker(id) && (v.types[id] != typeByte || v.pre.pieces) {
				v.words[t] = id
			}
		}
	}
	return v, v.check()
}

// readKind reads a vocabulary that is wholly in the file's own keys.
func (v *vocab) readKind(h *header) error {
	kind, pre := h.kv.String("tokenizer.ggml.model"), h.kv.String("tokenizer.ggml.pre")
	asked := pre
	switch {
	case kind == "gemma4": // llama.cpp's converter; it names no pre-tokenizer
		pre = "gemma4"
	case kind == "llama" && (pre == "" || pre == "default"):
		pre = "sentencepiece"
	case kind == "gpt2" && pre == "default" && h.kv.Architecture() == "mistral3":
		pre = "tekken" // Ollama's converter does not know its name; its graph always takes it
	case kind != "gpt2" && kind != "llama":
		return fmt.Errorf("%s: key tokenizer.ggml.model: vocabularies of kind %q are not supported", h.path, kind)
	}
	var ok bool
	if v.pre, ok = preTokenizers[pre]; !ok || v.pre.pieces != (kind != "gpt2") {
		return fmt.Errorf("%s: key tokenizer.ggml.pre: unknown pre-tokenizer %q", h.path, asked)
	}
	if h.kv.Bool("tokenizer.ggml.add_space_prefix", v.pre.scored) {
		if !v.pre.scored {
			return fmt.Errorf("%s: key tokenizer.ggml.add_space_prefix: not supported in a vocabulary of kind %q", h.path, kind)
		}
		v.pre = v.pre.prefixed()
	}
	for _, key := range []string{"remove_extra_whitespaces", "treat_whitespace_as_suffix"} {
		if h.kv.Bool("tokenizer.ggml." + key) {
			return fmt.Errorf("%s: key tokenizer.ggml.%s: not supported", h.path, key)
		}
	}
	if v.pre.scored {
		return v.mergesByScore(h.kv.Floats("tokenizer.ggml.scores"))
	}
	merges := h.kv.Strings("tokenizer.ggml.merges")
	if len(merges) == 0 { // every text would become single bytes
		return fmt.Errorf("%s: key tokenizer.ggml.merges is missing", h.path)
	}
	return v.splitMerges(merges)
}

// splitMerges reads merges of two parts with a space between them.
func (v *vocab) splitMerges(merges []string) error {
	v.merges = make([][2]string, len(merges))
	for i, m := range merges {
		a, b, ok := strings.Cut(m, " ")
		if !ok {
			return fmt.Errorf("%s: key tokenizer.ggml.merges: merge %d is %q, not two parts", v.path, i, m)
		}
		v.merges[i] = [2]string{a, b}
	}
	return nil
}

// mergesByScore derives the merges of a SentencePiece vocabulary, which merges
// any two neighbours into the token of the highest score.
func (v *vocab) mergesByScore(scores []float32) error {
	if len(scores) != len(v.tokens) {
		return fmt.Errorf("%s: key tokenizer.ggml.scores holds %d scores of %d tokens", v.path, len(scores), len(v.tokens))
	}
	var ids []int
	for id, t := range v.tokens {
		if scores[id] != scores[id] {
			return fmt.Errorf("%s: key tokenizer.ggml.scores: score %d is not a number", v.path, id)
		}
		if _, ok := byteToken(t); v.types[id] == typeNormal && !ok {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	tokens := make([]string, len(ids))
	for i, id := range ids {
		tokens[i] = v.tokens[id]
	}
	var err error
	if v.merges, err = mergesInto(tokens); err != nil {
		return fmt.Errorf("%s: key tokenizer.ggml.tokens: %w", v.path, err)
	}
	return nil
}

// mergesInto are the pairs of tokens that together are another one, in the order
// of that. Of one token's pairs the longest left part comes first.
func mergesInto(tokens []string) (merges [][2]string, err error) {
	const longest = 1024 // bytes, far beyond any real token: the work is quadratic
	known := make(map[string]bool, len(tokens))
	for _, t := range tokens {
		known[t] = true
	}
	for _, t := range tokens {
		if len(t) > longest {
			return nil, fmt.Errorf("a token of %d bytes; at most %d are supported", len(t), longest)
		}
		for i := len(t) - 1; i > 0; i-- {
			if utf8.RuneStart(t[i]) && known[t[:i]] && known[t[i:]] {
				merges = append(merges, [2]string{t[:i], t[i:]})
			}
		}
	}
	if len(merges) == 0 {
		return nil, errors.New("no token is put together from two others")
	}
	return merges, nil
}

// endNames are the texts of tokens that end a turn whatever the metadata says:
// some files name only one of several, or type one as text.
var endNames = map[string]bool{
	"<|im_end|>": true, "<|endoftext|>": true, // Qwen
	"<|eot_id|>": true, "<|eom_id|>": true, "<|end_of_text|>": true, // Llama 3
	"<turn|>": true, "<eos>": true, "<|tool_response>": true, "<end_of_turn>": true, // Gemma
	"</s>": true, // Mistral; in Gemma's vocabulary it is a piece of HTML, and no control token
}

// readSpecial finds the tokens that begin a prompt and end a turn. Whatever type
// the file gives them, they are control tokens.
func (v *vocab) readSpecial(h *header) error {
	for id, t := range v.tokens {
		if endNames[t] && (t != "</s>" || v.types[id] == typeControl) {
			v.ends[int32(id)] = true
		}
	}
	if _, ok := h.kv["tokenizer.ggml.eos_token_id"].(uint32); !ok {
		return fmt.Errorf("%s: key tokenizer.ggml.eos_token_id is missing", h.path)
	}
	for _, kind := range []string{"bos", "eos", "eot", "eom"} {
		key := "tokenizer.ggml." + kind + "_token_id"
		id, ok := h.kv[key].(uint32)
		if !ok {
			continue
		}
		if int(id) >= len(v.tokens) {
			return fmt.Errorf("%s: key %s: token %d of %d", h.path, key, id, len(v.tokens))
		}
		if kind == "bos" {
			v.bos = int32(id)
			v.types[id] = typeControl
		} else {
			v.ends[int32(id)] = true
		}
	}
	const key = "tokenizer.ggml.eos_token_ids"
	ids := h.kv.Ints(key)
	for _, id := range h.kv.Uints(key) {
		ids = append(ids, int32(id))
	}
	if _, ok := h.kv[key]; ok && len(ids) == 0 {
		return fmt.Errorf("%s: key %s is no list of tokens", h.path, key)
	}
	for _, id := range ids {
		if id < 0 || int(id) >= len(v.tokens) {
			return fmt.Errorf("%s: key %s: token %d of %d", h.path, key, id, len(v.tokens))
		}
		v.ends[id] = true
	}
	for id := range v.ends {
		v.types[id] = typeControl
	}
	return nil
}

// check refuses what would lose text, or make the tokenizer's library refuse the
// vocabulary in words that it cannot pass on.
func (v *vocab) check() error {
	for i, m := range v.merges {
		for _, t := range []string{m[0], m[1], m[0] + m[1]} {
			if _, ok := v.words[t]; !ok {
				return fmt.Errorf("%s: merge %d of the vocabulary needs %q, which is no token of it", v.path, i, t)
			}
		}
	}
	if v.pre.pieces {
		for b, missing := range v.bytesWithoutToken() {
			if missing {
				return fmt.Errorf("%s: the vocabulary lacks the token %s", v.path, byteName(byte(b)))
			}
		}
	}
	return nil
}

// marker tells whether the token stands for its text only where the template
// wrote it. Some files type tokens as text that their template writes between
// messages, such as <think>; a player's message must not hold them either.
func (v *vocab) marker(id int) bool {
	t := v.tokens[id]
	if v.types[id] != typeUserDefined {
		return v.types[id] == typeControl && t != ""
	}
	bracketed := strings.HasPrefix(t, "<") && strings.HasSuffix(t, ">") || strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]")
	return bracketed && len(t) > 2 && strings.Contains(v.template, t)
}

// markers are the markers by their text, the longest first.
func (v *vocab) markers() []marker {
	var m []marker
	for id, t := range v.tokens {
		if v.marker(id) {
			m = append(m, marker{t, int32(id)})
		}
	}
	slices.SortStableFunc(m, func(a, b marker) int { return len(b.text) - len(a.text) })
	return m
}

// texts are the bytes that each token stands for in an answer.
func (v *vocab) texts() []string {
	texts := make([]string, len(v.tokens))
	for id, t := range v.tokens {
		switch b, isByte := byteToken(t); {
		case v.types[id] == typeUserDefined:
			texts[id] = t
		case v.types[id] != typeNormal && (v.types[id] != typeByte || !v.pre.pieces):
		case !v.pre.pieces:
			texts[id] = plainBytes(t)
		case isByte:
			texts[id] = string([]byte{b})
		default:
			texts[id] = strings.ReplaceAll(t, pieceSpace, " ")
		}
	}
	return texts
}

// pieceSpace stands for a space in a vocabulary of pieces.
const pieceSpace = "\u2581"

// byteName is the token that stands for a byte in a vocabulary of pieces.
func byteName(b byte) string { return fmt.Sprintf("<0x%02X>", b) }

// byteToken is the byte that such a token stands for.
func byteToken(t string) (byte, bool) {
	if len(t) != len("<0x00>") {
		return 0, false
	}
	b, err := strconv.ParseUint(t[3:5], 16, 8)
	return byte(b), err == nil && t == byteName(byte(b))
}

// bytesWithoutToken are the bytes that the vocabulary cannot write: text with
// one of them would lose it.
func (v *vocab) bytesWithoutToken() (missing [256]bool) {
	runes := byteRunes()
	for b := range missing {
		name := string(runes[b])
		if v.pre.pieces {
			name = byteName(byte(b))
		}
		id, ok := v.words[name]
		missing[b] = !ok || v.types[id] == typeUserDefined
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

// runeBytes turns byteRunes around.
var runeBytes = func() map[rune]byte {
	bytes := map[rune]byte{}
	for b, r := range byteRunes() {
		bytes[r] = byte(b)
	}
	return bytes
}()

// plainBytes are the bytes that a token of a byte-level vocabulary stands for.
// One that is none is plain text.
func plainBytes(t string) string {
	b := make([]byte, 0, len(t))
	for _, r := range t {
		x, ok := runeBytes[r]
		if !ok {
			return t
		}
		b = append(b, x)
	}
	return string(b)
}
