package jinja

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// filters by name. What is not here is refused.
var filters = map[string]builtin{
	"count":    {"", func(r *run, v any, _ []any) any { return int64(r.length(v)) }},
	"d":        {"default_value boolean", preset},
	"default":  {"default_value boolean", preset},
	"dictsort": {"case_sensitive by reverse", dictSort},
	"first":    {"", func(r *run, v any, _ []any) any { return end(r, v, false) }},
	"indent":   {"width first blank", indent},
	"int":      {"default", toInt},
	"items":    {"", dictItems},
	"join":     {"d attribute", joinItems},
	"last":     {"", func(r *run, v any, _ []any) any { return end(r, v, true) }},
	"length":   {"", func(r *run, v any, _ []any) any { return int64(r.length(v)) }},
	"list":     {"", func(r *run, v any, _ []any) any { return r.made(plainList, slices.Clone(r.iterate(v))) }},
	"lower":    {"", func(r *run, v any, _ []any) any { return r.lower(r.plain(v)) }},
	"replace":  {"old* new* count", replaceText},
	"reverse":  {"", reverse},
	"safe":     {"", func(r *run, v any, _ []any) any { return markup(r.text(v)) }},
	"sort":     {"reverse case_sensitive attribute", sortItems},
	"string":   {"", func(r *run, v any, _ []any) any { return r.plain(v) }},
	"tojson":   {"ensure_ascii indent separators sort_keys", toJSON},
	"trim":     {"chars", func(r *run, v any, a []any) any { return trim(r.plain(v), or(a[0], nil)) }},
	"unique":   {"case_sensitive attribute", unique},
	"upper":    {"", func(r *run, v any, _ []any) any { return r.upper(r.plain(v)) }},
}

func preset(r *run, v any, args []any) any {
	if _, no := v.(undefined); no || truth(or(args[1], false)) && !truth(v) {
		return or(args[0], "")
	}
	return v
}

func replaceText(r *run, v any, args []any) any {
	n := int64(-1)
	if c := or(args[2], nil); c != nil {
		n = needInt(c)
	}
	return r.replace(r.plain(v), r.plain(args[0]), r.plain(args[1]), n)
}

func joinItems(r *run, v any, args []any) any {
	items := r.iterate(v)
	if path := or(args[1], nil); path != nil {
		fields := make([]any, len(items))
		for i, x := range items {
			fields[i] = r.attribute(x, path)
		}
		items = fields
	}
	return r.join(items, r.plain(or(args[0], "")))
}

func (e filtered) eval(r *run) any {
	v := e.value.eval(r)
	return r.filter(e.name, v, e.call.arguments(r))
}

func (r *run) filter(name string, v any, args arguments) any {
	r.spend(8)
	switch name { // those that apply another filter or a test to each item
	case "map":
		return mapItems(r, r.iterateOrNot(v), args)
	case "select", "reject":
		return pick(r, r.iterateOrNot(v), args, false, name == "select")
	case "selectattr", "rejectattr":
		return pick(r, r.iterateOrNot(v), args, true, name == "selectattr")
	}
	f, ok := filters[name]
	if !ok {
		fail("a filter '%s' is not known here", clip(name))
	}
	if _, safe := v.(markup); safe && name != "safe" {
		fail("a filter '%s' of safe text", name)
	}
	return f.use(r, name, v, args)
}

func (e tested) eval(r *run) any {
	v := e.value.eval(r)
	return r.test(e.name, v, e.call.arguments(r))
}

func (r *run) test(name string, v any, args arguments) bool {
	t, ok := tests[name]
	if !ok {
		fail("a test 'is %s' is not known here", clip(name))
	}
	return t.use(r, "is "+name, v, args).(bool)
}

