package inference

import "slices"

// layout is a batch as flat slices, before they become tensors.
type layout struct {
	tokens, positions, at, outputs []int32
	rows                           []int // outputs[i] belongs to Rows[rows[i]]
	groups                         []groupLayout
	restore                        []int32
	gaps                           bool
}

type groupLayout struct {
	group
	gathers []int32
	masks   []byte // f16 [cells, length, 1, count]
}

// lay orders a batch into a step. padTokens and padOutputs double a lone token
// or output, for weights whose kernels treat a single row differently.
func (s *streams) lay(rows []Row, padTokens, padOutputs bool) *layout {
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
	l := &layout{}
	ones := 0
	for _, i := range order {
		r := &rows[i]
		if len(r.Tokens) == 1 {
			ones++
		}
		for j, t := range r.Tokens {
			l.tokens = append(l.tokens, t)
			l.positions = append(l.positions, int32(r.Pos+j))
			l.at = append(l.at, int32(r.Slot*s.cells+r.Pos+j))
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
		l.tokens, l.positions, l.at = append(l.tokens, l.tokens[0]), append(l.positions, l.positions[0]), append(l.at, l.at[0])
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
	g := groupLayout{group: group{from: 0, length: 1, first: first, count: last - first + 1}}
	g.gatheredCount = g.count
	for _, i := range order {
		g.cells = max(g.cells, s.pad(rows[i].Pos+1))
	}
	g.masks = blindMask(g.cells * g.count)
	for _, i := range order {
		see(g.masks[2*g.cells*(rows[i].Slot-first):], rows[i].Pos+1)
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
	g := groupLayout{group: group{from: from, length: n, first: r.Slot, count: 1, cells: s.pad(r.Pos + n), gatheredCount: n}}
	g.masks = blindMask(g.cells * n)
	for j := range n {
		see(g.masks[2*g.cells*j:], r.Pos+j+1)
	}
	return g
}

// lone is a row of one token, twice.
func (s *streams) lone(r *Row) groupLayout {
	g := groupLayout{group: group{length: 2, first: r.Slot, count: 1, cells: s.pad(r.Pos + 1), gatheredCount: 2}}
	g.masks = blindMask(g.cells * 2)
	see(g.masks, r.Pos+1)
	see(g.masks[2*g.cells:], r.Pos+1)
	return g
}

// pad rounds up the number of cells that are attended over: few shapes of
// graphs, and views that the kernels like.
func (s *streams) pad(n int) int { return min((n+31)/32*32, s.cells) }

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

// see opens the first n cells of a mask's row.
func see(row []byte, n int) { clear(row[:2*n]) }

// sameShape tells whether two layouts need the same graph: they differ in
// tokens, positions and masks alone.
func (l *layout) sameShape(o *layout) bool {
	return len(l.tokens) == len(o.tokens) && len(l.outputs) == len(o.outputs) && l.gaps == o.gaps &&
		slices.EqualFunc(l.groups, o.groups, func(a, b groupLayout) bool {
			return a.from == b.from && a.length == b.length && a.first == b.first && a.count == b.count &&
				a.cells == b.cells && (a.gathers == nil) == (b.gathers == nil)
		})
}
