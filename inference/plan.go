package inference

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Plan says what a model takes, in bytes, and how it is cut up.
type Plan struct {
	Weights uint64  `json:"weights_bytes"`
	Cache   uint64  `json:"cache_bytes"`
	Type    Cache   `json:"cache"`       // of its values
	Slots   int     `json:"slots"`       // that compute in one step
	Cells   int     `json:"cells"`       // tokens a slot, at most
	Pool    int     `json:"pool"`        // tokens of all slots
	Kept    int     `json:"kept"`        // slots that can hold something
	Token   uint64  `json:"token_bytes"` // that a token takes in the pool
	Ring    uint64  `json:"ring_bytes"`  // that each slot that can hold something takes beside the pool
	Tokens  int     `json:"tokens_per_step"`
	Threads int     `json:"threads"`
	Kind    Weights `json:"weights"` // the types that are computed
	Trained int     `json:"trained_context"`
	MemFree uint64  `json:"memory_available_bytes"` // of the devices before loading
	Devices []GPU   `json:"devices,omitempty"`      // none: the CPU
	Step    uint64  `json:"step_bytes,omitempty"`   // taken for the largest step; on the CPU as it is needed
	Note    string  `json:"note,omitempty"`         // what a user would not expect
	Kernels string  `json:"kernels"`                // of the CPU: their library, if the program has not them itself, and features

	vocab, hidden, mlp uint64 // what a row of each takes in a step, in bytes
}

// NoRoom is an error of a model that memory, or the disk where its weights are
// expanded, has no room for.
type NoRoom struct{ Err error }

func (e NoRoom) Error() string { return e.Err.Error() }
func (e NoRoom) Unwrap() error { return e.Err }

