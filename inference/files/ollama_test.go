package files

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A layer of a manifest.
type layer struct {
	Type   string `json:"mediaType"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

const modelLayer = "application/vnd.ollama.image.model"

// pull puts a model into a store: its manifest, and one GGUF file.
func pull(t testing.TB, store, manifest string, more ...layer) layer {
	t.Helper()
	blobs := filepath.Join(store, "blobs")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		t.Fatal(err)
	}
	f := &Finder{Cache: filepath.Join(t.TempDir(), "selfplay")}
	m, err := f.Find(context.Background(), newQwen3().write(t))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha(t, m.Path)
	b, err := os.ReadFile(m.Path)
	if err == nil {
		err = os.WriteFile(filepath.Join(blobs, "sha256-"+sum), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := layer{modelLayer, "sha256:" + sum, int64(len(b))}
	writeManifest(t, store, manifest, append([]layer{{"application/vnd.ollama.image.template", "sha256:x", 3}, l}, more...)...)
	return l
}

func writeManifest(t testing.TB, store, name string, layers ...layer) {
	t.Helper()
	path := filepath.Join(store, "manifests", filepath.FromSlash(name))
	b, err := json.Marshal(map[string]any{"schemaVersion": 2, "layers": layers})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOllama(t *testing.T) {
	f := finder(t)
	store := t.TempDir()
	f.Ollama = []string{filepath.Join(t.TempDir(), "none"), store}
	ctx := context.Background()
	for name, manifest := range map[string]string{
		"qwen3":                         "registry.ollama.ai/library/qwen3/latest",
		"qwen3:4b-q8_0":                 "registry.ollama.ai/library/qwen3/4b-q8_0",
		"someone/qwen3":                 "registry.ollama.ai/someone/qwen3/latest",
		"localhost:5000/a/b.c:1.5":      "localhost:5000/a/b.c/1.5",
		"hf.co/unsloth/Qwen3-GGUF:Q4_0": "hf.co/unsloth/Qwen3-GGUF/Q4_0",
	} {
		l := pull(t, store, manifest)
		m, err := f.Find(ctx, "ollama:"+name)
		if err != nil {
			t.Error(err)
			continue
		}
		want := name
		if !strings.Contains(name[strings.LastIndex(name, "/")+1:], ":") {
			want += ":latest"
		}
		if m.Name != want || m.Path != filepath.Join(store, "blobs", strings.Replace(l.Digest, ":", "-", 1)) {
			t.Errorf("%s: %+v", name, m)
		}
		if size, sum, err := f.Sum(ctx, m); err != nil || "sha256:"+sum != l.Digest || size != l.Size {
			t.Errorf("%s: %d bytes, sum %s, %v", name, size, sum, err)
		}
	}
	tags, err := tagsIn(store)
	if err != nil || len(tags) != 5 {
		t.Errorf("tags %v, %v", tags, err)
	}
}

// TestOllamaNames: no name leaves the store.
func TestOllamaNames(t *testing.T) {
	f := finder(t)
	f.Ollama = []string{t.TempDir()}
	for _, name := range []string{"", ":", ":latest", "..", "../x", "a/../b", "a/..", "../../../x", "a/b/c/d", "a:..", "a:b/c", "a:", "/a", "a//b", "-a", "a b", `a\b`, "a\x00", "../a/b", "a/b/..:x"} {
		_, err := f.Find(context.Background(), "ollama:"+name)
		checkError(t, name, err, "is no name of a model")
	}
	_, err := f.Find(context.Background(), "ollama:absent:7b")
	checkError(t, "absent", err, "ollama:absent:7b is not in the local Ollama store", f.Ollama[0], "ollama pull absent:7b")
}

func TestBrokenOllama(t *testing.T) {
	const manifest = "registry.ollama.ai/library/m/latest"
	for _, test := range []struct {
		name   string
		change func(store string, l layer)
		want   string
	}{
		{"adapter", func(s string, l layer) {
			writeManifest(t, s, manifest, l, layer{"application/vnd.ollama.image.adapter", l.Digest, l.Size})
		}, "with an adapter"},
		{"two", func(s string, l layer) { writeManifest(t, s, manifest, l, l) }, "2 GGUF files make this model"},
		{"none", func(s string, l layer) { writeManifest(t, s, manifest) }, "0 GGUF files make this model"},
		{"safetensors", func(s string, l layer) {
			writeManifest(t, s, manifest, layer{"application/vnd.ollama.image.tensor", l.Digest, l.Size})
		}, "this model is no GGUF file"},
		{"missing blob", func(s string, l layer) { os.RemoveAll(filepath.Join(s, "blobs")) }, "its weights are missing, pull the model again"},
		{"half a blob", func(s string, l layer) {
			os.Truncate(filepath.Join(s, "blobs", strings.Replace(l.Digest, ":", "-", 1)), 100)
		}, "has 100 bytes of"},
		{"digest", func(s string, l layer) {
			writeManifest(t, s, manifest, layer{modelLayer, "sha256:../../../../etc/passwd", l.Size})
		}, "is no sha256"},
		{"digest of another kind", func(s string, l layer) {
			writeManifest(t, s, manifest, layer{modelLayer, strings.Replace(l.Digest, "256", "512", 1), l.Size})
		}, "is no sha256"},
		{"nonsense", func(s string, l layer) {
			os.WriteFile(filepath.Join(s, "manifests", filepath.FromSlash(manifest)), []byte("<html>"), 0o644)
		}, "invalid character"},
	} {
		f := finder(t)
		store := t.TempDir()
		f.Ollama = []string{store}
		test.change(store, pull(t, store, manifest))
		_, err := f.Find(context.Background(), "ollama:m")
		checkError(t, test.name, err, filepath.Join(store, "manifests"), test.want)
	}
	// Bytes that are not those of the digest are seen when the model is summed.
	f := finder(t)
	f.Ollama = []string{t.TempDir()}
	l := pull(t, f.Ollama[0], manifest)
	path := filepath.Join(f.Ollama[0], "blobs", strings.Replace(l.Digest, ":", "-", 1))
	b, err := os.ReadFile(path)
	if err == nil {
		b[len(b)-1] ^= 1
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Find(context.Background(), "ollama:m")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = f.Sum(context.Background(), m)
	checkError(t, "damaged", err, path, "damaged")
}

// TestNew: where the environment says that things lie.
func TestNew(t *testing.T) {
	t.Setenv("HOME", "/h")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("OLLAMA_MODELS", "")
	f, err := New()
	if err != nil || f.Cache != "/h/.cache/selfplay" || !slices.Equal(f.Ollama, []string{"/h/.ollama/models", "/usr/share/ollama/.ollama/models"}) {
		t.Error(f, err)
	}
	t.Setenv("XDG_CACHE_HOME", "/c")
	t.Setenv("OLLAMA_MODELS", "/o")
	f, err = New()
	if err != nil || f.Cache != "/c/selfplay" || !slices.Equal(f.Ollama, []string{"/o"}) {
		t.Error(f, err)
	}
}

// TestList: what is whole and what is broken.
func TestList(t *testing.T) {
	f := finder(t)
	store := t.TempDir()
	f.Ollama = []string{store}
	if found, looked := f.List(); len(found) != 0 || !slices.Equal(looked, []string{filepath.Join(f.Cache, "models"), filepath.Join(f.Cache, "converted"), store}) {
		t.Error(found, looked)
	}
	l := pull(t, store, "registry.ollama.ai/library/m/latest")
	writeManifest(t, store, "registry.ollama.ai/library/z/latest")
	m, err := f.Find(context.Background(), newLlama().write(t))
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(m.Path)
	if err != nil {
		t.Fatal(err)
	}
	models := filepath.Join(f.Cache, "models")
	part, _ := splitFiles(t, 32, nil)
	if err := os.Rename(filepath.Dir(part(1)), models); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(models, "zz.gguf")
	if err := os.WriteFile(broken, []byte("GGUF"), 0o644); err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, path := range in(t, models, "big-*.gguf") {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size += st.Size()
	}
	const q, kv, norms = 3 * 2 * 24 * 32, 3 * 2 * 24 * 16, 7 * 24
	llama := uint64(q + kv + norms + 3*3*24*40 + 2*12*24)
	want := []Listed{
		{Model: filepath.Join(models, "big-00001-of-00003.gguf"), Architecture: "llama", Parameters: 15 + 107 + 9 + 64, Weights: "Q4_0", Context: 77, Size: size},
		{Model: broken, Error: broken + ": truncated GGUF, fetch the file again"},
		{Model: m.Path, Architecture: "llama", Parameters: llama, Weights: "BF16", Context: 512, Size: st.Size()},
		{Model: "ollama:m:latest", Architecture: "qwen3", Parameters: llama + 6*8, Weights: "BF16", Context: 512, Size: l.Size},
		{Model: "ollama:z:latest", Error: filepath.Join(store, "manifests", "registry.ollama.ai/library/z/latest") + ": 0 GGUF files make this model; one is supported"},
	}
	found, _ := f.List()
	if !slices.Equal(found, want) {
		t.Errorf("found\n%+v, want\n%+v", found, want)
	}
}
