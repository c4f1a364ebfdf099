package inference

import (
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// TestPreTokenizers shows where each pre-tokenizer cuts, with a vocabulary that
// merges every word whole: all that is in the text, from any two parts.
func TestPreTokenizers(t *testing.T) {
	const text = "It's DON'T 2024년 été\t\t x!?\r\n\n  y_z /a//\n"
	for _, test := range []struct{ pre, text, want string }{
		{"gpt-2", text, "It|'s| DON|'|T| 2024|년| été|\t\t| x|!?|\r\n\n | y|_|z| /|a|//|\n"},
		{"smollm", text, "It|'s| DON|'|T| |2|0|2|4|년| été|\t\t| x|!?|\r\n\n | y|_|z| /|a|//|\n"},
		{"llama-bpe", text, "It|'s| DON|'T| |202|4|년| été|\t\t| x|!?\r\n\n| | y|_z| /|a|//\n"},
		{"qwen2", text, "It|'s| DON|'T| |2|0|2|4|년| été|\t\t| x|!?\r\n\n| | y|_z| /|a|//\n"},
		{"tekken", text, "It|'s| DON|'T| |2|0|2|4|년| été|\t\t| x|!?\r\n\n| | y|_z| /|a|//\n"},
		{"tekken", "getHTTPPort /a//\n/b कि ÉCOLE", "get|HTTPPort| /|a|//\n/|b| कि| ÉCOLE"},
		{"qwen2", "getHTTPPort /a//\n/b कि ÉCOLE", "getHTTPPort| /|a|//\n|/b| क|ि| ÉCOLE"},
		{"llama-bpe", "e\u0301", "e|\u0301"},
		{"qwen2", "e\u0301 \u0958", "\u00e9| \u0915|\u093c"}, // put into NFC
	} {
		want := strings.Split(test.want, "|")
		c := openTinyCodec(t, func(kv fsggml.KV) {
			kv["tokenizer.ggml.pre"] = test.pre
			mergeAll(kv, strings.Join(want, ""))
		})
		var got []string
		for _, id := range mustEncode(t, c, test.text) {
			got = append(got, c.Text([]int32{id}))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", test.pre, got, want)
		}
	}
}

// mergeAll makes every part of the text a token that any two parts of its own
// merge into.
func mergeAll(kv fsggml.KV, text string) {
	tokens, types, merges := kv["tokenizer.ggml.tokens"].([]string), kv["tokenizer.ggml.token_type"].([]int32), []string(nil)
	runes, bytes := byteRunes(), []rune(nil)
	for _, b := range []byte(text) {
		bytes = append(bytes, runes[b])
	}
	for n := 2; n <= len(bytes); n++ {
		for i := range len(bytes) - n + 1 {
			word := bytes[i : i+n]
			if !slices.Contains(tokens, string(word)) {
				tokens, types = append(tokens, string(word)), append(types, typeNormal)
			}
			for k := 1; k < n; k++ {
				merges = append(merges, string(word[:k])+" "+string(word[k:]))
			}
		}
	}
	kv["tokenizer.ggml.tokens"], kv["tokenizer.ggml.token_type"], kv["tokenizer.ggml.merges"] = tokens, types, merges
}
