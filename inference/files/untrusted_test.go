package files

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// FuzzManifest reads anything as what Ollama says of a model: an error of one line
// that names the file, or a file among the blobs of the store.
func FuzzManifest(f *testing.F) {
	sum := strings.Repeat("0a", 32)
	layer := func(digest string) []byte {
		return []byte(`{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"` + digest + `","size":3}]}`)
	}
	f.Add(layer("sha256:" + sum))
	f.Add(layer("sha256:../../../../etc/passwd"))
	f.Add(layer("sha256-" + sum + "/../../x"))
	f.Add([]byte(`{"layers":[{"mediaType":"application/vnd.ollama.image.adapter"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		store := t.TempDir()
		name := tag{"host", "user", "m", "t"}
		path := name.manifest(store)
		blobs := filepath.Join(store, "blobs")
		for _, dir := range []string{filepath.Dir(path), blobs} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for path, text := range map[string][]byte{path: data, filepath.Join(blobs, "sha256-"+sum): []byte("abc"), filepath.Join(store, "x"): []byte("abc")} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var m Model
		var err error
		if n := allocated(func() { m, err = openManifest(store, name) }); n > 1<<20+64*uint64(len(data)) {
			t.Errorf("%d bytes of memory for a file of %d", n, len(data))
		}
		if err == nil && m.Path != filepath.Join(blobs, "sha256-"+sum) {
			t.Errorf("%q leads to %s", data, m.Path)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("error %q", err)
		}
	})
}

// FuzzConfig reads anything as the config.json of a folder: an error of one line
// that names the file.
func FuzzConfig(f *testing.F) {
	for _, make := range []func() *folder{newLlama, newQwen3, newGemma4, newMinistral} {
		text, err := json.Marshal(make().config)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"architectures":["LlamaForCausalLM"],"num_hidden_layers":1e18,"vocab_size":9223372036854775807}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "config.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if n := allocated(func() { _, err = openFolder(dir) }); n > 4<<20+256*uint64(len(data)) {
			t.Errorf("%d bytes of memory for a file of %d", n, len(data))
		}
		if err == nil || !strings.HasPrefix(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v", err)
		}
	})
}

// What a folder holds under a name that is read may lead to something without an
// end: it is refused, and nobody waits for a pipe.
func TestNoFiles(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		for _, file := range []string{"config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja"} {
			folder := newLlama()
			dir := folder.write(t)
			path := filepath.Join(dir, file)
			os.Remove(path)
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			_, err := openFolder(dir)
			checkError(t, name+" "+file, err, path, "not a file")
		}
		path := filepath.Join(t.TempDir(), "m")
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		_, err := readSafetensors(path)
		checkError(t, name, err, path, "not a file")
		_, err = readHeader(path)
		checkError(t, name, err, path, "not a file")
		store := t.TempDir()
		manifest := tag{"h", "u", "m", "t"}.manifest(store)
		os.MkdirAll(filepath.Dir(manifest), 0o755)
		if err := change(manifest); err != nil {
			t.Fatal(err)
		}
		_, err = openManifest(store, tag{"h", "u", "m", "t"})
		checkError(t, name, err, manifest, "not a file")
	}
}
