package inference

import "github.com/ollama/ollama/ml"

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
