// Package jinja renders chat templates as Python's jinja2 does the way that
// Hugging Face's transformers sets it up: trim_blocks, lstrip_blocks, loop
// controls, the generation tag, its sandbox, its tojson.
//
// It has the part of the language that chat templates use. What it does not
// know, and what Python would refuse, it refuses with a line number: it never
// writes another text in silence. A template comes from a file that may be
// anyone's, so all that it can do is bounded by counts, not by time.
package jinja

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// An Error says why a template cannot be read or rendered.
type Error struct {
	Line   int
	Text   string
	Raised bool // the template itself refused what it was given, with this text
}

func (e *Error) Error() string {
	text := strings.Join(strings.Fields(e.Text), " ") // one line, whatever the template holds
	if e.Raised {
		return text
	}
	return fmt.Sprintf("line %d: %s", e.Line, text)
}

// A Template is one that was read. It keeps nothing between two renderings.
type Template struct{ body body }

// A fault unwinds the parser or a rendering; it never leaves the package.
type fault struct {
	text   string
	raised bool
}

func fail(format string, args ...any) { panic(fault{text: fmt.Sprintf(format, args...)}) }

// settle turns a fault into the error at the line where it happened.
func settle(err *error, line *int) {
	switch p := recover().(type) {
	case nil:
	case fault:
		*err = &Error{Line: *line, Text: p.text, Raised: p.raised}
	default:
		panic(p)
	}
}

// Parse reads a template.
func Parse(source string) (_ *Template, err error) {
	line := 1
	defer settle(&err, &line)
	if len(source) > maxSource {
		fail("a template of %d bytes: at most %d are read", len(source), maxSource)
	}
	if !utf8.ValidString(source) {
		fail("the template is not UTF-8")
	}
	p := parser{line: &line, tokens: lex(source, &line)}
	t := &Template{p.inner(nil, func() block { return p.block() })}
	for _, f := range p.frames {
		f.settle()
	}
	return t, nil
}

// The bounds of what a template may do. The work of a rendering is counted in
// nodes evaluated, elements and bytes made.
const (
	maxSource = 1 << 20
	maxDepth  = 400     // expressions, tags, macros and values within each other
	baseWork  = 1 << 24 // plus workPerByte of what is rendered
)

const workPerByte = 256

// Render writes the template with the given variables: nil, bool, int64,
// float64, string, []any and *Dict, within each other.
func (t *Template) Render(variables map[string]any) (text string, err error) {
	r := &run{out: &strings.Builder{}, line: 1, work: baseWork}
	defer settle(&err, &r.line)
	top := &scope{vars: map[string]any{}}
	for name, v := range globals {
		top.vars[name] = v
	}
	for name, v := range variables {
		top.vars[name] = r.take(v)
	}
	r.within(top, t.body.frame, func() { t.body.exec(r) })
	return r.out.String(), nil
}

// A run is one rendering.
type run struct {
	out   *strings.Builder
	scope *scope
	line  int // of the tag at hand
	work  int // what is left of it
	depth int
}

// A scope holds the variables of a loop's body, of a macro, or of the template.
type scope struct {
	vars   map[string]any
	parent *scope
}

func (r *run) lookup(name string) any {
	for s := r.scope; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	return undefined{name}
}

// capture gives what f writes.
func (r *run) capture(f func()) string {
	outer := r.out
	r.out = &strings.Builder{}
	f()
	text := r.out.String()
	r.out = outer
	return text
}

// spend takes n units of work off.
func (r *run) spend(n int) {
	if n < 0 || n > r.work {
		fail("the template runs away: it does more than a chat template has to")
	}
	r.work -= n
}

// enter and leave bound how deep things nest.
func (r *run) enter() {
	if r.depth++; r.depth > maxDepth {
		fail("the template nests more than %d deep", maxDepth)
	}
	r.spend(1)
}

func (r *run) leave() { r.depth-- }

// take brings a variable of the caller's into the form that is used here.
func (r *run) take(v any) any {
	switch v := v.(type) {
	case string:
		r.work += workPerByte * len(v)
	case int:
		return int64(v)
	case []any:
		items := make([]any, len(v))
		for i := range v {
			items[i] = r.take(v[i])
		}
		return &list{items: items}
	case *Dict:
		for i := range v.values {
			v.values[i] = r.take(v.values[i])
		}
	}
	return v
}
