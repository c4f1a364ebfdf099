package inference

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// found is what a process with other libraries tells its parent.
type found struct {
	Machine
	Name   string
	Auto   [2]Weights // on the CPU, on a GPU
	Opened string     // why no model can be opened
	Env    string     // what processes that it starts are told of the folder
}

func findHere(t *testing.T) (f found) {
	h := &header{tensors: map[string]*fsggml.Tensor{"w": {Name: "w", Kind: uint32(fsggml.TensorTypeQ4_1), Shape: []uint64{256, 256}}}}
	f.Machine, f.Name, f.Env = Inspect(), kernelsName(), os.Getenv(librariesVariable)
	if m, err := Open("synthetic:qwen3-tiny", Options{Slots: 1, Cells: 16}); err != nil {
		f.Opened = err.Error()
	} else {
		m.Close()
	}
	for i := range f.Auto {
		var err error
		if f.Auto[i], err = WeightsAuto.resolve(h, i == 1); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestKernels: of the libraries in lib/ollama the runtime takes the one that suits
// this CPU best, and says which; what auto means for weights depends on that one's
// features. One that the CPU cannot run is left; where one is spoilt none is taken,
// no model is opened, and what is at fault is told.
func TestKernels(t *testing.T) {
	const child = "TEST_SELFPLAY_KERNELS"
	if os.Getenv(child) != "" {
		text, _ := json.Marshal(findHere(t))
		fmt.Printf("\n%s%s\n", child, text)
		return
	}
	for _, c := range []struct {
		libraries map[string]int // and what they score; -1: no library
		want      string
		fault     string
	}{
		{nil, "", ""},
		{map[string]int{"never": 0}, "", ""},
		{map[string]int{"good": 5, "best": 77, "never": 0}, "libggml-cpu-best.so", ""},
		{map[string]int{"good": 5, "never": 0}, "libggml-cpu-good.so", ""},
		{map[string]int{"good": 5, "spoilt": -1}, "", "libggml-cpu-spoilt.so is not a whole library"},
	} {
		dir := filepath.Join(t.TempDir(), "lib", "ollama")
		for name, score := range c.libraries {
			makeKernels(t, filepath.Join(dir, "libggml-cpu-"+name+".so"), score, runtimeVersion())
		}
		p := exec.Command(os.Args[0], "-test.run=^TestKernels$")
		p.Env = append(os.Environ(), child+"=1", "OLLAMA_LIBRARY_PATH="+dir)
		out, err := p.CombinedOutput()
		_, line, ok := strings.Cut(string(out), "\n"+child)
		var f found
		if err != nil || !ok || json.Unmarshal([]byte(strings.Split(line, "\n")[0]), &f) != nil {
			t.Fatalf("%v: %v: %s", c.libraries, err, out)
		}
		if !strings.Contains(f.Fault, c.fault) || (f.Fault != "") != (c.fault != "") || f.Opened != f.Fault || f.Env != dir {
			t.Errorf("%v: fault %q, opened %q, the variable is %q; want %q", c.libraries, f.Fault, f.Opened, f.Env, c.fault)
		}
		if f.Kernels != c.want || !strings.HasPrefix(f.Name, c.want) || f.Auto[1] != WeightsFile {
			t.Errorf("%v: %q, %q, weights %q; want %q", c.libraries, f.Kernels, f.Name, f.Auto, c.want)
		}
		if c.want == "" {
			here := findHere(t)
			if !slices.Equal(f.Features, here.Features) || f.Auto != here.Auto {
				t.Errorf("%v: %q, weights %q; without libraries %q, %q", c.libraries, f.Features, f.Auto, here.Features, here.Auto)
			}
			continue
		}
		if !slices.Equal(f.Features, []string{"AVX512_BF16", "WIDTH=16"}) || f.Auto[0] != WeightsBF16 || f.Name != c.want+": AVX512_BF16 WIDTH=16" {
			t.Errorf("%v: %q, %q, weights %q", c.libraries, f.Features, f.Name, f.Auto)
		}
		for _, x := range x86 {
			if bf16 := x.name == "AVX512_BF16"; slices.Contains(f.Unused, x.name) != (*x.has && !bf16) || slices.Contains(f.Lacking, x.name) != (!*x.has && bf16) {
				t.Errorf("%v: unused %q, lacking %q", c.libraries, f.Unused, f.Lacking)
			}
		}
	}
}

// TestCheckLibraries: what would end the process, or compute nonsense, is found
// before it is loaded.
func TestCheckLibraries(t *testing.T) {
	dir := t.TempDir()
	const name, now, next = cpuLibraries + "avx2.so", "v0.24.0", "v0.24.1"
	read := func(name string) []byte {
		makeKernels(t, filepath.Join(dir, name), 1, now)
		library, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return library
	}
	whole, cuda := read(name), read(cudaLibrary)
	for _, c := range []struct {
		home, file string // where the program's folders lie, and what is put there
		bytes      []byte
		version    string
		says       string
	}{
		{"", "lib/notes.txt", nil, next, ""}, // there is no lib/ollama
		{"", "lib/ollama/notes.txt", nil, next, ""},
		{"", "lib/ollama/" + name, whole, now, ""},
		{"", "lib/ollama/" + name, whole, next, name + " is not of this program's release, which has ollama " + next},
		{"", "lib/ollama/libggml-cpu-haswell.so", whole, now, "haswell.so is not of this program's release"},
		{"", "lib/ollama/" + name, whole[:len(whole)/2], now, name + " is not a whole library"},
		{"", "lib/ollama/" + name, nil, now, name + " is not a whole library"},
		{"", "lib/ollama/" + cudaLibrary, cuda, now, ""},
		{"", "lib/ollama/" + cudaLibrary, cuda, next, cudaLibrary + " is not of this program's release, which has ollama " + next + " in it: keep the bin and lib of one release together, apart from Ollama's own, or run make cuda again"},
		{"", "lib/ollama/" + cudaLibrary, whole, now, cudaLibrary + " is not of this program's release"}, // the name inside is another's
		{"", "lib/ollama/" + cudaLibrary, cuda[:len(cuda)-1], now, cudaLibrary + " is not a whole library"},
		{"", "lib/ollama/libggml-base.so.0", whole, next, ""}, // comes with the CUDA library
		{"", "lib/ollama", nil, next, "lib/ollama: not a directory"},
		{"a:b", "lib/ollama/" + name, whole, now, "':' in its name"},
		{"a:b", "lib/ollama/notes.txt", nil, now, ""},
	} {
		home := filepath.Join(t.TempDir(), c.home)
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, c.file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, c.file), c.bytes, 0o755); err != nil {
			t.Fatal(err)
		}
		err := checkLibraries([]string{filepath.Join(home, "lib", "ollama")}, c.version)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s %s of %d bytes, %s: %v; want %q", c.home, c.file, len(c.bytes), c.version, err, c.says)
		}
	}
}

// makeKernels compiles a library with this score, of that version of the runtime.
func makeKernels(t *testing.T, path string, score int, version string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if score < 0 {
		if err := os.WriteFile(path, []byte("no library"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/ollama/ollama").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Fatal(err)
	}
	ggml := filepath.Join(strings.TrimSpace(string(module)), "ml", "backend", "ggml", "ggml")
	args := append(strings.Fields(string(compiler)), "-shared", "-fPIC", fmt.Sprintf("-DSCORE=%d", score), "-Wl,-soname,"+filepath.Base(path)+"."+version,
		"-I"+filepath.Join(ggml, "src"), "-I"+filepath.Join(ggml, "include"), "-o", path, filepath.Join("testdata", "kernels", "kernels.c"))
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
