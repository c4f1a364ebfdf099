package inference

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"

	"golang.org/x/text/unicode/norm"
)

const (
	llamaCpp = "llama.cpp-0.3.36/models/"
	mistral  = "mistral-common-1.13.1/"
)

// A realVocab is a vocabulary of a real model, with the chat template of one of
// its kind.
type realVocab struct {
	name, template string
	bos            string // begins every chat; "": none does
	ends           []string
}

var realVocabs = []realVocab{
	{"gemma-4", "google-gemma-4-31B-it.jinja", "<bos>", []string{"<turn|>", "<eos>", "<|tool_response>"}},
	{"qwen2", "Qwen-Qwen3-0.6B.jinja", "", []string{"<|im_end|>", "<|endoftext|>"}},
	{"llama-bpe", "meta-llama-Llama-3.2-3B-Instruct.jinja", "<|begin_of_text|>", []string{"<|eot_id|>", "<|end_of_text|>"}},
	{"llama-spm", "microsoft-Phi-3.5-mini-instruct.jinja", "<s>", []string{"</s>"}},
	{"tekken_240911", "mistralai-Ministral-3-14B-Reasoning-2512.jinja", "<s>", []string{"</s>"}},
}

func readFixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(fixture(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// header is the vocabulary's file; Tekken's is made from tekken.json.
func (r realVocab) header(t testing.TB) *header {
	t.Helper()
	path := ""
	if strings.HasPrefix(r.name, "tekken") {
		path = writeVocab(t, tekkenVocab(t, r.name))
	} else {
		path = fixture(t, llamaCpp+"ggml-vocab-"+r.name+".gguf")
	}
	h, err := readHeader(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func tekkenVocab(t testing.TB, name string) fsggml.KV {
	t.Helper()
	return tekkenKeys(t, readFixture(t, mistral+name+".json"))
}

// writeVocab gives the path of a file with these keys and nothing else.
func writeVocab(t testing.TB, kv fsggml.KV) string {
	t.Helper()
	return (&tinyModel{kv: kv}).write(t)
}

// keys are those of the vocabulary's file that concern it, to be changed.
func (r realVocab) keys(t testing.TB) fsggml.KV {
	t.Helper()
	h := r.header(t)
	kv := fsggml.KV{"general.architecture": h.kv.Architecture()}
	for key, value := range h.kv {
		if strings.HasPrefix(key, "tokenizer.") {
			kv[key] = value
		}
	}
	kv["tokenizer.ggml.tokens"] = h.kv.Strings("tokenizer.ggml.tokens")
	kv["tokenizer.ggml.token_type"] = slices.Clone(h.kv.Ints("tokenizer.ggml.token_type"))
	if scores := h.kv.Floats("tokenizer.ggml.scores"); scores != nil {
		kv["tokenizer.ggml.scores"] = scores
	}
	if merges := h.kv.Strings("tokenizer.ggml.merges"); merges != nil {
		kv["tokenizer.ggml.merges"] = merges
	}
	return kv
}

func openKeys(t testing.TB, kv fsggml.KV) *Codec {
	t.Helper()
	c, err := OpenCodec(writeVocab(t, kv))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// codec reads the vocabulary with its real template.
func (r realVocab) codec(t testing.TB) *Codec {
	t.Helper()
	h := r.header(t)
	h.kv["tokenizer.chat_template"] = readFixture(t, llamaCpp+"templates/"+r.template)
	return codecOf(t, h)
}

func codecOf(t testing.TB, h *header) *Codec {
	t.Helper()
	c, err := newCodec(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// readVocabGoldens reads llama.cpp's test texts of a vocabulary and the tokens
// that the model's own tokenizer makes of them.
func readVocabGoldens(t testing.TB, name string) (texts []string, ids [][]int32) {
	t.Helper()
	name = llamaCpp + "ggml-vocab-" + name + ".gguf"
	texts = strings.Split(readFixture(t, name+".inp"), "\n__ggml_vocab_test__\n")
	for line := range strings.Lines(readFixture(t, name+".out")) {
		row := []int32(nil)
		for _, f := range strings.Fields(line) {
			id, err := strconv.ParseInt(f, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, int32(id))
		}
		ids = append(ids, row)
	}
	if len(ids) != 46 || len(texts) < len(ids) { // behind the last text nothing may follow
		t.Fatalf("%s: %d texts, %d rows of tokens", name, len(texts), len(ids))
	}
	return texts, ids
}

// tekkenTexts are the texts with golden tokens in testdata/tekken.json, by
// mistral-common's own tokenizer. They are named by their sums there.
func tekkenTexts(t testing.TB) map[string][]int32 {
	t.Helper()
	b, err := os.ReadFile("testdata/tekken.json")
	if err != nil {
		t.Fatal(err)
	}
	var bySum map[string][]int32
	if err := json.Unmarshal(b, &bySum); err != nil {
		t.Fatal(err)
	}
	texts, _ := readVocabGoldens(t, "llama-bpe")
	goldens := map[string][]int32{}
	for _, text := range append(texts, manyTexts...) {
		sum := sha256.Sum256([]byte(text))
		if ids, ok := bySum[hex.EncodeToString(sum[:])]; ok {
			goldens[text] = ids
		}
	}
	if len(goldens) != 61 || len(bySum) != 61 {
		t.Fatalf("%d of %d goldens belong to a text", len(goldens), len(bySum))
	}
	return goldens
}

func TestTekken(t *testing.T) {
	goldens := tekkenTexts(t)
	for _, name := range []string{"tekken_240718", "tekken_240911"} {
		kv := tekkenVocab(t, name)
		if name == "tekken_240718" {
			// llama.cpp's converter puts the two parts of the lowest ranks first;
			// Ollama's does not know the pre-tokenizer.
			kv["tokenizer.ggml.merges"] = convertersMerges(kv["tokenizer.ggml.tokens"].([]string)[1000:])
			kv["tokenizer.ggml.pre"] = "default"
		}
		c := openKeys(t, kv)
		if c.Vocab() != 131072 {
			t.Errorf("%s: %d tokens", name, c.Vocab())
		}
		for text, want := range goldens {
			if got := mustEncode(t, c, text); !slices.Equal(got, want) {
				t.Errorf("%s: %q: %v, mistral-common says %v", name, text, got, want)
			}
		}
	}
}

// convertersMerges are the merges that llama.cpp's converter writes for tokens
// in the order of their ranks.
func convertersMerges(tokens []string) (merges []string) {
	rank := map[string]int{}
	for r, t := range tokens {
		rank[t] = r
	}
	for _, t := range tokens {
		var pairs [][2]int
		for i := range t {
			left, ok := rank[t[:i]]
			right, ok2 := rank[t[i:]]
			if ok && ok2 {
				pairs = append(pairs, [2]int{left, right})
			}
		}
		slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		for _, p := range pairs {
			merges = append(merges, tokens[p[0]]+" "+tokens[p[1]])
		}
	}
	return merges
}

// goldens are the tokens of texts by the model's own tokenizer.
func (r realVocab) goldens(t testing.TB) map[string][]int32 {
	t.Helper()
	if strings.HasPrefix(r.name, "tekken") {
		return tekkenTexts(t)
	}
	goldens := map[string][]int32{}
	texts, want := readVocabGoldens(t, r.name)
	for i, ids := range want {
		goldens[texts[i]] = ids
	}
	return goldens
}

var longTexts = []string{strings.Repeat("A", 20_000), strings.Repeat("\n", 20_000), strings.Repeat(" ", 20_000), strings.Repeat("ä1 ", 10_000)}

// localeTexts are all strings of ours.
func localeTexts(t testing.TB) (texts []string) {
	t.Helper()
	files, err := filepath.Glob("../locales/*/*.json")
	if err != nil || len(files) < 60 {
		t.Fatalf("error %v, %d files", err, len(files))
	}
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case map[string]any:
			for _, v := range v {
				add(v)
			}
		}
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		var v any
		if err == nil {
			err = json.Unmarshal(b, &v)
		}
		if err != nil {
			t.Fatal(err)
		}
		add(v)
	}
	return texts
}

// TestEveryVocabulary: tokens are the golden ones, texts come back, markers in a
// message stay text, a prompt begins with one BOS or none, and the ends of a turn
// are known.
func TestEveryVocabulary(t *testing.T) {
	ours := localeTexts(t)
	for _, r := range realVocabs {
		t.Run(r.name, func(t *testing.T) {
			c := r.codec(t)
			for text, want := range r.goldens(t) {
				if got := mustEncode(t, c, text); !slices.Equal(got, want) {
					t.Errorf("%q: %v, want %v", text, got, want)
				}
			}
			for _, text := range slices.Concat(manyTexts, longTexts, ours) {
				if back := c.Text(mustEncode(t, c, text)); back != text && back != norm.NFC.String(text) {
					t.Errorf("%.80q, %d bytes, comes back as %.80q, %d bytes", text, len(text), back, len(back))
				}
			}
			r.checkHalves(t, c)
			r.checkMarkers(t, c)
			r.checkEnds(t, c)
		})
	}
}

// checkHalves cuts a text off inside of its last character.
func (r realVocab) checkHalves(t *testing.T, c *Codec) {
	t.Helper()
	ids := mustEncode(t, c, "x񀀀") // in no vocabulary: a token for each byte
	if n := len(ids); n < 4 || c.Text(ids) != "x񀀀" || c.Text(ids[:n-1]) != "x�" {
		t.Errorf("tokens %v give %q, cut off %q", ids, c.Text(ids), c.Text(ids[:max(n-1, 0)]))
	}
}

// checkMarkers renders a chat with all of the vocabulary's markers in a message:
// its control tokens are those of the chat without them.
func (r realVocab) checkMarkers(t *testing.T, c *Codec) {
	t.Helper()
	isMarker, bos := map[int32]bool{}, int32(-1)
	var all strings.Builder
	for _, m := range c.markers {
		isMarker[m.id] = true
		if m.text == r.bos {
			bos = m.id
		}
		if !strings.Contains(m.text, "SPECIAL_") && !strings.Contains(m.text, "reserved_") {
			all.WriteString(m.text)
		}
	}
	controls := func(content string) (controls []int32) {
		_, ids, err := c.Chat([]Message{{"system", "s"}, {"user", content}})
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if isMarker[id] {
				controls = append(controls, id)
			}
			if (id == bos) != (bos >= 0 && i == 0) {
				t.Errorf("token %d of %v is %d; BOS is %d", i, ids, id, bos)
			}
		}
		return controls
	}
	if want, got := controls("u"), controls(all.String()); all.Len() < 7 || !slices.Equal(got, want) {
		t.Errorf("control tokens %v, with %q in the message %v", want, all.String(), got)
	}
	for _, id := range mustEncode(t, c, all.String()) {
		if isMarker[id] {
			t.Errorf("text becomes control token %d", id)
		}
	}
}

func (r realVocab) checkEnds(t *testing.T, c *Codec) {
	t.Helper()
	for _, end := range r.ends {
		i := slices.IndexFunc(c.markers, func(m marker) bool { return m.text == end })
		if i < 0 || !c.End(c.markers[i].id) {
			t.Errorf("%s is no marker that ends a turn", end)
		}
	}
	if len(c.ends) != len(r.ends) {
		t.Errorf("tokens %v end a turn, not those of %q", c.ends, r.ends)
	}
}
