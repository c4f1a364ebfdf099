package inference

import "github.com/ollama/ollama/ml"

// A step is the graph inputs of one batch, in the order in which its tokens are
// computed; see layout.
type step struct {
	ctx       ml.Context
	cache     *streams
	all       ml.Tensor // the integers of all inputs; nil in a tail, whose are among them
	tokens    ml.Tensor // [tokens] ids
	positions ml.Tensor // [tokens]
	outputs   ml.Tensor // [outputs] the tokens whose logits are wanted
	spans     []stepSpan
	layout    *layout // whose contents the inputs hold
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
	d := decided{s.cache.inputs.float(s.ctx, v, 1, 1, len(v)), f}
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

// A stepSpan is the inputs of the layers of one span.
type stepSpan struct {
	at      ml.Tensor // [tokens] the cell that each token's K and V go to
	groups  []stepGroup
	restore ml.Tensor // [tokens] picks the tokens out of what the groups give; nil when they are just these
}

// A stepGroup is a group with its inputs.
type stepGroup struct {
	group
	gather ml.Tensor // [length*count] its tokens; nil: those from from on
	mask   ml.Tensor // f16 [cells, length, 1, count]
	hidden ml.Tensor // the same in f32, where it is added
}

// attend writes the new keys and values, [headDim, kvHeads, tokens], into the
// layer's streams, if there are any, and gives the attention of q, [headDim,
// heads, tokens], over each token's own slot: [headDim*heads, tokens].
func (s *step) attend(layer int, q, k, v ml.Tensor, scale float64) ml.Tensor {
	l := &s.cache.layers[layer]
	in := &s.spans[l.span]
	n := q.Dim(2)
	s.ctx.Forward(q)
	if k != nil { // the new rows are computed, then written, then the cache is read
		s.ctx.Forward(k, v)
		s.ctx.Forward(l.keys.SetRows(s.ctx, k.Reshape(s.ctx, l.row(), n), in.at))
		s.ctx.Forward(l.values.SetRows(s.ctx, v.Reshape(s.ctx, l.row(), n), in.at))
	}
	var out ml.Tensor
	for i := range in.groups {
		g := &in.groups[i]
		part := g.attend(s.ctx, l, g.queries(s.ctx, q), scale)
		if out == nil {
			out = part
		} else {
			out = out.Concat(s.ctx, part, 1)
		}
	}
	if in.restore != nil {
		out = out.Rows(s.ctx, in.restore)
	}
	return out
}

// queries is the group's part of q as [headDim, heads, length, count].
func (g *stepGroup) queries(ctx ml.Context, q ml.Tensor) ml.Tensor {
	headDim, heads, n := q.Dim(0), q.Dim(1), q.Dim(2)
	if g.gather != nil {
		return q.Reshape(ctx, headDim*heads, n).Rows(ctx, g.gather).Reshape(ctx, headDim, heads, g.length, g.count)
	}
	return q.View(ctx, g.from*q.Stride(2), headDim, q.Stride(1), heads, q.Stride(2), g.length, g.length*q.Stride(2), g.count)
}

// attend is the attention of the group's queries: [headDim*heads, length*count].
//
// On CPUs the runtime's fused kernel goes over the cells one by one for each
// token and head. Where many tokens look back on the same cells, two
// multiplications with a softmax between them are faster. Since they round
// differently, what decides is not how many tokens there are, but whether they
// are a prompt's: a game must not depend on how its prompts were cut.
func (g *stepGroup) attend(ctx ml.Context, l *stream, q ml.Tensor, scale float64) ml.Tensor {
	width := q.Dim(0) * q.Dim(1)
	keys := l.view(ctx, l.keys, g.first, g.stride, g.count, g.cells)
	values := l.view(ctx, l.values, g.first, g.stride, g.count, g.cells)
	if g.hidden == nil {
		out := q.(ml.ScaledDotProductAttention).ScaledDotProductAttention(ctx, keys, values, g.mask, nil, nil, scale, true)
		return out.Reshape(ctx, width, g.length*g.count)
	}
	seen := keys.Permute(ctx, 0, 2, 1, 3).MulmatFullPrec(ctx, q.Permute(ctx, 0, 2, 1, 3)) // [cells, length, heads]
	seen = seen.Scale(ctx, scale).Add(ctx, g.hidden).Softmax(ctx)
	out := values.Permute(ctx, 1, 2, 0, 3).Contiguous(ctx).Mulmat(ctx, seen) // [headDim, length, heads]
	return out.Permute(ctx, 0, 2, 1, 3).Contiguous(ctx, width, g.length)
}

// onlyOutputs keeps the tokens whose logits are wanted: [n, tokens] to [n, outputs].
func (s *step) onlyOutputs(t ml.Tensor) ml.Tensor { return t.Rows(s.ctx, s.outputs) }

// graph turns a layout into the step's input tensors.
func (s *streams) graph(ctx ml.Context, l *layout) *step {
	s.inputs.begin(l)
	st := s.inputTensors(ctx, l)
	st.all = s.inputs.all(ctx)
	st.stage(l)
	s.inputs.send(st.all)
	return st
}

// inputTensors makes them; integers are not yet in them.
func (s *streams) inputTensors(ctx ml.Context, l *layout) *step {
	in := &s.inputs
	st := &step{ctx: ctx, cache: s, layout: l, tokens: in.int(ctx, l.tokens), positions: in.int(ctx, l.positions), outputs: in.int(ctx, l.outputs)}
	for k := range l.spans {
		from := &l.spans[k]
		to := stepSpan{at: in.int(ctx, from.at)}
		for i := range from.groups {
			g := &from.groups[i]
			sg := stepGroup{group: g.group, mask: in.mask(ctx, g.mask.f16, g.group)}
			if g.gathers != nil {
				sg.gather = in.int(ctx, g.gathers)
			}
			if g.prompt && !s.fused {
				sg.hidden = sg.mask.Cast(ctx, ml.DTypeF32)
			}
			to.groups = append(to.groups, sg)
		}
		if from.restore != nil {
			to.restore = in.int(ctx, from.restore)
		}
		st.spans = append(st.spans, to)
	}
	st.tail = st
	if l.tail != nil {
		st.tail = s.inputTensors(ctx, l.tail)
	}
	return st
}

// stage stages the layout's integers, in the order in which inputTensors asks for
// them.
func (s *step) stage(l *layout) {
	in := &s.cache.inputs
	in.stage(l.tokens)
	in.stage(l.positions)
	in.stage(l.outputs)
	for k := range l.spans {
		sp := &l.spans[k]
		in.stage(sp.at)
		for i := range sp.groups {
			in.stage(sp.groups[i].gathers)
		}
		in.stage(sp.restore)
	}
	if l.tail != nil {
		s.tail.stage(l.tail)
	}
}

// fill gives the step the contents of another layout of the same shape.
func (s *step) fill(l *layout) {
	s.stage(l)
	s.cache.inputs.send(s.all)
	s.fillRest(l)
}

// fillRest is fill but for the integers.
func (s *step) fillRest(l *layout) {
	s.layout = l
	for _, d := range s.decided {
		d.values.FromFloats(l.decide(d.by))
	}
	for k := range l.spans {
		for i := range l.spans[k].groups {
			s.spans[k].groups[i].mask.FromBytes(l.spans[k].groups[i].mask.f16)
		}
	}
	if l.tail != nil {
		s.tail.fillRest(l.tail)
	}
}
