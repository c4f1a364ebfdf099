package games

import (
	"strings"
	"testing"

	"selfplay/locales"
)

func TestNimOutcomes(t *testing.T) {
	for _, test := range []struct {
		env     string
		moves   []string
		rewards [2]int
		ended   bool
	}{
		{"Nim", []string{"[0 3]", "[1 4]", "[2 5]"}, [2]int{1, -1}, true},
		{"Nim", []string{"[0 2]", "[0 1]", "[1 4]", "[2 5]"}, [2]int{-1, 1}, true},
		{"Nim", []string{"[0 3]", "[1 4]", "[2 4]"}, [2]int{}, false},
		{"Nim-v0-medium", []string{"0 4", "1 2", "2 3", "3 7"}, [2]int{-1, 1}, true},
		{"Nim-v0-large", []string{"0 5", "1 7", "2 9", "3 11", "4 2"}, [2]int{1, -1}, true},
	} {
		r, ended := outcome(t, test.env, test.moves...)
		if r.Rewards != test.rewards || ended != test.ended {
			t.Errorf("%s %v: %v, ended %v", test.env, test.moves, r.Rewards, ended)
		}
	}
}

func TestNimAnswers(t *testing.T) {
	for answer, reason := range map[string]string{
		"[0 3]": "", "0 3": "", "'[0 3]'": "", "[ 0  3 ]": "", "[0\u00a03]": "", "[٠ ٣]": "", "[０ ３]": "", "[00 03]": "", "[3] [0 3]": "",
		"I take [0 3], then [1 1]": "",

		"[3]": "format", "[0, 3]": "format", "[0 -3]": "format", "": "format", "[0 3 1]": "format", "[pile quantity]": "format", "[03]": "format",

		"[3 1]": "no pile 3.", "[99 1]": "no pile 99.", "[99999999999999999999 0]": "no pile 99999999999999999999.",
		"[0 0]": "At least 1", "[2 00]": "At least 1",
		"[0 4]":                    "Pile 0 holds only 3, which is less than 4.",
		"[1 99999999999999999999]": "Pile 1 holds only 4, which is less than 99999999999999999999.",
		// The reference has no values for this text and shows it as it is written.
		"[0 " + strings.Repeat("1", 4301) + "]": "Player {player_id}, this action cannot be played: there is no column {col}.",
	} {
		g := newGame(t, "Nim", english, 1)
		e := steps(t, g, answer)
		if e.Invalid != (reason != "") || !strings.Contains(e.Reason, reason) {
			t.Errorf("%.40q: %+v", answer, e)
		}
		if reason == "" && !strings.HasSuffix(g.Observation(), ":\n  pile 0: 0\n  pile 1: 4\n  pile 2: 5") {
			t.Errorf("%.40q: shown %q", answer, g.Observation())
		}
	}
}

// Any number of piles is shown, in every language.
func TestNimShowsAllPiles(t *testing.T) {
	for _, lang := range locales.Embedded().Langs("Nim") {
		g := newGame(t, "Nim-v0-medium", [2]string{lang, lang}, 1)
		if want := "\n  pile 0: 4\n  pile 1: 2\n  pile 2: 3\n  pile 3: 7"; !strings.HasSuffix(g.Observation(), want) {
			t.Errorf("%s: %q", lang, g.Observation())
		}
	}
}
