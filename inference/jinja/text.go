package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// How values become text.

// text is Python's str().
func (r *run) text(v any) string {
	if s, ok := v.(markup); ok {
		return string(s)
	}
	return r.plain(v)
}

// plain is text for a value that goes on being used: safe text is none.
func (r *run) plain(v any) string {
	switch v := v.(type) {
	case undefined:
		return ""
	case string:
		return v
	case markup:
		fail("safe text is put together with other text, which Python would escape")
	}
	var b strings.Builder
	r.repr(&b, v)
	r.spend(b.Len())
	return b.String()
}

// repr writes a value as Python's repr().
func (r *run) repr(b *strings.Builder, v any) {
	r.enter()
	defer r.leave()
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		b.WriteString(floatText(v))
	case string:
		r.spend(len(v))
		b.WriteString(quote(v))
	case *list:
		if v.kind > tuple {
			fail("%s cannot be written", describe(v))
		}
		brackets := map[listKind]string{plainList: "[]", tuple: "()"}[v.kind]
		b.WriteByte(brackets[0])
		for i, x := range v.items {
			if i > 0 {
				b.WriteString(", ")
			}
			r.repr(b, x)
		}
		if v.kind == tuple && len(v.items) == 1 {
			b.WriteByte(',')
		}
		b.WriteByte(brackets[1])
	case *Dict:
		b.WriteByte('{')
		for i, k := range v.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			r.repr(b, k)
			b.WriteString(": ")
			r.repr(b, v.values[i])
		}
		b.WriteByte('}')
	case undefined:
		b.WriteString("Undefined")
	default:
		fail("%s cannot be written", describe(v))
	}
}

// floatText is Python's repr of a float.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'g', -1, 64)), "+")
	case f != 0 && (math.Abs(f) < 1e-4 || math.Abs(f) >= 1e16):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quote is Python's repr of text.
func quote(s string) string {
	mark := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	var b strings.Builder
	b.WriteRune(mark)
	for _, c := range s {
		switch {
		case c == mark || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n' || c == '\r' || c == '\t':
			b.WriteByte('\\')
			b.WriteByte(map[rune]byte{'\n': 'n', '\r': 'r', '\t': 't'}[c])
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			fmt.Fprintf(&b, `\U%08x`, c)
		}
	}
	b.WriteRune(mark)
	return b.String()
}

// A jsonForm is how transformers' tojson writes: json.dumps without escaping
// what is not ASCII.
type jsonForm struct {
	indent        int // -1: all on one line
	comma, colon  string
	sorted, ascii bool
}

func toJSON(r *run, v any, args []any) any {
	f := jsonForm{indent: -1, comma: ", ", colon: ": ", ascii: truth(or(args[0], false)), sorted: truth(or(args[3], false))}
	if n := or(args[1], nil); n != nil {
		f.indent = int(min(max(needInt(n), 0), 17))
		f.comma = ","
		if f.indent > 16 {
			fail("tojson: at most 16 blanks of indentation are written")
		}
	}
	if s := or(args[2], nil); s != nil {
		pair := r.iterate(s)
		if len(pair) != 2 {
			fail("tojson: two separators are needed")
		}
		f.comma, f.colon = needText(pair[0]), needText(pair[1])
	}
	var b strings.Builder
	r.json(&b, v, f, 0)
	r.spend(b.Len())
	return b.String()
}

func (r *run) json(b *strings.Builder, v any, f jsonForm, level int) {
	r.enter()
	defer r.leave()
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			fail("tojson of a number that is none")
		}
		b.WriteString(floatText(v))
	case string:
		r.spend(len(v))
		jsonString(b, v, f.ascii)
	case *list:
		if v.kind > tuple {
			fail("tojson of %s", describe(v))
		}
		r.jsonItems(b, "[]", len(v.items), f, level, func(i int) { r.json(b, v.items[i], f, level+1) })
	case *Dict:
		keys := v.keys
		if f.sorted {
			keys = r.sorted(keys, func(k any) any { return k })
		}
		r.jsonItems(b, "{}", len(keys), f, level, func(i int) {
			jsonString(b, need[string](keys[i], "a key that is text"), f.ascii)
			b.WriteString(f.colon)
			value, _ := v.get(keys[i])
			r.json(b, value, f, level+1)
		})
	default:
		fail("tojson of %s", describe(v))
	}
}

