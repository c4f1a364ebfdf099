package games

import (
	"maps"
	"regexp"
	"slices"

	"selfplay/locales"
)

// An exampleRule tells how the examples in one game's texts are found and
// played.
type exampleRule struct {
	pattern string     // of an example; a placeholder makes it none
	before  [][]string // answers after which an example may be legal
}

// What stands in brackets without a number is a form in some games, such as
// [pile quantity]: a player fills it in.
const (
	inAnyBrackets    = `\[[^\[\]{}\n]*\]`
	bracketedNumbers = `\[[^\[\]{}\n]*\p{Nd}[^\[\]{}\n]*\]`
	bareAllocations  = `\pL\s*[:：]\s*\p{Nd}+([^\p{Nd}\n]{1,12}?\pL\s*[:：]\s*\p{Nd}+)+` // A:5, B:10, C:5
	allocations      = bracketedNumbers + "|" + bareAllocations
)

var exampleRules = map[string]exampleRule{
	"TicTacToe":     {bracketedNumbers, [][]string{nil}},
	"Nim":           {bracketedNumbers, [][]string{nil}},
	"SimpleTak":     {bracketedNumbers, [][]string{nil}},
	"ColonelBlotto": {allocations, [][]string{nil}},
	"KuhnPoker":     {inAnyBrackets, [][]string{nil, {"[bet]"}}},
	// First the players talk, and any answer is good.
	"IteratedPrisonersDilemma": {inAnyBrackets, [][]string{{"", ""}}},
}

// PlayExamples plays what a game's texts give as examples of answers, and names
// those that the rules refuse, and those of the English texts that are missing.
// Games that are not played here have none. An error says that the texts are no
// good to start a game with.
func PlayExamples(set *locales.Set, game, lang string, texts map[string]string) ([]locales.Finding, error) {
	oracle, ok := NewOracle(game)
	if !ok {
		return nil, nil
	}
	if _, err := oracle.spec.New(set, [2]string{lang, lang}, 1); err != nil {
		return nil, err
	}
	original := make(map[string]string)
	if english, err := set.Strings(game, "en"); err == nil { // without English, what is there must be right
		for _, t := range english {
			original[t.Key] = t.Text
		}
	}
	var findings []locales.Finding
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		for _, f := range oracle.Check(original[key], texts[key]) {
			findings = append(findings, locales.Finding{Key: key, Kind: f.Kind, Severity: f.Severity, What: f.What})
		}
	}
	return findings, nil
}

func (r exampleRule) compile() *regexp.Regexp { return regexp.MustCompile(r.pattern) }

// legal reports whether an example can be played somewhere.
func (r exampleRule) legal(spec Spec, example string) bool {
	for _, before := range r.before {
		g, err := spec.New(locales.Embedded(), [2]string{"en", "en"}, 1)
		if err != nil {
			panic(err) // our own strings
		}
		for _, answer := range before {
			g.Step(answer)
		}
		if e := g.Step(example); !e.Invalid && !e.Default {
			return true
		}
	}
	return false
}
