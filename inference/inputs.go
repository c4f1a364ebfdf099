package inference

import "github.com/ollama/ollama/ml"

// inputs is the memory that the inputs of graphs lie in, one after the other. It
// is kept from step to step: the runtime's own inputs are an allocation each,
// which on a GPU stops everything, and they would be copied there one by one.
type inputs struct {
	be     ml.Backend
	layer  int        // the inputs lie where this one is computed; -1: on the CPU
	behind int        // rows of a mask that kernels look at behind that of a lone token, see mask
	host   pinned     // what is sent as it is
	ctx    ml.Context // owns the three
	ints   ml.Tensor  // i32
	halves ml.Tensor  // f16
	floats ml.Tensor  // f32
	size   inputSizes // of the three
	used   inputSizes // by the graph that is built
	staged []int32    // what goes into ints, all at once
}

// inputSizes counts values.
type inputSizes struct{ ints, halves, floats int }

// inputAlign is where inputs may begin, in bytes: kernels read them in blocks.
const inputAlign = 256

// aligned rounds n values of this many bytes up.
func aligned(n, bytes int) int {
	per := inputAlign / bytes
	return (n + per - 1) / per * per
}

// mostDecided is how many inputs of the kind decided an architecture has at most.
const mostDecided = 2

// inputSizes are those that the graph of the layout takes.
func (l *layout) inputSizes() (s inputSizes) {
	ints := func(v []int32) { s.ints += aligned(len(v), 4) }
	ints(l.tokens)
	ints(l.positions)
	ints(l.outputs)
	s.floats = mostDecided * aligned(len(l.tokens), 4)
	for i := range l.spans {
		sp := &l.spans[i]
		ints(sp.at)
		ints(sp.restore)
		for j := range sp.groups {
			ints(sp.groups[j].gathers)
			s.halves += aligned(len(sp.groups[j].mask.f16)/2, 2)
		}
	}
	if l.tail != nil {
		t := l.tail.inputSizes()
		s.ints, s.halves, s.floats = s.ints+t.ints, s.halves+t.halves, s.floats+t.floats
	}
	return s
}

// begin makes room for the inputs of a graph. No other may be computed any more.
func (in *inputs) begin(l *layout) {
	in.used = inputSizes{}
	need := l.inputSizes()
	if in.ctx != nil && need.ints <= in.size.ints && need.halves <= in.size.halves && need.floats <= in.size.floats {
		return
	}
	in.size = inputSizes{max(need.ints, in.size.ints), max(need.halves, in.size.halves), max(need.floats, in.size.floats)}
	in.drop()
	in.ctx = in.be.NewContextSize(3)
	ctx := in.ctx.Input()
	if in.layer >= 0 {
		ctx = in.ctx.Layer(in.layer)
	}
	in.ints, in.floats = ctx.Empty(ml.DTypeI32, in.size.ints), ctx.Empty(ml.DTypeF32, in.size.floats)
	in.halves = ctx.Empty(ml.DTypeF16, (1+in.behind)*in.size.halves)
	if in.behind > 0 {
		hidden := make([]byte, 2*(1+in.behind)*in.size.halves)
		blind(hidden)
		in.halves.FromBytes(hidden)
	}
}

func newInputs(be ml.Backend, at devices) inputs {
	in := inputs{be: be, layer: -1}
	if at.few {
		in.behind = 7
	}
	if len(at.gpus) > 0 {
		in.layer, in.host.device = 0, at.gpus[0].device
	}
	return in
}

// drop frees the memory of the inputs, close the masks' too.
func (in *inputs) drop() {
	if in.ctx != nil {
		in.ctx.Close()
		in.ctx = nil
	}
}

func (in *inputs) close() {
	in.drop()
	in.host.free()
}

// int is an input of as many integers, [len(v)]; stage and send say which.
func (in *inputs) int(ctx ml.Context, v []int32) ml.Tensor {
	t := in.ints.View(ctx, 4*in.used.ints, len(v))
	in.used.ints += aligned(len(v), 4)
	return t
}

// mask is an input, [cells, length, 1, count], of f16 values given as bytes.
//
// To see how far the cells go that a stream's tokens see, CUDA's kernels look at
// the masks of up to 8 tokens at once, whether there are as many or not. Behind
// that of a lone token they would find other streams', and go as far as those do.
// So the next row of its mask is said to be, and is, in a part of the memory
// where nothing is seen.
func (in *inputs) mask(ctx ml.Context, v []byte, g group) ml.Tensor {
	row, next := 2*g.cells, 2*g.cells
	if in.behind > 0 && g.length == 1 {
		next = 2 * (in.size.halves - in.used.halves)
	}
	t := in.halves.View(ctx, 2*in.used.halves, g.cells, next, g.length, row*g.length, 1, row*g.length, g.count)
	t.FromBytes(v)
	in.used.halves += aligned(len(v)/2, 2)
	return t
}

// float is an input of f32 values.
func (in *inputs) float(ctx ml.Context, v []float32, shape ...int) ml.Tensor {
	if in.used.floats+len(v) > in.size.floats {
		panic("inference: an architecture has more inputs than inputSizes counts")
	}
	t := in.floats.View(ctx, 4*in.used.floats, len(v)).Reshape(ctx, shape...)
	t.FromFloats(v)
	in.used.floats += aligned(len(v), 4)
	return t
}

// stage puts down the next integers, in the order in which int was asked for them.
func (in *inputs) stage(v []int32) {
	in.staged = append(in.staged, v...)
	for range aligned(len(v), 4) - len(v) {
		in.staged = append(in.staged, 0)
	}
}

// all is the part of ints that a graph takes.
func (in *inputs) all(ctx ml.Context) ml.Tensor { return in.ints.View(ctx, 0, in.used.ints) }

// send gives all what was staged.
func (in *inputs) send(all ml.Tensor) {
	all.FromInts(in.staged)
	in.staged = in.staged[:0]
}
