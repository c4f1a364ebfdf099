package jinja

import (
	"math"
	"strings"
)

// What the expressions of a template are worth.

type expr interface{ eval(r *run) any }

type (
	constant struct{ value any }
	variable string
	listExpr struct {
		kind  listKind
		items []expr
	}
	dictExpr struct{ keys, values []expr }
	inlineIf struct{ then, test, otherwise expr } // otherwise nil: nothing
	logic    struct {
		left, right expr
		or          bool
	}
	not        struct{ value expr }
	comparison struct {
		first expr
		ops   []string
		rest  []expr
	}
	arithmetic struct {
		op          string
		left, right expr
	}
	sign struct {
		op    string
		value expr
	}
	field struct {
		of   expr
		name string
	}
	item  struct{ of, index expr }
	slice struct {
		of    expr
		parts [3]expr // start, end, step; nil: not given
	}
	callExpr struct {
		f     expr
		args  []expr
		named []named
	}
	named struct {
		name  string
		value expr
	}
	filtered struct {
		value expr
		name  string
		call  callExpr
	}
	tested struct {
		value expr
		name  string
		call  callExpr
	}
)

func (e constant) eval(*run) any { return e.value }

func (e variable) eval(r *run) any {
	r.spend(1)
	return r.lookup(string(e))
}

func (e listExpr) eval(r *run) any {
	items := make([]any, len(e.items))
	for i, x := range e.items {
		items[i] = x.eval(r)
	}
	return r.made(e.kind, items)
}

func (e dictExpr) eval(r *run) any {
	r.spend(32 * len(e.keys))
	d := &Dict{}
	for i, k := range e.keys {
		d.set(k.eval(r), e.values[i].eval(r))
	}
	return d
}

func (e inlineIf) eval(r *run) any {
	switch {
	case truth(e.test.eval(r)):
		return e.then.eval(r)
	case e.otherwise != nil:
		return e.otherwise.eval(r)
	}
	return undefined{"an inline if without else"}
}

func (e logic) eval(r *run) any {
	left := e.left.eval(r)
	if truth(left) == e.or {
		return left
	}
	return e.right.eval(r)
}

func (e not) eval(r *run) any { return !truth(e.value.eval(r)) }

