package inference

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
)

// What is here makes the template library read and run the templates of real
// models as Python's jinja2 does.

// templateEnvironment is what a template may use. It comes from a file that may
// be anyone's: it can load nothing, itself neither.
func templateEnvironment() (*exec.Environment, error) {
	tags := exec.NewControlStructureSet(map[string]parser.ControlStructureParser{}).Update(builtins.ControlStructures)
	for _, name := range []string{"include", "import", "from", "extends"} {
		if err := tags.Replace(name, func(_, _ *parser.Parser) (nodes.ControlStructure, error) {
			return nil, fmt.Errorf("%s: a chat template cannot load another", name)
		}); err != nil {
			return nil, err
		}
	}
	filters := exec.NewFilterSet(map[string]exec.FilterFunction{}).Update(builtins.Filters)
	for name, f := range map[string]exec.FilterFunction{"tojson": toJSON, "reverse": reverse} {
		if err := filters.Replace(name, f); err != nil {
			return nil, err
		}
	}
	return &exec.Environment{
		Context: exec.EmptyContext().Update(builtins.GlobalFunctions).Update(builtins.GlobalVariables),
		Filters: filters, Tests: builtins.Tests, ControlStructures: tags, Methods: builtins.Methods,
	}, nil
}

const jinjaString = `'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"`

var (
	// A comment, a raw block, a tag or an expression of a template.
	jinjaPart = regexp.MustCompile(`(?s)\{#.*?#\}|` +
		`\{%[-+]?\s*raw\b.*?endraw\s*[-+]?%\}|` +
		`\{%(?:` + jinjaString + `|.)*?%\}|` +
		`\{\{(?:` + jinjaString + `|.)*?\}\}`)
	rawBlock = regexp.MustCompile(`^\{%[-+]?\s*raw\b`)
	// What to look at inside of one: a string, which stays; the end of a line;
	// a word that the library does not know with a bracket behind it; the last
	// element of a list, which the library cannot find where it is the only one.
	insidePart = regexp.MustCompile(`(?s)` + jinjaString + `|\n|\b(?:not|in|and|or|is)\(|\[-1\]`)
)

// plainJinja writes a template in the part of the language that the template
// library reads as Python's does. The library cannot read some expressions with
// line ends or brackets in them, and takes space between two tags for a line's
// indentation.
func plainJinja(source string) string {
	var b strings.Builder
	end := 0
	for _, at := range jinjaPart.FindAllStringIndex(source, -1) {
		text, part := source[end:at[0]], source[at[0]:at[1]]
		b.WriteString(text)
		if end > 0 && text != "" && strings.Trim(text, " \t") == "" && part[1] != '{' && !strings.ContainsRune("-+", rune(part[2])) {
			part = part[:2] + "+" + part[2:] // the space in front stays
		}
		if part[1] != '#' && !rawBlock.MatchString(part) {
			part = insidePart.ReplaceAllStringFunc(part, plainInside)
		}
		b.WriteString(part)
		end = at[1]
	}
	b.WriteString(source[end:])
	return b.String()
}

func plainInside(s string) string {
	switch s {
	case "\n":
		return " "
	case "[-1]":
		return "[::-1][0]"
	}
	if word, ok := strings.CutSuffix(s, "("); ok {
		return word + " ("
	}
	return s
}

// reverse turns a list around; the library's own filter sorts it.
func reverse(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
	if !in.IsList() {
		return exec.AsValue(errors.New("reverse is supported for lists only"))
	}
	list := make([]any, in.Len())
	for i := range list {
		list[len(list)-1-i] = in.Index(i).Interface()
	}
	return exec.AsValue(list)
}

// toJSON writes text as Python's json.dumps does; the library's own filter
// escapes it for HTML, and sorts what it should not.
func toJSON(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
	if !in.IsString() {
		return exec.AsValue(errors.New("tojson is supported for text only"))
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range in.String() {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ':
			b.WriteRune(r)
		case strings.ContainsRune("\b\f\n\r\t", r):
			b.WriteByte('\\')
			b.WriteByte("btn\x00fr"[r-'\b'])
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return exec.AsValue(b.String())
}
