package translate

import (
	"fmt"
	"regexp"
	"strings"

	"selfplay/bench/asking"
	"selfplay/games"
	"selfplay/locales/mask"
	"selfplay/locales/verify"
)

// A Fault is a reason why an answer was refused.
type Fault struct {
	Kind string `json:"kind"` // a verify.Kind, or one of these
	What string `json:"what"`
}

// The kinds beside those of findings.
const (
	kindCut      = "cut"      // no end
	kindSentinel = "sentinel" // a sign was changed
	kindTerm     = "term"     // not what the glossary has
	kindForm     = "form"     // a term that is none
	KindJudged   = "judged"   // no fault of a try: a judge found it not faithful
	kindMissing  = "missing"  // there is no candidate
)

// A checker checks the translations of one English text.
type checker struct {
	text     Text
	lang     verify.Language
	masked   mask.Masked
	original *verify.Original
	oracle   *games.Oracle // nil: the game is not played here
	glossary Glossary
}

func newChecker(t Text, lang string) *checker {
	c := &checker{text: t, lang: verify.Of(lang), masked: mask.Mask(t.English), original: verify.NewOriginal(t.English)}
	c.oracle, _ = games.NewOracle(t.Game)
	return c
}

// answered takes a model's answer apart and checks it. The text is good if there
// are no faults.
func (c *checker) answered(a asking.Answer) (text string, faults []Fault) {
	if a.Cut != "" {
		return "", []Fault{{kindCut, a.Cut}}
	}
	said, ok := marked(a.Text)
	if !ok {
		return "", []Fault{{kindCut, openMark + " was not closed"}}
	}
	if said == "" {
		return "", []Fault{{string(verify.Empty), "empty; translate the English text"}}
	}
	text, err := c.masked.Unmask(said)
	if err != nil {
		return "", []Fault{{kindSentinel, err.Error()}}
	}
	return text, c.check(text)
}

// check is what any translation has to pass, a candidate too, in which nothing was
// hidden.
func (c *checker) check(text string) (faults []Fault) {
	findings := append(c.original.Check(text, c.lang), c.masked.Lost(text)...)
	if c.oracle != nil {
		findings = append(findings, c.oracle.Check(c.text.English, text)...)
	}
	for _, f := range findings {
		faults = append(faults, Fault{string(f.Kind), f.What})
	}
	for _, t := range c.glossary.in(c.masked.Text) {
		if !t.isCalled(text) {
			faults = append(faults, Fault{kindTerm, fmt.Sprintf("%q is not called %q, as in the other texts of the game", t.English, t.Called)})
		}
	}
	return faults
}

const (
	openMark  = "<translation>"
	closeMark = "</translation>"
)

// marked is what stands between the marks, or all where there are none. ok is false
// if it has no end.
func marked(said string) (text string, ok bool) {
	at := strings.LastIndex(said, openMark)
	if at < 0 {
		return strings.TrimSpace(strings.TrimSuffix(said, closeMark)), true
	}
	text, _, ok = strings.Cut(said[at+len(openMark):], closeMark)
	return strings.TrimSpace(text), ok
}

var sentence = regexp.MustCompile(`[.!?。！？।؟:\n「」{}\[\]<>]`)

// checkTerm checks what a term is to be called.
func checkTerm(lang verify.Language, english, called string) (faults []Fault) {
	for _, f := range verify.NewOriginal(english).Check(called, lang) {
		faults = append(faults, Fault{string(f.Kind), f.What})
	}
	if most := 2*len(strings.Fields(english)) + 2; sentence.MatchString(called) || len(strings.Fields(called)) > most {
		faults = append(faults, Fault{kindForm, fmt.Sprintf("more than a name; give at most %d words", most)})
	}
	return faults
}
