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

// A Go whose C compiler has something to say about the C code of others, and may fail.
const talkative = `#!/bin/sh
case $2 in
-v)
	echo net/http
	echo github.com/ollama/ollama/ml/backend/ggml/ggml/src
	echo "# github.com/ollama/ollama/ml/backend/ggml/ggml/src"
	echo "ggml.c:1: warning: of no use"
	[ -z "$BROKEN" ] || { echo "ggml.c:2: error: of use"; exit 1; } ;;
*) echo "the program is built" ;;
esac >&2
`

// TestBuildSays: what the compiler says about other people's code is shown only where
// that cannot be built.
func TestBuildSays(t *testing.T) {
	dir := installable(t)
	lay(t, dir, map[string]string{"go/go": talkative, "cache/selfplay/tokenizers-v1.24.0/libtokenizers.a": ""})
	for _, c := range []struct {
		broken    string
		says, not []string
	}{
		{"", []string{"compiling github.com/ollama/ollama/ml/backend/ggml/ggml/src\n", "the program is built\n"}, []string{"warning", "net/http"}},
		{"yes", []string{"compiling github.com", "warning: of no use\n", "error: of use\n"}, []string{"the program is built"}},
	} {
		m := exec.Command("make", "-C", dir, "build")
		m.Env = append(os.Environ(), "BROKEN="+c.broken, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "PATH="+filepath.Join(dir, "go")+":"+os.Getenv("PATH"))
		out, err := m.CombinedOutput()
		if (err != nil) != (c.broken != "") {
			t.Errorf("broken %q: %v", c.broken, err)
		}
		for _, part := range c.says {
			if !strings.Contains(string(out), part) {
				t.Errorf("broken %q: no %q in %s", c.broken, part, out)
			}
		}
		for _, part := range c.not {
			if strings.Contains(string(out), part) {
				t.Errorf("broken %q: %q in %s", c.broken, part, out)
			}
		}
	}
}

// TestOthersCCode: the Makefile names all packages with C code that are not ours, or
// what needs them.
func TestOthersCCode(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^C_CODE := (.*)$`).FindStringSubmatch(string(makefile))
	if named == nil {
		t.Fatal("the Makefile has no C_CODE")
	}
	withC := func(packages ...string) []string {
		c := exec.Command("go", append([]string{"list", "-deps", "-f", "{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}"}, packages...)...)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	first := withC(strings.Fields(named[1])...)
	for _, name := range withC("selfplay/cmd/selfplay") {
		if !strings.HasPrefix(name, "selfplay/") && !slices.Contains(first, name) {
			t.Errorf("%s is not built first", name)
		}
	}
	if len(first) < 5 {
		t.Errorf("%q", first)
	}
}
