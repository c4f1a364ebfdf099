package inference

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"

	"github.com/ollama/ollama/ml"
	_ "github.com/ollama/ollama/ml/backend" // the ggml runtime
	"golang.org/x/sync/errgroup"
)

// Options of a model. The zero value of each means: choose.
type Options struct {
	Slots   int // KV streams; default: what memory allows, at most 64
	Cells   int // tokens that a slot holds; default: 2,048, at most the model's context
	Tokens  int // tokens of one step; default 512
	Threads int // default: one for every core
	Weights Weights
	Think   string // on, off, or auto: as the chat template has it by default
	// Progress is told the loaded share of the weights, in [0,1], from several
	// goroutines. It may be nil.
	Progress func(float32)
}

// An architecture is a graph over its own weights.
type architecture interface {
	streams() []streamShape    // what each layer keeps per token
	forward(s *step) ml.Tensor // the step's logits, [vocab, outputs]
}

// architectures by their name in a file's metadata.
var architectures = map[string]func(h *header, vocab int) (architecture, error){
	"llama":    newLlama,
	"mistral3": newMistral3,
	"qwen3":    newQwen3,
}

// A Model is an Engine on the ggml runtime, with the model's own codec.
type Model struct {
	Codec *Codec
	Plan  Plan

	be         ml.Backend
	arch       architecture
	streams    *streams
	limits     Limits
	vocab      int
	groups     int  // attentions that a step's graph has room for
	padTokens  bool // a lone token takes another kernel: double it
	padOutputs bool
	last       *graph
}

var _ Engine = (*Model)(nil)

// Open loads a GGUF file. What is wrong with the file, or does not fit, is an
// error that names it.
func Open(path string, o Options) (m *Model, err error) {
	oneArena()
	h, err := readHeader(path)
	if err != nil {
		return nil, err
	}
	build := architectures[h.kv.Architecture()]
	if build == nil {
		return nil, fmt.Errorf("%s: architecture %q is not supported", path, h.kv.Architecture())
	}
	codec, err := newCodec(h)
	if err != nil {
		return nil, err
	}
	m = &Model{Codec: codec, vocab: codec.Vocab()}
	defer func() {
		if err != nil {
			m.Close()
			m = nil
		}
	}()
	if err := codec.SetThink(o.Think); err != nil {
		return m, err
	}
	if m.arch, err = build(h, m.vocab); err != nil {
		return m, err
	}
	if o.Weights, err = o.Weights.resolve(h); err != nil {
		return m, err
	}
	load := h
	if o.Weights == WeightsBF16 {
		load = h.expanded()
	}
	if o, m.Plan, err = makePlan(load, m.arch.streams(), o); err != nil {
		return m, err
	}
	m.limits = Limits{o.Slots, o.Cells, o.Tokens}
	defer caught(&err, "loading "+path)
	file := path
	if o.Weights == WeightsBF16 {
		expanded, err := writeExpanded(h)
		if err != nil {
			return m, err
		}
		defer expanded.Close()
		file = openPath(expanded)
	}
	m.be, err = ml.NewBackend(file, ml.BackendParams{AllocMemory: true, NumThreads: o.Threads, FlashAttention: ml.FlashAttentionEnabled})
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if err := m.be.Load(context.Background(), o.Progress); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if err := bind(m.be, path, m.arch); err != nil {
		return m, err
	}
	m.streams = newStreams(m.be, m.arch.streams(), ml.DTypeF16, o.Slots, o.Cells)
	m.probe(load)
	return m, nil
}

// caught turns a panic of the runtime, which is how it reports that memory ran
// out or a graph failed, into an error.
func caught(err *error, doing string) {
	switch p := recover().(type) {
	case nil:
	case runtime.Error:
		panic(p) // a mistake of this program
	case ml.ErrNoMem:
		*err = fmt.Errorf("%s: out of memory: use fewer --slots or a smaller --context", doing)
	case error:
		*err = fmt.Errorf("%s: %w", doing, p)
	default:
		*err = fmt.Errorf("%s: %v", doing, p)
	}
}

