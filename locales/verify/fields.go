package verify

import (
	"fmt"
	"slices"
	"strings"
)

// Field gives the name in the placeholder that s begins with.
func Field(s string) (name string, ok bool) {
	end := -1
	if s != "" {
		end = strings.IndexAny(s[1:], "{}")
	}
	if end < 0 || s[0] != '{' || s[1+end] != '}' {
		return "", false
	}
	return s[1 : 1+end], true
}

// checkFields compares the placeholders, and looks for braces that are none.
func (c *check) checkFields() {
	fields, doubled, fault, at := fieldsOf(c.text)
	switch {
	case fault != "" && !c.broken:
		c.find(Brace, Error, at, "%s", fault)
		return
	case doubled != c.doubled && !c.broken:
		c.find(Brace, Error, span{}, "%d doubled braces, the English text has %d; write as many", doubled, c.doubled)
		return
	case strings.ContainsAny(c.text, "｛｝") && !strings.ContainsAny(c.Original.text, "｛｝"):
		i := strings.IndexAny(c.text, "｛｝")
		c.find(Brace, Error, span{from: i, to: i + len("｛")}, "a wide brace; write { and }")
	}
	missing, extra := difference(c.fields, fields)
	for _, f := range missing {
		if slices.Contains(fields, f) {
			c.find(Placeholder, Warning, c.at("{"+f+"}"), "{%s} stands less often than in the English text; see whether something is lost", f)
		} else {
			c.find(Placeholder, Error, span{}, "{%s} is missing; put it where its value belongs", f)
		}
	}
	for _, f := range extra {
		if slices.Contains(c.fields, f) {
			c.find(Placeholder, Warning, c.at("{"+f+"}"), "{%s} stands more often than in the English text; see whether something is said twice", f)
		} else {
			c.find(Placeholder, Error, c.at("{"+f+"}"), "{%s} is not in the English text; there is no value for it, remove it", Excerpt(f, 0))
		}
	}
}

// at is where a piece stands first in the text.
func (c *check) at(piece string) span {
	i := max(0, strings.Index(c.text, piece))
	return span{piece, i, i + len(piece)}
}

// fieldsOf gives the placeholders of a text, sorted, the number of doubled
// braces in it, and what is wrong with a brace, and where.
func fieldsOf(text string) (fields []string, doubled int, fault string, at span) {
	for i := 0; ; {
		size := strings.IndexAny(text[i:], "{}")
		if size < 0 {
			slices.Sort(fields)
			return fields, doubled, fault, at
		}
		i += size
		rest := text[i:]
		name, ok := Field(rest)
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			doubled++
			i += 2
		case ok:
			fields = append(fields, name)
			i += len("{") + len(name) + len("}")
		default:
			if fault == "" {
				fault = fmt.Sprintf("a single %q in %q; write a placeholder as {name}", rest[0], Excerpt(text, i))
				at = span{from: i, to: i + 1}
			}
			i++
		}
	}
}

// withoutFields is a text with line breaks in place of its placeholders.
func withoutFields(text string) string {
	out := []byte(text)
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		end := len(text)
		if n := strings.IndexByte(text[i:], '}'); n >= 0 {
			end = i + n + 1
		}
		for ; i < end; i++ {
			out[i] = '\n'
		}
		i--
	}
	return string(out)
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
