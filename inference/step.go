package inference

import "github.com/ollama/ollama/ml"

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
	layout    *layout   // whose contents the inputs hold
	decided   []decided
}

// decided is an input of values that the tokens' positions decide.
type decided struct {
	values ml.Tensor // [1, 1, tokens]
	by     func(position int32) float32
}

// decidedBy makes an input [1, 1, tokens] of what f says of each position.
func (s *step) decidedBy(f func(position int32) float32) ml.Tensor {
	v := s.layout.decide(f)
	d := decided{s.ctx.Input().FromFloats(v, 1, 1, len(v)), f}
	s.decided = append(s.decided, d)
	return d.values
}

// decide gives what f says of each position.
func (l *layout) decide(f func(position int32) float32) []float32 {
	v := make([]float32, len(l.positions))
	for i, p := range l.positions {
		v[i] = f(p)
	}
	return v
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

// graph turns a layout into the step's input tensors.
func (s *streams) graph(ctx ml.Context, l *layout) *step {
	in := ctx.Input()
	ints := func(v []int32) ml.Tensor { return in.FromInts(v, len(v)) }
	st := &step{ctx: ctx, cache: s, layout: l, tokens: ints(l.tokens), positions: ints(l.positions), at: ints(l.at), outputs: ints(l.outputs)}
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

// fill gives the step the contents of another layout of the same shape.
func (s *step) fill(l *layout) {
	s.layout = l
	for _, d := range s.decided {
		d.values.FromFloats(l.decide(d.by))
	}
	s.tokens.FromInts(l.tokens)
	s.positions.FromInts(l.positions)
	s.at.FromInts(l.at)
	s.outputs.FromInts(l.outputs)
	for i := range l.groups {
		s.groups[i].mask.FromBytes(l.groups[i].masks)
		if l.groups[i].gathers != nil {
			s.groups[i].gather.FromInts(l.groups[i].gathers)
		}
	}
	if l.gaps {
		s.restore.FromInts(l.restore)
	}
}
