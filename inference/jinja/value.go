package jinja

import (
	"cmp"
	"math"
	"strings"
)

// Values are Go's: nil (None), bool, int64, float64 and string; and these.

// undefined is what has no value: it is empty, and nothing can be done with it.
type undefined struct{ name string }

// A list is anything that holds values in order.
type list struct {
	kind  listKind
	items []any
	spent bool // a lazy one was gone through
}

type listKind int

const (
	plainList listKind = iota
	tuple
	view // a dict's keys, values or items: no index
	lazy // what filters give: it can be gone through once
	span // a range
)

// A Dict maps keys to values and keeps their order. It never changes while a
// template runs.
type Dict struct {
	keys, values []any
	at           map[any]int
}

// NewDict makes a dict of names and values in turn.
func NewDict(pairs ...any) *Dict {
	d := &Dict{}
	for i := 0; i+1 < len(pairs); i += 2 {
		d.set(pairs[i], pairs[i+1])
	}
	return d
}

func (d *Dict) set(key, v any) {
	if i, ok := d.find(key); ok {
		d.values[i] = v
		return
	}
	if d.at == nil {
		d.at = map[any]int{}
	}
	d.at[hash(key)] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, v)
}

func (d *Dict) find(key any) (int, bool) {
	i, ok := d.at[hash(key)]
	return i, ok
}

func (d *Dict) get(key any) (any, bool) {
	if i, ok := d.find(key); ok {
		return d.values[i], true
	}
	return nil, false
}

// hash is the key of Go's map for a key: numbers that are equal are one.
func hash(key any) any {
	switch k := key.(type) {
	case nil, string, int64:
		return k
	case bool, float64:
		f := number(k)
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f)
		}
		return f
	}
	fail("%s cannot be a key", describe(key))
	return nil
}

type namespace struct{ fields map[string]any }

type function struct {
	name string
	call func(*run, arguments) any
}

// markup is text that was marked as safe: Python escapes what it is put
// together with, so here it can only be written.
type markup string

// describe names a kind of value in an error.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case undefined:
		return "the undefined '" + clip(v.name) + "'"
	case bool:
		return "a truth value"
	case int64, float64:
		return "a number"
	case string:
		return "text"
	case *list:
		return map[listKind]string{plainList: "a list", tuple: "a tuple", view: "a dict's view", lazy: "a filter's result", span: "a range"}[v.kind]
	case *Dict:
		return "a dict"
	case *namespace:
		return "a namespace"
	case *function:
		return "a function"
	case *loop:
		return "loop"
	}
	return "safe text"
}

// truth is Python's bool().
func truth(v any) bool {
	switch v := v.(type) {
	case nil, undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case markup:
		return v != ""
	case *list:
		return v.kind == lazy || len(v.items) > 0
	case *Dict:
		return len(v.keys) > 0
	}
	return true
}

// iterate gives what a for loop goes through.
func (r *run) iterate(v any) []any {
	switch v := v.(type) {
	case undefined:
		return nil
	case string:
		r.spend(16 * len(v))
		items := make([]any, 0, len(v))
		for _, c := range v {
			items = append(items, string(c))
		}
		return items
	case *list:
		if v.kind == lazy {
			if v.spent {
				fail("a filter's result is gone through twice: Python finds it empty")
			}
			v.spent = true
		}
		r.spend(len(v.items))
		return v.items
	case *Dict:
		r.spend(len(v.keys))
		return v.keys
	}
	fail("%s cannot be gone through", describe(v))
	return nil
}

// made is a new list, paid for.
func (r *run) made(k listKind, items []any) *list {
	r.spend(8 * len(items))
	return &list{kind: k, items: items}
}

func isNumber(v any) bool {
	switch v.(type) {
	case bool, int64, float64:
		return true
	}
	return false
}

// number is the value of a bool, int64 or float64.
func number(v any) float64 {
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case int64:
		return float64(v)
	}
	return v.(float64)
}

// integral gives a bool or int64 as an integer.
func integral(v any) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return v, true
	}
	return 0, false
}

// equal is Python's ==.
func (r *run) equal(a, b any) bool {
	r.enter()
	defer r.leave()
	if isNumber(a) && isNumber(b) {
		return r.order(a, b) == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case undefined:
		_, ok := b.(undefined)
		return ok
	case string:
		if b, ok := b.(string); ok && len(a) == len(b) {
			r.spend(len(a) / 64)
			return a == b
		}
		return false
	case *list:
		b, ok := b.(*list)
		if !ok || a == b {
			return ok
		}
		if a.kind > tuple || b.kind > tuple {
			fail("%s and %s are compared", describe(a), describe(b))
		}
		if a.kind != b.kind || len(a.items) != len(b.items) {
			return false
		}
		for i := range a.items {
			if !r.equal(a.items[i], b.items[i]) {
				return false
			}
		}
		return true
	case *Dict:
		b, ok := b.(*Dict)
		if !ok || len(a.keys) != len(b.keys) {
			return false
		}
		for i, k := range a.keys {
			if v, ok := b.get(k); !ok || !r.equal(a.values[i], v) {
				return false
			}
		}
		return true
	case markup:
		fail("safe text is compared")
	}
	if _, ok := b.(markup); ok {
		fail("safe text is compared")
	}
	return a == b
}

// order is Python's < as a comparison: of numbers, of texts, of lists.
func (r *run) order(a, b any) int {
	r.enter()
	defer r.leave()
	x, ok := integral(a)
	if y, also := integral(b); ok && also {
		return cmp.Compare(x, y)
	}
	if isNumber(a) && isNumber(b) {
		if x, y := number(a), number(b); x == x && y == y && math.Abs(x) < 1<<53 && math.Abs(y) < 1<<53 {
			return cmp.Compare(x, y)
		}
		fail("numbers that large cannot be compared here")
	}
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			r.spend(min(len(a), len(b)) / 64)
			return strings.Compare(a, b)
		}
	case *list:
		b, ok := b.(*list)
		if !ok || a.kind != b.kind || a.kind > tuple {
			break
		}
		for i := range min(len(a.items), len(b.items)) {
			if !r.equal(a.items[i], b.items[i]) {
				return r.order(a.items[i], b.items[i])
			}
		}
		return cmp.Compare(len(a.items), len(b.items))
	}
	fail("%s and %s have no order", describe(a), describe(b))
	return 0
}

// contains is Python's in.
func (r *run) contains(in, v any) bool {
	switch in := in.(type) {
	case string:
		s, ok := v.(string)
		if !ok {
			fail("%s is looked for in text", describe(v))
		}
		r.spend(len(in) / 16)
		return strings.Contains(in, s)
	case *Dict:
		_, ok := in.get(v)
		return ok
	}
	for _, x := range r.iterate(in) {
		if r.equal(x, v) {
			return true
		}
	}
	return false
}

// length is Python's len.
func (r *run) length(v any) int {
	switch v := v.(type) {
	case undefined:
		return 0
	case string:
		r.spend(len(v) / 16)
		return len([]rune(v))
	case *list:
		if v.kind != lazy {
			return len(v.items)
		}
	case *Dict:
		return len(v.keys)
	}
	fail("%s has no length", describe(v))
	return 0
}
