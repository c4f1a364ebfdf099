package jinja

// A body is a block with variables of its own.
type body struct {
	block
	frame *frame
}

// A frame is what is known of a body's own variables before it runs. In Python
// they are the local variables of a function: one that the body sets is there,
// undefined, from its beginning, and hides what the caller gave under that
// name. Only loops and macros within the body can tell, that read it before it
// is set; the body itself, where it reads first, takes the caller's.
type frame struct {
	outer *frame
	known map[string]bool // read or set at this level so far
	ifs   int             // that are open at this level
	hides []string        // set before anything else
}

// inner reads a body within a frame of its own, in which names are known.
func (p *parser) inner(names []string, read func() block) body {
	f := &frame{outer: p.frame, known: map[string]bool{}}
	for _, n := range names {
		f.known[n] = true
	}
	p.frame = f
	p.frames = append(p.frames, f)
	b := body{read(), f}
	p.frame = f.outer
	return b
}

// sets notes that the body sets a name. What an if sets may still be the
// caller's.
func (f *frame) sets(name string) {
	if !f.known[name] && f.ifs == 0 {
		f.hides = append(f.hides, name)
	}
	f.known[name] = true
}

// settle drops what a frame hides but one around it knows: there it is that
// one's. All frames have been read then.
func (f *frame) settle() {
	var hides []string
	for _, name := range f.hides {
		known := false
		for o := f.outer; o != nil; o = o.outer {
			known = known || o.known[name]
		}
		if !known {
			hides = append(hides, name)
		}
	}
	f.hides = hides
}

// within does the work of f in a new scope of the frame inside s.
func (r *run) within(s *scope, own *frame, f func()) {
	r.spend(32)
	outer := r.scope
	r.scope = &scope{vars: map[string]any{}, parent: s}
	for _, name := range own.hides {
		r.scope.vars[name] = undefined{name}
	}
	f()
	r.scope = outer
}
