package inference

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// TestSentencePieceMerges compares with the rule itself: of all neighbours that
// together are a token, those of the highest score merge, the leftmost first.
func TestSentencePieceMerges(t *testing.T) {
	r := realVocabs[3]
	h := r.header(t)
	c := codecOf(t, h)
	tokens, scores, types := h.kv.Strings("tokenizer.ggml.tokens"), h.kv.Floats("tokenizer.ggml.scores"), h.kv.Ints("tokenizer.ggml.token_type")
	ids := map[string]int32{}
	for id, token := range tokens {
		if types[id] == typeNormal {
			ids[token] = int32(id)
		}
	}
	rule := func(text string) (out []int32) {
		words := strings.Split(strings.ReplaceAll(" "+text, " ", pieceSpace), "")
		for {
			best := -1
			for i := range len(words) - 1 {
				id, ok := ids[words[i]+words[i+1]]
				if ok && (best < 0 || scores[id] > scores[ids[words[best]+words[best+1]]]) {
					best = i
				}
			}
			if best < 0 {
				break
			}
			words[best] += words[best+1]
			words = slices.Delete(words, best+1, best+2)
		}
		for _, word := range words {
			if id, ok := ids[word]; ok {
				out = append(out, id)
				continue
			}
			for _, b := range []byte(word) {
				out = append(out, int32(slices.Index(tokens, byteName(byte(b)))))
			}
		}
		return out
	}
	rng := rand.New(rand.NewPCG(11, 12))
	ours := localeTexts(t)
	slices.Sort(ours)
	for range 2000 {
		text := []rune(ours[rng.IntN(len(ours))])
		from := rng.IntN(len(text) + 1)
		part := string(text[from:min(len(text), from+1+rng.IntN(40))])
		if rng.IntN(3) == 0 {
			part = strings.Repeat("ab a\n"[:1+rng.IntN(5)], 1+rng.IntN(9)) + part
		}
		if part == "" {
			continue
		}
		if got, want := mustEncode(t, c, part), rule(part); !slices.Equal(got, want) {
			t.Errorf("%q: %v, by the rule %v", part, got, want)
		}
	}
}

// TestNoSpacePrefix: a file may deny the space in front, and byte 0 has none
// behind it anyway.
func TestNoSpacePrefix(t *testing.T) {
	kv := realVocabs[3].keys(t)
	with := openKeys(t, kv)
	kv["tokenizer.ggml.add_space_prefix"] = false
	without := openKeys(t, kv)
	stone := mustEncode(t, with, "stone")
	if got := mustEncode(t, without, " stone"); !slices.Equal(got, stone) {
		t.Errorf("%v, want %v", got, stone)
	}
	if got := without.Text(stone); got != " stone" {
		t.Errorf("%q", got)
	}
	nul := []int32{3}
	bare := mustEncode(t, without, "stone")
	if got := mustEncode(t, with, "stone\x00stone"); !slices.Equal(got, slices.Concat(stone, nul, bare)) {
		t.Errorf("%v, want %v", got, slices.Concat(stone, nul, bare))
	}
}