func (p Plan) String() string {
	const mb = 1 << 20
	on := counted(p.Threads, "thread")
	if len(p.Devices) > 0 {
		on = p.Devices[0].String()
		if n := len(p.Devices); n > 1 {
			on = fmt.Sprintf("%d GPUs from %s", n, on)
		}
		on = fmt.Sprintf("step %d MB, on %s", p.Step/mb, on)
	}
	if p.Note != "" {
		on += "; " + p.Note
	}
	return fmt.Sprintf("weights %d MB (%s), cache %d MB (%s, %d tokens for %s of at most %d), %d tokens a step, %s",
		p.Weights/mb, p.Kind.describe(), p.Cache/mb, p.Type, p.Pool, counted(p.Slots, "slot"), p.Cells, p.Tokens, on)
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func (w Weights) describe() string {
	if w == WeightsBF16 {
		return "expanded to bf16"
	}
	return "as in the file"
}

// Cache is the type of keys and values in the cache.
type Cache string

const (
	CacheF16 Cache = "f16"
	CacheQ8  Cache = "q8_0" // half the memory and a little less exact
)

// bytes is what n values take; n is a multiple of 32.
func (c Cache) bytes(n int) uint64 {
	if c == CacheQ8 {
		return uint64(n) / 32 * 34
	}
	return 2 * uint64(n)
}

const (
	defaultCells = 2048
	smallBlock   = 128 // cells that a block has at least
	mostHalved   = 8   // times that the largest block is halved at most: few sizes, few kernels
)

// leastBlock is the size of the smallest block where a slot may hold so many
// tokens.
func (m manner) leastBlock(cells int) int {
	halved := 0
	for halved < mostHalved && cells>>(halved+1) >= max(smallBlock, m.grain) {
		halved++
	}
	return m.up((cells + 1<<halved - 1) >> halved)
}

// makePlan fills in what the options leave open and checks that it fits.
func makePlan(h *header, shapes []streamShape, o Options, at devices) (Options, Plan, Limits, error) {
	trained, err := h.count("context_length")
	if err != nil {
		return o, Plan{}, Limits{}, err
	}
	if o.Cells > trained {
		return o, Plan{}, Limits{}, fmt.Errorf("--context %d: %s was trained on contexts of %d tokens", o.Cells, h.path, trained)
	}
	if o.Slots < 0 || o.Cells < 0 || o.Pool < 0 || o.Tokens < 0 || o.Threads < 0 {
		return o, Plan{}, Limits{}, errors.New("slots, context, pool, tokens a step and threads must not be negative")
	}
	asked := o.Slots
	o.Slots = cmp.Or(o.Slots, at.mostSlots)
	o.Cells = cmp.Or(o.Cells, min(defaultCells, trained))
	o.Tokens = cmp.Or(o.Tokens, at.tokens)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Cache = cmp.Or(o.Cache, CacheF16)
	p := Plan{Type: o.Cache, Slots: o.Slots, Cells: o.Cells, Tokens: o.Tokens, Threads: o.Threads, Kind: o.Weights, Trained: trained, Devices: at.gpus}
	var margin uint64
	p.MemFree, margin = at.free()
	p.MemFree /= uint64(max(1, o.Sharing))
	for name, t := range h.tensors {
		if name != embeddingName {
			p.Weights += t.Size()
			continue
		}
		// The runtime loads tied embeddings twice, one of them for the CPU to look up.
		tied, gpu := h.tensors[outputName] == nil, len(at.gpus) > 0
		if !gpu {
			p.Weights += t.Size()
		}
		if tied {
			p.Weights += t.Size()
		}
	}
	p.vocab, p.hidden, p.mlp = rowBytes(h)
	l := Limits{Rows: o.Slots, Tokens: o.Tokens, Cells: o.Cells, Least: at.leastBlock(o.Cells)}
	for _, s := range shapes {
		if o.Cache == CacheQ8 && s.headDim%32 != 0 {
			return o, p, Limits{}, fmt.Errorf("--cache q8_0: %s has heads of %d values, which are no blocks of 32", h.path, s.headDim)
		}
		row := 2 * o.Cache.bytes(s.row())
		if sp := at.spanOf(s.window, o.Cells); sp.cells > 0 {
			p.Ring += row * uint64(sp.cells)
			l.Window = max(l.Window, sp.window)
			if l.Ring == 0 || sp.cells < l.Ring {
				l.Ring = sp.cells
			}
		} else {
			p.Token += row
		}
	}
	room := p.MemFree - min(margin, p.MemFree)
	if asked == 0 && o.Pool == 0 && len(at.gpus) == 0 {
		room /= 2 // the machine has other work
	}
	if err := p.share(&l, o.Pool, asked == 0, room); err != nil {
		return o, p, l, NoRoom{fmt.Errorf("%s: %s does not fit into the %d MB of memory that are free: %w", h.path, p, p.MemFree>>20, err)}
	}
	return o, p, l, nil
}

// rowBytes are what a step takes for one row of f32 of the vocabulary, and of
// each width of a layer.
func rowBytes(h *header) (vocab, hidden, mlp uint64) {
	if t := h.tensors[embeddingName]; len(t.Shape) == 2 {
		hidden, vocab = 4*t.Shape[0], 4*t.Shape[1]
	}
	for name, t := range h.tensors {
		if strings.HasSuffix(name, ".ffn_up.weight") && len(t.Shape) == 2 {
			mlp = max(mlp, 4*t.Shape[1])
		}
	}
	return vocab, hidden, mlp
}

// Needs is what a model takes on GPUs at least, in bytes, beside what is left
// free there: weights, one slot that is full, and a step. layer is the largest
// part that cannot be split over several.
func Needs(path string, o Options) (bytes, layer uint64, err error) {
	h, err := readHeader(path)
	if err != nil {
		return 0, 0, err
	}
	build, err := h.builder()
	if err != nil {
		return 0, 0, err
	}
	c, err := newCodec(h)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	arch, err := build(h, c.Vocab())
	if err != nil {
		return 0, 0, err
	}
	if o.Weights, err = o.Weights.resolve(h, true); err != nil {
		return 0, 0, err
	}
	if o.Weights == WeightsBF16 {
		h = h.expanded()
	}
	o.Slots, o.Pool = 1, 0
	_, p, l, err := makePlan(h, arch.streams(), o, devices{onGPU, []GPU{{Free: 1 << 60}}})
	if err != nil {
		return 0, 0, err
	}
	layer = slices.Max(h.layerBytes(len(arch.streams())))
	return p.Weights + p.Cache + p.forStep(&l, 0) + leastMargin, layer + leastMargin, nil
}

// share sizes the pool and the number of slots: room for as many full slots as
// compute in a step, or for what memory allows. asked is the pool's size if it
// was named, fewer whether there may be fewer slots: then each has room for a
// quarter of its context at least.
func (p *Plan) share(l *Limits, asked int, fewer bool, room uint64) error {
	block := l.BlockFor(l.Cells)
	for {
		l.Pool = cmp.Or((asked+block-1)/block*block, l.Rows*block)
		l.Slots = p.mostKept(l)
		if asked == 0 && p.MemFree > 0 && p.Token > 0 {
			taken := p.Weights + p.Ring*uint64(l.Slots)
			left := room - min(room, taken)
			left -= min(left, p.forStep(l, left))
			l.Pool = min(l.Pool, max(block, int(left/p.Token)/block*block))
			l.Slots = p.mostKept(l)
		}
		if asked > 0 {
			l.Rows = min(l.Rows, l.Slots)
		}
		p.Slots, p.Pool, p.Kept = l.Rows, l.Pool, l.Slots
		p.Cache = p.Token*uint64(l.Pool) + p.Ring*uint64(l.Slots)
		crowded := l.Slots < l.Rows || fewer && asked == 0 && 4*l.Pool < l.Rows*block
		if !crowded && (p.MemFree == 0 || p.Weights+p.Cache <= room) {
			return nil
		}
		if !fewer || l.Rows == 1 {
			break
		}
		l.Rows /= 2
	}
	most := p.MemFree
	if len(p.Devices) > 0 {
		most = room
	}
	if p.Weights+p.Cache > most || l.Slots < l.Rows {
		return errors.New("use fewer --slots or a smaller context")
	}
	return nil
}

// forStep is what is left to the step itself of what is left beside the weights.
// CPUs take it as they need it. On GPUs the largest step is there from the start:
// a few rows of the vocabulary for each output, because the best are picked
// there, and of the layers' widths for each token.
func (p *Plan) forStep(l *Limits, left uint64) uint64 {
	if len(p.Devices) == 0 {
		return left / 8
	}
	return uint64(l.Rows)*3*p.vocab + uint64(l.Rows+l.Tokens)*(10*p.hidden+3*p.mlp)
}

// mostKept is how many slots can hold something: each takes a block at least,
// and where there are rings one of them, enough for each live game and for what
// it keeps of its other seat.
func (p *Plan) mostKept(l *Limits) int {
	n := l.Pool / l.Least
	if p.Ring > 0 {
		n = min(n, 2*l.Rows)
	}
	return n
}

// availableMemory is what the machine, or the control group that this process
// is confined to, has left, in bytes; 0 if neither says.
func availableMemory() uint64 {
	free := meminfo("MemAvailable:")
	if limit := memoryLimit(); limit > 0 {
		if left := limit - min(limit, controlGroup("memory.current")); left < free || free == 0 {
			free = left
		}
	}
	return free
}

// meminfo is a line of the kernel's account of memory, in bytes.
func meminfo(name string) uint64 {
	b, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name {
			kb, _ := strconv.ParseUint(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// memoryLimit is the control group's, in bytes; 0 if it has none.
func memoryLimit() uint64 { return controlGroup("memory.max") }

// controlGroup is the number in a file of the control group's; 0 if it is none.
func controlGroup(file string) uint64 {
	b, _ := os.ReadFile("/sys/fs/cgroup/" + file)
	n, _ := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	return n
}
