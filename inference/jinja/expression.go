package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// The levels of an expression, the loosest first, as jinja2 has them.

// tuple reads expressions with commas between them; one without a comma is
// itself. With inline, each may be an inline if.
func (p *parser) tuple(inline bool) expr {
	read := p.or
	if inline {
		read = p.expression
	}
	first := read()
	if !p.is(op, ",") {
		return first
	}
	t := listExpr{kind: tuple, items: []expr{first}}
	for p.skip(op, ",") {
		if k := p.peek(); k.kind == closeTag || k.kind == closeVar || k.kind == op && (k.text == ")" || k.text == "=") {
			break
		}
		t.items = append(t.items, read())
	}
	return t
}

func (p *parser) expression() expr {
	defer p.nest()()
	e := p.or()
	for p.skip(name, "if") {
		c := inlineIf{then: e, test: p.or()}
		if p.skip(name, "else") {
			c.otherwise = p.expression()
		}
		e = c
	}
	return e
}

func (p *parser) or() expr {
	e := p.and()
	for p.skip(name, "or") {
		e = logic{e, p.and(), true}
	}
	return e
}

func (p *parser) and() expr {
	e := p.not()
	for p.skip(name, "and") {
		e = logic{e, p.not(), false}
	}
	return e
}

func (p *parser) not() expr {
	n := 0
	for p.skip(name, "not") {
		n++
	}
	e := p.compare()
	if n == 0 {
		return e
	}
	e = not{e}
	if n%2 == 0 {
		e = not{e}
	}
	return e
}

// compare reads comparisons, which chain: a < b < c.
func (p *parser) compare() expr {
	c := comparison{first: p.sum()}
	for {
		t := p.peek()
		switch {
		case t.kind == op && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, t.text), p.is(name, "in"):
			p.next()
			c.ops = append(c.ops, t.text)
		case p.is(name, "not") && p.tokens[p.at+1].kind == name && p.tokens[p.at+1].text == "in":
			p.at += 2
			c.ops = append(c.ops, "not in")
		case len(c.ops) == 0:
			return c.first
		default:
			return c
		}
		c.rest = append(c.rest, p.sum())
	}
}

// level reads operations that bind equally, from the left.
func (p *parser) level(below func() expr, ops ...string) expr {
	e := below()
	for {
		t := p.peek()
		if t.kind != op || !slices.Contains(ops, t.text) {
			return e
		}
		p.next()
		e = arithmetic{t.text, e, below()}
	}
}

func (p *parser) sum() expr     { return p.level(p.concat, "+", "-") }
func (p *parser) concat() expr  { return p.level(p.product, "~") }
func (p *parser) product() expr { return p.level(p.power, "*", "/", "//", "%") }
func (p *parser) power() expr   { return p.level(p.unary, "**") }

func (p *parser) unary() expr { return p.filters(p.signed()) }

// signed reads a value with its signs and with what hangs on it but filters.
func (p *parser) signed() expr {
	if t := p.peek(); t.kind == op && (t.text == "-" || t.text == "+") {
		defer p.nest()()
		p.next()
		return p.postfix(sign{t.text, p.signed()})
	}
	return p.postfix(p.primary())
}

func (p *parser) primary() expr {
	defer p.nest()()
	t := p.next()
	switch {
	case t.kind == name:
		switch t.text {
		case "true", "True":
			return constant{true}
		case "false", "False":
			return constant{false}
		case "none", "None":
			return constant{nil}
		}
		p.frame.known[t.text] = true
		return variable(t.text)
	case t.kind == str:
		s := t.text
		for p.peek().kind == str { // strings behind each other are one
			s += p.next().text
		}
		return constant{s}
	case t.kind == integer:
		return constant{whole(t.text)}
	case t.kind == float:
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			fail("the number %s is too large", clip(t.text))
		}
		return constant{f}
	case t.kind == op && t.text == "(":
		if p.skip(op, ")") {
			return listExpr{kind: tuple}
		}
		e := p.tuple(true)
		p.expect(op, ")")
		return e
	case t.kind == op && t.text == "[":
		return listExpr{kind: plainList, items: p.items()}
	case t.kind == op && t.text == "{":
		return p.dict()
	}
	fail("an expression expected, not %s", t.describe())
	return nil
}

