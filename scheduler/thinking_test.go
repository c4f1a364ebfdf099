package scheduler

import (
	"slices"
	"strings"
	"testing"

	"selfplay/inference"
	"selfplay/prompts"
)

// TestThinkMarks: the codec keeps the marks that the extraction looks for.
func TestThinkMarks(t *testing.T) {
	if !slices.Equal(inference.ThinkMarks, prompts.ThinkMarks) {
		t.Errorf("%q in inference, %q in prompts", inference.ThinkMarks, prompts.ThinkMarks)
	}
}

// A pieces codec's tokens are the texts of a completion, by their number.
type pieces struct {
	fakeCodec
	texts []string
}

func (p pieces) Text(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(p.texts[id])
	}
	return b.String()
}

func (p pieces) Cuts(ids []int32, places []int) []int {
	cuts := make([]int, len(places))
	for i, place := range places {
		for len(p.Text(ids[:cuts[i]])) < place {
			cuts[i]++
		}
	}
	return cuts
}

func TestThinkingTokens(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens string // separated by bars; spaces are as they are
		open   bool
		want   int
	}{
		{"none", "I| take| [4]", false, 0},
		{"nothing", "", false, 0},
		{"one token each", "<think>|a|b|</think>|[4]", false, 4},
		{"marks in pieces", "<|thi|nk|>|a|b|</|think|>|[4]", false, 9},
		{"a token with a mark's end and the answer", "<think>a|</think>[4]|!", false, 2},
		{"a token with text and a mark's beginning", "Well|. <think>|a|</think>|[4]", false, 3},
		{"an empty pair", "<think>|\n\n|</think>|\n\n|[4]", false, 3},
		{"the prompt opened it", "a|b|</think>|\n|[4]", true, 3},
		{"closed at once", "</think>|[4]", true, 1},
		{"a stray mark closes all before it", "a|<think>|b|</think>|c|</think>|[4]", false, 6},
		{"two blocks", "<think>|a|</think>|b|<think>|c|</think>|d", false, 6},
		{"two blocks within a token", "<think>|a|</think><think>|b|</think>|d", false, 5},
		{"never closed", "x|<think>|a|b", false, 3},
		{"never closed, cut in its mark", "x|<think>|a|</th", false, 3},
		{"opened by the prompt and never closed", "a|b", true, 2},
		{"only tokens without text", "||", true, 3},
		{"tokens without text", "x||<think>||a|</think>||[4]", false, 4},
		{"Ministral", "[THINK]|a|[/THINK]|[4]", false, 3},
		{"Gemma", "<|channel>|thought|\n|a|<channel|>|[4]", false, 5},
		{"within the box", `\boxed{|<think>|a|</think>|4}`, false, 3},
	} {
		texts := strings.Split(strings.ReplaceAll(strings.ReplaceAll(c.tokens, "<|channel>", "<\x00channel>"), "<channel|>", "<channel\x00>"), "|")
		for i := range texts {
			texts[i] = strings.ReplaceAll(texts[i], "\x00", "|")
		}
		if c.tokens == "" {
			texts = nil
		}
		ids := make([]int32, len(texts))
		for i := range ids {
			ids[i] = int32(i)
		}
		core := &Core{cfg: Config{Codec: pieces{texts: texts}}}
		m := &match{open: c.open}
		m.turn.Completion = core.cfg.Codec.Text(ids)
		if got := core.thinkingTokens(m, ids); got != c.want {
			t.Errorf("%s: %d of %q, want %d", c.name, got, texts, c.want)
		}
	}
}