func (e comparison) eval(r *run) any {
	left := e.first.eval(r)
	for i, op := range e.ops {
		right := e.rest[i].eval(r)
		if !r.compare(op, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (r *run) compare(op string, a, b any) bool {
	switch op {
	case "==":
		return r.equal(a, b)
	case "!=":
		return !r.equal(a, b)
	case "in":
		return r.contains(b, a)
	case "not in":
		return !r.contains(b, a)
	case "<":
		return r.order(a, b) < 0
	case "<=":
		return r.order(a, b) <= 0
	case ">":
		return r.order(a, b) > 0
	}
	return r.order(a, b) >= 0
}

func (e sign) eval(r *run) any {
	v := e.value.eval(r)
	if e.op == "+" && isNumber(v) {
		return r.calculate("+", int64(0), v)
	}
	if f, ok := v.(float64); ok {
		return -f
	}
	if !isNumber(v) {
		fail("%s has no sign", describe(v))
	}
	return r.calculate("-", int64(0), v)
}

func (e arithmetic) eval(r *run) any {
	a, b := e.left.eval(r), e.right.eval(r)
	if e.op == "~" {
		return r.joined(r.plain(a), r.plain(b))
	}
	if isNumber(a) && isNumber(b) {
		return r.calculate(e.op, a, b)
	}
	switch a := a.(type) {
	case string:
		switch b := b.(type) {
		case string:
			if e.op == "+" {
				return r.joined(a, b)
			}
		case int64:
			if e.op == "*" {
				return r.repeat(a, b)
			}
		}
		if e.op == "%" {
			return r.percent(a, b)
		}
	case *list:
		if b, ok := b.(*list); ok && e.op == "+" && a.kind == b.kind && a.kind <= tuple {
			r.spend(8 * (len(a.items) + len(b.items)))
			return &list{kind: a.kind, items: append(append([]any{}, a.items...), b.items...)}
		}
	}
	fail("%s %s %s cannot be calculated", describe(a), e.op, describe(b))
	return nil
}

// joined puts texts together, paid for before it is done.
func (r *run) joined(texts ...string) string {
	for _, s := range texts {
		r.spend(len(s))
	}
	return strings.Join(texts, "")
}

func (r *run) repeat(s string, n int64) string {
	n = max(n, 0)
	if s != "" && n > int64(r.work)/int64(len(s)) {
		n = int64(r.work) + 1
		r.spend(int(n))
	}
	r.spend(len(s) * int(n))
	return strings.Repeat(s, int(n))
}

// calculate works with numbers as Python does; integers that do not fit are
// refused.
func (r *run) calculate(op string, a, b any) any {
	x, ok := integral(a)
	y, also := integral(b)
	if !ok || !also || op == "/" {
		return floats(op, number(a), number(b))
	}
	switch op {
	case "+":
		if s := x + y; (s > x) == (y > 0) {
			return s
		}
	case "-":
		if d := x - y; (d < x) == (y > 0) {
			return d
		}
	case "*":
		if p := x * y; x == 0 || p/x == y && !(x == -1 && y == math.MinInt64) {
			return p
		}
	case "**":
		if x < 0 || y < 0 || y > 64 { // of -1 ** 0 jinja2 makes -1 or 1, as it was written
			break
		}
		var p any = int64(1)
		for range y {
			p = r.calculate("*", p, x)
		}
		return p
	case "//", "%":
		if y == 0 {
			fail("a division by zero")
		}
		if x == math.MinInt64 && y == -1 {
			break
		}
		q, rest := x/y, x%y
		if rest != 0 && (rest < 0) != (y < 0) {
			q, rest = q-1, rest+y
		}
		if op == "%" {
			return rest
		}
		return q
	}
	fail("integers that large, or %s of them, cannot be calculated here", op)
	return nil
}

func floats(op string, x, y float64) any {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		if y == 0 {
			fail("a division by zero")
		}
		if math.Abs(x) < 1<<53 && math.Abs(y) < 1<<53 {
			return x / y
		}
	}
	fail("numbers that large, or %s of numbers with a fraction, cannot be calculated here", op)
	return nil
}

// position gives a place of an index in n things, whether it is one of them.
func position(i int64, n int) (int, bool) {
	if i < 0 {
		i += int64(n)
	}
	return int(i), i >= 0 && i < int64(n)
}

func (e item) eval(r *run) any {
	of, index := e.of.eval(r), e.index.eval(r)
	switch of := of.(type) {
	case *Dict:
		if v, ok := of.get(index); ok {
			return v
		}
	case string:
		if i, ok := integral(index); ok {
			r.spend(len(of))
			runes := []rune(of)
			if at, ok := position(i, len(runes)); ok {
				return string(runes[at])
			}
		}
	case *list:
		if i, ok := integral(index); ok && (of.kind <= tuple || of.kind == span) {
			if at, ok := position(i, len(of.items)); ok {
				return of.items[at]
			}
		}
	case undefined:
		fail("'%s' is undefined: it has no items", clip(of.name))
	case markup:
		fail("an item of safe text")
	}
	if s, ok := index.(string); ok { // Python tries a field of that name then
		return r.method(of, s)
	}
	return undefined{"an item"}
}

func (e field) eval(r *run) any {
	of := e.of.eval(r)
	switch of := of.(type) {
	case undefined:
		fail("'%s' is undefined: it has no '%s'", clip(of.name), clip(e.name))
	case *loop:
		return of.field(e.name)
	case *namespace:
		if v, ok := of.fields[e.name]; ok {
			return v
		}
	case *Dict:
		if m := r.method(of, e.name); m != any(undefined{e.name}) {
			return m
		}
		if v, ok := of.get(e.name); ok {
			return v
		}
	case markup, *function:
		fail("a field '%s' of %s", clip(e.name), describe(of))
	default:
		return r.method(of, e.name)
	}
	return undefined{e.name}
}

func (e slice) eval(r *run) any {
	of := e.of.eval(r)
	var at [3]any
	for i, p := range e.parts {
		if p == nil {
			continue
		}
		v := p.eval(r)
		if _, ok := integral(v); !ok && v != nil {
			fail("a slice at %s", describe(v))
		}
		at[i] = v
	}
	switch of := of.(type) {
	case string:
		r.spend(len(of))
		return string(cut([]rune(of), at))
	case *list:
		if of.kind <= tuple {
			return r.made(of.kind, cut(of.items, at))
		}
	}
	fail("%s cannot be sliced", describe(of))
	return nil
}

// cut takes a slice as Python does.
func cut[T any](items []T, at [3]any) []T {
	n, step := int64(len(items)), int64(1)
	if v, ok := integral(at[2]); ok {
		step = v
	}
	if step == 0 {
		fail("a slice whose step is zero")
	}
	low, high := int64(0), n
	if step < 0 {
		low, high = -1, n-1
	}
	bound := func(v any, preset int64) int64 {
		i, ok := integral(v)
		if !ok {
			return preset
		}
		if i < 0 {
			i = max(i, -n-1) + n
		}
		return min(max(i, low), high)
	}
	var out []T
	if step > 0 {
		for i, end := bound(at[0], low), bound(at[1], high); i < end; i += min(step, n) {
			out = append(out, items[i])
		}
		return out
	}
	for i, end := bound(at[0], high), bound(at[1], low); i > end; i += max(step, -n) {
		out = append(out, items[i])
	}
	return out
}
