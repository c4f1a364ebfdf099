package inference

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const llamaCpp = "llama.cpp-0.3.36/models/"

// readVocabGoldens reads llama.cpp's test texts of a vocabulary and the tokens
// that the models' own tokenizers make of them.
func readVocabGoldens(t testing.TB, name string) (texts []string, ids [][]int32) {
	t.Helper()
	read := func(suffix string) string {
		b, err := os.ReadFile(fixture(t, llamaCpp+"ggml-vocab-"+name+".gguf"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	texts = strings.Split(read(".inp"), "\n__ggml_vocab_test__\n")
	for line := range strings.Lines(read(".out")) {
		var row []int32
		for _, f := range strings.Fields(line) {
			id, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, int32(id))
		}
		ids = append(ids, row)
	}
	return texts, ids
}

func TestVocabGoldens(t *testing.T) {
	for _, name := range []string{"gemma-4", "qwen2", "llama-bpe", "llama-spm"} {
		c, err := OpenCodec(fixture(t, llamaCpp+"ggml-vocab-"+name+".gguf"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		texts, want := readVocabGoldens(t, name)
		t.Log(len(texts), len(want))
		for i := range want {
			if got := mustEncode(t, c, texts[i]); !slices.Equal(got, want[i]) {
				t.Errorf("%s: %q: %v, want %v", name, texts[i], got, want[i])
			}
		}
	}
}
