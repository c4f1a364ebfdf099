package inference

import (
	"slices"

	"github.com/ollama/ollama/ml"
)

// streamShape is what one layer keeps per token.
type streamShape struct{ headDim, kvHeads int }

// row is how many values of K, and of V, one token takes.
func (s streamShape) row() int { return s.headDim * s.kvHeads }

const cacheValueSize = 2 // bytes of an f16

// streams is the KV cache: one stream of cells for every slot, so that a token
// attends over its own slot's cells and no others.
type streams struct {
	ctx          ml.Context // owns the memory
	slots, cells int
	layers       []stream
}

// stream is one layer's keys and values, each [headDim*kvHeads, cells*slots] in
// f16 (in f32 where a test wants exact ones): cell c of slot s is row s*cells+c.
type stream struct {
	streamShape
	keys, values ml.Tensor
}

func newStreams(be ml.Backend, shapes []streamShape, kind ml.DType, slots, cells int) *streams {
	s := &streams{ctx: be.NewContextSize(2 * len(shapes)), slots: slots, cells: cells}
	for i, shape := range shapes {
		ctx := s.ctx.Layer(i)
		s.layers = append(s.layers, stream{
			streamShape: shape,
			keys:        ctx.Zeros(kind, shape.row(), cells*slots),
			values:      ctx.Zeros(kind, shape.row(), cells*slots),
		})
	}
	return s
}

// window is the 4-D view [headDim, kvHeads, n, streams] of the first n cells of
// count slots from slot first on.
func (s *streams) window(ctx ml.Context, l *stream, cache ml.Tensor, first, count, n int) ml.Tensor {
	row := cache.Stride(1)
	return cache.View(ctx, first*s.cells*row,
		l.headDim, l.headDim*cache.Stride(0),
		l.kvHeads, row,
		n, row*s.cells,
		count)
}

// copy makes the first n cells of slot dst equal to those of slot src.
func (s *streams) copy(ctx ml.Context, dst, src, n int) {
	for i := range s.layers {
		l := &s.layers[i]
		for _, cache := range []ml.Tensor{l.keys, l.values} {
			at := func(slot int) ml.Tensor { return cache.View(ctx, slot*s.cells*cache.Stride(1), n*l.row()) }
			ctx.Forward(at(src).Copy(ctx, at(dst)))
		}
	}
}

// A step is the graph inputs of one batch, in the order in which its tokens are
// computed: first the rows of one token, by slot, then the longer rows.
type step struct {
	ctx       ml.Context
	cache     *streams
	tokens    ml.Tensor // [tokens] ids
	positions ml.Tensor // [tokens]
	at        ml.Tensor // [tokens] the cell that each token's K and V go to
	outputs   ml.Tensor // [outputs] the tokens whose logits are wanted
	groups    []group
	restore   ml.Tensor // [tokens] picks the tokens out of the groups' attention; nil when they are just these
}

// A group is rows of the same length in neighbouring slots: one attention.
// Tokens [from, from+length*count) of the step belong to it.
type group struct {
	from, length  int // first token; tokens a slot
	first, count  int // slots
	cells         int // that are attended over
	mask          ml.Tensor
	gather        ml.Tensor // [count] the token of each slot, where some slots between have none; nil otherwise
	gatheredCount int       // tokens that the group's attention gives
}

// attend writes the new keys and values, [headDim, kvHeads, tokens], into the
// layer's streams and gives the attention of q, [headDim, heads, tokens], over
// each token's own slot: [headDim*heads, tokens].
func (s *step) attend(layer int, q, k, v ml.Tensor, scale float64) ml.Tensor {
	l := &s.cache.layers[layer]
	headDim, heads, n := q.Dim(0), q.Dim(1), q.Dim(2)
	s.ctx.Forward(q, k, v) // the new rows are computed, then written, then the cache is read
	s.ctx.Forward(l.keys.SetRows(s.ctx, k.Reshape(s.ctx, l.row(), n), s.at))
	s.ctx.Forward(l.values.SetRows(s.ctx, v.Reshape(s.ctx, l.row(), n), s.at))
	var out ml.Tensor
	for i := range s.groups {
		g := &s.groups[i]
		part := g.queries(s.ctx, q).(ml.ScaledDotProductAttention).ScaledDotProductAttention(s.ctx,
			s.cache.window(s.ctx, l, l.keys, g.first, g.count, g.cells),
			s.cache.window(s.ctx, l, l.values, g.first, g.count, g.cells),
			g.mask, nil, nil, scale, true)
		part = part.Reshape(s.ctx, headDim*heads, g.gatheredCount)
		if out == nil {
			out = part
		} else {
			out = out.Concat(s.ctx, part, 1)
		}
	}
	if s.restore != nil {
		out = out.Rows(s.ctx, s.restore)
	}
	return out
}

// queries is the group's part of q as [headDim, heads, length, count].
func (g *group) queries(ctx ml.Context, q ml.Tensor) ml.Tensor {
	headDim, heads, n := q.Dim(0), q.Dim(1), q.Dim(2)
	if g.gather != nil {
		return q.Reshape(ctx, headDim*heads, n).Rows(ctx, g.gather).Reshape(ctx, headDim, heads, g.length, g.count)
	}
	return q.View(ctx, g.from*q.Stride(2), headDim, q.Stride(1), heads, q.Stride(2), g.length, g.length*q.Stride(2), g.count)
}

// onlyOutputs keeps the tokens whose logits are wanted: [n, tokens] to [n, outputs].
func (s *step) onlyOutputs(t ml.Tensor) ml.Tensor { return t.Rows(s.ctx, s.outputs) }

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

// graph turns a layout into the step's input tensors.
func (s *streams) graph(ctx ml.Context, l *layout) *step {
	in := ctx.Input()
	ints := func(v []int32) ml.Tensor { return in.FromInts(v, len(v)) }
	st := &step{ctx: ctx, cache: s, tokens: ints(l.tokens), positions: ints(l.positions), at: ints(l.at), outputs: ints(l.outputs)}
	for i := range l.groups {
		g := l.groups[i].group
		g.mask = in.FromBytes(ml.DTypeF16, l.groups[i].masks, g.cells, g.length, 1, g.count)
		if l.groups[i].gathers != nil {
			g.gather = ints(l.groups[i].gathers)
		}
		st.groups = append(st.groups, g)
	}
	if l.gaps {
		st.restore = ints(l.restore)
	}
	return st
}
