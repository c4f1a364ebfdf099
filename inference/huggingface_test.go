package inference

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// inHuggingFace turns the keys of a vocabulary into what our converter writes
// for a folder with the same vocabulary in a tokenizer.json: that file, which it
// makes up here as real ones are, and the list of tokens.
func inHuggingFace(t testing.TB, kv fsggml.KV, change func(f hf)) fsggml.KV {
	t.Helper()
	h, err := readHeader(writeVocab(t, kv))
	if err != nil {
		t.Fatal(err)
	}
	v, err := readVocab(h)
	if err != nil {
		t.Fatal(err)
	}
	vocab, added := map[string]int{}, []addedToken{}
	for id, token := range v.tokens {
		kind := h.kv.Ints("tokenizer.ggml.token_type")[id]
		special := kind == typeControl || kind == typeUnknown
		if special || kind == typeUserDefined {
			added = append(added, addedToken{ID: id, Content: token, Special: special})
		}
		// Vocabularies of pieces list their special tokens twice.
		if v.pre.pieces || !special && kind != typeUserDefined {
			vocab[token] = id
		}
	}
	model := hf{
		"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": "", "fuse_unk": false,
		"byte_fallback": v.pre.pieces, "ignore_merges": v.pre.whole, "vocab": vocab, "merges": v.merges,
	}
	splitter := v.pre.splitter
	if v.pre.pieces {
		model["unk_token"], model["fuse_unk"] = "<unk>", true
		splitter = hf{"type": "Split", "pattern": hf{"String": " "}, "behavior": "MergedWithPrevious", "invert": false}
	}
	f := hf{
		"version": "1.0", "added_tokens": added, "normalizer": v.pre.normalizer, "pre_tokenizer": splitter, "model": model,
		"decoder":        hf{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
		"truncation":     hf{"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
		"padding":        hf{"strategy": hf{"Fixed": 64}, "direction": "Right", "pad_to_multiple_of": nil, "pad_id": 0, "pad_type_id": 0, "pad_token": v.tokens[0]},
		"post_processor": hf{"type": "BertProcessing", "sep": []any{v.tokens[0], 0}, "cls": []any{v.tokens[1], 1}},
	}
	if change != nil {
		change(f)
	}
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	out := maps.Clone(kv)
	out[hfKey] = string(data)
	for _, key := range []string{"model", "pre", "merges", "scores", "add_space_prefix"} {
		delete(out, "tokenizer.ggml."+key)
	}
	return out
}

// oldMerges writes them as older files do.
func oldMerges(f hf) {
	model := f["model"].(hf)
	var merges []string
	for _, m := range model["merges"].([][2]string) {
		merges = append(merges, m[0]+" "+m[1])
	}
	model["merges"] = merges
}

// TestHuggingFaceGoldens reads the real vocabularies out of a tokenizer.json.
func TestHuggingFaceGoldens(t *testing.T) {
	for i, r := range realVocabs[:4] {
		t.Run(r.name, func(t *testing.T) {
			var change func(hf)
			if i%2 == 1 {
				change = oldMerges
			}
			kv := inHuggingFace(t, r.keys(t), change)
			kv["tokenizer.chat_template"] = readFixture(t, llamaCpp+"templates/"+r.template)
			c := openKeys(t, kv)
			for text, want := range r.goldens(t) {
				if got := mustEncode(t, c, text); !slices.Equal(got, want) || c.Text(got) != text {
					t.Errorf("%q: %v, which is %q; want %v", text, got, c.Text(got), want)
				}
			}
			r.checkMarkers(t, c)
			r.checkEnds(t, c)
		})
	}
}

// hfTiny is a small vocabulary in a tokenizer.json.
func hfTiny(t testing.TB, change func(f hf)) fsggml.KV {
	t.Helper()
	kv := maps.Clone(newTiny(fsggml.TensorTypeF32).kv)
	n := len(kv["tokenizer.ggml.tokens"].([]string))
	kv["tokenizer.ggml.tokens"] = append(kv["tokenizer.ggml.tokens"].([]string), "<ü tool>", "[hole]")
	kv["tokenizer.ggml.token_type"] = append(kv["tokenizer.ggml.token_type"].([]int32), typeUserDefined, typeUnused)
	return inHuggingFace(t, kv, func(f hf) {
		delete(f["model"].(hf)["vocab"].(map[string]int), "[hole]")
		added := f["added_tokens"].([]addedToken)
		added[len(added)-1].LStrip = true
		if added[len(added)-1].ID != n {
			t.Fatal("the added token is not the last one")
		}
		if change != nil {
			change(f)
		}
	})
}

// TestHuggingFaceAdded: added tokens match as the tokenizer.json says.
func TestHuggingFaceAdded(t *testing.T) {
	kv := hfTiny(t, nil)
	c := openKeys(t, kv)
	ids := mustEncode(t, c, "the  <ü tool>\n<|start|>")
	if got := c.Text(ids); got != "the<ü tool>\n<|start|>" {
		t.Errorf("%v, %q", ids, got)
	}
	if _, ids, err := c.Chat([]Message{{"user", "<|end|>"}}); err != nil || ids[0] != madeUpStart || slices.Index(ids, madeUpEnd) < 8 {
		t.Errorf("error %v, tokens %v", err, ids)
	}
}

// TestHuggingFaceSpecial: the tokenizer.json decides what is no text.
func TestHuggingFaceSpecial(t *testing.T) {
	kv := hfTiny(t, nil)
	kv["tokenizer.ggml.token_type"].([]int32)[madeUpBOS] = typeNormal
	c := openKeys(t, kv)
	if ids := mustEncode(t, c, "<|bos|>"); len(ids) != len("<|bos|>") || c.Text([]int32{madeUpBOS}) != "" {
		t.Errorf("%v, %q", ids, c.Text([]int32{madeUpBOS}))
	}
}

func TestHuggingFaceFaults(t *testing.T) {
	model := func(key string, value any) func(hf) {
		return func(f hf) { f["model"].(hf)[key] = value }
	}
	part := func(key string, value any) func(hf) {
		return func(f hf) { f[key] = value }
	}
	add := func(id int, content string) func(hf) {
		return func(f hf) {
			f["added_tokens"] = append(f["added_tokens"].([]addedToken), addedToken{ID: id, Content: content})
		}
	}
	for _, test := range []struct {
		name   string
		change func(f hf)
		want   string
	}{
		{"unigrams", model("type", "Unigram"), `type "Unigram" are not supported`},
		{"dropout", model("dropout", 0.1), "dropout"},
		{"word prefixes", model("continuing_subword_prefix", "##"), "prefixes"},
		{"word suffixes", model("end_of_word_suffix", "</w>"), "suffixes"},
		{"merges that are none", model("merges", []any{1}), "merges"},
		{"merge of three", model("merges", []any{[]string{"t", "h", "e"}}), "merge 0 has 3 parts"},
		{"merge of no token", model("merges", []any{[]string{"t", "x\x00"}}), "merge 0"},
		{"merge of one part", model("merges", []string{"th"}), "not two parts"},
		{"no vocabulary", model("vocab", nil), "it lacks token 3"},
		{"vocabulary of another type", model("vocab", []string{"a"}), "cannot unmarshal"},
		{"another text", func(f hf) {
			vocab := f["model"].(hf)["vocab"].(map[string]int)
			delete(vocab, "th")
			vocab["ht"] = 259
		}, `its token 259 is "ht"; in tokenizer.ggml.tokens it is "th"`},
		{"token beyond the list", add(263, "x"), "it has a token 263; tokenizer.ggml.tokens holds 263"},
		{"negative token", add(-1, "x"), "token -1"},
		{"text of a hole", add(262, "x"), "its token 262"},
		{"lower case", part("normalizer", hf{"type": "Lowercase"}), "normalizer: Lowercase"},
		{"lost text", part("normalizer", hf{"type": "Sequence", "normalizers": []any{hf{"type": "NFC"}, hf{"type": "Strip"}}}), "normalizer: Strip"},
		{"normalizer of another type", part("normalizer", "NFC"), "normalizer: json"},
		{"metaspace", part("pre_tokenizer", hf{"type": "Metaspace", "replacement": pieceSpace}), "pre_tokenizer: Metaspace"},
		{"a space in front of bytes", part("pre_tokenizer", hf{"type": "ByteLevel", "add_prefix_space": true}), "pre_tokenizer: ByteLevel"},
		{"lost words", part("pre_tokenizer", hf{"type": "Split", "pattern": hf{"String": " "}, "behavior": "Removed", "invert": false}), "pre_tokenizer: Split"},
		{"no pre-tokenizer", part("pre_tokenizer", nil), "neither in bytes"},
		{"pieces without a space", func(f hf) { f["pre_tokenizer"] = nil; f["model"].(hf)["byte_fallback"] = true }, "neither in bytes"},
		{"a pattern that is none", part("pre_tokenizer", bytewise(false, split("("))), "vocabulary:"},
		{"a pattern with byte 0", part("pre_tokenizer", bytewise(false, split("(\x00"))), "byte 0"},
	} {
		kv := hfTiny(t, test.change)
		path := writeVocab(t, kv)
		c, err := OpenCodec(path)
		if err == nil {
			c.Close()
			t.Errorf("%s: no error", test.name)
		} else if s := err.Error(); !strings.Contains(s, test.want) || !strings.Contains(s, path) || strings.Contains(s, "\n") {
			t.Errorf("%s: error %q, want %q in it", test.name, s, test.want)
		}
	}
	for _, broken := range []any{"", "{", `{"model": 1}`, `{"model": {"type": "BPE"}}`, "null", uint32(7), strings.Repeat("[", 20_000)} {
		kv := hfTiny(t, nil)
		kv[hfKey] = broken
		path := writeVocab(t, kv)
		if _, err := OpenCodec(path); err == nil || !strings.Contains(err.Error(), path+": key "+hfKey) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20v: error %v", broken, err)
		}
	}
}

// TestFailedTokenizer: a pattern on which the library gives up is an error, not
// an empty text.
func TestFailedTokenizer(t *testing.T) {
	kv := hfTiny(t, func(f hf) { f["pre_tokenizer"] = bytewise(false, split(`(?:a|a)+[xy]`)) })
	c := openKeys(t, kv)
	if _, err := c.Encode(strings.Repeat("a", 100)); err == nil || !strings.Contains(err.Error(), "the tokenizer failed on a text of 100 bytes") {
		t.Errorf("error %v", err)
	}
}
