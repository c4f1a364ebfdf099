package inference

import "slices"

// layout is a batch as flat slices, before they become tensors.
type layout struct {
	tokens, positions, outputs []int32
	at                         [][]int32 // in each span
	rows                       []int     // outputs[i] belongs to Rows[rows[i]]
	groups                     []groupLayout
	restore                    []int32
	gaps                       bool
	tail                       *layout // of the outputs alone; nil: no layer needs it
}

type groupLayout struct {
	group
	gathers []int32
	masks   [][]byte // in each span f16 [cells, length, 1, count]
}

// lay orders a batch into a step. padTokens and padOutputs double a lone token
// or output, for weights whose kernels treat a single row differently.
func (s *streams) lay(rows []Row, padTokens, padOutputs bool) *layout {
	l := s.layRows(rows, padTokens, padOutputs)
	if s.tailed {
		s.layTail(l, rows, padOutputs)
	}
	return l
}

// layTail lays out the outputs alone, for layers after the last that keeps keys
// and values: a batch of one token from each row. The outputs take its order.
func (s *streams) layTail(l *layout, rows []Row, pad bool) {
	var tails []Row
	var of []int // tails[i] is the end of rows[of[i]]
	for i, r := range rows {
		if r.Sample || len(l.rows) == 0 && i == len(rows)-1 {
			n := len(r.Tokens) - 1
			tails = append(tails, Row{Slot: r.Slot, Pos: r.Pos + n, Tokens: r.Tokens[n:], Sample: true})
			of = append(of, i)
		}
	}
	l.tail = s.layRows(tails, pad, pad)
	places := make(map[int32]int32, len(l.tokens)) // of the tokens by the cells that they are kept in
	for i, at := range l.at[0] {
		places[at] = int32(i)
	}
	for i, at := range l.tail.at[0] {
		l.outputs[i] = places[at]
	}
	if len(l.rows) > 0 {
		for i, r := range l.tail.rows {
			l.rows[i] = of[r]
		}
	}
}

// layRows is lay without a tail.
func (s *streams) layRows(rows []Row, padTokens, padOutputs bool) *layout {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if x, y := len(rows[a].Tokens) > 1, len(rows[b].Tokens) > 1; x != y {
			if x {
				return 1
			}
			return -1
		}
		return rows[a].Slot - rows[b].Slot
	})
	l := &layout{at: make([][]int32, len(s.spans))}
	ones := 0
	for _, i := range order {
		r := &rows[i]
		if len(r.Tokens) == 1 {
			ones++
		}
		for j, t := range r.Tokens {
			l.tokens = append(l.tokens, t)
			l.positions = append(l.positions, int32(r.Pos+j))
			for k, sp := range s.spans {
				l.at[k] = append(l.at[k], int32(r.Slot*sp.cells+sp.cell(r.Pos+j)))
			}
		}
		if r.Sample {
			l.outputs = append(l.outputs, int32(len(l.tokens)-1))
			l.rows = append(l.rows, i)
		}
	}
	if len(l.outputs) == 0 { // the runtime wants at least one row of logits
		l.outputs = append(l.outputs, int32(len(l.tokens)-1))
	}
	if padOutputs && len(l.outputs) == 1 {
		l.outputs = append(l.outputs, l.outputs[0])
	}
	if padTokens && len(l.tokens) == 1 {
		l.tokens, l.positions = append(l.tokens, l.tokens[0]), append(l.positions, l.positions[0])
		for k, at := range l.at {
			l.at[k] = append(at, at[0])
		}
		r := rows[order[0]]
		l.groups = append(l.groups, s.lone(&r))
		return l
	}
	if ones > 0 {
		l.groups = append(l.groups, s.ones(rows, order[:ones], l))
	}
	from := ones
	for _, i := range order[ones:] {
		l.groups = append(l.groups, s.long(&rows[i], from))
		from += len(rows[i].Tokens)
	}
	if l.gaps {
		base := int32(l.groups[0].gatheredCount - ones)
		for i := ones; i < len(l.tokens); i++ {
			l.restore = append(l.restore, base+int32(i))
		}
	}
	return l
}

