package inference

import (
	"cmp"
	"slices"
)

// layout is a batch as flat slices, before they become tensors: first the rows
// that decode, in the order of their blocks, then those of prompts.
type layout struct {
	tokens, positions, outputs []int32
	rows                       []int        // outputs[i] belongs to Rows[rows[i]]
	spans                      []spanLayout // for the layers of each span
	tail                       *layout      // of the outputs alone; nil: no layer needs it
	decodes                    bool         // only: all tokens were sampled
}

// spanLayout is a batch as layers of one span see it.
type spanLayout struct {
	at      []int32 // cells of the tokens
	groups  []groupLayout
	restore []int32 // places of the tokens in what the groups give; nil: in their order

	place []int32       // the places in any case
	old   []groupLayout // of the layout before, whose memory is used again
}

type groupLayout struct {
	group
	gathers []int32 // tokens of the group; nil: those from from on
	mask    mask
}

// A group is one attention: of the tokens of a prompt's chunk, or of one token
// each of slots that decode, in blocks of one size.
type group struct {
	prompt        bool
	from, length  int // first token; tokens a slot
	first, stride int // the first slot's first cell; cells from a slot's beginning to the next one's
	count         int // slots
	cells         int // that are attended over in each
}

// attentionPart is how many tokens of a prompt attend together. Shorter parts
// compute less of what the mask hides, longer ones fewer kernels.
const attentionPart = 128

// lay orders a batch into a step. padTokens and padOutputs double a lone token
// or output, for weights whose kernels treat a single row differently. It takes
// the memory of an old layout, if there is one, and what is left to do of its
// masks: from one decoding step to the next each row sees one more cell.
func (s *streams) lay(rows []Row, padTokens, padOutputs bool, old *layout) *layout {
	if old == nil {
		old = &layout{}
	}
	decodes := !slices.ContainsFunc(rows, func(r Row) bool { return !r.Decode })
	few := s.few && decodes
	l := s.layRows(rows, padTokens, padOutputs, few, old)
	l.decodes = decodes
	if s.tailed {
		s.layTail(l, rows, padOutputs, few, old.tail)
	}
	return l
}

// layTail lays out the outputs alone, for layers after the last that keeps keys
// and values: a batch of one token from each row. The outputs take its order.
func (s *streams) layTail(l *layout, rows []Row, pad, few bool, old *layout) {
	if old == nil {
		old = &layout{}
	}
	var tails []Row
	var of []int // tails[i] is the end of rows[of[i]]
	for i, r := range rows {
		if r.Sample || len(l.rows) == 0 && i == len(rows)-1 {
			n := len(r.Tokens) - 1
			r.Pos, r.Tokens, r.Sample = r.Pos+n, r.Tokens[n:], true
			tails, of = append(tails, r), append(of, i)
		}
	}
	l.tail = s.layRows(tails, pad, pad, few, old)
	places := make(map[int32]int32, len(l.tokens)) // of the tokens by the cells that they are kept in
	for i, at := range l.spans[0].at {
		places[at] = int32(i)
	}
	for i, at := range l.tail.spans[0].at {
		l.outputs[i] = places[at]
	}
	if len(l.rows) > 0 {
		for i, r := range l.tail.rows {
			l.rows[i] = of[r]
		}
	}
}

