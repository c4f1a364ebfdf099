package inference

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime"
	"strings"

	fsggml "github.com/ollama/ollama/fs/ggml"
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
	Plain bool   // it is asked no chats: a model without a chat template will do
	// Progress is told the loaded share of the weights, in [0,1], from several
	// goroutines. It may be nil.
	Progress func(float32) `json:"-"`
	// Sharing is how many models, this one among them, are opened at the same time
	// on this machine, each of which may take its part of the memory that is free.
	Sharing int

	// For tests.
	as      *manner           // that of other devices, still on the CPU
	refuses func(Limits) bool // as a device that has no memory for these
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
	picks      bool // the device picks the best of the logits
	reuses     bool // a graph can be computed again, see place
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
	if codec.noTemplate != nil && !o.Plain {
		return m, codec.noTemplate
	}
	if err := codec.SetThink(o.Think); err != nil {
		return m, err
	}
	if m.arch, err = build(h, m.vocab); err != nil {
		return m, err
	}
	defer caught(&err, "loading "+path)
	at, err := whereTo(o)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if err := loadRuntime(); err != nil {
		return m, err
	}
	if o.Weights, err = o.Weights.resolve(h, len(at.gpus) > 0); err != nil {
		return m, err
	}
	load := h
	if o.Weights == WeightsBF16 {
		load = h.expanded()
	}
	if o, m.Plan, m.limits, err = makePlan(load, m.arch.streams(), o, at); err != nil {
		return m, err
	}
	m.Plan.Kernels = kernelsName()
	file, done, err := h.writeFor(o.Weights)
	if err != nil {
		return m, err
	}
	defer done()
	if err := m.place(load, file, o, at); err != nil {
		return m, err
	}
	if err := m.makeRoom(load, o, at); err != nil {
		return m, err
	}
	if err := m.be.Load(context.Background(), o.Progress); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if len(at.gpus) == 0 {
		m.probe(load)
	}
	return m, nil
}

// writeFor gives the file that the runtime reads the weights from, which is made
// where they are made up or expanded. done lets go of it once they are loaded.
func (h *header) writeFor(w Weights) (file string, done func(), err error) {
	var made []*os.File
	done = func() {
		for _, f := range made {
			f.Close()
		}
	}
	if h.file == "" {
		f, err := h.writeSynthetic()
		if err != nil {
			return "", done, err
		}
		made = append(made, f)
	}
	if w != WeightsBF16 {
		return h.file, done, nil
	}
	f, err := writeExpanded(h)
	if err != nil {
		done()
		return "", done, err
	}
	made = append(made, f)
	return openPath(f), done, nil
}

// place binds the architecture's weights to where they will be loaded.
func (m *Model) place(load *header, file string, o Options, at devices) (err error) {
	if at.few {
		if err := load.lookedUpOnGPUs(); err != nil {
			return err
		}
	}
	layers := len(m.arch.streams())
	params := ml.BackendParams{AllocMemory: true, NumThreads: o.Threads, FlashAttention: ml.FlashAttentionEnabled}
	if params.GPULayers, err = place(load, layers, at.gpus); err != nil {
		return err
	}
	m.be, err = ml.NewBackend(file, params)
	if err != nil {
		return fmt.Errorf("%s: %w", load.path, err)
	}
	// The runtime looks embeddings up on the CPU. Where they are multiplied with
	// in the end, a GPU has them too.
	get := m.be.Get
	there := at.few && load.tensors[outputName] == nil && gathered[fsggml.TensorType(load.tensors[embeddingName].Kind)]
	if there {
		get = func(name string) ml.Tensor {
			if name == embeddingName {
				name = outputName
			}
			return m.be.Get(name)
		}
	}
	m.picks = at.few && groupSize(m.vocab) > 0
	// What a graph takes from another device is copied there, and the copies do
	// not outlive it: it can be computed again where nothing crosses.
	m.reuses = len(at.gpus) == 0 || len(at.gpus) == 1 && there
	return bind(get, load.path, m.arch)
}

// makeRoom takes the memory for the cache and for the largest step. Where the
// device refuses it, there are half as many slots, and Plan.Note says so.
func (m *Model) makeRoom(load *header, o Options, at devices) error {
	asked := m.limits.Rows
	for {
		err := m.tryRoom(o, at)
		noRoom := NoRoom{}
		if !errors.As(err, &noRoom) || m.limits.Rows == 1 {
			return err
		}
		o.Slots, o.Pool = m.limits.Rows/2, m.limits.Pool/2
		if o, m.Plan, m.limits, err = makePlan(load, m.arch.streams(), o, at); err != nil {
			return err
		}
		m.Plan.Note = fmt.Sprintf("the device refused the memory for %d slots: going on with %d", asked, m.limits.Rows)
	}
}

func (m *Model) tryRoom(o Options, at devices) (err error) {
	defer func() {
		if err != nil {
			m.forget()
			m.spare = nil
			if m.streams != nil {
				m.streams.close()
				m.streams = nil
			}
		}
	}()
	defer caught(&err, "making room for the cache")
	kind := ml.DTypeF16
	if m.Plan.Type == CacheQ8 {
		kind = ml.DTypeQ80
	}
	if o.refuses != nil && o.refuses(m.limits) {
		panic(ml.ErrNoMem{})
	}
	m.lowest = make([]int, m.limits.Slots)
	m.streams = &streams{}
	m.streams.open(m.be, m.arch.streams(), kind, m.limits, at)
	m.streams.most = m.mostAttentions()
	if len(at.gpus) == 0 {
		return nil // it gives what is asked for, and takes it when it is used
	}
	m.Plan.Step, err = m.WorkingSet()
	return err
}

// caught turns a panic of the runtime, which is how it reports that memory ran
// out or a graph failed, into an error.
func caught(err *error, doing string) {
	switch p := recover().(type) {
	case nil:
	case runtime.Error:
		panic(p) // a mistake of this program
	case ml.ErrNoMem:
		*err = NoRoom{fmt.Errorf("%s: out of memory: use fewer --slots or a smaller context", doing)}
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
		m.streams.close()
	}
	if m.be != nil {
		m.be.Close()
	}
	m.streams, m.be = nil, nil
	return m.Codec.Close()
}

// probe asks the runtime once whether a lone row gives the same bits as one among
// others: for some types of weights it takes another kernel, and then it is
// doubled, because a game must not depend on its neighbours. On GPUs kernels are
// chosen by the number of rows in more ways than that, and nothing is doubled.
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
}

// mostAttentions is how many fit into one graph.
func (m *Model) mostAttentions() int {
	ctx := m.be.NewContext()
	defer ctx.Close()
	all, most := ctx.MaxGraphNodes(), 0
	for m.graphSize(all, most+1) <= all {
		most++
	}
	if most < longestPart/attentionPart {
		panic("inference: the runtime's graphs are too small for this architecture")
	}
	return most
}

// graphSize is how much a graph with so many attentions takes at most of all that the
// runtime has room for: its nodes and leaves together.
func (m *Model) graphSize(all, attentions int) int {
	const (
		perLayer = 48 // nodes without attention, and what keys and values are kept in
		perInput = 3  // nodes, for each group of rows that attends on its own, and span, in the tail too
		fixed    = 30 // nodes before and behind the layers, and inputs
	)
	perGroup := 17 // nodes of each layer
	if m.streams.fused {
		perGroup = 11
	}
	layers, weights := len(m.arch.streams()), all/32 // the runtime has room for 32 nodes each
	return weights + fixed + layers*(perLayer+perGroup*attentions) + 2*len(m.streams.spans)*perInput*attentions
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
