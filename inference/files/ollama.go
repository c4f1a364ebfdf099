package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// stores are where Ollama keeps models: where its variable says, else the
// user's own folder, and the one of its service.
func stores(home string) []string {
	if dir := os.Getenv("OLLAMA_MODELS"); dir != "" {
		return []string{dir}
	}
	return []string{filepath.Join(home, ".ollama", "models"), "/usr/share/ollama/.ollama/models"}
}

// What a name and a sum may look like: nothing that could leave the store.
var (
	ollamaHost   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?$`)
	ollamaPart   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	ollamaDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

const (
	ollamaRegistry = "registry.ollama.ai"
	ollamaUser     = "library"
	ollamaTag      = "latest"
)

// A tag is a name in the store, all its parts given.
type tag struct{ host, user, model, tag string }

func parseTag(name string) (tag, error) {
	t := tag{ollamaRegistry, ollamaUser, "", ollamaTag}
	rest := name
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		rest, t.tag = name[:i], name[i+1:]
	}
	parts := strings.Split(rest, "/")
	switch len(parts) {
	case 1:
		t.model = parts[0]
	case 2:
		t.user, t.model = parts[0], parts[1]
	case 3:
		t.host, t.user, t.model = parts[0], parts[1], parts[2]
	}
	if !ollamaHost.MatchString(t.host) || !ollamaPart.MatchString(t.user) || !ollamaPart.MatchString(t.model) || !ollamaPart.MatchString(t.tag) {
		return t, fmt.Errorf("ollama:%s is no name of a model: give ollama:NAME[:TAG], NAME as Ollama lists it", name)
	}
	return t, nil
}

// String is the name as Ollama lists it.
func (t tag) String() string {
	name := t.model + ":" + t.tag
	if t.user != ollamaUser || t.host != ollamaRegistry {
		name = t.user + "/" + name
	}
	if t.host != ollamaRegistry {
		name = t.host + "/" + name
	}
	return name
}

func (t tag) manifest(store string) string {
	return filepath.Join(store, "manifests", t.host, t.user, t.model, t.tag)
}

// fromOllama gives the file of a model that Ollama has pulled.
func (f *Finder) fromOllama(name string) (Model, error) {
	t, err := parseTag(name)
	if err != nil {
		return Model{}, err
	}
	for _, store := range f.Ollama {
		m, err := openManifest(store, t)
		if !errors.Is(err, errNoManifest) {
			return m, err
		}
	}
	return Model{}, fmt.Errorf("ollama:%s is not in the local Ollama store (%s): see what there is with selfplay models, or pull it with ollama pull %s", name, strings.Join(f.Ollama, ", "), t)
}

var errNoManifest = errors.New("no such model")

// openManifest finds the one layer of a model in a store that is its GGUF file.
func openManifest(store string, t tag) (Model, error) {
	path := t.manifest(store)
	file, _, err := Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Model{}, errNoManifest
	}
	if err != nil {
		return Model{}, err
	}
	defer file.Close()
	var manifest struct {
		Layers []struct {
			Type   string `json:"mediaType"`
			Digest string `json:"digest"`
			Size   int64  `json:"size"`
		} `json:"layers"`
	}
	b, err := io.ReadAll(io.LimitReader(file, 1<<20))
	if err == nil {
		err = json.Unmarshal(b, &manifest)
	}
	if err != nil {
		return Model{}, fmt.Errorf("%s: %w", path, err)
	}
	var models []Model
	for _, l := range manifest.Layers {
		switch l.Type {
		case "application/vnd.ollama.image.adapter":
			return Model{}, fmt.Errorf("%s: a model with an adapter is not supported", path)
		case "application/vnd.ollama.image.tensor":
			return Model{}, fmt.Errorf("%s: this model is no GGUF file", path)
		case "application/vnd.ollama.image.model":
			m, err := blob(store, l.Digest, l.Size)
			if err != nil {
				return Model{}, fmt.Errorf("%s: %w", path, err)
			}
			m.Name = t.String()
			models = append(models, m)
		}
	}
	if len(models) != 1 {
		return Model{}, fmt.Errorf("%s: %d GGUF files make this model; one is supported", path, len(models))
	}
	return models[0], nil
}

func blob(store, digest string, size int64) (Model, error) {
	if !ollamaDigest.MatchString(digest) {
		return Model{}, fmt.Errorf("digest %q is no sha256", digest)
	}
	sum := strings.TrimPrefix(digest, "sha256:")
	path := filepath.Join(store, "blobs", "sha256-"+sum)
	st, err := os.Stat(path)
	if err != nil {
		return Model{}, fmt.Errorf("its weights are missing, pull the model again: %w", err)
	}
	if st.Size() != size {
		return Model{}, fmt.Errorf("%s has %d bytes of %d: pull the model again", path, st.Size(), size)
	}
	return Model{Path: path, digest: sum}, nil
}

// tagsIn lists what a store has.
func tagsIn(store string) (tags []tag, err error) {
	root := filepath.Join(store, "manifests")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if parts := strings.Split(rel, string(filepath.Separator)); len(parts) == 4 {
			tags = append(tags, tag{parts[0], parts[1], parts[2], parts[3]})
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	slices.SortFunc(tags, func(a, b tag) int { return strings.Compare(a.String(), b.String()) })
	return tags, err
}
