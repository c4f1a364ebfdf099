package jinja

import (
	"maps"
	"slices"
)

// A parser turns tokens into statements (this file) and expressions
// (expression.go).
type parser struct {
	tokens []token
	at     int
	line   *int // of the token at hand
	depth  int
	loops  int // that are open around the tag
	frame  *frame
	frames []*frame
}

func (p *parser) peek() token {
	t := p.tokens[p.at]
	*p.line = t.line
	return t
}

func (p *parser) next() token {
	t := p.peek()
	if t.kind != eof {
		p.at++
	}
	return t
}

// is tells whether the token at hand is this word or operator.
func (p *parser) is(k kind, text string) bool {
	t := p.peek()
	return t.kind == k && t.text == text
}

// skip passes the token if it is this one.
func (p *parser) skip(k kind, text string) bool {
	if p.is(k, text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(k kind, text string) token {
	t := p.next()
	if t.kind != k || text != "" && t.text != text {
		want := text
		if want == "" {
			want = map[kind]string{name: "a name", closeVar: "}}", closeTag: "%}"}[k]
		}
		fail("%s expected, not %s", want, t.describe())
	}
	return t
}

func (t token) describe() string {
	switch t.kind {
	case eof:
		return "the end of the template"
	case data:
		return "text"
	case openVar, openBlock, closeVar, closeTag:
		return map[kind]string{openVar: "{{", openBlock: "{%", closeVar: "}}", closeTag: "%}"}[t.kind]
	}
	return "'" + clip(t.text) + "'"
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}

// nest bounds how deep the template's parts lie within each other.
func (p *parser) nest() func() {
	if p.depth++; p.depth > maxDepth/2 {
		fail("the template nests too deep")
	}
	return func() { p.depth-- }
}

// block reads statements up to the tag with one of the words, which is left,
// or to the end of the template if there are none.
func (p *parser) block(until ...string) block {
	defer p.nest()()
	var b block
	for {
		t := p.next()
		switch t.kind {
		case eof:
			if len(until) > 0 {
				fail("{%% %s %%} is missing", until[len(until)-1])
			}
			return b
		case data:
			b = append(b, statement{t.line, text(t.text)})
		case openVar:
			b = append(b, statement{t.line, output{p.tuple(true)}})
			p.expect(closeVar, "")
		default: // openBlock
			for _, word := range until {
				if p.is(name, word) {
					return b
				}
			}
			b = append(b, statement{t.line, p.readTag(p.expect(name, "").text)})
		}
	}
}

// readTag reads what follows a tag's first word, up to the last %} of the tag.
func (p *parser) readTag(word string) action {
	switch word {
	case "if":
		return readIf(p)
	case "for":
		return readFor(p)
	case "set":
		return readSet(p)
	case "macro":
		return readMacro(p)
	case "call":
		return readCall(p)
	case "filter":
		return readFilter(p)
	case "with":
		return readWith(p)
	case "generation": // marks what a model is trained on, and writes nothing itself
		return generation{p.apart(nil, "endgeneration")}
	case "break":
		return p.jump(breakLoop)
	case "continue":
		return p.jump(nextRound)
	}
	fail("a tag {%% %s %%} is not known here", clip(word))
	return nil
}

func readIf(p *parser) action {
	p.frame.ifs++
	defer func() { p.frame.ifs-- }()
	var n ifTag
	for {
		test := p.tuple(false)
		p.closeTag()
		n.arms = append(n.arms, arm{test, p.block("elif", "else", "endif")})
		switch p.next().text {
		case "elif":
			continue
		case "else":
			p.closeTag()
			n.otherwise = p.block("endif")
			p.next()
		}
		p.closeTag()
		return n
	}
}

func (p *parser) closeTag() { p.expect(closeTag, "") }

// body reads a body up to a tag of one word, and that tag.
func (p *parser) body(names []string, end string) body {
	p.closeTag()
	b := p.inner(names, func() block { return p.block(end) })
	p.next()
	p.closeTag()
	return b
}

// apart reads a body that is captured or called: no loop goes on from there.
func (p *parser) apart(names []string, end string) body {
	loops := p.loops
	p.loops = 0
	b := p.body(names, end)
	p.loops = loops
	return b
}

func readFor(p *parser) action {
	n := forTag{target: p.target()}
	p.expect(name, "in")
	n.over = p.tuple(false)
	if p.skip(name, "if") {
		n.filter = p.inner(n.target.names, func() block { n.test = p.expression(); return nil })
	}
	p.closeTag()
	p.loops++
	n.body = p.inner(append([]string{"loop"}, n.target.names...), func() block { return p.block("else", "endfor") })
	p.loops--
	n.otherwise = p.inner(nil, func() block {
		if p.next().text == "endfor" {
			return nil
		}
		p.closeTag()
		b := p.block("endfor")
		p.next()
		return b
	})
	p.closeTag()
	return n
}

// target reads the names that are assigned to: more than one share out a list.
func (p *parser) target() target {
	var t target
	open := p.skip(op, "(")
	for {
		t.names = append(t.names, p.assignable())
		if !p.skip(op, ",") {
			break
		}
		t.tuple = true
		if p.peek().kind != name || p.is(name, "in") {
			break
		}
	}
	if open {
		p.expect(op, ")")
	}
	return t
}

var reserved = map[string]bool{"true": true, "false": true, "none": true, "True": true, "False": true, "None": true, "not": true, "and": true, "or": true, "if": true, "else": true, "elif": true, "is": true, "in": true}

func (p *parser) assignable() string {
	t := p.expect(name, "")
	if reserved[t.text] {
		fail("'%s' cannot be assigned to", t.text)
	}
	return t.text
}

func readSet(p *parser) action {
	if p.tokens[p.at+1].text == "." { // a name's tokens are never the last
		n := setField{object: p.assignable()}
		p.frame.known[n.object] = true
		p.next()
		n.field = p.expect(name, "").text
		p.expect(op, "=")
		n.value = p.tuple(true)
		p.closeTag()
		return n
	}
	n := setTag{target: p.target()}
	if p.skip(op, "=") {
		n.value = p.tuple(true)
		p.closeTag()
	} else {
		if n.target.tuple {
			fail("a block is assigned to one name only")
		}
		capture := &captured{}
		n.value = capture
		if p.is(op, "|") {
			n.value = p.filters(capture)
		}
		capture.body = p.apart(nil, "endset")
	}
	for _, name := range n.target.names {
		p.frame.sets(name)
	}
	return n
}

func readMacro(p *parser) action {
	m := macro{name: p.assignable()}
	p.frame.sets(m.name)
	p.expect(op, "(")
	names := p.params(&m)
	m.body = p.apart(names, "endmacro")
	return macroTag{&m}
}

// params reads the parameters of a macro and the closing bracket. It gives the
// names that the macro's body knows then: theirs and those in their defaults.
func (p *parser) params(m *macro) (known []string) {
	p.list(")", func() {
		one := param{name: p.assignable()}
		known = append(known, one.name)
		if p.skip(op, "=") {
			b := p.inner(nil, func() block { one.preset = p.expression(); return nil })
			known = slices.AppendSeq(known, maps.Keys(b.frame.known))
		} else if n := len(m.params); n > 0 && m.params[n-1].preset != nil {
			fail("parameter '%s' without a default behind one with it", one.name)
		}
		m.params = append(m.params, one)
	})
	return known
}

func readCall(p *parser) action {
	m := macro{name: "caller"}
	var names []string
	if p.skip(op, "(") {
		names = p.params(&m)
	}
	c, ok := p.expression().(callExpr)
	if !ok {
		fail("{%% call %%} without a call")
	}
	m.body = p.apart(names, "endcall")
	return callTag{c, &m}
}

func readFilter(p *parser) action {
	capture := &captured{}
	value := p.filterChain(capture)
	capture.body = p.apart(nil, "endfilter")
	return output{value}
}

func readWith(p *parser) action {
	var n withTag
	var names []string
	for !p.is(closeTag, "") {
		if len(n.targets) > 0 {
			p.expect(op, ",")
		}
		t := p.target()
		n.targets, names = append(n.targets, t), append(names, t.names...)
		p.expect(op, "=")
		n.values = append(n.values, p.expression())
	}
	n.body = p.body(names, "endwith")
	return n
}

func (p *parser) jump(how jump) action {
	if p.loops == 0 {
		fail("a break or continue outside of a loop")
	}
	p.closeTag()
	return how
}