// jsonItems writes n items within brackets.
func (r *run) jsonItems(b *strings.Builder, brackets string, n int, f jsonForm, level int, one func(i int)) {
	line := func(level int) {
		if f.indent >= 0 && n > 0 {
			r.spend(f.indent * level)
			b.WriteString("\n" + strings.Repeat(" ", f.indent*level))
		}
	}
	b.WriteByte(brackets[0])
	for i := range n {
		if i > 0 {
			r.spend(len(f.comma) + len(f.colon))
			b.WriteString(f.comma)
		}
		line(level + 1)
		one(i)
	}
	line(level)
	b.WriteByte(brackets[1])
}

func jsonString(b *strings.Builder, s string, ascii bool) {
	b.WriteByte('"')
	for _, c := range s {
		switch at := strings.IndexRune("\"\\\b\f\n\r\t", c); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte(`"\bfnrt`[at])
		case c >= 0x10000 && ascii:
			fmt.Fprintf(b, `\u%04x\u%04x`, 0xd800+(c-0x10000)>>10, 0xdc00+(c-0x10000)&0x3ff)
		case c < ' ' || c > '~' && ascii:
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}

// percent is Python's text % values, with %s, %d and %0Nd.
func (r *run) percent(s string, v any) string {
	values := []any{v}
	if l, ok := v.(*list); ok && l.kind == tuple {
		values = l.items
	}
	var parts []string
	for {
		before, rest, found := strings.Cut(s, "%")
		parts = append(parts, before)
		if !found {
			break
		}
		verb := strings.TrimLeft(rest, "0123456789")
		width := rest[:len(rest)-len(verb)]
		switch {
		case strings.HasPrefix(rest, "%"):
			parts = append(parts, "%")
		case len(values) == 0:
			fail("fewer values than the text before %% has places")
		case strings.HasPrefix(rest, "s"):
			parts = append(parts, r.plain(values[0]))
			values = values[1:]
		case strings.HasPrefix(verb, "d") && len(width) <= 2:
			parts = append(parts, fmt.Sprintf("%"+width+"d", needInt(values[0])))
			values = values[1:]
		default:
			fail("a form %%%s is not known here", clip(rest))
		}
		s = verb[1:]
	}
	if len(values) > 0 {
		fail("more values than the text before %% has places")
	}
	return r.joined(parts...)
}

// format is Python's text.format, with the places {}, {0} and {name}.
func format(r *run, s string, args arguments) any {
	var parts []string
	next := 0
	for {
		at := strings.IndexAny(s, "{}")
		if at < 0 {
			return r.joined(append(parts, s)...)
		}
		parts = append(parts, s[:at])
		if len(s) > at+1 && s[at+1] == s[at] { // doubled: itself
			parts, s = append(parts, s[at:at+1]), s[at+2:]
			continue
		}
		place, rest, ok := strings.Cut(s[at+1:], "}")
		if s[at] == '}' || !ok {
			fail("a bracket in a text with .format that has no partner")
		}
		var v any
		if i, err := strconv.Atoi(place); place == "" || err == nil {
			if place == "" {
				i, next = next, next+1
			}
			if i < 0 || i >= len(args.list) {
				fail(".format is given no value for the place {%s}", place)
			}
			v = args.list[i]
		} else if v, ok = args.named[place]; !ok {
			fail(".format is given no value for the place {%s}", clip(place))
		}
		parts, s = append(parts, r.plain(v)), rest
	}
}

// today is the day that templates are told, since what a model is asked must
// not depend on when. It is the date that Llama 3's own template falls back to.
var today = time.Date(2024, time.July, 26, 0, 0, 0, 0, time.UTC)

var dateForms = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'B': "January", 'b': "Jan", 'A': "Monday", 'a': "Mon",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'j': "002",
}

// date is Python's strftime of that day.
func date(form string) string {
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] != '%' {
			b.WriteByte(form[i])
			continue
		}
		i++
		if i < len(form) && form[i] == '%' {
			b.WriteByte('%')
		} else if i < len(form) && dateForms[form[i]] != "" {
			b.WriteString(today.Format(dateForms[form[i]]))
		} else {
			fail("strftime_now: a form in %q is not known here", clip(form))
		}
	}
	return b.String()
}
