package jinja

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind int

const (
	eof       kind = iota
	data           // text of the template
	openVar        // {{
	closeVar       // }}
	openBlock      // {%
	closeTag       // %}
	name
	str
	integer
	float
	op
)

type token struct {
	kind kind
	text string // of a string: what it stands for
	line int
}

// A lexer cuts a template into tokens.
type lexer struct {
	src       string
	at        int
	line      *int // where it is
	tokens    []token
	lineStart bool // what was cut off last ended a line
}

// lex cuts a template into tokens and takes the white space away that its tags
// take with them.
func lex(source string, line *int) []token {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	l := lexer{src: strings.TrimSuffix(source, "\n"), line: line, lineStart: true}
	for l.at < len(l.src) {
		l.text()
	}
	l.add(eof, "")
	*line = 1
	return l.tokens
}

func (l *lexer) add(k kind, text string) {
	l.tokens = append(l.tokens, token{k, text, *l.line})
}

// pass moves over n bytes.
func (l *lexer) pass(n int) {
	passed := l.src[l.at : l.at+n]
	*l.line += strings.Count(passed, "\n")
	l.lineStart = strings.HasSuffix(passed, "\n")
	l.at += n
}

func (l *lexer) rest() string { return l.src[l.at:] }

var (
	tagBegin = regexp.MustCompile(`\{[{%#][-+]?`)
	rawBegin = regexp.MustCompile(`^\{%[-+]?\s*raw\s*-?%\}`)
	rawEnd   = regexp.MustCompile(`\{%[-+]?\s*endraw\s*[-+]?%\}`)
)

// text takes the text up to the next tag, and the tag.
func (l *lexer) text() {
	at := tagBegin.FindStringIndex(l.rest())
	if at == nil {
		l.add(data, l.rest())
		l.pass(len(l.rest()))
		return
	}
	sign := l.src[l.at+at[1]-1]
	kind := l.src[l.at+at[0]+1]
	l.keep(l.rest()[:at[0]], sign, kind != '{')
	l.pass(at[0])
	switch raw := rawBegin.FindString(l.rest()); {
	case raw != "":
		l.raw(raw)
	case kind == '#':
		l.pass(at[1] - at[0])
		l.comment()
	case kind == '%':
		l.add(openBlock, "")
		l.pass(at[1] - at[0])
		l.inside(closeTag)
	default:
		l.add(openVar, "")
		l.pass(at[1] - at[0])
		l.inside(closeVar)
	}
}

// keep adds text in front of a tag that begins with sign. A block's tag takes
// the indentation in front of it along.
func (l *lexer) keep(text string, sign byte, block bool) {
	switch {
	case sign == '-':
		text = strings.TrimRightFunc(text, isSpace)
	case sign != '+' && block:
		line := strings.LastIndexByte(text, '\n') + 1
		if (line > 0 || l.lineStart) && strings.TrimFunc(text[line:], isSpace) == "" {
			text = text[:line]
		}
	}
	if text != "" {
		l.add(data, text)
	}
}

// end passes the end of a tag, n bytes and what it takes along: the white space
// behind a minus, or else the line end behind a block or comment.
func (l *lexer) end(n int, sign byte, block bool) {
	rest := l.rest()[n:]
	switch {
	case sign == '-':
		n += len(rest) - len(strings.TrimLeftFunc(rest, isSpace))
	case sign != '+' && block && strings.HasPrefix(rest, "\n"):
		n++
	}
	l.pass(n)
}

func (l *lexer) comment() {
	n := strings.Index(l.rest(), "#}")
	if n < 0 {
		fail("a comment is not closed")
	}
	var sign byte
	if n > 0 {
		sign = l.rest()[n-1]
	}
	l.end(n+2, sign, true)
}

func (l *lexer) raw(begin string) {
	l.end(len(begin), begin[len(begin)-3], false)
	at := rawEnd.FindStringIndex(l.rest())
	if at == nil {
		fail("a raw block is not closed")
	}
	l.keep(l.rest()[:at[0]], l.rest()[at[0]+2], true)
	l.pass(at[0])
	n := at[1] - at[0]
	l.end(n, l.rest()[n-3], true)
}