// layRows is lay without a tail. few: there should be few shapes.
func (s *streams) layRows(rows []Row, padTokens, padOutputs, few bool, old *layout) *layout {
	order := inOrder(rows)
	l := &layout{
		tokens: old.tokens[:0], positions: old.positions[:0], outputs: old.outputs[:0], rows: old.rows[:0],
		spans: slices.Grow(old.spans[:0], len(s.spans))[:len(s.spans)],
	}
	from := make([]int, 0, len(rows)) // the first token of each row, in order
	for _, i := range order {
		r := &rows[i]
		from = append(from, len(l.tokens))
		for j, t := range r.Tokens {
			l.tokens, l.positions = append(l.tokens, t), append(l.positions, int32(r.Pos+j))
		}
		if r.Sample {
			l.outputs = append(l.outputs, int32(len(l.tokens)-1))
			l.rows = append(l.rows, i)
		}
	}
	if len(l.outputs) == 0 { // the runtime wants at least one row of logits
		l.outputs = append(l.outputs, int32(len(l.tokens)-1))
	}
	for range repeats(len(l.outputs), padOutputs, few) {
		l.outputs = append(l.outputs, l.outputs[0])
	}
	again := repeats(len(l.tokens), padTokens, few)
	for range again {
		l.tokens, l.positions = append(l.tokens, l.tokens[0]), append(l.positions, l.positions[0])
	}
	for k, sp := range s.spans {
		s.laySpan(&l.spans[k], sp, rows, order, from)
		if sl := &l.spans[k]; few || again > 0 {
			for range again {
				sl.at, sl.place = append(sl.at, sl.at[0]), append(sl.place, sl.place[0])
			}
			sl.restore = sl.place
		}
	}
	return l
}

// repeats is how often the first of n tokens, or outputs, is computed again: once
// where a lone one would be treated differently, and where there should be few
// shapes until there is a multiple of 8, or of 32 if they are many.
func repeats(n int, double, few bool) int {
	to := n
	switch {
	case few && n > 64:
		to = (n + 31) / 32 * 32
	case few:
		to = (n + 7) / 8 * 8
	case double && n == 1:
		to = 2
	}
	return to - n
}

// inOrder are the numbers of the rows in the order in which they are computed.
func inOrder(rows []Row) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &rows[a], &rows[b]
		switch {
		case x.Decode && y.Decode:
			return cmp.Or(x.Block.Cells-y.Block.Cells, x.Block.First-y.Block.First)
		case x.Decode:
			return -1
		case y.Decode:
			return 1
		}
		return 0
	})
	return order
}

// laySpan lays out the attention of layers of a span over rows in this order,
// whose first tokens are from, over an old layout of theirs.
func (s *streams) laySpan(l *spanLayout, sp span, rows []Row, order, from []int) {
	l.at, l.old, l.groups = l.at[:0], l.groups, l.old[:0]
	var decodes []decoding
	parts := 0
	for j, i := range order {
		r := &rows[i]
		b := sp.block(r.Slot, r.Block)
		for k := range r.Tokens {
			l.at = append(l.at, int32(b.First+sp.cell(r.Pos+k)))
		}
		if r.Decode {
			decodes = append(decodes, decoding{Block: b, token: from[j], pos: r.Pos})
		} else {
			parts += s.parts(len(r.Tokens))
		}
	}
	l.place = slices.Grow(l.place[:0], len(l.at))[:len(l.at)]
	given := 0 // tokens that the groups so far give
	for _, run := range cut(decodes, s.most-parts) {
		given += s.decode(l, sp, run, given)
	}
	for j, i := range order {
		if r := &rows[i]; !r.Decode {
			given += s.prompt(l, sp, r, from[j], given)
		}
	}
	l.restore = l.place
	if given == len(l.at) && slices.IsSorted(l.place) {
		l.restore = nil
	}
}

// decoding is the stream of a row that decodes.
type decoding struct {
	Block
	token, pos int
}

// mostIdle is how many idle slots in a row attend to nothing beside those that
// decode, where the graph has room for another attention: a few cost less than
// that does.
const mostIdle = 8

// cut makes runs of neighbouring streams of one size, at most so many where the
// number of sizes allows it.
func cut(decodes []decoding, most int) [][]decoding {
	slices.SortFunc(decodes, func(a, b decoding) int { return cmp.Or(a.Cells-b.Cells, a.First-b.First) })
	for idle := mostIdle; ; idle *= 2 {
		var runs [][]decoding
		begin, wider := 0, false
		for i := 1; i <= len(decodes); i++ {
			if i < len(decodes) && decodes[i].Cells == decodes[begin].Cells {
				if (decodes[i].First-decodes[i-1].First)/decodes[i].Cells-1 <= idle {
					continue
				}
				wider = true // a larger idle joins these
			}
			runs = append(runs, decodes[begin:i])
			begin = i
		}
		if len(runs) <= most || !wider {
			return runs
		}
	}
}

