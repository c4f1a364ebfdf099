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

const cacheValueSize = 2 // bytes of an f16

// streams is the KV cache: one stream of cells for every slot, so that a token
// attends over its own slot's cells and no others.
type streams struct {
	ctx          ml.Context // owns the memory
	slots, cells int
	spans        []span // that layers have; each differs from the others
	tailed       bool   // the last layers keep nothing
	layers       []stream
}

// A span is how layers keep a slot: each of its positions in a cell of its own,
// or, for layers that look back over a window, the last ones in a ring of cells,
// position p in cell p mod cells.
type span struct {
	window int // 0: everything
	cells  int
}

// longestPart is how many tokens of one row are computed at once where layers
// have a window: their ring holds the window before the first of them too. It is
// the same for every size of slot and step, because attention adds up in the
// order of the cells, and a game must not depend on such sizes.
const longestPart = 256

// spanOf is how a layer with this window keeps a slot of so many cells.
func spanOf(window, cells int) span {
	if window == 0 || window >= cells {
		return span{0, cells}
	}
	return span{window, min(cells, (window+longestPart-1+31)/32*32)}
}

// stream is one layer's keys and values, each [headDim*kvHeads, cells*slots] in
// f16 (in f32 where a test wants exact ones): cell c of slot s is row s*cells+c.
type stream struct {
	streamShape
	span         int // in streams.spans
	keys, values ml.Tensor
}

func newStreams(be ml.Backend, shapes []streamShape, kind ml.DType, slots, cells int) *streams {
	s := &streams{ctx: be.NewContextSize(2 * len(shapes)), slots: slots, cells: cells}
	for i, shape := range shapes {
		l := stream{streamShape: shape}
		if shape.kvHeads > 0 {
			ctx := s.ctx.Layer(i)
			l.span = s.addSpan(spanOf(shape.window, cells))
			n := s.spans[l.span].cells * slots
			l.keys, l.values = ctx.Zeros(kind, shape.row(), n), ctx.Zeros(kind, shape.row(), n)
		}
		s.layers = append(s.layers, l)
	}
	s.tailed = shapes[len(shapes)-1].kvHeads == 0
	return s
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

// view is the 4-D view [headDim, kvHeads, n, streams] of the first n cells of
// count slots from slot first on.
func (s *streams) view(ctx ml.Context, l *stream, cache ml.Tensor, first, count, n int) ml.Tensor {
	row, cells := cache.Stride(1), s.spans[l.span].cells
	return cache.View(ctx, first*cells*row,
		l.headDim, l.headDim*cache.Stride(0),
		l.kvHeads, row,
		n, row*cells,
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
		for _, cache := range []ml.Tensor{l.keys, l.values} {
			at := func(slot int) ml.Tensor {
				return cache.View(ctx, slot*cells*cache.Stride(1), min(n, cells)*l.row())
			}
			ctx.Forward(at(src).Copy(ctx, at(dst)))
		}
	}
}
