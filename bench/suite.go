package bench

import (
	"fmt"
	"strings"

	"selfplay/bench/screen"
)

// A Suite is a whole protocol by name. What a flag gives wins over it, but for the
// sampling, which is the same in every run.
type Suite struct {
	Name        string
	Games       []string // environment ids
	Langs       []string
	N           int
	Prompt      string // as --prompt
	Temperature float64
	TopK        int
	TopP        float64
}

// Suites are all that there are.
var Suites = []Suite{{
	Name:        "paper", // arXiv 2608.25832, for one model
	Games:       []string{"ColonelBlotto-v0", "IteratedPrisonersDilemma-v0", "KuhnPoker-v0", "Nim-v0", "SimpleTak-v0", "TicTacToe-v0"},
	Langs:       []string{"en", "ar", "de", "es", "fr", "he", "ms", "zh"},
	N:           400,
	Prompt:      "conditioned",
	Temperature: 1, TopK: 64, TopP: 0.95,
}}

// FindSuite finds one by name.
func FindSuite(name string) (Suite, error) {
	var names []string
	for _, s := range Suites {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Suite{}, fmt.Errorf("there is no %q; choose from %s", name, strings.Join(names, ", "))
}

// String is the suite as flags, for people and for run.json.
func (s Suite) String() string {
	return fmt.Sprintf("%s: --games %s --langs %s --n %d --prompt %s, every pair in both roles, temperature %g, top-k %d, top-p %g",
		s.Name, strings.Join(s.Games, ","), strings.Join(s.Langs, ","), s.N, s.Prompt, s.Temperature, s.TopK, s.TopP)
}

// Describe says in a line what the experiment plans. prompt names its system prompt.
func (e Experiment) Describe(prompt string) string {
	p := e.Plan()
	var b strings.Builder
	fmt.Fprintf(&b, "planned: %s games: ", screen.Thousands(p.Len()))
	if p.Shard != (Shard{}) {
		fmt.Fprintf(&b, "shard %s of %s games: ", p.Shard, screen.Thousands(e.Whole().Plan().Len()))
	}
	fmt.Fprintf(&b, "%s x ", screen.Counted(len(p.Games), "game", "games"))
	switch langs := len(p.Langs); {
	case len(p.Opponents) > 0:
		fmt.Fprintf(&b, "%s against %s", screen.Counted(len(p.Labels()), "language", "languages"), strings.Join(p.Opponents, ", "))
	case len(p.Reasoned) > 0:
		fmt.Fprintf(&b, "(%s of languages and %d with %s)", screen.Counted(langs*(langs+1)/2, "pair", "pairs"), len(p.Reasoned)*(langs-1), strings.Join(p.Reasoned, ", "))
	default:
		fmt.Fprintf(&b, "%s of languages", screen.Counted(langs*(langs+1)/2, "pair", "pairs"))
	}
	fmt.Fprintf(&b, " x 2 roles x %s", screen.Thousands(p.N))
	if e.UntilCI > 0 {
		fmt.Fprintf(&b, "; fewer in cells whose margin is known to within %g", e.UntilCI)
	}
	if prompt != "" {
		fmt.Fprintf(&b, "; system prompt %s", prompt)
	}
	if len(p.Reasoned) > 0 {
		fmt.Fprintf(&b, ", and reason-in for labels with +")
	}
	return b.String()
}
