package games

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"selfplay/locales"
)

// ourExamples are the examples in the prompts of every language. Those of
// Colonel Blotto are for the variants with 20 units, and say so.
var ourExamples = map[string][]string{
	"TicTacToe":                {"[4]"},
	"Nim":                      {"[0 3]"},
	"SimpleTak":                {"[12]"},
	"ColonelBlotto":            {"[A7 B7 C6]", "A:5, B:10, C:5"},
	"KuhnPoker":                {"[check]", "[bet]", "[call]", "[fold]"},
	"IteratedPrisonersDilemma": {"[Cooperate]", "[Defect]"},
}

// Every language gives the examples, and whatever stands as one is legal in
// every variant.
func TestPromptExamplesAreLegal(t *testing.T) {
	set := locales.Embedded()
	for _, env := range Names() {
		spec, _ := Lookup(env)
		rule, ok := exampleRules[spec.Game]
		if !ok || len(ourExamples[spec.Game]) == 0 {
			t.Errorf("%s: no rule for its examples", spec.Game)
		}
		for _, lang := range set.Langs(spec.Game) {
			prompt := newGame(t, env, [2]string{lang, lang}, 1).Observation()
			for _, example := range ourExamples[spec.Game] {
				if strings.HasPrefix(example, "[") && !strings.Contains(prompt, "'"+example+"'") {
					t.Errorf("%s/%s: no example %s", env, lang, example)
				}
				if spec.Game == "ColonelBlotto" && newGame(t, env, english, 1).(*blotto).total != 20 {
					continue
				}
				if !rule.legal(spec, example) {
					t.Errorf("%s/%s: the example %q is refused", env, lang, example)
				}
			}
		}
	}
}

// Our own texts have no fault at all.
func TestOurLocalesAreClean(t *testing.T) {
	rep := locales.Checker{Set: locales.Embedded(), Play: PlayExamples}.Run()
	for _, f := range rep.Findings {
		t.Error(f)
	}
	if rep.Files != 8*7 || rep.Games != 6 || rep.Langs != 8 {
		t.Errorf("%d files, %d games, %d languages", rep.Files, rep.Games, rep.Langs)
	}
}

func TestPlayExamples(t *testing.T) {
	for game, texts := range map[string]map[string][]string{ // text: examples that are refused
		"TicTacToe":                {"[4] or [٤] or [４]": nil, "[cell]": nil, "[9], 【4】, [4a]": {"[9]", "[4a]"}},
		"Nim":                      {"[0 3], [pile quantity]": nil, "[{pile} 3]": nil, "[0,3] [0 9]": {"[0,3]", "[0 9]"}},
		"ColonelBlotto":            {"[A7 B7 C6] A:5, B:10, C:5\nA: 5; B: 15": nil, "A：5, B：10, C：5": {"A：5, B：10, C：5"}, "А:5, B:10, C:5": {"А:5, B:10, C:5"}, "A:5، B:10 و C:5": nil, "[A7 B7 C7]": {"[A7 B7 C7]"}},
		"KuhnPoker":                {"[check] [Bet] [CALL] [fold]": nil, "[raise] [чек] [сheck]": {"[raise]", "[чек]", "[сheck]"}},
		"IteratedPrisonersDilemma": {"[cooperate] [Defect]": nil, "[Defekt]": {"[Defekt]"}},
		"Chess":                    {"[e9e9]": nil},
	} {
		for text, refused := range texts {
			findings, err := PlayExamples(locales.Embedded(), game, "en", map[string]string{"k": text})
			if err != nil {
				t.Error(err)
			}
			var got []string
			for _, f := range findings {
				got = append(got, strings.Split(f.What, `"`)[1])
			}
			if !slices.Equal(got, refused) {
				t.Errorf("%s: %q: refused %q, want %q", game, text, got, refused)
			}
		}
	}
	if _, err := PlayExamples(locales.Embedded(), "Nim", "xx", map[string]string{"k": "[0 1]"}); err == nil {
		t.Error("no error for a language that is not there")
	}
}

// With a checkout at hand: the examples in its eight languages are legal, and
// what the checker has to say of its other texts are no mistakes of form.
func TestCheckReference(t *testing.T) {
	dir := reference(t)
	set, err := locales.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	rep := locales.Checker{Set: set, Play: PlayExamples}.Run()
	for _, f := range rep.Findings {
		if f.Kind == locales.KindFile || f.Kind == locales.KindExample && slices.Contains([]string{"en", "ar", "de", "es", "fr", "he", "ms", "zh"}, f.Lang) {
			t.Error(f)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "all-locales.tar.xz")); err == nil && rep.Files < 1000 {
		t.Errorf("only %d files", rep.Files)
	}
}
