package games

import (
	"strconv"
	"strings"
	"testing"

	"selfplay/locales"
)

func TestOracle(t *testing.T) {
	for _, test := range []struct{ game, english, text, want string }{
		{"TicTacToe", "Say '[4]' (0-8).", "Sage '[4]' (0-8).", ""},
		{"TicTacToe", "Say '[4]' (0-8).", "'[٤]' (٠-٨)", ""},
		{"TicTacToe", "Say '[4]'.", "Sage '[ 4\u00a0]'.", ""},
		{"TicTacToe", "Say '[4]'.", "【4】", `the answer "[4]" of the English text is missing; show it as there`},
		{"TicTacToe", "Say '[4]'.", "[4] oder [9]", `the rules refuse the answer "[9]"; write one that they take`},
		{"Nim", "As '[0 3]' in [pile quantity].", "'[0 3]' in [Haufen Zahl]", ""},
		{"Nim", "As '[0 3]'.", "'[1 3]'", `the answer "[0 3]" of the English text is missing; show it as there`},
		{"Nim", "As '[0 3]'.", "'[0,3]'", `the rules refuse the answer "[0,3]"; write one that they take`},
		{"SimpleTak", "Like [12].", "[١٢]", ""},
		{"SimpleTak", "Like [12].", "[16]", `the rules refuse the answer "[16]"; write one that they take`},
		{"ColonelBlotto", "Use: A:5, B:10, C:5", "A:5, B:10, C:5", ""},
		{"ColonelBlotto", "Use: A:5, B:10, C:5", "A:5، B:10 و C:5", ""},
		{"ColonelBlotto", "Use: A:5, B:10, C:5", "A:5, B:5, C:10", `the answer "A:5, B:10, C:5" of the English text is missing; show it as there`},
		{"ColonelBlotto", "Use: A:5, B:10, C:5", "А:5, B:10, C:5", `the rules refuse the answer "А:5, B:10, C:5"; write one that they take`},
		{"ColonelBlotto", "Use: A:5, B:10, C:5", "5, 10, 5", `the answer "A:5, B:10, C:5" of the English text is missing; show it as there`},
		{"ColonelBlotto", "'[A7 B7 C6]'", "'[A7 B7 C7]'", `the rules refuse the answer "[A7 B7 C7]"; write one that they take`},
		{"KuhnPoker", "[check] or [bet]; [call], [fold]", "[Check] [bet] / [call] [fold]", ""},
		{"KuhnPoker", "[check] or [bet]", "[check] oder [setzen]", `the rules refuse the answer "[setzen]"; write one that they take`},
		{"KuhnPoker", "[check] or [bet]", "[check]", `the answer "[bet]" of the English text is missing; show it as there`},
		{"IteratedPrisonersDilemma", "[Cooperate], [Defect]", "[Defect], [Cooperate]", ""},
		{"IteratedPrisonersDilemma", "[Cooperate]", "[Kooperieren]", `the rules refuse the answer "[Kooperieren]"; write one that they take`},
		{"KuhnPoker", "nothing", "nichts", ""},
	} {
		o, ok := NewOracle(test.game)
		if !ok {
			t.Fatalf("no oracle for %s", test.game)
		}
		findings := o.Check(test.english, test.text)
		switch {
		case test.want == "" && len(findings) > 0:
			t.Errorf("%s %q: %v", test.game, test.text, findings)
		case test.want != "" && (len(findings) == 0 || findings[0].What != test.want || findings[0].Kind != locales.KindExample):
			t.Errorf("%s %q: %v, want %s", test.game, test.text, findings, test.want)
		}
		for _, f := range findings {
			if f.To > 0 && !strings.Contains(f.What, strconv.Quote(test.text[f.From:f.To])) {
				t.Errorf("%q is at %q", f.What, test.text[f.From:f.To])
			}
		}
	}
	if _, ok := NewOracle("Chess"); ok {
		t.Error("an oracle for a game that is not played here")
	}
}
