package games

import (
	"strings"
	"testing"
)

func TestSimpleTakOutcomes(t *testing.T) {
	for _, test := range []struct {
		env, moves string
		rewards    [2]int
		ended      bool
	}{
		{"SimpleTak", "0 4 1 5 2 6 3", [2]int{1, -1}, true},                                   // along the top edge
		{"SimpleTak", "0 3 1 7 2 11 5 15", [2]int{-1, 1}, true},                               // down the right edge
		{"SimpleTak", "4 0 5 1 9 2 10 8 11", [2]int{1, -1}, true},                             // across with a step
		{"SimpleTak", "0 1 5 2 10 3 15", [2]int{}, false},                                     // corners do not join
		{"SimpleTak", "0 1 5 2 4 3 10 7 9 6 14", [2]int{1, -1}, true},                         // closed in the middle
		{"SimpleTak", "0 2 1 3 6 4 7 5 8 10 9 11 14 12 15 13", [2]int{}, true},                // full, no path
		{"SimpleTak", "0 2 1 3 6 4 7 5 8 10 9 11 14 12 15", [2]int{}, false},                  // one cell left
		{"SimpleTak-v0-medium", "0 5 1 6 2 7 3 8 4", [2]int{1, -1}, true},                     // five across
		{"SimpleTak-v0-extreme", "0 1 8 2 16 3 24 4 32 5 40 6 48 63 56", [2]int{1, -1}, true}, // eight down
	} {
		r, ended := outcome(t, test.env, strings.Fields(test.moves)...)
		if r.Rewards != test.rewards || ended != test.ended {
			t.Errorf("%s: %v, ended %v", test.moves, r.Rewards, ended)
		}
	}
}

func TestSimpleTakAnswers(t *testing.T) {
	for answer, reason := range map[string]string{
		"[12]": "", "12": "", "[0] or rather [12]": "", "[12] [x]": "", "[١٢]": "", "[\u00a012 ]": "", "[99] [12]": "",
		"": "There is no cell number", "[x]": "There is no cell number", "[12 13]": "There is no cell number", "[-1]": "There is no cell number",
		"[16]": "There is no cell 16; the cells are numbered from 0 to 15.", "[12] or [99]": "There is no cell 99;",
		"[5]": "Cell 5 already", "[12] [5]": "Cell 5 already",
	} {
		g := newGame(t, "SimpleTak", english, 1)
		e := steps(t, g, "[5]", answer)
		if e.Invalid != (reason != "") || !strings.Contains(e.Reason, reason) {
			t.Errorf("%q: %+v", answer, e)
		}
		if reason == "" && !strings.Contains(g.Observation(), "Player 1 puts a stone (X) on cell 12.") {
			t.Errorf("%q: shown %q", answer, g.Observation())
		}
	}
}

func TestSimpleTakBoard(t *testing.T) {
	g := newGame(t, "SimpleTak", english, 1)
	steps(t, g, "[5]", "[10]")
	const want = `
+----+----+----+----+
| 0  | 1  | 2  | 3  |
+----+----+----+----+
| 4  | O  | 6  | 7  |
+----+----+----+----+
| 8  | 9  | X  | 11 |
+----+----+----+----+
| 12 | 13 | 14 | 15 |
+----+----+----+----+
Empty cells: [0], [1], [2], [3], [4], [6], [7], [8], [9], [11], [12], [13], [14], [15]`
	if !strings.HasSuffix(g.Observation(), want) {
		t.Errorf("shown %s", g.Observation())
	}
}
