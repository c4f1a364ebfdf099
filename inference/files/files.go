// Package files turns what --model names into one GGUF file on disk: a GGUF
// file, one split into parts, a Hugging Face folder, a model of the local Ollama
// store. What must be converted for that is converted once and kept.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Accepted says what Find takes.
const Accepted = "a GGUF file, a Hugging Face folder, ollama:NAME[:TAG]"

// A Finder finds models, and owns the folder of what it converts.
type Finder struct {
	Cache  string   // holds models, converted and sums
	Ollama []string // Ollama's stores, asked in this order
	// Progress is told what takes long and how much of it is done, in [0,1]. It
	// may be nil.
	Progress func(doing string, share float64)
}

// A Model is one GGUF file and the name of what it was made from.
type Model struct {
	Path, Name string
	digest     string // that the file's bytes must have; "" where nothing says
}

// New is a Finder with the folders of this user.
func New() (*Finder, error) {
	cache := os.Getenv("XDG_CACHE_HOME")
	home, err := os.UserHomeDir()
	if cache == "" {
		if err != nil {
			return nil, fmt.Errorf("no cache folder: set HOME or XDG_CACHE_HOME: %w", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	return &Finder{Cache: filepath.Join(cache, "selfplay"), Ollama: stores(home)}, nil
}

// Find gives the file of a model, which it makes if need be.
func (f *Finder) Find(ctx context.Context, name string) (Model, error) {
	if tag, ok := strings.CutPrefix(name, "ollama:"); ok {
		return f.fromOllama(tag)
	}
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Model{}, fmt.Errorf("%s: there is no such file or folder: give %s; selfplay models lists those in the cache", name, Accepted)
	case err != nil:
		return Model{}, err
	case st.IsDir():
		return f.fromFolder(ctx, name)
	case !st.Mode().IsRegular():
		return Model{}, fmt.Errorf("%s is neither a file nor a folder: give %s", name, Accepted)
	case filepath.Ext(name) == ".safetensors":
		return Model{}, fmt.Errorf("%s: name the folder that it lies in, with its config.json", name)
	}
	if base, part, parts := splitName(name); parts > 0 {
		return f.fromParts(ctx, name, base, part, parts)
	}
	if h, err := readHeader(name); err == nil && h.Uint(splitCount) > 1 {
		return Model{}, fmt.Errorf("%s: part %d of %d of a split GGUF, which needs its name back: NAME-%05d-of-%05d.gguf",
			name, h.Uint(splitNo)+1, h.Uint(splitCount), h.Uint(splitNo)+1, h.Uint(splitCount))
	}
	return Model{Path: name, Name: filepath.Base(name)}, nil
}

func (f *Finder) progress(doing string) func(float64) {
	if f.Progress == nil {
		return nil
	}
	return func(share float64) { f.Progress(doing, share) }
}
