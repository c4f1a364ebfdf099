package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A game whose perfect play is not known is named before anything is played.
func TestOptimalRefusesUnsolvedGames(t *testing.T) {
	for games, want := range map[string]string{
		"Nim,ColonelBlotto":                                  "for ColonelBlotto-v0: give --games Nim-v0",
		"TicTacToe,SimpleTak-v0-medium":                      "for SimpleTak-v0-medium: give --games TicTacToe-v0",
		"IteratedPrisonersDilemma":                           "for IteratedPrisonersDilemma-v0: choose other --games",
		"TicTacToe,Nim,SimpleTak,Kuhn":                       "unknown game",
		"TicTacToe,Nim-v0-large,KuhnPoker-v0-long,SimpleTak": "",
	} {
		dir := filepath.Join(t.TempDir(), "run")
		r := selfplay("", "bench", "--model", "builtin:optimal", "--games", games, "--langs", "en", "--n", "1", "--run", dir, "--quiet")
		if want == "" {
			if r.code != 0 {
				t.Errorf("%s: %d: %s", games, r.code, r.stderr)
			}
			continue
		}
		if r.code != 2 || !strings.Contains(r.stderr, want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: %d: %s", games, r.code, r.stderr)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a run folder was made", games)
		}
	}
}

// A made-up model that does not exist is a mistake on the command line; one that its
// folder has no room for is not.
func TestSyntheticFails(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	t.Setenv("TMPDIR", nowhere)
	for _, c := range []struct {
		model, want string
		code        int
	}{
		{"synthetic:qwen3-5b", "--model synthetic:qwen3-5b: there is no such shape", 2},
		{"synthetic:qwen3-tiny:q4_2", "--model synthetic:qwen3-tiny:q4_2: there is no such type", 2},
		{"synthetic:qwen3-tiny", "synthetic:qwen3-tiny needs room in " + nowhere + ", or set TMPDIR: ", 1},
	} {
		for _, args := range [][]string{
			{"bench", "--games", "Nim", "--langs", "en", "--n", "1", "--run", filepath.Join(t.TempDir(), "run")},
			{"tune"}, {"doctor"}, {"debug", "tokenize"}, {"debug", "greedy"},
		} {
			r := selfplay("{}\n", append(args, "--model", c.model)...)
			if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("%s %s: %d, want %d: %s", args, c.model, r.code, c.code, r.stderr)
			}
		}
	}
}

// Who forgets --model is told of what the command takes, and of nothing that it refuses.
func TestMissingModel(t *testing.T) {
	for command, want := range map[string]string{"bench": modelFlag, "tune": fileFlag, "eval belebele --data .": fileFlag, "debug greedy": fileFlag} {
		r := selfplay("", strings.Fields(command)...)
		if r.code != 2 || r.stderr != "selfplay: --model is missing: give "+want+"\n" {
			t.Errorf("%s: %d: %s", command, r.code, r.stderr)
		}
	}
}
