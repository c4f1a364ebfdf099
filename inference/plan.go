package inference

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Plan says what a model takes, in bytes, and how it is cut up.
type Plan struct {
	Weights uint64  `json:"weights_bytes"`
	Cache   uint64  `json:"cache_bytes"`
	Slots   int     `json:"slots"`
	Cells   int     `json:"cells"` // tokens a slot
	Tokens  int     `json:"tokens_per_step"`
	Threads int     `json:"threads"`
	Kind    Weights `json:"weights"` // the types that are computed
	Trained int     `json:"trained_context"`
	MemFree uint64  `json:"memory_available_bytes"`
}

// NoRoom is an error of a model that memory, or the disk where its weights are
// expanded, has no room for.
type NoRoom struct{ error }

func (p Plan) String() string {
	const mb = 1 << 20
	return fmt.Sprintf("weights %d MB (%s), cache %d MB (%d slots of %d tokens), %d tokens a step, %d threads",
		p.Weights/mb, p.Kind.describe(), p.Cache/mb, p.Slots, p.Cells, p.Tokens, p.Threads)
}

func (w Weights) describe() string {
	if w == WeightsBF16 {
		return "expanded to bf16"
	}
	return "as in the file"
}

const (
	defaultCells  = 2048
	defaultTokens = 512
	mostSlots     = 64 // by default: on CPU throughput has levelled off before
)

// makePlan fills in what the options leave open and checks that it fits.
func makePlan(h *header, shapes []streamShape, o Options) (Options, Plan, error) {
	trained, err := h.count("context_length")
	if err != nil {
		return o, Plan{}, err
	}
	if o.Cells > trained {
		return o, Plan{}, fmt.Errorf("--context %d: %s was trained on contexts of %d tokens", o.Cells, h.path, trained)
	}
	if o.Cells == 0 {
		o.Cells = min(defaultCells, trained)
	}
	if o.Tokens == 0 {
		o.Tokens = defaultTokens
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Slots < 0 || o.Cells < 0 || o.Tokens < 0 || o.Threads < 0 {
		return o, Plan{}, fmt.Errorf("slots, context, tokens a step and threads must not be negative")
	}
	p := Plan{Cells: o.Cells, Tokens: o.Tokens, Threads: o.Threads, Kind: o.Weights, Trained: trained, MemFree: availableMemory()}
	for name, t := range h.tensors {
		p.Weights += t.Size()
		if name == "token_embd.weight" && h.tensors["output.weight"] == nil {
			p.Weights += t.Size() // the runtime loads tied embeddings twice
		}
	}
	slot := uint64(0)
	for _, s := range shapes {
		slot += uint64(2 * s.row() * cacheValueSize * spanOf(s.window, o.Cells).cells)
	}
	if o.Slots == 0 {
		o.Slots = mostSlots
		if half := p.MemFree / 2; p.MemFree > 0 && p.Weights+slot*mostSlots > half {
			o.Slots = 1
			if half > p.Weights {
				o.Slots = max(1, int((half-p.Weights)/slot))
			}
		}
	}
	p.Slots, p.Cache = o.Slots, slot*uint64(o.Slots)
	if p.MemFree > 0 && p.Weights+p.Cache > p.MemFree {
		return o, p, NoRoom{fmt.Errorf("%s: %s does not fit into the %d MB of memory that are free: use fewer --slots or a smaller --context", h.path, p, p.MemFree>>20)}
	}
	return o, p, nil
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
