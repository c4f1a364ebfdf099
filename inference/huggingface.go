package inference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// hfKey holds a whole tokenizer.json of Hugging Face's library.
const hfKey = "tokenizer.huggingface.json"

// hfFile is what is read of a tokenizer.json. What it adds to a text on its own
// (a post-processor, truncation, padding) is dropped: the chat template writes
// all markers.
type hfFile struct {
	Added        []addedToken    `json:"added_tokens"`
	Normalizer   json.RawMessage `json:"normalizer"`
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Model        struct {
		Type         string          `json:"type"`
		Dropout      float64         `json:"dropout"`
		Prefix       string          `json:"continuing_subword_prefix"`
		Suffix       string          `json:"end_of_word_suffix"`
		ByteFallback bool            `json:"byte_fallback"`
		IgnoreMerges bool            `json:"ignore_merges"`
		Vocab        map[string]int  `json:"vocab"`
		Merges       json.RawMessage `json:"merges"`
	} `json:"model"`
}

// readHuggingFace reads a vocabulary whose rules are in a tokenizer.json inside
// the file. The file's own list of tokens must be the same.
func (v *vocab) readHuggingFace(h *header) error {
	fail := func(format string, a ...any) error {
		return fmt.Errorf("%s: key %s: %s", h.path, hfKey, oneLine(fmt.Sprintf(format, a...)))
	}
	var f hfFile
	source, _ := h.kv[hfKey].(string)
	if err := json.Unmarshal([]byte(source), &f); err != nil {
		return fail("%v", err)
	}
	if f.Model.Type != "BPE" {
		return fail("models of type %q are not supported", f.Model.Type)
	}
	if f.Model.Dropout != 0 || f.Model.Prefix != "" || f.Model.Suffix != "" {
		return fail("dropout, prefixes and suffixes of words are not supported")
	}
	var err error
	if v.pre, err = f.preTokenizer(); err != nil {
		return fail("%v", err)
	}
	if err := v.agrees(&f); err != nil {
		return fail("%v", err)
	}
	var pairs [][]string
	if err := json.Unmarshal(f.Model.Merges, &pairs); err != nil {
		var merges []string // as older files write them
		if json.Unmarshal(f.Model.Merges, &merges) != nil {
			return fail("merges: %v", err)
		}
		return v.splitMerges(merges)
	}
	for i, p := range pairs {
		if len(p) != 2 {
			return fail("merge %d has %d parts, not two", i, len(p))
		}
		v.merges = append(v.merges, [2]string(p))
	}
	return nil
}

// agrees makes sure that the file's list of tokens is the one of the
// tokenizer.json, and takes the types of added tokens from there.
func (v *vocab) agrees(f *hfFile) error {
	v.added = map[int]addedToken{}
	texts := make(map[int]string, len(v.tokens))
	put := func(text string, id int) error {
		if id < 0 || id >= len(v.tokens) {
			return fmt.Errorf("it has a token %d; tokenizer.ggml.tokens holds %d", id, len(v.tokens))
		}
		if v.tokens[id] != text {
			return fmt.Errorf("its token %d is %q; in tokenizer.ggml.tokens it is %q", id, text, v.tokens[id])
		}
		texts[id] = text
		return nil
	}
	for text, id := range f.Model.Vocab {
		if err := put(text, id); err != nil {
			return err
		}
	}
	for _, a := range f.Added {
		if err := put(a.Content, a.ID); err != nil {
			return err
		}
		v.added[a.ID] = a
		if a.Special {
			v.types[a.ID] = typeControl
		} else if v.types[a.ID] != typeControl {
			v.types[a.ID] = typeUserDefined
		}
	}
	for id, t := range v.tokens {
		if _, ok := texts[id]; !ok && v.types[id] != typeUnused {
			return fmt.Errorf("it lacks token %d, which is %q in tokenizer.ggml.tokens", id, t)
		}
	}
	return nil
}

// preTokenizer takes over how the tokenizer.json cuts text, if that keeps all of
// the text and spells it in one of the two ways that can be read back.
func (f *hfFile) preTokenizer() (p preTokenizer, err error) {
	bytes := false
	if err = eachStep(f.PreTokenizer, func(s hfStep) bool {
		bytes = bytes || s.Type == "ByteLevel" && !s.AddPrefixSpace
		return s.Type == "ByteLevel" && !s.AddPrefixSpace || s.Type == "Digits" ||
			s.Type == "Split" && (s.Behavior == "Isolated" || s.Behavior == "MergedWithPrevious")
	}); err != nil {
		return p, fmt.Errorf("pre_tokenizer: %w", err)
	}
	spaces := false
	if err = eachStep(f.Normalizer, func(s hfStep) bool {
		switch s.Type {
		case "NFC":
			return true
		case "Prepend":
			p.prefix = true
			return !bytes && s.Prepend == pieceSpace
		case "Replace":
			spaces = true
			return !bytes && s.Pattern.String == " " && s.Content == pieceSpace
		}
		return false
	}); err != nil {
		return p, fmt.Errorf("normalizer: %w", err)
	}
	p.pieces = spaces && f.Model.ByteFallback
	if p.pieces == bytes {
		return p, fmt.Errorf("its tokens spell text neither in bytes (ByteLevel) nor in pieces (spaces as U+2581, byte_fallback)")
	}
	p.whole = f.Model.IgnoreMerges
	p.normalizer, p.splitter = f.Normalizer, f.PreTokenizer
	return p, nil
}

// An hfStep is one step of a normalizer or pre-tokenizer, or a sequence of them.
type hfStep struct {
	Type           string   `json:"type"`
	Normalizers    []hfStep `json:"normalizers"`
	PreTokenizers  []hfStep `json:"pretokenizers"`
	AddPrefixSpace bool     `json:"add_prefix_space"`
	Behavior       string   `json:"behavior"`
	Prepend        string   `json:"prepend"`
	Content        string   `json:"content"`
	Pattern        struct {
		String string
	} `json:"pattern"`
}

// eachStep asks known of every step and refuses the first one that is not.
func eachStep(part json.RawMessage, known func(hfStep) bool) error {
	var first *hfStep
	if len(part) == 0 {
		return nil
	}
	if err := json.Unmarshal(part, &first); err != nil || first == nil {
		return err
	}
	// The library reports its errors as C strings.
	if strings.Contains(string(part), `\u0000`) {
		return fmt.Errorf("byte 0 is not supported")
	}
	steps := []hfStep{*first}
	for len(steps) > 0 {
		s := steps[0]
		steps = steps[1:]
		switch {
		case s.Type == "Sequence":
			steps = slices.Concat(s.Normalizers, s.PreTokenizers, steps)
		case !known(s):
			return fmt.Errorf("%s, as it is set there, is not supported", s.Type)
		}
	}
	return nil
}
