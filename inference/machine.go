package inference

// // A library of kernels takes the rest of the runtime from the program, which must
// // show it its symbols.
// #cgo linux LDFLAGS: -Wl,--export-dynamic
// #cgo CFLAGS: -D_GNU_SOURCE
// #include <dlfcn.h>
// #include <stdbool.h>
// #include <stddef.h>
// #include <stdlib.h>
// // A part of the runtime's ggml-backend.h.
// typedef struct { const char *name, *value; } feature;
// typedef feature *(*features_of)(void *reg);
// typedef struct {
//   const char *name, *description;
//   size_t memory_free;
//   const char *id;
//   size_t memory_total;
//   int type;
//   const char *device_id;
//   struct { bool async, host_buffer, buffer_from_host_ptr, events; } caps;
//   int driver_major, driver_minor, compute_major, compute_minor, integrated;
//   const char *library;
// } properties;
// size_t ggml_backend_dev_count(void);
// void *ggml_backend_dev_get(size_t i);
// int ggml_backend_dev_type(void *device);
// const char *ggml_backend_dev_name(void *device);
// const char *ggml_backend_dev_description(void *device);
// void ggml_backend_dev_get_props(void *device, properties *p);
// void ggml_backend_dev_memory(void *device, size_t *free, size_t *total);
// void *ggml_backend_dev_backend_reg(void *device);
// void *ggml_backend_reg_get_proc_address(void *reg, const char *name);
// static feature *features(void *device) {
//   void *reg = ggml_backend_dev_backend_reg(device);
//   features_of f = (features_of)ggml_backend_reg_get_proc_address(reg, "ggml_backend_get_features");
//   return f ? f(reg) : NULL;
// }
// static feature *next(feature *f) { return f + 1; }
// // The runtime's registration of a device lies in the file that has its kernels.
// static const char *file_of(void *device) {
//   Dl_info info;
//   return dladdr(ggml_backend_dev_backend_reg(device), &info) ? info.dli_fname : "";
// }
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	ggml "github.com/ollama/ollama/ml/backend/ggml/ggml/src"
	"golang.org/x/sys/cpu"
)

// A Machine is what the runtime finds to compute on.
type Machine struct {
	CPU      string   `json:"cpu"`
	Cores    int      `json:"cores"`             // that this process may use
	Kernels  string   `json:"kernels,omitempty"` // the library of the CPU's kernels, empty: the program has them
	Features []string `json:"features"`          // of the CPU, that they were compiled for
	Unused   []string `json:"unused,omitempty"`  // that the CPU has besides, and that would make it faster
	Lacking  []string `json:"lacking,omitempty"` // that they were compiled for, but the CPU does not have
	MemTotal uint64   `json:"memory_bytes"`
	MemFree  uint64   `json:"memory_available_bytes"` // what the control group leaves of it
	MemLimit uint64   `json:"memory_limit_bytes"`     // of the control group; 0: none
	GPUs     []GPU    `json:"gpus"`
	// Libraries are those of kernels and other backends that lie where the runtime looks.
	Libraries []string `json:"libraries"`
	// Fault says what is wrong with them, so that none is loaded and no model runs.
	Fault string `json:"fault,omitempty"`
	// NoGPU says why the CUDA library, which is among them, shows no GPU.
	NoGPU string `json:"no_gpu,omitempty"`
}

// A GPU as the runtime describes it, with its memory in bytes.
type GPU struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	ID          string `json:"id"`                // for CUDA its UUID, or a number where the driver keeps that to itself
	Library     string `json:"library"`           // of the backend, such as CUDA
	Compute     string `json:"compute,omitempty"` // capability, as 9.0
	Free        uint64 `json:"free_bytes"`
	Total       uint64 `json:"total_bytes"`

	device unsafe.Pointer
}

func (g GPU) String() string {
	text := g.Name + ", " + g.Description
	if g.Compute != "" {
		text += ", compute capability " + g.Compute
	}
	return text
}

// The types of the runtime's devices.
const (
	deviceCPU = iota
	deviceGPU
	deviceIntegratedGPU
)

// Inspect asks the runtime and the system.
func Inspect() Machine {
	m := Machine{
		CPU: cpuName(), Cores: runtime.GOMAXPROCS(0), GPUs: []GPU{}, Libraries: []string{},
		MemTotal: meminfo("MemTotal:"), MemFree: availableMemory(), MemLimit: memoryLimit(),
	}
	if err := loadRuntime(); err != nil {
		m.Fault = err.Error()
	}
	m.Kernels, m.Features = kernels()
	m.compare()
	for i := range C.ggml_backend_dev_count() {
		device := C.ggml_backend_dev_get(i)
		if t := C.ggml_backend_dev_type(device); t == deviceGPU || t == deviceIntegratedGPU {
			m.GPUs = append(m.GPUs, describe(device))
		}
	}
	for _, dir := range ggml.LibPaths() {
		found, _ := filepath.Glob(filepath.Join(dir, "libggml-*"))
		m.Libraries = append(m.Libraries, found...)
	}
	isCUDA := func(path string) bool { return filepath.Base(path) == cudaLibrary }
	if len(m.GPUs) == 0 && slices.ContainsFunc(m.Libraries, isCUDA) {
		m.NoGPU = whyNoGPU(ggml.LibPaths()).Error()
	}
	return m
}

// CPUFeatures are those that the runtime's kernels were compiled for. No library is
// loaded for it, and no GPU asked, unless kernels to choose from lie beside the
// program.
func CPUFeatures() []string {
	for _, dir := range libraryFolders() {
		if found, _ := filepath.Glob(filepath.Join(dir, cpuLibraries+"*")); len(found) > 0 {
			_, features := kernels()
			return features
		}
	}
	_, features := loadedKernels()
	return features
}

// CUDALibrary is where the runtime's CUDA library lies, "" if it is in none of the
// folders, which come with it. Whether it can be loaded is not tried.
func CUDALibrary() (path string, folders []string) {
	folders = libraryFolders()
	for _, dir := range folders {
		path := filepath.Join(dir, cudaLibrary)
		if _, err := os.Stat(path); err == nil {
			return path, folders
		}
	}
	return "", folders
}

func describe(device unsafe.Pointer) GPU {
	var p C.properties
	C.ggml_backend_dev_get_props(device, &p)
	var free, total C.size_t
	C.ggml_backend_dev_memory(device, &free, &total)
	g := GPU{
		Name: C.GoString(p.name), Description: C.GoString(p.description), ID: C.GoString(p.id), Library: C.GoString(p.library),
		Free: uint64(free), Total: uint64(total), device: device,
	}
	if p.compute_major > 0 {
		g.Compute = fmt.Sprintf("%d.%d", p.compute_major, p.compute_minor)
	}
	return g
}

// kernels tells of the CPU's kernels that the runtime computes with: the file name
// of the library that it chose for this CPU, "" if it took those in the program,
// and the features that they were compiled for.
func kernels() (library string, features []string) {
	loadRuntime()
	return loadedKernels()
}

// loadedKernels is the same of what is loaded so far.
func loadedKernels() (library string, features []string) {
	features = []string{}
	for i := range C.ggml_backend_dev_count() {
		device := C.ggml_backend_dev_get(i)
		if C.ggml_backend_dev_type(device) != deviceCPU {
			continue
		}
		if file := filepath.Base(C.GoString(C.file_of(device))); strings.HasPrefix(file, cpuLibraries) {
			library = file
		}
		for f := C.features(device); f != nil && f.name != nil; f = C.next(f) {
			name := C.GoString(f.name)
			if value := C.GoString(f.value); value != "1" {
				name += "=" + value
			}
			features = append(features, name)
		}
		break // the runtime uses the first alone
	}
	return library, features
}

// kernelsName is what a run says of the kernels that played it: with others, the
// same game may round another way.
func kernelsName() string {
	library, features := kernels()
	name := strings.Join(features, " ")
	if library != "" {
		name = library + ": " + name
	}
	return name
}

// x86 are the features of such a CPU that the runtime has kernels for and that
// can be asked for; AMX is not among them, see the build's flags.
var x86 = []struct {
	name string
	has  *bool
}{
	{"AVX", &cpu.X86.HasAVX}, {"AVX2", &cpu.X86.HasAVX2}, {"FMA", &cpu.X86.HasFMA}, {"AVX512", &cpu.X86.HasAVX512F},
	{"AVX512_VNNI", &cpu.X86.HasAVX512VNNI}, {"AVX512_BF16", &cpu.X86.HasAVX512BF16},
}

// compare sets what the kernels leave unused and what they need in vain.
func (m *Machine) compare() {
	if runtime.GOARCH != "amd64" {
		return
	}
	for _, x := range x86 {
		switch compiled := slices.Contains(m.Features, x.name); {
		case *x.has && !compiled:
			m.Unused = append(m.Unused, x.name)
		case !*x.has && compiled:
			m.Lacking = append(m.Lacking, x.name)
		}
	}
}

// cpuName is the first CPU's.
func cpuName() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
