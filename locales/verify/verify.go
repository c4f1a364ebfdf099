// Package verify compares a translated text with its English original. Every
// check is a pure function of the two texts and the language: nothing is loaded,
// asked or played. What a game's rules have to say is in package games.
//
//	o := verify.NewOriginal("Player {id}, say '[check]'.")
//	findings := o.Check("Spieler {id}, sage '[schieben]'.", verify.Of("de"))
package verify

import (
	"fmt"
	"strings"
)

// A Kind is a kind of fault in a text.
type Kind string

// The kinds, in the order in which they are looked for.
const (
	Empty       Kind = "empty"       // nothing there
	Placeholder Kind = "placeholder" // others than in English
	Brace       Kind = "brace"       // a brace that breaks or changes the text
	Token       Kind = "token"       // a literal that must survive has not
	Number      Kind = "number"      // lost or changed
	Invisible   Kind = "invisible"   // a character that nobody sees
	LookAlike   Kind = "look-alike"  // a letter that looks like another script's
	Script      Kind = "script"      // letters that the language is not written in
	English     Kind = "english"     // left in English
	Length      Kind = "length"      // far too long or short for a translation
	Leak        Kind = "leak"        // words about the translation, or of a chat
	Thinking    Kind = "thinking"    // a model's reasoning left in
)

// Kinds lists them.
var Kinds = []Kind{Empty, Placeholder, Brace, Token, Number, Invisible, LookAlike, Script, English, Length, Leak, Thinking}

// A Severity tells what a fault does.
type Severity string

const (
	Error   Severity = "error"   // a game is refused, or its players are misled
	Warning Severity = "warning" // the text reads badly, or may be wrong
)

// A Finding is one fault of a text: what it is, where it is, and what to do.
type Finding struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	From     int      `json:"from"` // bytes text[From:To]; both 0: what is not there
	To       int      `json:"to"`
	What     string   `json:"what"`
}

// A Language is how texts of one language are written.
type Language struct {
	Code    string
	scripts []script // in which it is written; none: not known
	style   *hanStyle
}

// Of is the language with this code: two or three letters, behind which a hyphen may
// have more, as in pt-BR and sr-Latn. One that is written in several scripts keeps
// to the one that the texts have the most letters of, without texts the usual one.
func Of(code string, texts ...string) Language {
	return Language{code, chosen(writingOf(code), texts), hanStyleOf(code)}
}

// Script names the script that the language is written in, "" if not known.
func (l Language) Script() string {
	if len(l.scripts) == 0 {
		return ""
	}
	return l.scripts[0].name
}

// An Original is an English text, taken apart once for all languages. It is read
// only, and so may be used by many goroutines.
type Original struct {
	text    string
	fields  []string // the placeholders, sorted
	doubled int      // doubled braces
	broken  bool     // its braces are not those of a format
	tokens  []span   // what must survive as it is, sorted
	cards   []rune   // J, Q and K, if they are spoken of
	words   []word   // in lower case, without placeholders and tokens
	numbers []number // each once
	size    int      // characters of prose

	starts map[string][]int // where a word stands in words
}

// NewOriginal takes an English text apart.
func NewOriginal(text string) *Original {
	prose := proseOf(text)
	o := &Original{text: text, tokens: tokensOf(text), cards: cardsOf(prose), words: wordsOf(prose), starts: make(map[string][]int)}
	o.numbers, o.size = numbersOf(withoutFields(text)), sizeOf(prose)
	fields, doubled, fault, _ := fieldsOf(text)
	o.fields, o.doubled, o.broken = fields, doubled, fault != ""
	for i, w := range o.words {
		if places := o.starts[w.text]; len(places) < mostPlaces {
			o.starts[w.text] = append(places, i)
		}
	}
	return o
}

// Text is the text itself.
func (o *Original) Text() string { return o.text }

// A check collects what is wrong with one text.
type check struct {
	*Original
	Language
	text     string
	prose    string // without placeholders and tokens, each byte at its place
	findings []Finding
}

// Check compares a text with the original. The text is not trusted: what a
// finding says of it is quoted.
func (o *Original) Check(text string, l Language) []Finding {
	c := &check{Original: o, Language: l, text: text, prose: proseOf(text)}
	if strings.TrimSpace(text) == "" {
		if strings.TrimSpace(o.text) != "" {
			c.find(Empty, Error, span{}, "empty; translate the English text")
		}
		return c.findings
	}
	c.checkFields()
	c.checkTokens()
	c.checkNumbers()
	c.checkInvisible()
	c.checkLetters()
	if !c.checkAnswer() { // a text with a foreword is too long, too
		c.checkEnglish()
		c.checkLength()
	}
	return c.findings
}

// A span is a piece of a text.
type span struct {
	text     string
	from, to int
}

func (c *check) find(kind Kind, severity Severity, at span, format string, args ...any) {
	c.findings = append(c.findings, Finding{Kind: kind, Severity: severity, From: at.from, To: at.to, What: fmt.Sprintf(format, args...)})
}

// Excerpt is a short piece of text around a place, on one line.
func Excerpt(text string, at int) string {
	const before, length = 12, 40
	runes := []rune(text)
	from := max(0, len([]rune(text[:at]))-before)
	piece := string(runes[from:min(len(runes), from+length)])
	return strings.Join(strings.Fields(piece), " ")
}
