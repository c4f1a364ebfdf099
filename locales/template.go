package locales

import (
	"fmt"
	"slices"
	"strings"
)

// A template is a text in Python's str.format notation, cut at its
// placeholders: lead, then for each part a value and the text behind it.
type template struct {
	lead  string
	parts []part
}

type part struct {
	arg  int // index of the value in Message.Args
	text string
}

// write appends the text with its placeholders filled in.
func (t *template) write(b *strings.Builder, args []string) {
	b.WriteString(t.lead)
	for _, p := range t.parts {
		b.WriteString(args[p.arg])
		b.WriteString(p.text)
	}
}

// parse cuts text at its placeholders, which may only be those in args. It
// takes what str.format takes, but of its fields only plain names: the texts
// use no others.
func parse(text string, args []string) (template, error) {
	var t template
	literal := make([]byte, 0, len(text))
	flush := func() string {
		s := string(literal)
		literal = literal[:0]
		return s
	}
	cut := func(arg int) {
		if len(t.parts) == 0 {
			t.lead = flush()
		} else {
			t.parts[len(t.parts)-1].text = flush()
		}
		t.parts = append(t.parts, part{arg: arg})
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '{' && c != '}' {
			literal = append(literal, c)
			continue
		}
		if i+1 < len(text) && text[i+1] == c { // {{ and }} stand for one brace
			literal = append(literal, c)
			i++
			continue
		}
		end := strings.IndexAny(text[i+1:], "{}")
		if c == '}' || end < 0 || text[i+1+end] == '{' {
			return template{}, fmt.Errorf("a single %q in %s; write it twice to show a brace", c, excerpt(text, i))
		}
		name := text[i+1 : i+1+end]
		arg := slices.Index(args, name)
		if arg < 0 {
			return template{}, fmt.Errorf("unknown placeholder {%s}; %s", excerpt(name, 0), usable(args))
		}
		cut(arg)
		i += end + 1
	}
	if len(t.parts) == 0 {
		t.lead = flush()
	} else {
		t.parts[len(t.parts)-1].text = flush()
	}
	return t, nil
}

func usable(args []string) string {
	if len(args) == 0 {
		return "no placeholder can be filled in here, remove it"
	}
	return "use only {" + strings.Join(args, "}, {") + "}"
}

// excerpt is a short piece of text around a place, on one line.
func excerpt(text string, at int) string {
	const before, length = 12, 40
	runes := []rune(text)
	at = len([]rune(text[:at]))
	from := max(0, at-before)
	return strings.Join(strings.Fields(string(runes[from:min(len(runes), from+length)])), " ")
}
