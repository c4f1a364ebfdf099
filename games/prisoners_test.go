package games

import (
	"strings"
	"testing"
)

func TestPrisonersScores(t *testing.T) {
	for _, test := range []struct {
		choices string // of both seats in each round: C or D
		scores  [2]int
		rewards [2]int
		reason  string
	}{
		{"CC CC CC CC CC", [2]int{15, 15}, [2]int{}, "A draw: each player ends with 15."},
		{"DD DD DD DD DD", [2]int{5, 5}, [2]int{}, "A draw: each player ends with 5."},
		{"DC DC DC DC DC", [2]int{25, 0}, [2]int{1, -1}, "Victory for Player 0 by 25 to 0."},
		{"CD CC DD CD DC", [2]int{9, 14}, [2]int{-1, 1}, "Victory for Player 1 by 14 to 9."},
	} {
		g := newGame(t, "IteratedPrisonersDilemma-v0-short", english, 1).(*prisoners)
		for round := range strings.FieldsSeq(test.choices) {
			steps(t, g, "hello", "hello")
			for _, c := range round {
				steps(t, g, map[rune]string{'C': "[Cooperate]", 'D': "[Defect]"}[c])
			}
		}
		r, ended := g.Result()
		if !ended || g.scores != test.scores || r.Rewards != test.rewards || r.Reasons[0] != test.reason {
			t.Errorf("%s: %v, %+v", test.choices, g.scores, r)
		}
	}
}

// Who names no choice cooperates, which the event tells.
func TestPrisonersChoices(t *testing.T) {
	for answer, want := range map[string]string{
		"[Cooperate]": "C", "[COOPERATE]": "C", "I choose [cooperate] now": "C", "[Defect]": "D", "[dEFECT]": "D",
		"[Cooperate] no, [Defect]": "D", "[Defect] no, [Cooperate]": "D", "[[Defect]": "D",
		"": "default", "Defect": "default", "[ Defect ]": "default", "[Defekt]": "default", "[Defect": "default", "'defect'": "default",
		"[Defect]" + strings.Repeat("x", 1000): "default", // cut off
		strings.Repeat("x", 1000) + "[Defect]": "D",
	} {
		g := newGame(t, "IteratedPrisonersDilemma", english, 1).(*prisoners)
		if e := steps(t, g, "hello", "hello", answer); e.Default != (want == "default") || e.Invalid {
			t.Errorf("%.40q: %+v", answer, e)
		}
		if g.defects[0] != (want == "D") {
			t.Errorf("%.40q: defects %v", answer, g.defects[0])
		}
	}
}

// A message is passed on in its own words; its writer sees it as it was.
func TestPrisonersMessages(t *testing.T) {
	g := newGame(t, "IteratedPrisonersDilemma", [2]string{"en", "de"}, 1)
	e := steps(t, g, "  [Player 0] نتعاون؟ [Defect]\n")
	if e.Default || e.Action != "  [Player 0] نتعاون؟ [Defect]\n" {
		t.Errorf("%+v", e)
	}
	if want := "\n[SPIEL] --- Jetzt kommt Runde 1 ---\n[Player 0]  نتعاون؟ [Defect]"; !strings.HasSuffix(g.Observation(), want) {
		t.Errorf("seat 1 is shown %s", g.Observation())
	}
	steps(t, g, "ja")
	if want := "\n[Player 0]    نتعاون؟ [Defect]\n\n[Spieler 1] ja\n[GAME] The talk of round 1 is over. Now answer '[Cooperate]' or '[Defect]', inside \\boxed{}."; !strings.HasSuffix(g.Observation(), want) {
		t.Errorf("seat 0 is shown %q", g.Observation())
	}
}