// TestOllamasGemma4 reads the same vocabulary as Ollama's converter writes it.
func TestOllamasGemma4(t *testing.T) {
	kv := realVocabs[0].keys(t)
	kv["tokenizer.ggml.model"], kv["tokenizer.ggml.pre"] = "llama", "gemma4"
	kv["tokenizer.ggml.add_bos_token"] = false // some files of Gemma 4 say so, to no good
	delete(kv, "tokenizer.ggml.add_space_prefix")
	types := kv["tokenizer.ggml.token_type"].([]int32)
	for id, t := range types {
		if t == typeByte {
			types[id] = typeNormal
		}
	}
	kv["tokenizer.chat_template"] = "{{ messages[0].content }}"
	c := openKeys(t, kv)
	for text, want := range realVocabs[0].goldens(t) {
		if got := mustEncode(t, c, text); !slices.Equal(got, want) || c.Text(got) != text {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	_, ids, err := c.Chat([]Message{{"user", "\n\n\n"}})
	if err != nil || !slices.Equal(ids, []int32{2, 109}) {
		t.Errorf("error %v, tokens %v", err, ids)
	}
}

// TestTypedAsText: a token of the template that the file types as text is a
// marker all the same, and ends the turn.
func TestTypedAsText(t *testing.T) {
	kv := realVocabs[0].keys(t)
	kv["tokenizer.chat_template"] = readFixture(t, llamaCpp+"templates/"+realVocabs[0].template)
	types := kv["tokenizer.ggml.token_type"].([]int32)
	types[1], types[106], types[105] = typeNormal, typeUserDefined, typeUserDefined // <eos>, <turn|>, <|turn>
	c := openKeys(t, kv)
	realVocabs[0].checkEnds(t, c)
	realVocabs[0].checkMarkers(t, c)
	if slices.ContainsFunc(c.markers, func(m marker) bool { return m.text == "</s>" }) || c.texts[212] != "</s>" {
		t.Error("</s> is HTML in this vocabulary")
	}
	// What the model thinks is read in its text.
	if i := slices.IndexFunc(c.markers, func(m marker) bool { return m.text == "<|channel>" }); i < 0 || c.Text([]int32{c.markers[i].id}) != "<|channel>" {
		t.Error("<|channel> is no marker, or has lost its text")
	}
}

// TestManyEnds reads a list of tokens that end a turn, in both types of numbers.
func TestManyEnds(t *testing.T) {
	for _, ids := range []any{[]int32{madeUpStart, 5}, []uint32{madeUpStart, 5}} {
		c := openTinyCodec(t, func(kv fsggml.KV) { kv["tokenizer.ggml.eos_token_ids"] = ids })
		if got := slices.Sorted(maps.Keys(c.ends)); !slices.Equal(got, []int32{madeUpEnd, madeUpStart, 5}) || c.Text([]int32{5}) != "" {
			t.Errorf("%v", got)
		}
	}
	for kind, want := range map[int32]bool{typeControl: true, typeNormal: false} {
		c := openTinyCodec(t, func(kv fsggml.KV) {
			kv["tokenizer.ggml.tokens"] = append(kv["tokenizer.ggml.tokens"].([]string), "</s>")
			kv["tokenizer.ggml.token_type"] = append(kv["tokenizer.ggml.token_type"].([]int32), kind)
		})
		if last := int32(c.Vocab() - 1); c.End(last) != want {
			t.Errorf("</s> of type %d ends a turn: %v", kind, !want)
		}
	}
}

// TestVocabMemory encodes large texts for a vocabulary that cuts nothing.
func TestVocabMemory(t *testing.T) {
	c := codecOf(t, realVocabs[3].header(t))
	texts := localeTexts(t)
	encode := func(n int) {
		for i := range n {
			mustEncode(t, c, texts[i%len(texts)]+texts[(i*7)%len(texts)])
		}
	}
	encode(3000)
	before := residentMemory(t)
	encode(10_000)
	if after := residentMemory(t); after > before+16 {
		t.Errorf("10,000 encodes took the resident memory from %d to %d MB", before, after)
	}
}

// TestVocabFaults: a vocabulary that cannot be read in full is refused by name.
func TestVocabFaults(t *testing.T) {
	spm := fsggml.KV{
		"general.architecture": "llama", "tokenizer.ggml.model": "llama", "tokenizer.ggml.pre": "default",
		"tokenizer.ggml.bos_token_id": uint32(0), "tokenizer.ggml.eos_token_id": uint32(1),
	}
	tokens, types := []string{"<s>", "</s>"}, []int32{typeControl, typeControl}
	for b := range 256 {
		tokens, types = append(tokens, byteName(byte(b))), append(types, typeByte)
	}
	tokens, types = append(tokens, "a", "b", "ab"), append(types, typeNormal, typeNormal, typeNormal)
	spm["tokenizer.ggml.tokens"], spm["tokenizer.ggml.token_type"] = tokens, types
	spm["tokenizer.ggml.scores"] = make([]float32, len(tokens))
	if ids := mustEncode(t, openKeys(t, spm), "ab"); len(ids) != 4 { // the three bytes of the space in front
		t.Errorf("tokens %v", ids)
	}
	long := strings.Repeat("a", 1025)
	for _, test := range []struct {
		name string
		set  fsggml.KV
		want string
	}{
		{"unknown pre-tokenizer", fsggml.KV{"tokenizer.ggml.pre": "viking"}, `tokenizer.ggml.pre: unknown pre-tokenizer "viking"`},
		{"another kind's pre-tokenizer", fsggml.KV{"tokenizer.ggml.pre": "qwen2"}, `unknown pre-tokenizer "qwen2"`},
		{"the name of ours for pieces", fsggml.KV{"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "sentencepiece"}, `unknown pre-tokenizer "sentencepiece"`},
		{"no pre-tokenizer", fsggml.KV{"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": ""}, `unknown pre-tokenizer ""`},
		{"default of another architecture", fsggml.KV{"tokenizer.ggml.model": "gpt2"}, `unknown pre-tokenizer "default"`},
		{"unigrams", fsggml.KV{"tokenizer.ggml.model": "t5"}, `kind "t5" are not supported`},
		{"no scores", fsggml.KV{"tokenizer.ggml.scores": []float32{1}}, "1 scores of 261 tokens"},
		{"scores that are none", fsggml.KV{"tokenizer.ggml.scores": slices.Repeat([]float32{float32(math.NaN())}, len(tokens))}, "score 0 is not a number"},
		{"lost spaces", fsggml.KV{"tokenizer.ggml.remove_extra_whitespaces": true}, "remove_extra_whitespaces: not supported"},
		{"spaces behind", fsggml.KV{"tokenizer.ggml.treat_whitespace_as_suffix": true}, "treat_whitespace_as_suffix: not supported"},
		{"a space in front of Gemma 4's", fsggml.KV{"tokenizer.ggml.model": "gemma4", "tokenizer.ggml.add_space_prefix": true}, "add_space_prefix: not supported"},
		{"a byte missing", fsggml.KV{"tokenizer.ggml.tokens": slices.Replace(slices.Clone(tokens), 12, 13, "c")}, "lacks the token <0x0A>"},
		{"a token that is no text", fsggml.KV{"tokenizer.ggml.tokens": slices.Replace(slices.Clone(tokens), 260, 261, "\xff")}, "token 260 is no UTF-8"},
		{"a huge token", fsggml.KV{"tokenizer.ggml.tokens": slices.Replace(slices.Clone(tokens), 260, 261, long)}, "1025 bytes"},
		{"no merges", fsggml.KV{"tokenizer.ggml.model": "gemma4"}, "merges is missing"},
		{"merge of one part", fsggml.KV{"tokenizer.ggml.model": "gemma4", "tokenizer.ggml.merges": []string{"ab"}}, `merge 0 is "ab"`},
		{"merge of no token", fsggml.KV{"tokenizer.ggml.model": "gemma4", "tokenizer.ggml.merges": []string{"a \x00"}}, `merge 0 of the vocabulary needs "\x00"`},
		{"merge into no token", fsggml.KV{"tokenizer.ggml.model": "gemma4", "tokenizer.ggml.merges": []string{"a b", "b a"}}, `merge 1 of the vocabulary needs "ba"`},
		{"an end beyond the vocabulary", fsggml.KV{"tokenizer.ggml.eos_token_ids": []int32{1, 300}}, "eos_token_ids: token 300 of 261"},
		{"ends that are none", fsggml.KV{"tokenizer.ggml.eos_token_ids": "1"}, "eos_token_ids is no list"},
	} {
		kv := maps.Clone(spm)
		maps.Copy(kv, test.set)
		path := writeVocab(t, kv)
		c, err := OpenCodec(path)
		if err == nil {
			c.Close()
			t.Errorf("%s: no error", test.name)
		} else if s := err.Error(); !strings.Contains(s, test.want) || !strings.Contains(s, path) || strings.Contains(s, "\n") {
			t.Errorf("%s: error %q, want %q in it", test.name, s, test.want)
		}
	}
}
