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
	Name string
	Auto [2]Weights // on the CPU, on a GPU
}

func findHere(t *testing.T) (f found) {
	h := &header{tensors: map[string]*fsggml.Tensor{"w": {Name: "w", Kind: uint32(fsggml.TensorTypeQ4_1), Shape: []uint64{256, 256}}}}
	f.Machine, f.Name = Inspect(), kernelsName()
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
// features. A library that cannot be loaded, or that the CPU cannot run, is left.
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
	}{
		{nil, ""},
		{map[string]int{"broken": -1, "never": 0}, ""},
		{map[string]int{"good": 5, "best": 77, "never": 0, "broken": -1}, "libggml-cpu-best.so"},
		{map[string]int{"good": 5, "never": 0}, "libggml-cpu-good.so"},
	} {
		dir := filepath.Join(t.TempDir(), "lib", "ollama")
		for name, score := range c.libraries {
			makeKernels(t, filepath.Join(dir, "libggml-cpu-"+name+".so"), score)
		}
		p := exec.Command(os.Args[0], "-test.run=^TestKernels$")
		p.Env = append(os.Environ(), child+"=1", "OLLAMA_LIBRARY_PATH="+dir)
		out, err := p.CombinedOutput()
		_, line, ok := strings.Cut(string(out), "\n"+child)
		var f found
		if err != nil || !ok || json.Unmarshal([]byte(strings.Split(line, "\n")[0]), &f) != nil {
			t.Fatalf("%v: %v: %s", c.libraries, err, out)
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

// makeKernels compiles a library with this score.
func makeKernels(t *testing.T, path string, score int) {
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
	args := append(strings.Fields(string(compiler)), "-shared", "-fPIC", fmt.Sprintf("-DSCORE=%d", score),
		"-I"+filepath.Join(ggml, "src"), "-I"+filepath.Join(ggml, "include"), "-o", path, filepath.Join("testdata", "kernels", "kernels.c"))
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
