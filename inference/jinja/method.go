package jinja

import (
	"strings"
)

// The methods of text, dicts and lists. Jinja's sandbox keeps those away that
// change a value, so they are refused.

var textMethods = map[string]builtin{
	"count":        {"sub*", ofText(func(r *run, s string, a []any) any { return int64(strings.Count(s, needText(a[0]))) })},
	"endswith":     {"suffix*", ofText(func(r *run, s string, a []any) any { return affix(r, s, a[0], strings.HasSuffix) })},
	"find":         {"sub*", ofText(find)},
	"join":         {"items*", ofText(joinTexts)},
	"lower":        {"", ofText(func(r *run, s string, _ []any) any { return r.lower(s) })},
	"lstrip":       {"chars", ofText(func(r *run, s string, a []any) any { return strings.TrimLeftFunc(s, among(or(a[0], nil))) })},
	"removeprefix": {"prefix*", ofText(func(r *run, s string, a []any) any { return strings.TrimPrefix(s, needText(a[0])) })},
	"removesuffix": {"suffix*", ofText(func(r *run, s string, a []any) any { return strings.TrimSuffix(s, needText(a[0])) })},
	"replace":      {"old* new* count", ofText(replaceIn)},
	"rsplit":       {"sep maxsplit", ofText(rsplit)},
	"rstrip":       {"chars", ofText(func(r *run, s string, a []any) any { return strings.TrimRightFunc(s, among(or(a[0], nil))) })},
	"split":        {"sep maxsplit", ofText(split)},
	"splitlines":   {"", ofText(splitLines)},
	"startswith":   {"prefix*", ofText(func(r *run, s string, a []any) any { return affix(r, s, a[0], strings.HasPrefix) })},
	"strip":        {"chars", ofText(func(r *run, s string, a []any) any { return strings.TrimFunc(s, among(or(a[0], nil))) })},
	"upper":        {"", ofText(func(r *run, s string, _ []any) any { return r.upper(s) })},
}

// otherMethods are methods of Python's that are not here: to take one for
// undefined would be wrong.
var otherMethods = map[string]string{
	"text": " capitalize casefold center encode expandtabs format_map index isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper ljust maketrans partition rfind rindex rjust rpartition swapcase title translate zfill ",
	"dict": " clear copy fromkeys pop popitem setdefault update ",
	"list": " append clear copy count extend index insert pop remove reverse sort ",
}

var dictMethods = map[string]builtin{
	"get":    {"key* default", func(r *run, v any, a []any) any { return getKey(v.(*Dict), a) }},
	"items":  {"", func(r *run, v any, _ []any) any { return v.(*Dict).pairs(r) }},
	"keys":   {"", func(r *run, v any, _ []any) any { return r.made(view, v.(*Dict).keys) }},
	"values": {"", func(r *run, v any, _ []any) any { return r.made(view, v.(*Dict).values) }},
}

// method gives the method of a value, or nothing defined.
func (r *run) method(of any, name string) any {
	methods, kind := textMethods, "text"
	switch of.(type) {
	case string:
		if name == "format" {
			return &function{name, func(r *run, args arguments) any { return format(r, of.(string), args) }}
		}
	case *Dict:
		methods, kind = dictMethods, "dict"
	case *list:
		methods, kind = nil, "list"
	default:
		methods, kind = nil, ""
	}
	if b, ok := methods[name]; ok {
		return &function{name, func(r *run, args arguments) any { return b.use(r, "."+name, of, args) }}
	}
	if strings.Contains(otherMethods[kind], " "+name+" ") || strings.HasPrefix(name, "__") {
		fail("a method '.%s' is not known here, or would change what it is called on", clip(name))
	}
	return undefined{name}
}

func ofText(f func(*run, string, []any) any) func(*run, any, []any) any {
	return func(r *run, v any, args []any) any {
		r.spend(len(v.(string)))
		return f(r, v.(string), args)
	}
}

// among tells the characters that strip takes off: white space if none are given.
func among(chars any) func(rune) bool {
	if chars == nil {
		return isSpace
	}
	set := needText(chars)
	return func(r rune) bool { return strings.ContainsRune(set, r) }
}

// affix tells whether text begins or ends with one of the texts given.
func affix(r *run, s string, with any, has func(s, with string) bool) any {
	if l, ok := with.(*list); ok && l.kind == tuple {
		for _, x := range r.iterate(l) {
			if has(s, needText(x)) {
				return true
			}
		}
		return false
	}
	return has(s, needText(with))
}

func find(r *run, s string, args []any) any {
	at := strings.Index(s, needText(args[0]))
	if at < 0 {
		return int64(-1)
	}
	return int64(len([]rune(s[:at])))
}

func joinTexts(r *run, s string, args []any) any {
	items := r.iterate(args[0])
	for _, x := range items {
		needText(x)
	}
	return r.join(items, s)
}

func replaceIn(r *run, s string, args []any) any {
	return r.replace(s, needText(args[0]), needText(args[1]), needInt(or(args[2], int64(-1))))
}

func getKey(d *Dict, args []any) any {
	if v, ok := d.get(args[0]); ok {
		return v
	}
	return or(args[1], nil)
}

func (r *run) texts(parts []string) any {
	items := make([]any, len(parts))
	for i, p := range parts {
		items[i] = p
	}
	return r.made(plainList, items)
}

func split(r *run, s string, args []any) any {
	n := needInt(or(args[1], int64(-1)))
	if sep := or(args[0], nil); sep != nil {
		if needText(sep) == "" {
			fail(".split at nothing")
		}
		if n < 0 || n >= int64(len(s)) {
			return r.texts(strings.Split(s, sep.(string)))
		}
		return r.texts(strings.SplitN(s, sep.(string), int(n)+1))
	}
	if n >= 0 {
		fail(".split at white space a number of times is not known here")
	}
	return r.texts(strings.FieldsFunc(s, isSpace))
}

func rsplit(r *run, s string, args []any) any {
	sep := needText(or(args[0], nil))
	if sep == "" {
		fail(".rsplit at nothing")
	}
	n := needInt(or(args[1], int64(-1)))
	parts := strings.Split(s, sep)
	if first := int64(len(parts)) - n; n >= 0 && first > 1 {
		parts = append([]string{strings.Join(parts[:first], sep)}, parts[first:]...)
	}
	return r.texts(parts)
}

func splitLines(r *run, s string, _ []any) any {
	if strings.ContainsAny(s, "\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029") {
		fail(".splitlines of text with other line ends than \\n is not known here")
	}
	if s == "" {
		return r.texts(nil)
	}
	return r.texts(strings.Split(strings.TrimSuffix(s, "\n"), "\n"))
}