// attribute is the value behind names and places with dots between them.
func (r *run) attribute(v any, path any) any {
	if i, ok := integral(path); ok {
		return item{constant{v}, constant{i}}.eval(r)
	}
	for _, name := range strings.Split(needText(path), ".") {
		if i, err := strconv.ParseUint(name, 10, 31); err == nil {
			v = item{constant{v}, constant{int64(i)}}.eval(r)
			continue
		}
		v = item{constant{v}, constant{name}}.eval(r)
	}
	return v
}

// iterateOrNot goes through anything that is true: these filters take all else,
// None too, for an empty list.
func (r *run) iterateOrNot(v any) []any {
	if !truth(v) {
		return nil
	}
	return r.iterate(v)
}

func mapItems(r *run, items []any, args arguments) any {
	out := make([]any, len(items))
	if path, ok := args.named["attribute"]; ok {
		preset, given := args.named["default"]
		if len(args.list) > 0 || len(args.named) > 1 && !given || len(args.named) > 2 {
			fail("map is given arguments that are not known here")
		}
		for i, v := range items {
			out[i] = r.attribute(v, path)
			if _, no := out[i].(undefined); no && given {
				out[i] = preset
			}
		}
		return r.made(lazy, out)
	}
	if len(args.list) == 0 {
		fail("map needs the name of a filter")
	}
	name := needText(args.list[0])
	rest := arguments{args.list[1:], args.named}
	for i, v := range items {
		out[i] = r.filter(name, v, rest)
	}
	return r.made(lazy, out)
}

// pick keeps the items for which a test, of a field of theirs or of themselves,
// comes out as wanted. Without a test it is their truth.
func pick(r *run, items []any, args arguments, field, want bool) any {
	var path any
	if field {
		if len(args.list) == 0 {
			fail("the name of a field is needed")
		}
		path, args.list = args.list[0], args.list[1:]
	}
	name := ""
	if len(args.list) > 0 {
		name, args.list = needText(args.list[0]), args.list[1:]
	}
	var out []any
	for _, v := range items {
		of := v
		if field {
			of = r.attribute(v, path)
		}
		if ok := name == "" && truth(of) || name != "" && r.test(name, of, args); ok == want {
			out = append(out, v)
		}
	}
	return r.made(lazy, out)
}

// sorted gives items in the order of their keys.
func (r *run) sorted(items []any, key func(any) any) []any {
	type keyed struct{ key, item any }
	r.spend(8 * len(items))
	list := make([]keyed, len(items))
	for i, v := range items {
		list[i] = keyed{key(v), v}
	}
	slices.SortStableFunc(list, func(a, b keyed) int { return r.order(a.key, b.key) })
	out := make([]any, len(list))
	for i, k := range list {
		out[i] = k.item
	}
	return out
}

// folded is a key for sorting without regard to upper and lower case.
func folded(r *run, v any, caseless bool) any {
	if s, ok := v.(string); ok && caseless {
		return r.lower(s)
	}
	return v
}

func (r *run) lower(s string) string {
	r.spend(len(s))
	return cases.Lower(language.Und).String(s)
}

func (r *run) upper(s string) string {
	r.spend(3 * len(s))
	return cases.Upper(language.Und).String(s)
}

func (r *run) replace(s, old, by string, n int64) string {
	count := int64(strings.Count(s, old))
	if n >= 0 {
		count = min(count, n)
	}
	r.spend(len(s))
	r.repeat(by, count)
	return strings.Replace(s, old, by, int(count))
}

func (r *run) join(items []any, sep string) string {
	texts := make([]string, len(items))
	for i, v := range items {
		texts[i] = r.plain(v)
		r.spend(len(texts[i]) + len(sep))
	}
	return strings.Join(texts, sep)
}

// trim takes the characters, or white space, off both ends.
func trim(s string, chars any) string {
	if chars == nil {
		return strings.TrimFunc(s, isSpace)
	}
	return strings.Trim(s, needText(chars))
}

