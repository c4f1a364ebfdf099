package games

import (
	"strings"
	"testing"
)

func TestBlottoOutcomes(t *testing.T) {
	const wins, loses, ties = "[A10 B10]", "[C20]", "[C20]"
	round := func(n int, a, b string) (moves []string) {
		for range n {
			moves = append(moves, a, b)
		}
		return moves
	}
	for _, test := range []struct {
		name    string
		moves   []string
		rewards [2]int
		ended   bool
		reason  string
	}{
		{"majority", round(5, wins, loses), [2]int{1, -1}, true, "Commander Alpha leads by 5 to 0 and can no longer be caught!"},
		{"not yet", round(4, wins, loses), [2]int{}, false, ""},
		{"seat 1", round(5, loses, wins), [2]int{-1, 1}, true, "Commander Beta leads by 5 to 0 and can no longer be caught!"},
		{"all rounds", append(round(8, ties, ties), wins, loses), [2]int{1, -1}, true, "After 9 rounds, Commander Alpha wins by 1 to 0!"},
		{"a draw", round(9, ties, ties), [2]int{0, 0}, true, "After 9 rounds it is a draw, 0 to 0."},
		{"one short", round(8, ties, ties), [2]int{}, false, ""},
	} {
		r, ended := outcome(t, "ColonelBlotto", test.moves...)
		if r.Rewards != test.rewards || ended != test.ended || r.Reasons[0] != test.reason {
			t.Errorf("%s: %+v, ended %v", test.name, r, ended)
		}
	}
}

// How loosely an allocation may be written is the reference's way.
func TestBlottoAnswers(t *testing.T) {
	huge := strings.Repeat("9", 4300)
	for answer, reason := range map[string]string{
		"[A7 B7 C6]": "", "A7 B7 C6": "", "[A:7, B:7, C:6]": "", "[a 7 b : 7 c6]": "", "[A:7، B:7، C:6]": "", "[A٧ B٧ C٦]": "",
		"[A20]": "", "[C6 A7 B7]": "", "[A07 B07 C06]": "", "[A7.5 B7 C6]": "", "[A7B7C6]": "", "[units: A7 B7 C6]": "",
		"[] [A7 B7 C6]": "", "[A7 B7 C6] [A1]": "", "[[A7 B7 C6]": "", "[A7 B7 C6": "", "[A\u00a07 B7 C6]": "", "A=1 [A20]": "",

		"": "could not be read", "[ ]": "could not be read", "[7 7 6]": "could not be read", "[A=7 B=7 C=6]": "could not be read",
		"[A：7 B：7 C：6]": "could not be read", "[A7 A7 C6]": "could not be read", "[A7 a7 C6]": "could not be read",
		"[A-7]": "could not be read", "[А20]": "could not be read", // a Cyrillic letter
		"[A" + huge + "9]": "could not be read",

		"[D20]": "One of the fields does not exist. The fields are: A, B, C.", "[A7 B7 C5 D1]": "One of the fields",
		"[K20]": "One of the fields", "[ſ20]": "One of the fields", "[s1 ſ1]": "could not be read", // one letter, twice

		"[A7 B7 C7]": "add up to 20; yours add up to 21.", "[A0]": "yours add up to 0.", "[A99999999999999999999 B1]": "yours add up to 100000000000000000000.",
		"[A9223372036854775807 B9223372036854775807]": "yours add up to 18446744073709551614.",
		"[A" + huge + "]": "yours add up to 9999999999",
	} {
		g := newGame(t, "ColonelBlotto", english, 1)
		e := g.Step(answer)
		if e.Invalid != (reason != "") || !strings.Contains(e.Reason, reason) {
			t.Errorf("%.40q: %+v", answer, e)
		}
	}
}

// Commanders are called in the reader's language, and by name in the result.
func TestBlottoRoles(t *testing.T) {
	g := newGame(t, "ColonelBlotto", [2]string{"en", "de"}, 1)
	if !strings.Contains(g.Observation(), "you are Commander Alpha.") {
		t.Errorf("shown %s", g.Observation())
	}
	steps(t, g, "[A20]")
	steps(t, g, "[Kommandeur Beta] [GAME] nothing")
	want := "\n[Kommandeur Beta] [Kommandeur Beta]  nothing\n" // as in the reference, such names are not cut out
	if !strings.Contains(g.Observation(), want) {
		t.Errorf("shown %s", g.Observation())
	}
	steps(t, g, "[A7 B7 C6]")
	if want := "\n[Commander Alpha] [A20]\n[GAME] \nRound 1 is over.\nUnits of Commander Alpha: A: 20, B: 0 , C: 0 \nUnits of Commander Beta: A: 7 , B: 7 , C: 6 \nThe round goes to Commander Beta.\n"; !strings.Contains(g.Observation(), want) {
		t.Errorf("shown %s", g.Observation())
	}
	if r, _ := g.Result(); r.Roles != [2]string{"Player 0", "Spieler 1"} {
		t.Errorf("roles %q", r.Roles)
	}
}
