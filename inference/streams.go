package inference

import (
	"math"
	"runtime"

	"github.com/ollama/ollama/ml"
	"golang.org/x/sys/cpu"
)

// streamShape is what one layer keeps per token. A layer without key/value heads
// keeps nothing: it attends over what another one keeps.
type streamShape struct {
	headDim, kvHeads int
	heads            int // of queries: as many of them share each key/value head
	window           int // tokens that a token sees, itself among them; 0: all before it
}

// row is how many values of K, and of V, one token takes.
func (s streamShape) row() int { return s.headDim * s.kvHeads }

const cacheValueSize = 2 // bytes of an f16

// streams is the KV cache: one stream of cells for every slot, so that a token
// attends over its own slot's cells and no others.
type streams struct {
	ctx          ml.Context // owns the memory
	slots, cells int
	kind         attention
	spans        []span // that layers have; each differs from the others
	tailed       bool   // the last layers keep nothing
	layers       []stream
}

// attention is how it is computed.
type attention int

const (
	// flash is the runtime's fused kernel, which GPUs have.
	flash attention = iota
	// matrices are two multiplications with a softmax between them. On CPUs the
	// fused kernel goes over the cells one by one; the multiplications and the
	// softmax use all of the CPU's width.
	matrices
)

// attentionFor chooses for layers of these shapes on the CPU. The matrices want
// several queries for each key/value head: a single one would be multiplied by
// another kernel than many are, and a token must not depend on its neighbours.
func attentionFor(shapes []streamShape, slots, cells int) attention {
	if runtime.GOARCH != "amd64" || !cpu.X86.HasAVX2 {
		return flash
	}
	for _, s := range shapes {
		// Values are written one by one, and their places counted in 32 bits.
		n := spanOf(s, cells).cells * slots * s.row()
		if s.kvHeads > 0 && (s.heads == s.kvHeads || s.headDim%16 != 0 || n > math.MaxInt32) {
			return flash
		}
	}
	return matrices
}

// A span is how layers keep a slot: each of its positions in a cell of its own,
// or, for layers that look back over a window, the last ones in a ring of cells,
// position p in cell p mod cells.
type span struct {
	window int // 0: everything
	cells  int
	// Layers whose attention is matrices share a span only if they keep as many
	// values, for which there are places, and as many queries see each.
	row     int
	queries int
}

// longestPart is how many tokens of one row are computed at once where layers
// have a window: their ring holds the window before the first of them too. It is
// the same for every size of slot and step, because attention adds up in the
// order of the cells, and a game must not depend on such sizes.
const longestPart = 256

// spanOf is how a layer keeps a slot of so many cells: in whole blocks of 32,
// since the kernels for the last few of a row are others.
func spanOf(s streamShape, cells int) span {
	sp := span{cells: (cells + 31) / 32 * 32, row: s.row()}
	if s.kvHeads > 0 {
		sp.queries = s.heads / s.kvHeads
	}
	if s.window > 0 && s.window < cells {
		sp.window, sp.cells = s.window, min(sp.cells, (s.window+longestPart-1+31)/32*32)
	}
	return sp
}

// stream is one layer's keys and values in f16 (in f32 where a test wants exact
// ones). Cell c of slot s is row s*cells+c of the keys, [headDim*kvHeads,
// cells*slots], and of the values too where attention is flash. For matrices a
// slot's values are [cells, headDim*kvHeads], one slot after the other.
type stream struct {
	streamShape
	span         int // in streams.spans
	keys, values ml.Tensor
}

func newStreams(be ml.Backend, shapes []streamShape, how attention, kind ml.DType, slots, cells int) *streams {
	s := &streams{ctx: be.NewContextSize(2 * len(shapes)), slots: slots, cells: cells, kind: how}
	for i, shape := range shapes {
		l := stream{streamShape: shape}
		if shape.kvHeads > 0 {
			ctx := s.ctx.Layer(i)
			l.span = s.addSpan(spanOf(shape, cells))
			n := s.spans[l.span].cells * slots
			l.keys = ctx.Zeros(kind, shape.row(), n)
			if how == matrices {
				l.values = ctx.Zeros(kind, 1, shape.row()*n)
			} else {
				l.values = ctx.Zeros(kind, shape.row(), n)
			}
		}
		s.layers = append(s.layers, l)
	}
	s.tailed = shapes[len(shapes)-1].kvHeads == 0
	return s
}

func (s *streams) addSpan(new span) int {
	if s.kind == flash {
		new.row, new.queries = 0, 1
	}
	for i, old := range s.spans {
		if old == new {
			return i
		}
	}
	s.spans = append(s.spans, new)
	return len(s.spans) - 1
}

// rows is the 4-D view [headDim, kvHeads, n, streams] of the first n cells of
// count slots from slot first on, of keys or of values kept like them.
func (s *streams) rows(ctx ml.Context, l *stream, cache ml.Tensor, first, count, n int) ml.Tensor {
	row, cells := cache.Stride(1), s.spans[l.span].cells
	return cache.View(ctx, first*cells*row,
		l.headDim, l.headDim*cache.Stride(0),
		l.kvHeads, row,
		n, row*cells,
		count)
}

// columns is the same of values kept for matrices, [n, headDim, kvHeads, streams].
func (s *streams) columns(ctx ml.Context, l *stream, first, count, n int) ml.Tensor {
	column := s.spans[l.span].cells * l.values.Stride(0)
	return l.values.View(ctx, first*l.row()*column,
		n, column,
		l.headDim, l.headDim*column,
		l.kvHeads, l.row()*column,
		count)
}

// copy makes the first n positions of slot dst equal to those of slot src, in
// rings as far as src holds them. While a ring has not come round, position p is
// in cell p.
func (s *streams) copy(ctx ml.Context, dst, src, n int) {
	for i := range s.layers {
		l := &s.layers[i]
		if l.keys == nil {
			continue
		}
		cells := s.spans[l.span].cells
		held := min(n, cells)
		at := func(cache ml.Tensor, slot int) ml.Tensor {
			return cache.View(ctx, slot*cells*cache.Stride(1), held*l.row())
		}
		ctx.Forward(at(l.keys, src).Copy(ctx, at(l.keys, dst)))
		if s.kind == matrices {
			at = func(cache ml.Tensor, slot int) ml.Tensor {
				return cache.View(ctx, slot*cells*l.row()*cache.Stride(0), held, cells*cache.Stride(0), l.row())
			}
		}
		ctx.Forward(at(l.values, src).Copy(ctx, at(l.values, dst)))
	}
}