var (
	numberForm = regexp.MustCompile(`^(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][-+]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)`)
	wholeForm  = regexp.MustCompile(`^(?:[1-9](?:_?\d)*|0(?:_?0)*)`)
	stringForm = regexp.MustCompile(`(?s)^(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")`)
	opForm     = regexp.MustCompile(`^(?:\*\*|//|[=!<>]=|[-+*/%~(){}\[\].:|,<>=])`)
)

// inside cuts what is within a tag. Its end counts only outside of brackets.
func (l *lexer) inside(end kind) {
	close := "}}"
	if end == closeTag {
		close = "%}"
	}
	var open []byte
	for {
		rest := l.rest()
		if rest == "" {
			fail("a tag is not closed: %s expected", close)
		}
		if len(open) == 0 {
			if strings.HasPrefix(rest, close) {
				l.add(end, "")
				l.end(len(close), 0, end == closeTag)
				return
			}
			if sign := rest[0]; (sign == '-' || sign == '+' && end == closeTag) && strings.HasPrefix(rest[1:], close) {
				l.add(end, "")
				l.end(1+len(close), sign, end == closeTag)
				return
			}
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case isSpace(r):
			l.pass(size)
		case r == '_' || unicode.IsLetter(r):
			n := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if n < 0 {
				n = len(rest)
			}
			l.add(name, rest[:n])
			l.pass(n)
		case '0' <= r && r <= '9':
			l.number()
		case r == '\'' || r == '"':
			l.quoted()
		default:
			s := opForm.FindString(rest)
			open = balance(open, s)
			l.add(op, s)
			l.pass(len(s))
		}
	}
}

// balance keeps the brackets that are open.
func balance(open []byte, s string) []byte {
	switch s {
	case "":
		fail("a character that does not belong into a tag")
	case "(", "[", "{":
		return append(open, s[0])
	case ")", "]", "}":
		opening := map[string]byte{")": '(', "]": '[', "}": '{'}[s]
		if len(open) == 0 || open[len(open)-1] != opening {
			fail("a bracket %q that nothing opened", s)
		}
		return open[:len(open)-1]
	}
	return open
}

func (l *lexer) number() {
	if last := l.tokens[len(l.tokens)-1]; last.kind != op || last.text != "." {
		if s := numberForm.FindString(l.rest()); s != "" {
			l.add(float, strings.ReplaceAll(s, "_", ""))
			l.pass(len(s))
			return
		}
	}
	s := wholeForm.FindString(l.rest())
	if next, _ := utf8.DecodeRuneInString(l.rest()[len(s):]); next == '_' || unicode.IsLetter(next) || unicode.IsDigit(next) {
		fail("%.10q is no number", l.rest())
	}
	l.add(integer, strings.ReplaceAll(s, "_", ""))
	l.pass(len(s))
}

func (l *lexer) quoted() {
	s := stringForm.FindString(l.rest())
	if s == "" {
		fail("a string is not closed")
	}
	l.add(str, unescape(s[1:len(s)-1]))
	l.pass(len(s))
}

var escapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': "\"", '\n': "",
	'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v",
}

// unescape gives what a string literal stands for. As in Python, a backslash
// that begins no escape stays.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++ // the literal's form has a character behind each backslash
		if text, ok := escapes[s[i]]; ok {
			b.WriteString(text)
			continue
		}
		if n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]; n > 0 {
			b.WriteRune(hexRune(s[i+1:], n))
			i += n
			continue
		}
		if '0' <= s[i] && s[i] <= '7' || s[i] == 'N' {
			fail(`an escape \%c in a string: give the character itself`, s[i])
		}
		b.WriteByte('\\')
		b.WriteByte(s[i])
	}
	return b.String()
}

func hexRune(s string, n int) rune {
	r := rune(0)
	for i := range n {
		if i >= len(s) {
			fail("an escape in a string is cut off")
		}
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if d < 0 || r > unicode.MaxRune {
			fail("an escape in a string is no character")
		}
		r = r<<4 | rune(d)
	}
	if !utf8.ValidRune(r) {
		fail("an escape in a string is no character")
	}
	return r
}

// isSpace is Python's str.isspace for one character.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }
