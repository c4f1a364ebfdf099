package inference

// #include <dlfcn.h>
// #include <stdlib.h>
// void *ggml_backend_dev_host_buffer_type(void *device);
// void *ggml_backend_buft_alloc_buffer(void *type, size_t size);
// void *ggml_backend_buffer_get_base(void *buffer);
// void ggml_backend_buffer_free(void *buffer);
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml"
	ggml "github.com/ollama/ollama/ml/backend/ggml/ggml/src"
)

// HideGPUs keeps the runtime from taking memory on GPUs that this process does not
// compute on. It must come before the runtime looks for devices, which it does
// once.
func HideGPUs() { os.Setenv("CUDA_VISIBLE_DEVICES", "-1") }

// usableGPUs are the GPUs that the runtime shows; an error says why there are none.
func usableGPUs() ([]GPU, error) {
	m := Inspect()
	switch {
	case m.Fault != "":
		return nil, errors.New(m.Fault)
	case len(m.GPUs) > 0:
		return m.GPUs, nil
	}
	return nil, fmt.Errorf("no GPU that can be used: %w; --device cpu computes on the CPU", whyNoGPU(ggml.LibPaths()))
}

// devices are what a model is computed on.
type devices struct {
	manner
	gpus []GPU // none: the CPU
}

// whereTo says what the options ask for.
func whereTo(o Options) (devices, error) {
	if !o.GPU {
		HideGPUs()
		if o.as != nil {
			return devices{manner: *o.as}, nil
		}
		return devices{manner: onCPU}, nil
	}
	gpus, err := usableGPUs()
	return devices{onGPU, gpus}, err
}

// free is what the devices have free, in bytes, and what the plan leaves of that
// to the step and to others.
func (d devices) free() (bytes, margin uint64) {
	if len(d.gpus) == 0 {
		bytes = availableMemory()
		return bytes, 0
	}
	for _, g := range d.gpus {
		bytes += g.Free
		margin += max(g.Free/32, leastMargin)
	}
	return bytes, margin
}

// leastMargin is left free on each GPU, for what the runtime takes besides cache
// and graph: its context, and the scratch memory of its kernels. Needs counts it,
// so that a model goes where it was placed.
const leastMargin = 2 << 30

// whyNoGPU says why the runtime, which looks for its libraries in these folders,
// shows no GPU: it keeps that to itself.
func whyNoGPU(folders []string) error {
	for _, dir := range folders {
		path := filepath.Join(dir, cudaLibrary)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if why := dlopen(path); why != "" {
			return notLoaded(path, why)
		}
		if v, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
			return fmt.Errorf("%s is loaded, but the driver shows it no GPU with CUDA_VISIBLE_DEVICES=%s", path, v)
		}
		return fmt.Errorf("%s is loaded, but the driver shows it no GPU: see what nvidia-smi says", path)
	}
	return fmt.Errorf("%s is not in %s: build it with make cuda", cudaLibrary, strings.Join(folders, " or "))
}

// notLoaded says what to do where the CUDA library cannot be loaded, and why.
func notLoaded(path, why string) error {
	switch {
	case strings.Contains(why, "libcuda.so"):
		return fmt.Errorf("%s needs the NVIDIA driver, which is not installed here (%s)", path, why)
	case strings.Contains(why, "libcudart.so"), strings.Contains(why, "libcublas"):
		return fmt.Errorf("%s needs CUDA's own libraries, which are not installed here (%s): install that release of CUDA, or lay them beside it", path, why)
	}
	return fmt.Errorf("%s cannot be loaded: %s", path, why)
}

// dlopen says why a library cannot be loaded; "" if it can.
func dlopen(path string) string {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if h := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL); h != nil {
		C.dlclose(h)
		return ""
	}
	return oneLine(C.GoString(C.dlerror()))
}

// A part is the layers that one GPU computes; the output counts as the layer
// after the last.
type part struct {
	gpu    GPU
	layers []int
}

// splitLayers gives each GPU a run of the layers, whose bytes are given, in
// proportion to the memory that it has free. Every GPU gets one at least, so that
// there must not be more of them than layers.
func splitLayers(layers []uint64, gpus []GPU) []part {
	var total, free float64
	for _, n := range layers {
		total += float64(n)
	}
	for _, g := range gpus {
		free += float64(g.Free)
	}
	parts := make([]part, len(gpus))
	i, share, given := 0, 0.0, 0.0 // share: of the layers that the GPUs so far should have
	for k, g := range gpus {
		parts[k].gpu = g
		share += float64(g.Free) / max(1, free)
		left := len(gpus) - k - 1 // GPUs to come
		for i < len(layers)-left && (left == 0 || len(parts[k].layers) == 0 || given+float64(layers[i])/2 <= share*total) {
			parts[k].layers = append(parts[k].layers, i)
			given += float64(layers[i])
			i++
		}
	}
	return parts
}

// layerBytes is what each layer takes in weights, and the output after them.
func (h *header) layerBytes(layers int) []uint64 {
	sizes := make([]uint64, layers+1)
	for name, t := range h.tensors {
		var i int
		if _, err := fmt.Sscanf(name, "blk.%d.", &i); err == nil && i < layers {
			sizes[i] += t.Size()
		} else if name != embeddingName || h.tensors[outputName] == nil {
			sizes[layers] += t.Size()
		}
	}
	return sizes
}

const embeddingName, outputName = "token_embd.weight", "output.weight"

// lookedUpOnGPUs refuses a table of embeddings that the runtime puts on the GPU,
// whose rows CUDA cannot look up: all of it would be copied to the CPU in each step.
func (h *header) lookedUpOnGPUs() error {
	t := h.tensors[lookedUp]
	if t == nil || gathered[fsggml.TensorType(t.Kind)] {
		return nil
	}
	return fmt.Errorf("%s: tensor %s has type %s, whose rows GPUs cannot look up: take a file with another type there, or --device cpu", h.path, lookedUp, typeName(t.Kind))
}

// place says which GPU computes which layers.
func place(h *header, layers int, gpus []GPU) (ml.GPULayersList, error) {
	if len(gpus) == 0 {
		return nil, nil
	}
	sizes := h.layerBytes(layers)
	if len(gpus) > len(sizes) {
		return nil, fmt.Errorf("%s: %d layers cannot be split over %d GPUs", h.path, layers, len(gpus))
	}
	var list ml.GPULayersList
	for _, p := range splitLayers(sizes, gpus) {
		list = append(list, ml.GPULayers{DeviceID: ml.DeviceID{ID: p.gpu.ID, Library: p.gpu.Library}, Layers: p.layers})
	}
	return list, nil
}

// pinned is memory that a GPU reads without a copy in between.
type pinned struct {
	device  unsafe.Pointer
	buffers []unsafe.Pointer
}

// bytes gives n bytes, of the runtime's pinned memory if it has some.
func (p *pinned) bytes(n int) []byte {
	if p.device != nil && n > 0 {
		if b := C.ggml_backend_buft_alloc_buffer(C.ggml_backend_dev_host_buffer_type(p.device), C.size_t(n)); b != nil {
			p.buffers = append(p.buffers, b)
			return unsafe.Slice((*byte)(C.ggml_backend_buffer_get_base(b)), n)
		}
	}
	return make([]byte, n)
}

func (p *pinned) free() {
	for _, b := range p.buffers {
		C.ggml_backend_buffer_free(b)
	}
	p.buffers = nil
}
