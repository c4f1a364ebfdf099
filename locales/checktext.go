package locales

import (
	"fmt"
	"slices"
	"strings"
)

// An original is an English text, taken apart once for all languages.
type original struct {
	leaf
	fields  []string // the placeholders, sorted
	doubled int      // doubled braces
	broken  bool     // its braces are not those of a format
	tokens  []string // what must survive as it is, sorted
	cards   []rune   // J, Q and K, if they are spoken of
	words   []string // in lower case, without placeholders and tokens

	starts map[string][]int // where a word stands in words
}

func newOriginal(l leaf) original {
	prose := proseOf(l.text)
	o := original{leaf: l, tokens: tokensOf(l.text), cards: cardsOf(prose), words: wordsOf(prose), starts: make(map[string][]int)}
	fields, doubled, fault := fieldsOf(l.text)
	o.fields, o.doubled, o.broken = fields, doubled, fault != ""
	for i, w := range o.words {
		o.starts[w] = append(o.starts[w], i)
	}
	return o
}

// A tongue is the language of a text.
type tongue struct {
	lang    string
	scripts []script // in which it is written; none: not known
}

func newTongue(lang string, texts []leaf) tongue {
	return tongue{lang, chosen(writingOf(lang), texts)}
}

// A textCheck collects what is wrong with one text.
type textCheck struct {
	original
	tongue
	text     string
	prose    string // without placeholders and tokens
	findings []Finding
}

// check compares a text with its English original.
func (o original) check(text string, t tongue) []Finding {
	c := &textCheck{original: o, tongue: t, text: text, prose: proseOf(text)}
	if strings.TrimSpace(text) == "" {
		if strings.TrimSpace(o.text) != "" {
			c.find(KindKey, Error, "empty; translate the English text")
		}
		return c.findings
	}
	c.checkFields()
	c.checkTokens()
	c.checkInvisible()
	c.checkLetters()
	c.checkEnglish()
	return c.findings
}

func (c *textCheck) find(kind Kind, severity Severity, format string, args ...any) {
	c.findings = append(c.findings, Finding{Key: c.key, Kind: kind, Severity: severity, What: fmt.Sprintf(format, args...)})
}

// checkFields compares the placeholders, and looks for braces that are none.
func (c *textCheck) checkFields() {
	fields, doubled, fault := fieldsOf(c.text)
	switch {
	case fault != "" && !c.broken:
		c.find(KindBrace, Error, "%s", fault)
		return
	case doubled != c.doubled && !c.broken:
		c.find(KindBrace, Error, "%d doubled braces, the English text has %d; write as many", doubled, c.doubled)
		return
	case strings.ContainsAny(c.text, "｛｝") && !strings.ContainsAny(c.original.text, "｛｝"):
		c.find(KindBrace, Error, "a wide brace; write { and }")
	}
	missing, extra := difference(c.fields, fields)
	for _, f := range missing {
		if slices.Contains(fields, f) {
			c.find(KindPlaceholder, Warning, "{%s} stands less often than in the English text; see whether something is lost", f)
		} else {
			c.find(KindPlaceholder, Error, "{%s} is missing; put it where its value belongs", f)
		}
	}
	for _, f := range extra {
		if slices.Contains(c.fields, f) {
			c.find(KindPlaceholder, Warning, "{%s} stands more often than in the English text; see whether something is said twice", f)
		} else {
			c.find(KindPlaceholder, Error, "{%s} is not in the English text; there is no value for it, remove it", excerpt(f, 0))
		}
	}
}

// fieldsOf gives the placeholders of a text, sorted, the number of doubled
// braces in it, and what is wrong with a brace.
func fieldsOf(text string) (fields []string, doubled int, fault string) {
	for i := 0; ; {
		size := strings.IndexAny(text[i:], "{}")
		if size < 0 {
			slices.Sort(fields)
			return fields, doubled, fault
		}
		i += size
		rest := text[i:]
		name, ok := placeholder(rest)
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			doubled++
			i += 2
		case ok:
			fields = append(fields, name)
			i += len("{") + len(name) + len("}")
		default:
			if fault == "" {
				fault = fmt.Sprintf("a single %q in %q; write a placeholder as {name}", rest[0], excerpt(text, i))
			}
			i++
		}
	}
}

// difference gives what only one of two sorted lists has, each once.
func difference(a, b []string) (onlyA, onlyB []string) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			onlyA, a = append(onlyA, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			onlyB, b = append(onlyB, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return slices.Compact(onlyA), slices.Compact(onlyB)
}