func whole(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		fail("the number %s is too large", clip(s))
	}
	return n
}

// list reads things with commas between them, and maybe one behind the last, up
// to the closing bracket.
func (p *parser) list(end string, read func()) {
	for first := true; !p.skip(op, end); first = false {
		if !first {
			p.expect(op, ",")
			if p.skip(op, end) {
				return
			}
		}
		read()
	}
}

func (p *parser) items() (list []expr) {
	p.list("]", func() { list = append(list, p.expression()) })
	return list
}

func (p *parser) dict() expr {
	var d dictExpr
	p.list("}", func() {
		d.keys = append(d.keys, p.expression())
		p.expect(op, ":")
		d.values = append(d.values, p.expression())
	})
	return d
}

// postfix reads the fields, items and calls that hang on a value.
func (p *parser) postfix(e expr) expr {
	for n := 0; ; n++ {
		if n > maxDepth/2 {
			fail("the template nests too deep")
		}
		switch {
		case p.skip(op, "."):
			if t := p.next(); t.kind == integer {
				e = item{e, constant{whole(t.text)}}
			} else if t.kind == name {
				e = field{e, t.text}
			} else {
				fail("a name expected behind the dot, not %s", t.describe())
			}
		case p.skip(op, "["):
			e = p.subscript(e)
		case p.skip(op, "("):
			e = p.call(e)
		default:
			return e
		}
	}
}

// subscript reads an index or a slice.
func (p *parser) subscript(of expr) expr {
	var parts [3]expr
	colons := 0
	for !p.skip(op, "]") {
		switch {
		case p.skip(op, ":"):
			colons++
		case parts[min(colons, 2)] == nil:
			parts[min(colons, 2)] = p.expression()
		default:
			fail("] expected, not %s", p.peek().describe())
		}
	}
	switch {
	case colons > 2 || colons == 0 && parts[0] == nil:
		fail("an index expected in []")
	case colons == 0:
		return item{of, parts[0]}
	}
	return slice{of, parts}
}

func (p *parser) call(f expr) expr {
	c := callExpr{f: f}
	p.list(")", func() {
		if p.peek().kind == name && p.tokens[p.at+1].kind == op && p.tokens[p.at+1].text == "=" {
			n := p.next().text
			p.next()
			c.named = append(c.named, named{n, p.expression()})
			return
		}
		if len(c.named) > 0 {
			fail("an argument without a name behind one with it")
		}
		c.args = append(c.args, p.expression())
	})
	return c
}

// filters reads the filters, tests and calls behind a value.
func (p *parser) filters(e expr) expr {
	for n := 0; ; n++ {
		if n > maxDepth/2 {
			fail("the template nests too deep")
		}
		switch {
		case p.skip(op, "|"):
			e = p.filter(e)
		case p.skip(name, "is"):
			e = p.test(e)
		case p.skip(op, "("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) dotted() string {
	parts := []string{p.expect(name, "").text}
	for p.skip(op, ".") {
		parts = append(parts, p.expect(name, "").text)
	}
	return strings.Join(parts, ".")
}

func (p *parser) filter(e expr) expr {
	f := filtered{value: e, name: p.dotted()}
	if p.skip(op, "(") {
		f.call = p.call(nil).(callExpr)
	}
	return f
}

// filterChain reads the filters of a {% filter %} tag, the first without a bar.
func (p *parser) filterChain(e expr) expr { return p.filters(p.filter(e)) }

func (p *parser) test(e expr) expr {
	negated := p.skip(name, "not")
	t := tested{value: e, name: p.dotted()}
	next := p.peek()
	switch {
	case p.skip(op, "("):
		t.call = p.call(nil).(callExpr)
	case p.is(name, "is"):
		fail("tests cannot be chained with is")
	case next.kind == str || next.kind == integer || next.kind == float,
		next.kind == name && next.text != "else" && next.text != "or" && next.text != "and",
		next.kind == op && (next.text == "[" || next.text == "{"):
		t.call.args = []expr{p.postfix(p.primary())}
	}
	if negated {
		return not{t}
	}
	return t
}