// ones is the group of all rows of one token. Slots between them that have none
// take part with nothing to see: cheaper than an attention for each run of
// neighbours.
func (s *streams) ones(rows []Row, order []int, l *layout) groupLayout {
	first, last := rows[order[0]].Slot, rows[order[len(order)-1]].Slot
	longest := 0
	for _, i := range order {
		longest = max(longest, rows[i].Pos+1)
	}
	g := s.newGroup(group{from: 0, length: 1, first: first, count: last - first + 1, gatheredCount: last - first + 1}, longest)
	for _, i := range order {
		s.see(&g, rows[i].Slot-first, rows[i].Pos)
	}
	if g.count > len(order) {
		l.gaps = true
		g.gathers = make([]int32, g.count) // an idle slot takes token 0 and sees nothing
		for j, i := range order {
			g.gathers[rows[i].Slot-first] = int32(j)
			l.restore = append(l.restore, int32(rows[i].Slot-first))
		}
	}
	return g
}

// long is the group of one row of several tokens.
func (s *streams) long(r *Row, from int) groupLayout {
	n := len(r.Tokens)
	g := s.newGroup(group{from: from, length: n, first: r.Slot, count: 1, gatheredCount: n}, r.Pos+n)
	for j := range n {
		s.see(&g, j, r.Pos+j)
	}
	return g
}

// lone is a row of one token, twice.
func (s *streams) lone(r *Row) groupLayout {
	g := s.newGroup(group{length: 2, first: r.Slot, count: 1, gatheredCount: 2}, r.Pos+1)
	s.see(&g, 0, r.Pos)
	s.see(&g, 1, r.Pos)
	return g
}

// newGroup is a group that sees nothing yet of slots of so many positions.
func (s *streams) newGroup(g group, positions int) groupLayout {
	l := groupLayout{group: g}
	for _, sp := range s.spans {
		n := sp.pad(positions)
		l.cells = append(l.cells, n)
		l.masks = append(l.masks, blindMask(n*g.length*g.count))
	}
	return l
}

// see opens the group's i-th row of each mask for a token at this position.
func (s *streams) see(g *groupLayout, i, position int) {
	for k, sp := range s.spans {
		row := g.masks[k][2*g.cells[k]*i:]
		first := 0
		if sp.window > 0 {
			first = max(0, position-sp.window+1)
		}
		// A window that goes over the ring's end goes on at its beginning.
		from, n := sp.cell(first), position-first+1
		before := min(n, sp.cells-from)
		clear(row[2*from : 2*(from+before)])
		clear(row[:2*(n-before)])
	}
}

func (sp span) cell(position int) int { return position % sp.cells }

// pad rounds up the number of cells that are attended over: few shapes of
// graphs, and views that the kernels like.
func (sp span) pad(n int) int { return min((n+31)/32*32, sp.cells) }

// blindMask is an f16 mask in which nothing is seen: minus infinity everywhere.
func blindMask(n int) []byte {
	b := make([]byte, 2*n)
	if n > 0 {
		b[0], b[1] = 0x00, 0xfc
		for k := 2; k < len(b); k *= 2 {
			copy(b[k:], b[:k])
		}
	}
	return b
}

// sameShape tells whether two layouts need the same graph: they differ in
// tokens, positions and masks alone.
func (l *layout) sameShape(o *layout) bool {
	return len(l.tokens) == len(o.tokens) && len(l.outputs) == len(o.outputs) && l.gaps == o.gaps &&
		(l.tail == nil || l.tail.sameShape(o.tail)) &&
		slices.EqualFunc(l.groups, o.groups, func(a, b groupLayout) bool {
			return a.from == b.from && a.length == b.length && a.first == b.first && a.count == b.count &&
				slices.Equal(a.cells, b.cells) && (a.gathers == nil) == (b.gathers == nil)
		})
}
