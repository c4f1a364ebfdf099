package locales

import (
	"strings"
	"testing"
)

// The right column is what Python's "text".format(a="1", b="2") gives.
func TestTemplates(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"plain", "plain"},
		{"{a}", "1"},
		{"{a}{b}{a}", "121"},
		{"x{a}y{b}z", "x1y2z"},
		{"{{a}}", "{a}"},
		{"{{{a}}}", "{1}"},
		{"{{}}", "{}"},
		{`\boxed{{}} {a}`, `\boxed{} 1`},
		{"}}{{", "}{"},
		{"اللاعب {a}، {b}", "اللاعب 1، 2"},
	} {
		tmpl, err := parse(test.text, []string{"a", "b"})
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		var b strings.Builder
		tmpl.write(&b, []string{"1", "2"})
		if b.String() != test.want {
			t.Errorf("%q: %q, want %q", test.text, b.String(), test.want)
		}
	}
	for _, text := range []string{"{", "}", "{a", "a}", "{c}", "{ a }", "{a:>3}", "{a[0]}", "{{a}", "{a}}", "{a{b}}", "{\n}"} {
		if _, err := parse(text, []string{"a", "b"}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// TextArena formats a text only when there are values for it.
func TestTextWithoutValuesStandsAsWritten(t *testing.T) {
	for _, test := range []struct {
		text string
		m    Message
		want string
	}{
		{"a {{b}} c", Message{}, "a {{b}} c"},
		{"a {{b}} c", Message{Args: []string{"x"}}, "a {b} c"},
		{"no column {col}", Message{Unfilled: []string{"col"}}, "no column {col}"},
	} {
		tmpl, err := compile(test.text, test.m)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		tmpl.write(&b, []string{"1"})
		if b.String() != test.want {
			t.Errorf("%q: %q, want %q", test.text, b.String(), test.want)
		}
	}
}

// Whatever a file holds, parsing it ends in a template or an error, and a
// template shows each value where its placeholder stood.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"{a}", "{{a}}", "{", "}{", "x{b}y{{", "{é}", "{a}}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := parse(text, []string{"a", "b"})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error on several lines: %q", err)
			}
			return
		}
		var b strings.Builder
		tmpl.write(&b, []string{"{a}", "{b}"})
		plain := strings.NewReplacer("{{", "{", "}}", "}").Replace
		if b.String() != plain(text) && !strings.Contains(text, "{{") && !strings.Contains(text, "}}") {
			t.Errorf("%q: %q", text, b.String())
		}
		if values := len(tmpl) - 1; values > strings.Count(text, "{") {
			t.Errorf("%q: %d values", text, values)
		}
	})
}
