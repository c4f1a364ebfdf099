package games

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"selfplay/locales"
	"selfplay/locales/verify"
)

// An Oracle tells by a game's own rules whether a translated text still teaches
// its players what they may answer. It stands here and not beside the other
// checks of a text, since only the rules know what they take, and strings know
// nothing of rules. How the rules read an answer is the same in every language,
// so it needs no strings of the language: they are what is being made.
type Oracle struct {
	rule     exampleRule
	spec     Spec
	examples *regexp.Regexp
}

// NewOracle is the oracle of a game; false for one that is not played here. Of
// its texts the tokens that verify compares are all that can be asked for.
func NewOracle(game string) (*Oracle, bool) {
	rule, ok := exampleRules[game]
	if !ok {
		return nil, false
	}
	spec, err := Lookup(game)
	if err != nil {
		return nil, false
	}
	return &Oracle{rule, spec, rule.compile()}, true
}

// Check extracts the examples of answers from an English text and from its
// translation and plays them. Each one of the English text must be there, in
// whatever digits, and the rules must take all that are there.
func (o *Oracle) Check(original, translated string) (findings []verify.Finding) {
	var have []string
	for _, at := range o.examples.FindAllStringIndex(translated, -1) {
		example := translated[at[0]:at[1]]
		have = append(have, canonical(example))
		if !o.rule.legal(o.spec, example) {
			findings = append(findings, verify.Finding{Kind: locales.KindExample, Severity: verify.Error, From: at[0], To: at[1],
				What: fmt.Sprintf("the rules refuse the answer %q; write one that they take", example)})
		}
	}
	for _, example := range o.examples.FindAllString(original, -1) {
		if form := canonical(example); !slices.Contains(have, form) && o.rule.legal(o.spec, example) {
			have = append(have, form) // told once
			findings = append(findings, verify.Finding{Kind: locales.KindExample, Severity: verify.Error,
				What: fmt.Sprintf("the answer %q of the English text is missing; show it as there", example)})
		}
	}
	return findings
}

// canonical lists the words and numbers of an answer, in small letters and the
// digits 0 to 9. What stands between them differs from language to language, and
// so does the "and" in a list without brackets; whether it is good the rules say.
func canonical(answer string) string {
	words := strings.FieldsFunc(spaced(strings.ToLower(answer)), isSpace)
	if !strings.HasPrefix(answer, "[") {
		for i := len(words) - 2; i >= 0; i-- {
			if !isNumber(words[i]) && !isNumber(words[i+1]) {
				words = slices.Delete(words, i, i+1)
			}
		}
	}
	return strings.Join(words, " ")
}

// spaced puts blanks between words and numbers, and in place of all else.
func spaced(answer string) string {
	var b strings.Builder
	last := ' '
	for _, r := range answer {
		kind := ' '
		if d := verify.Digit(r); d >= 0 {
			r, kind = rune('0'+d), '0'
		} else if unicode.IsLetter(r) {
			kind = 'a'
		}
		if kind != last {
			b.WriteByte(' ')
		}
		if last = kind; kind != ' ' {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isNumber(word string) bool { return '0' <= word[0] && word[0] <= '9' }
