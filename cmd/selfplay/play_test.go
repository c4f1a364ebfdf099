package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"selfplay/bench/screen"
)

// The model answers a person as it answered a seat of a run, where the person
// answers as that seat did.
func TestPlayAgainstTheModelOfARun(t *testing.T) {
	const model = "synthetic:qwen3-tiny"
	dir := filepath.Join(t.TempDir(), "run")
	common := []string{"--model", model, "--seed", "5", "--max-tokens", "8", "--context", "2500", "--device", "cpu"}
	r := selfplay("", append([]string{"bench", "--games", "IteratedPrisonersDilemma-v0-short", "--langs", "en", "--n", "1", "--quiet", "--run", dir}, common...)...)
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	type game struct {
		ID    string
		Turns []struct {
			Seat       int
			Completion string
			Action     string
		}
	}
	for line := range strings.Lines(export(t, dir)) {
		var g game
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		if g.ID != "IteratedPrisonersDilemma-v0-short/en-en/0" {
			continue
		}
		var typed strings.Builder
		var want []string
		for _, turn := range g.Turns {
			if turn.Seat == 1 {
				if strings.ContainsAny(turn.Action, "\n\r") || strings.TrimSpace(turn.Action) == "" {
					break // no line to type
				}
				typed.WriteString(turn.Action + "\n")
			} else {
				want = append(want, turn.Completion)
				typed.WriteString(":answer\n:prompt\n")
			}
		}
		played := selfplay(typed.String(), append([]string{"play", "--game", "IteratedPrisonersDilemma-v0-short", "--seat", "1", "--lang", "en"}, common...)...)
		shown := strings.Split(played.stdout, "answer> :answer\n")[1:]
		if played.code != 0 || len(shown) != len(want) || len(want) < 2 {
			t.Fatalf("code %d, %d answers, want %d: %s", played.code, len(shown), len(want), played.stderr)
		}
		for i, text := range shown {
			if got, _, _ := strings.Cut(text, "\nextracted ("); got != visible(want[i]) {
				t.Errorf("answer %d: %q, want %q", i, got, visible(want[i]))
			}
			if !strings.Contains(text, "tokens; control tokens are in brackets") || !strings.Contains(text, "reason in the language provided") || !strings.Contains(text, "[GAME]") {
				t.Errorf("the prompt of answer %d: %s", i, text)
			}
		}
		return
	}
	t.Error("the run holds no such game")
}

func TestPlayRefuses(t *testing.T) {
	for _, c := range []struct {
		args string
		says string
	}{
		{"", "--model is missing"},
		{"--model builtin:random --game Chess", "--game: "},
		{"--model builtin:optimal --game ColonelBlotto", "no perfect play is known for ColonelBlotto-v0"},
		{"--model builtin:random --seat 2", "--seat 2: give 0 or 1"},
		{"--model builtin:random --lang xx", "--lang: "},
		{"--model builtin:random --other-lang xx", "--other-lang: "},
		{"--model builtin:random --seed -1", "seed is -1"},
		{"--model synthetic:qwen3-tiny --prompt x", "--prompt x: give default"},
		{"--model synthetic:qwen3-tiny --max-tokens -1", "--max-tokens"},
		{"--model builtin:random extra", "play got the arguments extra"},
	} {
		r := selfplay("", append([]string{"play"}, strings.Fields(c.args)...)...)
		if r.code != 2 || !strings.Contains(r.stderr, c.says) || strings.Count(r.stderr, "\n") != 1 || r.stdout != "" {
			t.Errorf("%s: code %d, %s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}
	if r := selfplay("", "play", "--model", "builtin:random"); r.code != 0 || !strings.HasSuffix(r.stdout, "answer> \nstopped after 0 turns\n") {
		t.Errorf("nothing typed: code %d, %s%s", r.code, r.stdout, r.stderr)
	}
}

// visible is how a text is shown.
func visible(s string) string { return screen.Clean(s) }
