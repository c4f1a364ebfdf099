package games

import (
	"fmt"
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

// PlayExamples plays what a game's texts give as examples of answers, and
// names those that the rules refuse. Games that are not played here have none.
// An error says that the texts are no good to start a game with.
func PlayExamples(set *locales.Set, game, lang string, texts map[string]string) ([]locales.Finding, error) {
	rule, ok := exampleRules[game]
	if !ok {
		return nil, nil
	}
	spec, err := Lookup(game)
	if err != nil {
		return nil, err
	}
	find := regexp.MustCompile(rule.pattern)
	var findings []locales.Finding
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		for _, example := range find.FindAllString(texts[key], -1) {
			legal, err := rule.legal(spec, set, lang, example)
			if err != nil {
				return nil, err
			}
			if !legal {
				findings = append(findings, locales.Finding{Key: key, Kind: locales.KindExample, Severity: locales.Error,
					What: fmt.Sprintf("the rules refuse the answer %q; write one that they take", example)})
			}
		}
	}
	return findings, nil
}

// legal reports whether an example can be played somewhere.
func (r exampleRule) legal(spec Spec, set *locales.Set, lang, example string) (bool, error) {
	for _, before := range r.before {
		g, err := spec.New(set, [2]string{lang, lang}, 1)
		if err != nil {
			return false, err
		}
		for _, answer := range before {
			g.Step(answer)
		}
		if e := g.Step(example); !e.Invalid && !e.Default {
			return true, nil
		}
	}
	return false, nil
}
