package jinja

import "strings"

// arguments are those of one call.
type arguments struct {
	list  []any
	named map[string]any
}

func (e callExpr) arguments(r *run) arguments {
	a := arguments{named: map[string]any{}}
	for _, x := range e.args {
		a.list = append(a.list, x.eval(r))
	}
	for _, n := range e.named {
		if _, twice := a.named[n.name]; twice {
			fail("an argument '%s' is given twice", n.name)
		}
		a.named[n.name] = n.value.eval(r)
	}
	return a
}

func (e callExpr) eval(r *run) any {
	f := e.f.eval(r)
	return r.call(f, e.arguments(r))
}

func (r *run) call(f any, args arguments) any {
	fn, ok := f.(*function)
	if !ok {
		fail("%s cannot be called", describe(f))
	}
	r.spend(8)
	return fn.call(r, args)
}

// A builtin is a filter, a test, a method or a function of the language. Its
// parameters are named in order; those with a star must be given.
type builtin struct {
	params string
	run    func(r *run, v any, args []any) any
}

// absent is an argument that was not given.
type absent struct{}

// use runs b on a value.
func (b builtin) use(r *run, what string, v any, args arguments) any {
	names := strings.Fields(b.params)
	if len(args.list) > len(names) {
		fail("%s takes %d arguments here, not %d", what, len(names), len(args.list))
	}
	values := make([]any, len(names))
	found := 0
	for i, n := range names {
		n, must := strings.CutSuffix(n, "*")
		given, ok := args.named[n]
		switch {
		case ok && i < len(args.list):
			fail("%s is given '%s' twice", what, n)
		case ok:
			values[i] = given
			found++
		case i < len(args.list):
			values[i] = args.list[i]
		case must:
			fail("%s needs '%s'", what, n)
		default:
			values[i] = absent{}
		}
	}
	if found < len(args.named) {
		fail("%s is given an argument that is not known here", what)
	}
	return b.run(r, v, values)
}

// or gives an argument, or the preset if it is absent.
func or(v, preset any) any {
	if _, ok := v.(absent); ok {
		return preset
	}
	return v
}

// need gives an argument of the type that is needed.
func need[T any](v any, what string) T {
	t, ok := v.(T)
	if !ok {
		fail("%s is needed, not %s", what, describe(v))
	}
	return t
}

func needText(v any) string { return need[string](v, "text") }

func needInt(v any) int64 {
	n, ok := integral(v)
	if !ok {
		fail("an integer is needed, not %s", describe(v))
	}
	return n
}

// A loop is what a for loop's body knows of it.
type loop struct {
	items []any
	at    int
}

func (l *loop) field(name string) any {
	n := len(l.items)
	switch name {
	case "index":
		return int64(l.at + 1)
	case "index0":
		return int64(l.at)
	case "revindex":
		return int64(n - l.at)
	case "revindex0":
		return int64(n - l.at - 1)
	case "first":
		return l.at == 0
	case "last":
		return l.at == n-1
	case "length":
		return int64(n)
	case "previtem":
		if l.at > 0 {
			return l.items[l.at-1]
		}
		return undefined{"loop.previtem"}
	case "nextitem":
		if l.at < n-1 {
			return l.items[l.at+1]
		}
		return undefined{"loop.nextitem"}
	}
	fail("loop.%s is not known here", clip(name))
	return nil
}

var globals = map[string]any{
	"range":           global("range", "a* b step", makeRange),
	"dict":            &function{"dict", makeDict},
	"namespace":       &function{"namespace", makeNamespace},
	"raise_exception": global("raise_exception", "message*", raise),
	"strftime_now":    global("strftime_now", "format*", func(r *run, _ any, a []any) any { return date(needText(a[0])) }),
}

func global(name, params string, f func(*run, any, []any) any) *function {
	return &function{name, func(r *run, args arguments) any { return builtin{params, f}.use(r, name, nil, args) }}
}

func raise(r *run, _ any, args []any) any { panic(fault{text: r.text(args[0]), raised: true}) }

// maxRange is the bound of jinja2's sandbox.
const maxRange = 100_000

func makeRange(r *run, _ any, args []any) any {
	start, end, step := int64(0), needInt(args[0]), needInt(or(args[2], int64(1)))
	if b := or(args[1], nil); b != nil {
		start, end = end, needInt(b)
	}
	const far = 1 << 40 // beyond it, the sums below could overflow
	if step == 0 || max(start, end, step, -start, -end, -step) > far {
		fail("a range with these bounds")
	}
	n := max((end-start+step-1)/step, 0)
	if step < 0 {
		n = max((end-start+step+1)/step, 0)
	}
	if n > maxRange {
		fail("a range of %d numbers: at most %d are made", n, maxRange)
	}
	items := make([]any, n)
	for i := range items {
		items[i] = start + int64(i)*step
	}
	return r.made(span, items)
}

func makeDict(r *run, args arguments) any {
	if len(args.list) > 0 || len(args.named) > 1 {
		fail("dict() takes one named argument here: write {...}") // the order of more is lost
	}
	d := &Dict{}
	for k, v := range args.named {
		d.set(k, v)
	}
	return d
}

func makeNamespace(r *run, args arguments) any {
	if len(args.list) > 0 {
		fail("namespace() takes named arguments only here")
	}
	r.spend(32 * len(args.named))
	return &namespace{args.named}
}
