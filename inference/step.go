package inference

import "github.com/ollama/ollama/ml"

// A step is the graph inputs of one batch, in the order in which its tokens are
// computed: first the rows of one token, by slot, then the longer rows.
type step struct {
	ctx       ml.Context
	cache     *streams
	tokens    ml.Tensor   // [tokens] ids
	positions ml.Tensor   // [tokens]
	at        []ml.Tensor // in each span [tokens] the cell that each token's K and V go to
	outputs   ml.Tensor   // [outputs] the tokens whose logits are wanted
	groups    []group
	restore   ml.Tensor // [tokens] picks the tokens out of the groups' attention; nil when they are just these
	layout    *layout   // whose contents the inputs hold
	decided   []decided
	tail      *step           // of the outputs alone; see layout
	watched   func(ml.Tensor) // see watch; usually nil
}

// watch is told what each layer gives, [hidden, tokens], one after the other.
func (s *step) watch(h ml.Tensor) {
	if s.watched != nil {
		s.watched(h)
	}
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
	from, length  int         // first token; tokens a slot
	first, count  int         // slots
	cells         []int       // that are attended over, in each span
	mask          []ml.Tensor // in each span
	gather        ml.Tensor   // [count] the token of each slot, where some slots between have none; nil otherwise
	gatheredCount int         // tokens that the group's attention gives
}

// attend writes the new keys and values, [headDim, kvHeads, tokens], into the
// layer's streams, if there are any, and gives the attention of q, [headDim,
// heads, tokens], over each token's own slot: [headDim*heads, tokens].
func (s *step) attend(layer int, q, k, v ml.Tensor, scale float64) ml.Tensor {
	l := &s.cache.layers[layer]
	headDim, heads, n := q.Dim(0), q.Dim(1), q.Dim(2)
	s.ctx.Forward(q)
	if k != nil { // the new rows are computed, then written, then the cache is read
		s.ctx.Forward(k, v)
		s.ctx.Forward(l.keys.SetRows(s.ctx, k.Reshape(s.ctx, l.row(), n), s.at[l.span]))
		s.ctx.Forward(l.values.SetRows(s.ctx, v.Reshape(s.ctx, l.row(), n), s.at[l.span]))
	}
	var out ml.Tensor
	for i := range s.groups {
		g := &s.groups[i]
		part := g.queries(s.ctx, q).(ml.ScaledDotProductAttention).ScaledDotProductAttention(s.ctx,
			s.cache.view(s.ctx, l, l.keys, g.first, g.count, g.cells[l.span]),
			s.cache.view(s.ctx, l, l.values, g.first, g.count, g.cells[l.span]),
			g.mask[l.span], nil, nil, scale, true)
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
	st := &step{ctx: ctx, cache: s, layout: l, tokens: ints(l.tokens), positions: ints(l.positions), outputs: ints(l.outputs)}
	for _, at := range l.at {
		st.at = append(st.at, ints(at))
	}
	for i := range l.groups {
		g := l.groups[i].group
		for k, mask := range l.groups[i].masks {
			g.mask = append(g.mask, in.FromBytes(ml.DTypeF16, mask, g.cells[k], g.length, 1, g.count))
		}
		if l.groups[i].gathers != nil {
			g.gather = ints(l.groups[i].gathers)
		}
		st.groups = append(st.groups, g)
	}
	if l.gaps {
		st.restore = ints(l.restore)
	}
	st.tail = st
	if l.tail != nil {
		st.tail = s.graph(ctx, l.tail)
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
	s.outputs.FromInts(l.outputs)
	for k, at := range l.at {
		s.at[k].FromInts(at)
	}
	for i := range l.groups {
		for k, mask := range l.groups[i].masks {
			s.groups[i].mask[k].FromBytes(mask)
		}
		if l.groups[i].gathers != nil {
			s.groups[i].gather.FromInts(l.groups[i].gathers)
		}
	}
	if l.gaps {
		s.restore.FromInts(l.restore)
	}
	if l.tail != nil {
		s.tail.fill(l.tail)
	}
}
