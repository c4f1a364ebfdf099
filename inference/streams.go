package inference

import "github.com/ollama/ollama/ml"

// streamShape is what one layer keeps per token. A layer without key/value heads
// keeps nothing: it attends over what another one keeps.
type streamShape struct {
	headDim, kvHeads int
	window           int // tokens that a token sees, itself among them; 0: all before it
}

// row is how many values of K, and of V, one token takes.
func (s streamShape) row() int { return s.headDim * s.kvHeads }

// streams is the KV cache: every slot has cells of its own, so that a token
// attends over its own slot's cells and no others.
type streams struct {
	ctx    ml.Context // owns the memory
	spans  []span     // that layers have; each differs from the others
	tailed bool       // the last layers keep nothing
	most   int        // attentions that a step's graph has room for
	layers []stream
	limits Limits
	inputs inputs
	manner
}

// A manner is how steps are laid out for the kernels of a kind of device.
type manner struct {
	fused bool // prompts too take the runtime's fused attention, see attend
	grain int  // attention goes over multiples of so many cells
	few   bool // steps that only decode come in few shapes: the runtime keeps a graph

	mostSlots int // by default
	tokens    int // of a step, by default
}

var (
	// On CPUs throughput has levelled off before 64 slots.
	onCPU = manner{grain: 32, mostSlots: 64, tokens: 512}
	// CUDA's fused kernels want multiples of 256 cells where several heads share keys.
	onGPU = manner{fused: true, grain: 256, few: true, mostSlots: 512, tokens: 2048}
)

// A span is how layers keep a slot, and what they see of it. They keep it in its
// block of the pool, each position in a cell of its own, or, if they look back
// over a window, the last positions in a ring of cells: position p of slot s in
// cell s*cells + p mod cells.
type span struct {
	window int // 0: everything
	cells  int // of a ring; 0: the pool
}

// longestPart is how many tokens of one row are computed at once where layers
// have a window: their ring holds the window before the first of them too. It is
// the same for every size of slot and step, because attention adds up in the
// order of the cells, and a game must not depend on such sizes.
const longestPart = 256

// up rounds n up to a multiple of the grain.
func (m manner) up(n int) int { return (n + m.grain - 1) / m.grain * m.grain }

// spanOf is how a layer with this window keeps slots of at most so many cells.
func (m manner) spanOf(window, cells int) span {
	if window >= cells {
		window = 0
	}
	ring := m.up(window + longestPart - 1)
	if window == 0 || ring >= cells {
		return span{window, 0}
	}
	return span{window, ring}
}

// stream is one layer's keys and values, each [headDim*kvHeads, cells].
type stream struct {
	streamShape
	span         int // in streams.spans
	keys, values ml.Tensor
}

// open makes the cache. If memory runs out, which is a panic of the runtime, close
// frees what there is of it.
func (s *streams) open(be ml.Backend, shapes []streamShape, kind ml.DType, l Limits, at devices) {
	*s = streams{ctx: be.NewContextSize(2 * len(shapes)), limits: l, inputs: newInputs(be, at), manner: at.manner}
	s.fused = s.fused || kind != ml.DTypeF16
	for i, shape := range shapes {
		layer := stream{streamShape: shape}
		if shape.kvHeads > 0 {
			ctx, sp := s.ctx.Layer(i), s.spanOf(shape.window, l.Cells)
			layer.span = s.addSpan(sp)
			n := sp.total(l)
			layer.keys, layer.values = ctx.Zeros(kind, shape.row(), n), ctx.Zeros(kind, shape.row(), n)
		}
		s.layers = append(s.layers, layer)
	}
	s.tailed = shapes[len(shapes)-1].kvHeads == 0
}

func (s *streams) close() {
	if s.ctx != nil {
		s.inputs.close()
		s.ctx.Close()
	}
}

// total is how many cells a layer has for all slots.
func (sp span) total(l Limits) int {
	if sp.cells > 0 {
		return sp.cells * l.Slots
	}
	return l.Pool
}

func (s *streams) addSpan(new span) int {
	for i, old := range s.spans {
		if old == new {
			return i
		}
	}
	s.spans = append(s.spans, new)
	return len(s.spans) - 1
}

// block is where a span keeps a slot that has this block of the pool.
func (sp span) block(slot int, pool Block) Block {
	if sp.cells > 0 {
		return Block{slot * sp.cells, sp.cells}
	}
	return pool
}

// cell is where in its block a span keeps a position.
func (sp span) cell(position int) int {
	if sp.cells > 0 {
		return position % sp.cells
	}
	return position
}

// view is the first n cells of streams that begin every stride cells from first
// on: [headDim, kvHeads, n, count].
func (l *stream) view(ctx ml.Context, cache ml.Tensor, first, stride, count, n int) ml.Tensor {
	row := cache.Stride(1)
	return cache.View(ctx, first*row, l.headDim, row/l.kvHeads, l.kvHeads, row, n, row*stride, count)
}

// copy does a Copy in every layer, in rings as far as the source holds the
// positions. While a ring has not come round, position p is in cell p. It tells
// whether there is anything to copy.
func (s *streams) copy(ctx ml.Context, c Copy) (any bool) {
	for i := range s.layers {
		l := &s.layers[i]
		if l.keys == nil {
			continue
		}
		sp := s.spans[l.span]
		from, to, n := sp.block(c.Src, c.From), sp.block(c.Dst, c.To), c.Cells
		if from.First == to.First {
			continue
		}
		if sp.cells > 0 {
			n = min(n, sp.cells)
		}
		for _, cache := range []ml.Tensor{l.keys, l.values} {
			row := cache.Stride(1)
			ctx.Forward(cache.View(ctx, from.First*row, n*l.row()).Copy(ctx, cache.View(ctx, to.First*row, n*l.row())))
			any = true
		}
	}
	return any
}