// indent puts blanks in front of each line but the first and blank ones.
func indent(r *run, v any, args []any) any {
	s := needText(v)
	width := or(args[0], int64(4))
	by, ok := width.(string)
	if !ok {
		by = r.repeat(" ", needInt(width))
	}
	first, blank := truth(or(args[1], false)), truth(or(args[2], false))
	lines := strings.Split(s+"\n", "\n") // as Python: a line end at the end counts
	lines = lines[:len(lines)-1]
	for i, l := range lines {
		if i == 0 && first || i > 0 && (blank || l != "") {
			lines[i] = r.joined(by, l)
		}
	}
	return strings.Join(lines, "\n")
}

func dictItems(r *run, v any, args []any) any {
	d, ok := v.(*Dict)
	if _, no := v.(undefined); !ok && !no {
		fail("items of %s", describe(v))
	}
	if d == nil {
		d = &Dict{}
	}
	l := d.pairs(r)
	l.kind = lazy
	return l
}

func (d *Dict) pairs(r *run) *list {
	items := make([]any, len(d.keys))
	for i, k := range d.keys {
		items[i] = r.made(tuple, []any{k, d.values[i]})
	}
	return r.made(view, items)
}

func dictSort(r *run, v any, args []any) any {
	by := int64(0)
	switch or(args[1], "key") {
	case "key":
	case "value":
		by = 1
	default:
		fail("dictsort by something else than key or value")
	}
	caseless := !truth(or(args[0], false))
	out := r.sorted(need[*Dict](v, "a dict").pairs(r).items, func(p any) any { return folded(r, p.(*list).items[by], caseless) })
	if truth(or(args[2], false)) {
		fail("dictsort in reverse is not known here")
	}
	return r.made(plainList, out)
}

func sortItems(r *run, v any, args []any) any {
	if truth(or(args[0], false)) {
		fail("sort in reverse is not known here")
	}
	caseless, path := !truth(or(args[1], false)), or(args[2], nil)
	return r.made(plainList, r.sorted(r.iterate(v), func(x any) any {
		if path != nil {
			x = r.attribute(x, path)
		}
		return folded(r, x, caseless)
	}))
}

func unique(r *run, v any, args []any) any {
	caseless, path := !truth(or(args[0], false)), or(args[1], nil)
	var out []any
	seen := map[any]bool{}
	for _, x := range r.iterate(v) {
		k := x
		if path != nil {
			k = r.attribute(x, path)
		}
		if k = hash(folded(r, k, caseless)); !seen[k] {
			seen[k] = true
			out = append(out, x)
		}
	}
	return r.made(lazy, out)
}

func reverse(r *run, v any, _ []any) any {
	if s, ok := v.(string); ok {
		r.spend(len(s))
		runes := []rune(s)
		slices.Reverse(runes)
		return string(runes)
	}
	if l, ok := v.(*list); ok && l.kind == lazy {
		fail("reverse of %s", describe(v))
	}
	out := slices.Clone(r.iterate(v))
	slices.Reverse(out)
	return r.made(lazy, out)
}

// toInt is the filter int: what is no number gives the preset.
func toInt(r *run, v any, args []any) any {
	preset := or(args[0], int64(0))
	switch v := v.(type) {
	case bool, int64:
		n, _ := integral(v)
		return n
	case float64:
		if v > -1<<53 && v < 1<<53 {
			return int64(v)
		}
	case string:
		s := trim(v, nil)
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
		if !strings.ContainsFunc(s, unicode.IsNumber) {
			return preset
		}
	case nil:
		return preset
	}
	fail("int of %s is not known here", describe(v))
	return nil
}

func end(r *run, v any, last bool) any {
	if l, ok := v.(*list); ok && l.kind == lazy && last {
		fail("last of %s", describe(v))
	}
	items := r.iterate(v)
	switch {
	case len(items) == 0:
		return undefined{"an item of nothing"}
	case last:
		return items[len(items)-1]
	}
	return items[0]
}
