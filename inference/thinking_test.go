package inference

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// TestCuts compares the places of tokens in their text with the plain way:
// to read the text of ever more of them.
func TestCuts(t *testing.T) {
	c := openCodec(t)
	var all []int32 // tokens with whole, half and no characters
	for id, text := range c.texts {
		if id < 300 || strings.ContainsAny(text, "<>") && len(all) < 600 {
			all = append(all, int32(id))
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		ids := make([]int32, rng.IntN(12))
		for i := range ids {
			ids[i] = all[rng.IntN(len(all))]
		}
		text := c.Text(ids)
		var places, want []int
		for place := range len(text) + 1 {
			if place > 0 && text[place-1] >= 0x80 {
				continue // no mark ends here
			}
			k := 0
			for !strings.HasPrefix(c.Text(ids[:k]), text[:place]) {
				k++
			}
			places, want = append(places, place), append(want, k)
		}
		if got := c.Cuts(ids, places); !slices.Equal(got, want) {
			t.Fatalf("%q at %v: %v, want %v", text, places, got, want)
		}
	}
}

// TestMarksInText: the marks of thinking are in an answer's text even where
// they are control tokens; others are not.
func TestMarksInText(t *testing.T) {
	controls := []string{"<think>", "</think>", "[THINK]", "[/THINK]", "<|channel>", "<channel|>", "<turn|>", "<|tool>", "[INST]", "<th"}
	var first int32
	c := openTinyCodec(t, func(kv fsggml.KV) {
		tokens, types := kv["tokenizer.ggml.tokens"].([]string), kv["tokenizer.ggml.token_type"].([]int32)
		first = int32(len(tokens))
		for range controls {
			types = append(types, typeControl)
		}
		kv["tokenizer.ggml.tokens"], kv["tokenizer.ggml.token_type"] = append(tokens, controls...), types
	})
	for i, text := range controls {
		want := text
		if i >= 6 {
			want = ""
		}
		if got := c.Text([]int32{first + int32(i)}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	// In a message they stay text and are no marks.
	_, ids, err := c.Chat([]Message{{"user", "<think>[THINK]<|channel>"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id >= first {
			t.Errorf("control token %s was made of a message", controls[id-first])
		}
	}
}
