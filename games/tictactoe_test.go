package games

import (
	"strings"
	"testing"
)

var english = [2]string{"en", "en"}

// outcome plays moves, all valid, and gives the rewards; ended tells whether
// the last move ended the game.
func outcome(t *testing.T, env string, moves ...string) (r Result, ended bool) {
	t.Helper()
	g := newGame(t, env, english, 1)
	for i, m := range moves {
		if _, ended := g.Result(); ended {
			t.Fatalf("%v: the game ended before move %d", moves, i)
		}
		if e := g.Step(m); e.Invalid {
			t.Fatalf("%v: move %d is refused: %s", moves, i, e.Reason)
		}
	}
	return g.Result()
}

func TestTicTacToeOutcomes(t *testing.T) {
	for _, test := range []struct {
		moves   string
		rewards [2]int
		ended   bool
	}{
		{"0 3 1 4 2", [2]int{1, -1}, true},                     // a row
		{"0 1 2 4 3 7", [2]int{-1, 1}, true},                   // a column
		{"0 1 4 2 8", [2]int{1, -1}, true},                     // a diagonal
		{"2 1 4 0 6", [2]int{1, -1}, true},                     // the other one
		{"0 1 2 4 3 5 7 6 8", [2]int{}, true},                  // a draw
		{"0 1 2 4 3 5 7 6", [2]int{}, false},                   // not yet
		{"0 1 2 3 6 5 8 7 4", [2]int{1, -1}, true},             // two lines at once on the last cell
		{"0 3 1 4", [2]int{}, false},                           // two in a row
		{"[8] [7] [5] [4] [2]", [2]int{1, -1}, true},           // in brackets
		{"'[6]' '[0]' '[7]' '[1]' '[8]'", [2]int{1, -1}, true}, // as the board lists them
	} {
		r, ended := outcome(t, "TicTacToe", strings.Fields(test.moves)...)
		if r.Rewards != test.rewards || ended != test.ended {
			t.Errorf("%s: %v, ended %v", test.moves, r.Rewards, ended)
		}
	}
}

// What is taken for cell 4 follows Python's patterns, blanks and digits.
func TestTicTacToeAnswers(t *testing.T) {
	for answer, reason := range map[string]string{
		"[4]": "", "4": "", " 4\n": "", "'4'": "", `"[4]"`: "", "[ 4 ]": "", "[٤]": "", "[４]": "", "[4\u00a0]": "",
		"[\u2028\t4]": "", "[0004]": "", "[4] or [0]": "", "[x] [[4]]": "", `\boxed{[4]}`: "", "[4]\n[5]": "", "٤": "",

		"": "number", " ": "number", "[]": "number", "[abc]": "number", "[-4]": "number", "［4］": "number", "【4】": "number",
		"[\u200f4]": "number", "[4.0]": "number", "[4 5]": "number", "[0x4]": "number", "4 [": "number", "[²]": "number",
		"[" + strings.Repeat("4", 4301) + "]": "number",

		"[9]": "square 9;", "[99]": "square 99;", "[٩٩]": "square 99;", "[0010]": "square 10;",
		"[" + strings.Repeat("4", 4300) + "]": "square 444",

		"[0]": "Square 0 already", "[not 4 but] [00]": "Square 0 already",
	} {
		g := newGame(t, "TicTacToe", english, 1)
		e := steps(t, g, "[0]", answer)
		if e.Invalid != (reason != "") || !strings.Contains(e.Reason, reason) {
			t.Errorf("%.30q: %+v", answer, e)
		}
		if reason == "" && !strings.Contains(g.Observation(), "Player 1 puts X on square 4.") {
			t.Errorf("%.30q: shown %q", answer, g.Observation())
		}
	}
}
