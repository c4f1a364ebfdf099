package files

import (
	"path/filepath"
	"strings"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// A Listed model is one that Find would find, or the error that it would give.
type Listed struct {
	Model        string `json:"model"` // what to give --model
	Architecture string `json:"architecture,omitempty"`
	Parameters   uint64 `json:"parameters,omitempty"`
	Weights      string `json:"weights,omitempty"` // the type of most of them
	Context      uint64 `json:"context,omitempty"`
	Size         int64  `json:"size,omitempty"` // bytes
	Error        string `json:"error,omitempty"`
}

// List gives the models in the cache and in the Ollama stores, and the folders
// that were looked into.
func (f *Finder) List() (found []Listed, looked []string) {
	for _, dir := range []string{"models", "converted"} {
		dir = filepath.Join(f.Cache, dir)
		looked = append(looked, dir)
		paths, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*.gguf"))
		for _, path := range paths {
			if _, part, _ := splitName(path); part < 2 { // the first part stands for all
				found = append(found, listFile(path, path))
			}
		}
	}
	for _, store := range f.Ollama {
		looked = append(looked, store)
		tags, err := tagsIn(store)
		if err != nil {
			found = append(found, Listed{Model: store, Error: err.Error()})
		}
		for _, t := range tags {
			name := "ollama:" + t.String()
			if m, err := openManifest(store, t); err != nil {
				found = append(found, Listed{Model: name, Error: err.Error()})
			} else {
				found = append(found, listFile(name, m.Path))
			}
		}
	}
	return found, looked
}

// listFile describes a GGUF file, all its parts if it has several.
func listFile(name, path string) Listed {
	parts := []part{{path: path}}
	var err error
	if base, _, n := splitName(path); n > 0 {
		parts, err = readParts(base, n)
	} else {
		parts[0], err = readPart(path)
	}
	if err != nil {
		return Listed{Model: name, Error: strings.ReplaceAll(err.Error(), "\n", " ")}
	}
	l := Listed{Model: name, Architecture: parts[0].head.Text("general.architecture")}
	l.Context = parts[0].head.Uint(l.Architecture + ".context_length")
	values := map[uint32]uint64{} // of matrices, by type
	for _, p := range parts {
		l.Size += p.size
		for i := range p.head.Tensors {
			t := &p.head.Tensors[i]
			l.Parameters += t.elements()
			if t.isMatrix() {
				values[t.Kind] += t.elements()
			}
		}
	}
	l.Weights = weightsName(parts[0].head, values)
	return l
}

// weightsName is what the file says its weights are in, where that has a name,
// else the type of most of them.
func weightsName(h *Header, values map[uint32]uint64) string {
	const key = "general.file_type"
	if h.value(key) != nil {
		if name := fsggml.FileType(h.Uint(key)).String(); name != "unknown" {
			return name
		}
	}
	most, name := uint64(0), ""
	for kind, n := range values {
		if n > most {
			most, name = n, fsggml.TensorType(kind).String()
		}
	}
	return name
}
