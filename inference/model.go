package inference

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"

	"github.com/ollama/ollama/ml"
	_ "github.com/ollama/ollama/ml/backend" // the ggml runtime
)

// Options of a model. The zero value of each means: choose.
type Options struct {
	Slots   int // that compute in one step; default: what memory allows, at most 64
	Cells   int // tokens that a slot may hold; default: 2,048, at most the model's context
	Pool    int // tokens that all slots hold together; default: all slots full, or what memory allows
	Cache   Cache
	Tokens  int // tokens of one step; default 512
	Threads int // default: one for every core
	Weights Weights
	// GPU has the runtime's GPUs compute, all that it shows, with all layers on
	// them; where there are several, each holds some of the layers. Else the CPU
	// does.
	GPU   bool
	Think string // on, off, or auto: as the chat template has it by default
	// Progress is told the loaded share of the weights, in [0,1], from several
	// goroutines. It may be nil.
	Progress func(float32) `json:"-"`
	// Sharing is how many models, this one among them, are opened at the same time
	// on this machine, each of which may take its part of the memory that is free.
	Sharing int
}

// An architecture is a graph over its own weights.
type architecture interface {
	streams() []streamShape    // what each layer keeps per token
	forward(s *step) ml.Tensor // the step's logits, [vocab, outputs]
}

// architectures by their name in a file's metadata.
var architectures = map[string]func(h *header, vocab int) (architecture, error){
	"gemma4":   newGemma4,
	"llama":    newLlama,
	"mistral3": newMistral3,
	"qwen3":    newQwen3,
}

// builder makes the architecture of a file.
func (h *header) builder() (func(h *header, vocab int) (architecture, error), error) {
	build := architectures[h.kv.Architecture()]
	if build == nil {
		return nil, fmt.Errorf("%s: architecture %q is not supported", h.path, h.kv.Architecture())
	}
	return build, nil
}

// A Model is an Engine on the ggml runtime, with the model's own codec.
type Model struct {
	Codec *Codec
	Plan  Plan

	be         ml.Backend
	arch       architecture
	streams    *streams
	limits     Limits
	lowest     []int // of each slot, see Limits
	vocab      int
	padTokens  bool // a lone token takes another kernel: double it
	padOutputs bool
	last       *graph
	spare      *layout // whose memory the next one takes
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
	build, err := h.builder()
	if err != nil {
		return nil, err
	}
	if len(h.tensors) == 0 {
		return nil, fmt.Errorf("%s: a vocabulary without weights: give a model file", path)
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
	if codec.noTemplate != nil {
		return m, codec.noTemplate
	}
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
	if o, m.Plan, m.limits, err = makePlan(load, m.arch.streams(), o); err != nil {
		return m, err
	}
	m.lowest = make([]int, m.limits.Slots)
	defer caught(&err, "loading "+path)
	if h.file == "" {
		f, err := h.writeSynthetic()
		if err != nil {
			return m, err
		}
		defer f.Close()
	}
	file := h.file
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
	kind := ml.DTypeF16
	if o.Cache == CacheQ8 {
		kind = ml.DTypeQ80
	}
	m.streams = newStreams(m.be, m.arch.streams(), kind, m.limits)
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
		*err = NoRoom{fmt.Errorf("%s: out of memory: use fewer --slots or a smaller --context", doing)}
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
		head := name == "output.weight" || name == "token_embd.weight"
		if len(t.Shape) != 2 || !(head || strings.HasPrefix(name, "blk.") || name == "per_layer_model_proj.weight") {
			continue // not multiplied, or of a part that reads no text
		}
		k := matrix{t.Kind, t.Shape[0], t.Shape[1], head}
		if probed[k] {
			continue
		}
		probed[k] = true
		if !m.loneRowsAreEqual(m.be.Get(name)) {
			slog.Debug("lone rows are doubled", "type", t.Kind)
			m.padOutputs = true // the last layers, or the last one's second half, run on the outputs alone
			m.padTokens = m.padTokens || !k.head
		}
	}
	// Generous counts of the graph's nodes in one layer: without attention, and
	// for each group of rows that attends on its own.
	const perLayer, perGroup = 40, 16
	ctx := m.be.NewContext()
	defer ctx.Close()
	m.streams.most = (ctx.MaxGraphNodes()/len(m.arch.streams()) - perLayer) / perGroup
	if m.streams.most < longestPart/attentionPart {
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
