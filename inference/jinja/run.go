package jinja

// What the tags of a template do.

// An action is one tag or text at work. It says how the loop around it goes on.
type action interface{ exec(r *run) jump }

type jump int

const (
	goOn jump = iota
	breakLoop
	nextRound
)

func (j jump) exec(*run) jump { return j }

type statement struct {
	line int
	action
}

type block []statement

func (b block) exec(r *run) jump {
	r.enter()
	defer r.leave()
	for _, s := range b {
		r.line = s.line
		r.spend(1)
		if j := s.exec(r); j != goOn {
			return j
		}
	}
	return goOn
}

type text string

func (t text) exec(r *run) jump { return r.write(string(t)) }

func (r *run) write(s string) jump {
	r.spend(len(s))
	r.out.WriteString(s)
	return goOn
}

type output struct{ value expr }

func (o output) exec(r *run) jump { return r.write(r.text(o.value.eval(r))) }

type (
	arm struct {
		test expr
		then block
	}
	ifTag struct {
		arms      []arm
		otherwise block
	}
)

func (n ifTag) exec(r *run) jump {
	for _, a := range n.arms {
		if truth(a.test.eval(r)) {
			return a.then.exec(r)
		}
	}
	return n.otherwise.exec(r)
}

type forTag struct {
	target    target
	over      expr
	test      expr // of the items that are taken; nil: all
	filter    body // where the test is done
	body      body
	otherwise body // without a whole round
}

func (n forTag) exec(r *run) jump {
	items := r.iterate(n.over.eval(r))
	outer := r.scope
	if n.test != nil {
		var kept []any
		for _, v := range items {
			r.within(outer, n.filter.frame, func() {
				n.target.assign(r, v)
				if truth(n.test.eval(r)) {
					kept = append(kept, v)
				}
			})
		}
		items = kept
	}
	l := &loop{items: items}
	ran := false // the body to its end; as in Python, a continue leaves the else to do
	for i, v := range items {
		var j jump
		r.within(outer, n.body.frame, func() {
			l.at = i
			r.scope.vars["loop"] = l
			n.target.assign(r, v)
			j = n.body.exec(r)
		})
		if j == breakLoop {
			break
		}
		ran = ran || j == goOn
	}
	var j jump
	if !ran {
		r.within(outer, n.otherwise.frame, func() { j = n.otherwise.exec(r) })
	}
	return j // of the loop around this one
}

// A target is what a value is assigned to.
type target struct {
	names []string
	tuple bool
}

func (t target) assign(r *run, v any) {
	if !t.tuple {
		r.scope.vars[t.names[0]] = v
		return
	}
	items := r.iterate(v)
	if len(items) != len(t.names) {
		fail("%d values for %d names", len(items), len(t.names))
	}
	for i, v := range items {
		r.scope.vars[t.names[i]] = v
	}
}

type setTag struct {
	target target
	value  expr
}

func (n setTag) exec(r *run) jump {
	n.target.assign(r, n.value.eval(r))
	return goOn
}

type setField struct {
	object, field string
	value         expr
}

func (n setField) exec(r *run) jump {
	v := n.value.eval(r)
	ns, ok := r.lookup(n.object).(*namespace)
	if !ok {
		fail("'%s' is no namespace: its fields cannot be set", n.object)
	}
	ns.fields[n.field] = v
	return goOn
}

// captured is the text that a body writes.
type captured struct{ body body }

func (c *captured) eval(r *run) any {
	return r.capture(func() { r.within(r.scope, c.body.frame, func() { c.body.exec(r) }) })
}

type withTag struct {
	targets []target
	values  []expr
	body    body
}

func (n withTag) exec(r *run) (j jump) {
	values := make([]any, len(n.values))
	for i, v := range n.values {
		values[i] = v.eval(r)
	}
	r.within(r.scope, n.body.frame, func() {
		for i, t := range n.targets {
			t.assign(r, values[i])
		}
		j = n.body.exec(r)
	})
	return j
}

type generation struct{ body body }

func (n generation) exec(r *run) jump {
	r.within(r.scope, n.body.frame, func() { n.body.exec(r) })
	return goOn
}

type (
	macro struct {
		name   string
		params []param
		body   body
	}
	param struct {
		name   string
		preset expr // nil: none
	}
	macroTag struct{ *macro }
	callTag  struct {
		call callExpr
		body *macro
	}
)

func (n macroTag) exec(r *run) jump {
	r.scope.vars[n.name] = n.bind(r.scope)
	return goOn
}

func (n callTag) exec(r *run) jump {
	args := n.call.arguments(r)
	args.named["caller"] = n.body.bind(r.scope)
	return r.write(r.text(r.call(n.call.f.eval(r), args)))
}

// bind makes a function of the macro, which sees the variables of the scope in
// which it was written.
func (m *macro) bind(home *scope) *function {
	return &function{m.name, func(r *run, args arguments) any {
		r.enter()
		defer r.leave()
		line := r.line
		out := r.capture(func() { r.within(home, m.body.frame, func() { m.run(r, args) }) })
		r.line = line
		return out
	}}
}

func (m *macro) run(r *run, args arguments) {
	if len(args.list) > len(m.params) {
		fail("macro '%s' takes %d arguments, not %d", m.name, len(m.params), len(args.list))
	}
	used := 0
	for i, p := range m.params {
		var v any = undefined{p.name}
		given, ok := args.named[p.name]
		switch {
		case ok && i < len(args.list):
			fail("macro '%s' is given '%s' twice", m.name, p.name)
		case ok:
			v = given
			used++
		case i < len(args.list):
			v = args.list[i]
		case p.preset != nil:
			v = p.preset.eval(r)
		}
		r.scope.vars[p.name] = v
	}
	if caller, ok := args.named["caller"]; ok {
		r.scope.vars["caller"] = caller
		used++
	}
	if used < len(args.named) {
		fail("macro '%s' is given arguments that it does not have", m.name)
	}
	m.body.exec(r)
}
