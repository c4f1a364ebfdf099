package inference

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSplitLayers(t *testing.T) {
	gpus := func(free ...uint64) (list []GPU) {
		for i, n := range free {
			list = append(list, GPU{Name: fmt.Sprint("CUDA", i), Free: n})
		}
		return list
	}
	for _, test := range []struct {
		name   string
		layers []uint64
		gpus   []GPU
		want   string
	}{
		{"one GPU", []uint64{1, 1, 1, 4}, gpus(80), "[0 1 2 3]"},
		{"alike", []uint64{1, 1, 1, 1}, gpus(80, 80), "[0 1] [2 3]"},
		{"a large output", []uint64{1, 1, 1, 1, 1, 1, 4}, gpus(80, 80), "[0 1 2 3 4] [5 6]"},
		{"unequal", []uint64{1, 1, 1, 1, 1, 1, 1, 1}, gpus(60, 20), "[0 1 2 3 4 5] [6 7]"},
		{"one nearly full", []uint64{1, 1, 1, 1}, gpus(80, 1, 80), "[0 1] [2] [3]"},
		{"as many GPUs as layers", []uint64{9, 1, 1}, gpus(1, 80, 80), "[0] [1] [2]"},
		{"nothing free", []uint64{1, 1}, gpus(0, 0), "[0] [1]"},
	} {
		var got []string
		for _, p := range splitLayers(test.layers, test.gpus) {
			got = append(got, fmt.Sprint(p.layers))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %s, want %s", test.name, s, test.want)
		}
	}
}

// TestPlace: every layer of a model and its output are on one GPU, and more GPUs
// than that are refused.
func TestPlace(t *testing.T) {
	h, err := readHeader("synthetic:qwen3-tiny")
	if err != nil {
		t.Fatal(err)
	}
	build, _ := h.builder()
	if _, err := build(h, 512); err != nil { // invents the tensors
		t.Fatal(err)
	}
	sizes := h.layerBytes(2)
	if sizes[0] == 0 || sizes[0] != sizes[1] || sizes[2] < 512*256*2 {
		t.Errorf("layers take %v bytes", sizes)
	}
	list, err := place(h, 2, []GPU{{ID: "GPU-a", Library: "CUDA", Free: 5}, {ID: "GPU-b", Library: "CUDA", Free: 5}})
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, p := range list {
		if p.Library != "CUDA" || len(p.Layers) == 0 {
			t.Errorf("placed %v", p)
		}
		all = append(all, p.Layers...)
	}
	if !slices.Equal(all, []int{0, 1, 2}) {
		t.Errorf("placed layers %v", all)
	}
	if _, err := place(h, 2, make([]GPU, 4)); err == nil || !strings.Contains(err.Error(), "cannot be split over 4 GPUs") {
		t.Errorf("four GPUs for two layers and the output: %v", err)
	}
	if list, err := place(h, 2, nil); list != nil || err != nil {
		t.Errorf("no GPU: %v, %v", list, err)
	}
}

