package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"selfplay/inference/files"
)

// inStores puts the small model into the cache and into Ollama's store.
func inStores(t *testing.T) (path string) {
	t.Helper()
	model, err := filepath.Abs(modelPath(t))
	if err != nil {
		t.Fatal(err)
	}
	cache, store := t.TempDir(), t.TempDir()
	path = filepath.Join(cache, "selfplay", "models", "small.gguf")
	sum := "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
	blob := filepath.Join(store, "blobs", "sha256-"+sum)
	manifest := filepath.Join(store, "manifests", "registry.ollama.ai", "library", "small", "latest")
	for _, file := range []string{path, blob, manifest} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	st, err := os.Stat(model)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{"layers": []map[string]any{{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:" + sum, "size": st.Size()}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Symlink(model, path), os.Symlink(model, blob), os.WriteFile(manifest, b, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("OLLAMA_MODELS", store)
	return path
}

func TestModels(t *testing.T) {
	path := inStores(t)
	broken := filepath.Join(filepath.Dir(path), "broken.gguf")
	if err := os.WriteFile(broken, []byte("<html>"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := selfplay("", "models")
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	if r.code != 0 || len(lines) != 4 {
		t.Fatalf("%d: %s%s", r.code, r.stdout, r.stderr)
	}
	for i, want := range [][]string{{"--model", "context"}, {broken, "not a GGUF file"}, {path, "llama 135M Q4_1 8192 93.8 MB"}, {"ollama:small:latest", "llama 135M Q4_1 8192 93.8 MB"}} {
		for _, w := range want {
			if !strings.Contains(strings.Join(strings.Fields(lines[i]), " "), w) {
				t.Errorf("line %q, want %q in it", lines[i], w)
			}
		}
	}
	var out struct {
		Models []files.Listed
		Looked []string
	}
	r = selfplay("", "models", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || len(out.Models) != 3 || len(out.Looked) != 3 {
		t.Fatal(err, r.stdout)
	}
	if m := out.Models[2]; m.Model != "ollama:small:latest" || m.Context != 8192 || m.Parameters != 134515008 || m.Error != "" {
		t.Errorf("%+v", m)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "empty"))
	t.Setenv("OLLAMA_MODELS", "/nowhere")
	if r := selfplay("", "models"); r.code != 0 || !strings.Contains(r.stdout, "no models in "+os.Getenv("XDG_CACHE_HOME")) || !strings.Contains(r.stdout, "/nowhere") {
		t.Errorf("%d: %s", r.code, r.stdout)
	}
	if r := selfplay("", "models", "--json"); !strings.HasPrefix(r.stdout, `{"models":[],`) {
		t.Errorf("%s", r.stdout)
	}
}

// TestOneModelOfTwoNames: a model is known by its bytes, whatever names it.
func TestOneModelOfTwoNames(t *testing.T) {
	path := inStores(t)
	c := &cobra.Command{}
	c.SetContext(t.Context())
	file, err := choosePlayer(c, path, true)
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := choosePlayer(c, "ollama:small", true)
	if err != nil {
		t.Fatal(err)
	}
	if file.id.SHA256 != pulled.id.SHA256 || file.id.Size != pulled.id.Size || pulled.id.Name != "small:latest" || file.id.Name != "small.gguf" {
		t.Errorf("%+v and %+v", file.id, pulled.id)
	}
	const in = `{"text": "Nim"}`
	if a, b := selfplay(in, "debug", "tokenize", "--model", path), selfplay(in, "debug", "tokenize", "--model", "ollama:small"); a.code != 0 || a != b {
		t.Errorf("%+v, %+v", a, b)
	}
}