// decode adds the group of a run of streams. Idle slots between them take part
// with nothing to see. It gives as many tokens as it returns, after given others.
func (s *streams) decode(l *spanLayout, sp span, run []decoding, given int) int {
	first, last, size := run[0].First, run[len(run)-1].First, run[0].Cells
	if s.few { // so that games may come and go beside those that go on
		first = first / (mostIdle * size) * (mostIdle * size)
		last = min((last/(mostIdle*size)+1)*mostIdle*size, sp.total(s.limits)) - size
	}
	longest := 0
	for _, d := range run {
		longest = max(longest, min(d.pos+1, size))
	}
	from := run[0].token
	if s.few { // not needed, and would make another shape
		from = 0
	}
	g := s.add(l, s.up(longest), group{from: from, length: 1, first: first, stride: size, count: (last-first)/size + 1})
	gathers, neighbours := make([]int32, g.count), g.count == len(run) && !s.few
	next := 0
	for j, d := range run {
		i := (d.First - first) / size
		gathers[i] = int32(d.token) // an idle slot takes token 0
		neighbours = neighbours && d.token == g.from+j
		for ; next < i; next++ {
			g.mask.hide(next)
		}
		g.mask.see(sp, i, d.pos)
		next++
		l.place[d.token] = int32(given + i)
	}
	for ; next < g.count; next++ {
		g.mask.hide(next)
	}
	if !neighbours {
		g.gathers = gathers
	}
	return g.count
}

// parts is how many groups a prompt's chunk of n tokens takes: no more than a graph has
// room for.
func (s *streams) parts(n int) int {
	if s.fused {
		return 1
	}
	return min((n+attentionPart-1)/attentionPart, s.most)
}

// prompt adds the groups of a prompt's chunk whose first token is from. They give
// as many tokens as it returns, after given others.
func (s *streams) prompt(l *spanLayout, sp span, r *Row, from, given int) int {
	b, n, parts := sp.block(r.Slot, r.Block), len(r.Tokens), s.parts(len(r.Tokens))
	if n == 1 && !s.fused { // doubled: a lone one would take another kernel
		g := s.add(l, s.up(r.Pos+1), group{prompt: true, from: from, length: 2, first: b.First, stride: b.Cells, count: 1})
		g.gathers = []int32{int32(from), int32(from)}
		g.mask.see(sp, 0, r.Pos)
		g.mask.see(sp, 1, r.Pos)
		l.place[from] = int32(given)
		return 2
	}
	for p := range parts {
		begin, end := n*p/parts, n*(p+1)/parts
		g := s.add(l, s.up(r.Pos+end), group{prompt: true, from: from + begin, length: end - begin, first: b.First, stride: b.Cells, count: 1})
		for i := range g.length {
			g.mask.see(sp, i, r.Pos+begin+i)
			l.place[g.from+i] = int32(given + begin + i)
		}
	}
	return n
}

// add adds a group that attends over so many cells, a multiple of the grain: few
// shapes of graphs, and views that the kernels like. Its mask is that of the
// group in this place before.
func (s *streams) add(l *spanLayout, cells int, g group) *groupLayout {
	g.cells = min(cells, g.stride)
	var m mask
	if n := len(l.groups); n < len(l.old) {
		m = l.old[n].mask
	}
	m.resize(g.cells, g.length*g.count, &s.inputs.host)
	l.groups = append(l.groups, groupLayout{group: g, mask: m})
	return &l.groups[len(l.groups)-1]
}

// sameShape tells whether two layouts need the same graph: they differ in
// tokens, positions and masks alone.
func (l *layout) sameShape(o *layout) bool {
	return len(l.tokens) == len(o.tokens) && len(l.outputs) == len(o.outputs) &&
		(l.tail == nil || l.tail.sameShape(o.tail)) &&
		slices.EqualFunc(l.spans, o.spans, func(a, b spanLayout) bool {
			return len(a.restore) == len(b.restore) && slices.EqualFunc(a.groups, b.groups, func(a, b groupLayout) bool {
				return a.group == b.group && (a.gathers == nil) == (b.gathers == nil)
			})
		})
}
