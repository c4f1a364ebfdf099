// Package dist tests the scripts that make a release.
package dist

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A compiler that writes what it was told into what it should make.
const compiler = `#!/bin/sh
[ "$1" != --version ] || exec echo fake
told="$*"
while [ "$1" != -o ]; do shift; done
echo "$told" >"$2"
`

// TestKinds: all files of the runtime's CPU backend are compiled for each kind of
// CPU with the flags of just the features that the library asks the CPU for, and
// what asks with none.
func TestKinds(t *testing.T) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/ollama/ollama").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"cc": compiler, "strip": "#!/bin/sh\n: >\"$3\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("./cpu.sh", strings.TrimSpace(string(module)), "v1.2.3", filepath.Join(dir, "lib"))
	cc := filepath.Join(dir, "cc")
	c.Env = append(os.Environ(), "CC="+cc, "CXX="+cc, "TREES="+filepath.Join(dir, "tree"), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	flags := map[string]string{ // what each feature is compiled with, and the score's names of them
		"sse42":       "msse4.2|SSE42",
		"avx":         "msse4.2 mavx|SSE42 AVX",
		"avx2":        "msse4.2 mavx mf16c mavx2 mbmi2 mfma|SSE42 AVX F16C AVX2 BMI2 FMA",
		"avx2-vnni":   "msse4.2 mavx mf16c mavx2 mbmi2 mfma mavxvnni|SSE42 AVX F16C AVX2 BMI2 FMA AVX_VNNI",
		"avx512":      "msse4.2 mavx mf16c mavx2 mbmi2 mfma mavx512f mavx512cd mavx512vl mavx512dq mavx512bw|SSE42 AVX F16C AVX2 BMI2 FMA AVX512",
		"avx512-vnni": "msse4.2 mavx mf16c mavx2 mbmi2 mfma mavx512f mavx512cd mavx512vl mavx512dq mavx512bw mavx512vnni|SSE42 AVX F16C AVX2 BMI2 FMA AVX512 AVX512_VNNI",
		"avx512-bf16": "msse4.2 mavx mf16c mavx2 mbmi2 mfma mavx512f mavx512cd mavx512vl mavx512dq mavx512bw mavx512vnni mavx512bf16|SSE42 AVX F16C AVX2 BMI2 FMA AVX512 AVX512_VNNI AVX512_BF16",
	}
	sources := backendSources(t)
	for kind, want := range flags {
		if _, err := os.Stat(filepath.Join(dir, "lib", "libggml-cpu-"+kind+".so")); err != nil {
			t.Error(err)
		}
		linked, _ := filepath.Glob(filepath.Join(dir, "tree-*", kind+".so"))
		if told, err := os.ReadFile(strings.Join(linked, "")); err != nil || !strings.Contains(string(told), "-soname,libggml-cpu-"+kind+".so.v1.2.3 ") {
			t.Errorf("%s: linked %v, %v: %s", kind, linked, err, told)
		}
		objects, _ := filepath.Glob(filepath.Join(dir, "tree-*", kind, "*.o"))
		var compiled []string
		machine, asked, _ := strings.Cut(want, "|")
		for _, object := range objects {
			told, err := os.ReadFile(object)
			if err != nil {
				t.Fatal(err)
			}
			compiled = append(compiled, regexp.MustCompile(`[^/ ]+\n$`).FindString(string(told)))
			m, a := machine, ""
			if strings.HasSuffix(object, "cpu-feats.cpp.o") {
				m, a = "", asked
			}
			if got := found(`-(m[a-z0-9.]+) `, told); got != m {
				t.Errorf("%s: -m flags %q, want %q", object, got, m)
			}
			if got := found(`-DGGML_((?:SSE|AVX|F16C|BMI2|FMA)\S*) `, told); got != a {
				t.Errorf("%s: asks for %q, want %q", object, got, a)
			}
		}
		slices.Sort(compiled)
		if !slices.Equal(compiled, sources) {
			t.Errorf("%s: compiled %q, want %q", kind, compiled, sources)
		}
	}
	if made, _ := filepath.Glob(filepath.Join(dir, "lib", "*")); len(made) != len(flags) {
		t.Errorf("made %q", made)
	}
}

func found(pattern string, text []byte) string {
	var all []string
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		all = append(all, string(m[1]))
	}
	return strings.Join(all, " ")
}

// backendSources are the files that Go compiles of it, each with a line end.
func backendSources(t *testing.T) []string {
	const backend = "github.com/ollama/ollama/ml/backend/ggml/ggml/src/ggml-cpu"
	c := exec.Command("go", "list", "-f", `{{range .CFiles}}{{.}}
{{end}}{{range .CXXFiles}}{{.}}
{{end}}`, backend, backend+"/arch/x86", backend+"/llamafile")
	c.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := slices.DeleteFunc(strings.SplitAfter(string(out), "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
	slices.Sort(files)
	return files
}