// Limits says what fits.
func (m *Model) Limits() Limits { return m.limits }

// Close frees the model's memory; the codec's too.
func (m *Model) Close() error {
	m.forget()
	if m.streams != nil {
		m.streams.ctx.Close()
	}
	if m.be != nil {
		m.be.Close()
	}
	m.streams, m.be = nil, nil
	return m.Codec.Close()
}

// probe asks the runtime two things once. Whether a lone row gives the same
// bits as one among others: for some types of weights it takes another kernel,
// and then it is doubled, because a game must not depend on its neighbours.
// And how many attentions fit into one graph.
func (m *Model) probe(h *header) {
	type matrix struct {
		kind      uint32
		row, rows uint64 // kernels are chosen by size too
		head      bool   // runs on the outputs alone, unlike a layer's weight of the same size
	}
	probed := map[matrix]bool{}
	for name, t := range h.tensors {
		if len(t.Shape) != 2 || m.be.Get(name) == nil {
			continue
		}
		k := matrix{t.Kind, t.Shape[0], t.Shape[1], name == "output.weight" || name == "token_embd.weight"}
		if probed[k] {
			continue
		}
		probed[k] = true
		if !m.loneRowsAreEqual(m.be.Get(name)) {
			slog.Debug("lone rows are doubled", "type", t.Kind)
			m.padOutputs = true // the last layer's second half runs on the outputs alone
			m.padTokens = m.padTokens || !k.head
		}
	}
	// Generous counts of the graph's nodes in one layer: without attention, and
	// for each group of rows that attends on its own.
	const perLayer, perGroup = 40, 12
	ctx := m.be.NewContext()
	defer ctx.Close()
	m.groups = (ctx.MaxGraphNodes()/len(m.arch.streams()) - perLayer) / perGroup
	if m.groups < 2 {
		panic("inference: the runtime's graphs are too small for this architecture")
	}
}

// loneRowsAreEqual multiplies a weight with one row and with two rows that
// start with it.
func (m *Model) loneRowsAreEqual(weight ml.Tensor) bool {
	n := weight.Dim(0)
	x := make([]float32, 2*n)
	for i := range x { // sums of rounder values are exact in any order
		x[i] = float32(math.Sin(float64(i + 1)))
	}
	product := func(rows int) []float32 {
		ctx := m.be.NewContext()
		defer ctx.Close()
		y := weight.Mulmat(ctx, ctx.Input().FromFloats(x[:rows*n], n, rows))
		ctx.Forward(y).Compute(y)
		return y.Floats()
	}
	one, two := product(1), product(2)
	for i := range one {
		if one[i] != two[i] {
			return false
		}
	}
	return true
}