// TestNoGPU: a model that is to be computed on a GPU is not on the CPU, and the
// error says what is missing.
func TestNoGPU(t *testing.T) {
	if len(Inspect().GPUs) > 0 {
		t.Skip("there is a GPU")
	}
	_, err := Open("synthetic:qwen3-tiny", Options{GPU: true})
	if err == nil || !strings.Contains(err.Error(), "no GPU that can be used: ") || !strings.Contains(err.Error(), cudaLibrary) {
		t.Errorf("error %v", err)
	}
	dir := t.TempDir()
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, cudaLibrary), []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ dir, want string }{
		{dir, "is not in " + dir + ": build it with make cuda"},
		{broken, filepath.Join(broken, cudaLibrary) + " cannot be loaded: "},
	} {
		if err := whyNoGPU([]string{test.dir}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.dir, err)
		}
	}
	for why, want := range map[string]string{
		"libcuda.so.1: cannot open shared object file":      "needs the NVIDIA driver",
		"libcudart.so.13: cannot open shared object file":   "needs CUDA's own libraries, which are not installed here (libcudart.so.13: ",
		"libcublasLt.so.13: cannot open shared object file": "needs CUDA's own libraries",
		"libggml-base.so.0: cannot open shared object file": "cannot be loaded: libggml-base.so.0",
	} {
		if err := notLoaded("/x/"+cudaLibrary, why); !strings.HasPrefix(err.Error(), "/x/"+cudaLibrary+" "+want) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// TestPlanOnGPUs: the plan takes what GPUs have free, but for a margin, and counts
// embeddings once that both ends of the model share.
func TestPlanOnGPUs(t *testing.T) {
	h, err := readHeader("synthetic:qwen3-4b")
	if err != nil {
		t.Fatal(err)
	}
	build, _ := h.builder()
	arch, err := build(h, 151936)
	if err != nil {
		t.Fatal(err)
	}
	const gb = 1 << 30
	h200 := GPU{Name: "CUDA0", Free: 139 * gb, Total: 140 * gb}
	plan := func(o Options, gpus ...GPU) (Plan, Limits, error) {
		_, p, l, err := makePlan(h, arch.streams(), o, devices{onGPU, gpus})
		return p, l, err
	}
	p, l, err := plan(Options{Slots: 1024}, h200)
	if err != nil {
		t.Fatal(err)
	}
	if p.Weights < 7*gb || p.Weights > 8*gb {
		t.Errorf("weights take %d bytes", p.Weights)
	}
	if used := p.Weights + p.Cache; used > 139*gb*97/100-2*gb || used < 139*gb*95/100-2*gb {
		t.Errorf("%d bytes are used of %d", used, uint64(139*gb))
	}
	if l.Rows != 1024 || l.Least != 256 || l.Tokens != 2048 {
		t.Errorf("limits %+v", l)
	}
	two, _, err := plan(Options{Slots: 1024}, h200, h200)
	if err != nil || two.Pool <= p.Pool || two.Pool > 1024*2048 {
		t.Errorf("two GPUs hold %d tokens, one %d (%v)", two.Pool, p.Pool, err)
	}
	small := GPU{Name: "CUDA0", Free: 12 * gb}
	if p, l, err = plan(Options{}, small); err != nil || l.Rows >= 64 || p.Weights+p.Cache > 10*gb {
		t.Errorf("a small GPU: %d slots, %d bytes, %v", l.Rows, p.Weights+p.Cache, err)
	}
	if _, _, err = plan(Options{}, GPU{Free: 8 * gb}); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("a GPU without room: %v", err)
	}
}

// TestNeeds: what a model is said to need is enough for it, and little more.
func TestNeeds(t *testing.T) {
	const gb = 1 << 30
	for _, name := range []string{"synthetic:qwen3-4b", "synthetic:gemma4-e4b", "synthetic:ministral3-14b"} {
		bytes, layer, err := Needs(name, Options{Slots: 512})
		if err != nil {
			t.Fatal(err)
		}
		h, _ := readHeader(name)
		build, _ := h.builder()
		c, _ := newCodec(h)
		defer c.Close()
		arch, err := build(h, c.Vocab())
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			free uint64
			fits bool
		}{{bytes, true}, {bytes - leastMargin, false}} {
			_, p, _, err := makePlan(h, arch.streams(), Options{}, devices{onGPU, []GPU{{Free: test.free}}})
			if (err == nil) != test.fits {
				t.Errorf("%s needs %d bytes, of which %d go: %v (%v)", name, bytes, test.free, p, err)
			}
		}
		if layer < leastMargin || layer > leastMargin+8*gb {
			t.Errorf("%s: the largest layer takes %d bytes", name, layer)
		}
	}
	if _, _, err := Needs("synthetic:none", Options{}); err == nil {
		t.Error("no such model, no error")
	}
}

// TestLookedUpOnGPUs: a table of embeddings for each layer must be of a type that
// CUDA can look up.
func TestLookedUpOnGPUs(t *testing.T) {
	for name, want := range map[string]string{
		"synthetic:gemma4-tiny":      "",
		"synthetic:gemma4-tiny:q6_k": "",
		"synthetic:gemma4-tiny:q4_k": "per_layer_token_embd.weight has type Q4_K, whose rows GPUs cannot look up",
		"synthetic:qwen3-tiny:q4_k":  "", // it has none
	} {
		m, err := Open(name, Options{Slots: 2, Cells: 256, Threads: 1, Weights: WeightsFile, as: &onGPU})
		if err == nil {
			m.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
