package inference

import "encoding/json"

// A preTokenizer says how text is cut into words before the merges are applied,
// and how tokens spell text: byte by byte as printable characters, or as pieces
// of the text.
type preTokenizer struct {
	normalizer, splitter any  // of Hugging Face's tokenizers
	whole                bool // a word that is a token is taken whole, whatever the merges say
	// pieces: U+2581 is a space, and a character that is no token is written in
	// tokens such as <0xC3>.
	pieces bool
	scored bool // the merges follow from the tokens' scores
	// prefix: text begins with a space that is not in it. It is put in front of
	// all that lies between two markers, not of the prompt alone: in training each
	// part of a chat was encoded for itself. llama.cpp does the same.
	prefix bool
	bos    bool // a prompt begins with BOS where the file does not say
	always bool // it does even where the file denies it, as early ones of Gemma 4 do
}

// prefixed is a vocabulary of pieces that puts a space in front of text.
func (p preTokenizer) prefixed() preTokenizer {
	p.prefix = true
	p.normalizer = hf{"type": "Sequence", "normalizers": []any{hf{"type": "Prepend", "prepend": pieceSpace}, p.normalizer}}
	return p
}

// hf is a part of a tokenizer.json, by the names of its fields.
type hf map[string]any

// bytewise cuts into the words that the steps leave, and those, where gpt2 is
// set, by GPT-2's own pattern; then the bytes are written as characters.
func bytewise(gpt2 bool, steps ...any) hf {
	last := hf{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": gpt2}
	return hf{"type": "Sequence", "pretokenizers": append(steps, last)}
}

func split(pattern string) hf {
	return hf{"type": "Split", "pattern": hf{"Regex": pattern}, "behavior": "Isolated", "invert": false}
}

var (
	spacesAsPieces = hf{"type": "Replace", "pattern": hf{"String": " "}, "content": pieceSpace}

	llama3Words = bytewise(false, split(`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`))
	qwen2Words  = bytewise(false, split(`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`))
)

const tekkenPattern = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// preTokenizers by the name that a GGUF file gives them. A name that is not
// here is refused: a wrong cut gives other tokens in silence.
var preTokenizers = map[string]preTokenizer{
	"gpt-2":     {splitter: bytewise(true)},
	"smollm":    {splitter: bytewise(true, hf{"type": "Digits", "individual_digits": true})},
	"llama-bpe": {splitter: llama3Words, whole: true, bos: true},
	"llama-v3":  {splitter: llama3Words, whole: true, bos: true}, // llama.cpp's older names
	"llama3":    {splitter: llama3Words, whole: true, bos: true},
	// GGUF files do not say so, but Qwen's models were trained on text in form NFC.
	"qwen2":  {normalizer: hf{"type": "NFC"}, splitter: qwen2Words},
	"tekken": {splitter: bytewise(false, split(tekkenPattern)), whole: true, bos: true},
	// Vocabularies of pieces cut nothing.
	"gemma4":        {normalizer: spacesAsPieces, pieces: true, bos: true, always: true},
	"sentencepiece": {normalizer: spacesAsPieces, pieces: true, scored: true, bos: true},
}

// An addedToken is a token that text is searched for before all else.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// tokenizerJSON writes the vocabulary as a tokenizer.json of Hugging Face's
// library. Markers are left out, so that no text can become one.
func (v *vocab) tokenizerJSON() ([]byte, error) {
	added := []addedToken{}
	for id, t := range v.tokens {
		if v.types[id] == typeUserDefined && !v.marker(id) {
			a := v.added[id]
			a.ID, a.Content, a.Special = id, t, false
			added = append(added, a)
		}
	}
	decoder := hf{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}
	if v.pre.pieces {
		decoder = hf{"type": "Sequence", "decoders": []any{
			hf{"type": "Replace", "pattern": hf{"String": pieceSpace}, "content": " "}, hf{"type": "ByteFallback"}, hf{"type": "Fuse"},
		}}
	}
	return json.Marshal(hf{
		"version": "1.0", "truncation": nil, "padding": nil, "post_processor": nil,
		"added_tokens": added, "normalizer": v.pre.normalizer, "pre_tokenizer": v.pre.splitter, "decoder": decoder,
		"model": hf{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
			"fuse_unk": false, "byte_fallback": v.pre.pieces, "ignore_merges": v.pre.whole, "vocab": v.words, "merges": v.merges,
		},
	})
}