// Forward computes the rows of a batch and draws the tokens of those that
// sample.
func (m *Model) Forward(b *Batch) error {
	return m.compute(b.Rows, func(rows []Row, logits []float32, outputs []int) error {
		draw := func(i int) (err error) {
			r := &rows[outputs[i]]
			r.Token, err = Sample(logits[i*m.vocab:(i+1)*m.vocab], r.Draw)
			return err
		}
		if len(outputs) == 1 { // another thread would cost more than it does
			return draw(0)
		}
		var g errgroup.Group
		workers := runtime.GOMAXPROCS(0)
		for w := range workers {
			g.Go(func() error {
				for i := w; i < len(outputs); i += workers {
					if err := draw(i); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return g.Wait()
	})
}

// Logits computes the rows of a batch and gives the logits, [vocab], of those
// that sample, by their place in the batch; nil for the others. Nothing is
// drawn.
func (m *Model) Logits(b *Batch) ([][]float32, error) {
	all := make([][]float32, 0, len(b.Rows))
	err := m.compute(b.Rows, func(rows []Row, logits []float32, outputs []int) error {
		part := make([][]float32, len(rows))
		for i, r := range outputs {
			part[r] = logits[i*m.vocab : (i+1)*m.vocab]
		}
		all = append(all, part...)
		return nil
	})
	return all, err
}

// compute runs the graph over the rows, in as many parts as its size demands,
// and hands on each part's logits: outputs[i] is the row that the i-th belong to.
func (m *Model) compute(rows []Row, done func(part []Row, logits []float32, outputs []int) error) (err error) {
	defer caught(&err, "computing a batch")
	if err := m.check(rows); err != nil {
		return err
	}
	for len(rows) > 0 {
		n, long := 0, 0
		for n < len(rows) && (len(rows[n].Tokens) == 1 || long < m.groups-1) {
			if len(rows[n].Tokens) > 1 {
				long++
			}
			n++
		}
		logits, outputs := m.step(rows[:n])
		if err := done(rows[:n], logits, outputs); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// step computes the graph of the rows: the last one again where only the
// contents of its inputs differ, as from one decoding step to the next.
func (m *Model) step(rows []Row) ([]float32, []int) {
	l := m.streams.lay(rows, m.padTokens, m.padOutputs)
	if m.last != nil && m.last.layout.sameShape(l) {
		m.last.step.fill(l)
	} else {
		m.forget()
		m.last = m.build(l)
	}
	m.last.ctx.Compute(m.last.logits)
	return m.last.logits.Floats(), l.rows
}

// A graph is a step that is built. Its tensors lie in the memory that the
// runtime gave to the graph computed last, and so it must be that one to be
// computed again.
type graph struct {
	ctx    ml.Context
	layout *layout
	step   *step
	logits ml.Tensor
}

func (m *Model) build(l *layout) *graph {
	g := &graph{ctx: m.be.NewContext(), layout: l}
	g.ctx.SetBatchSize(len(l.tokens))
	g.step = m.streams.graph(g.ctx, l)
	g.logits = m.arch.forward(g.step)
	g.ctx.Forward(g.logits)
	return g
}

// forget frees the last graph. It comes before any other graph is computed.
func (m *Model) forget() {
	if m.last != nil {
		m.last.ctx.Close()
		m.last = nil
	}
}

// check refuses rows that the runtime would abort on, or that would read or
// write cells of another slot.
func (m *Model) check(rows []Row) error {
	seen := make(map[int]bool, len(rows))
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Slot < 0 || r.Slot >= m.limits.Slots:
			return fmt.Errorf("row %d names slot %d of %d", i, r.Slot, m.limits.Slots)
		case seen[r.Slot]:
			return fmt.Errorf("two rows name slot %d", r.Slot)
		case len(r.Tokens) == 0 || r.Pos < 0 || r.Pos+len(r.Tokens) > m.limits.Cells:
			return fmt.Errorf("row %d has %d tokens from position %d in a slot of %d cells", i, len(r.Tokens), r.Pos, m.limits.Cells)
		}
		seen[r.Slot] = true
		for _, t := range r.Tokens {
			if t < 0 || int(t) >= m.vocab {
				return fmt.Errorf("row %d holds token %d; the vocabulary has %d", i, t, m.vocab)
			}
		}
	}
	return nil
}

// Copy makes the first n cells of slot dst equal to those of slot src.
func (m *Model) Copy(dst, src, n int) (err error) {
	defer caught(&err, "copying a slot")
	if dst < 0 || src < 0 || dst >= m.limits.Slots || src >= m.limits.Slots || n < 0 || n > m.limits.Cells {
		return errors.New("copying a slot: no such slot or cell")
	}
	if n == 0 || dst == src {
		return nil
	}
	m.forget()
	ctx := m.be.NewContext()
	defer ctx.Close()
	m.streams.copy(ctx, dst, src, n)
	ctx.Compute()
	return nil
}
