package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// conversion is the version of what a folder becomes: a change of it converts
// folders anew.
const conversion = 1

// described are the files of a folder that say what its weights mean. Only the
// first must be there.
var described = []string{"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}

// fromFolder converts a Hugging Face folder, once for the same contents.
func (f *Finder) fromFolder(ctx context.Context, dir string) (Model, error) {
	if _, err := os.Stat(filepath.Join(dir, "config.json")); err != nil {
		if ggufs, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*.gguf")); len(ggufs) > 0 {
			return Model{}, fmt.Errorf("%s: a folder of GGUF files: name one of them, such as %s", dir, filepath.Base(ggufs[0]))
		}
		if !errors.Is(err, os.ErrNotExist) {
			return Model{}, err
		}
		return Model{}, fmt.Errorf("%s: not a Hugging Face folder, which has a config.json: name such a folder, or a GGUF file", dir)
	}
	c, err := openFolder(dir)
	if err != nil {
		return Model{}, err
	}
	name := folderName(dir)
	key := sha256.New()
	fmt.Fprintln(key, "conversion", conversion)
	for _, path := range append(describedIn(dir), c.shards...) {
		s, err := f.sum(ctx, path)
		if err != nil {
			return Model{}, err
		}
		fmt.Fprintln(key, filepath.Base(path), s.SHA256)
	}
	path, exists := f.converted(name, hex.EncodeToString(key.Sum(nil)[:8]))
	if !exists {
		err = f.keep(ctx, path, "converting "+name, c.size(), c.write)
	}
	return Model{Path: path, Name: name}, err
}

func describedIn(dir string) (paths []string) {
	for _, name := range described {
		if path := filepath.Join(dir, name); isFile(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// mostText bounds, in bytes, a file that describes a model. The largest ones have some
// ten million: vocabularies.
const mostText = 128 << 20

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// folderName is what a folder's model is called. In Hugging Face's own cache
// the folder is called by a revision: models--ORG--NAME/snapshots/REVISION.
func folderName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if up := filepath.Dir(dir); filepath.Base(up) == "snapshots" {
		if i := strings.LastIndex(filepath.Dir(up), "--"); i >= 0 {
			return filepath.Dir(up)[i+2:]
		}
	}
	return filepath.Base(dir)
}

// A folderModel is a checked folder: all that is needed to write it as GGUF.
type folderModel struct {
	shards  []string
	keys    *metadata
	tensors []output
}

func (c *folderModel) size() int64 {
	total := int64(c.keys.bytes.Len())
	for i := range c.tensors {
		total += int64(c.tensors[i].size())
	}
	return total
}

func (c *folderModel) write(w io.Writer) error {
	return writeGGUF(w, c.keys.n, bytes.NewReader(c.keys.bytes.Bytes()), 32, c.tensors)
}

// openFolder reads what a folder says of itself and checks it against its
// weights.
func openFolder(dir string) (*folderModel, error) {
	root, err := readConfig(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil, err
	}
	fam, err := familyOf(root)
	if err != nil {
		return nil, err
	}
	text, m, z := root.sub(), &metadata{}, &sizes{}
	if text == nil {
		text = root
	}
	z.tied = fam.tied
	root.get("tie_word_embeddings", &z.tied)
	text.get("tie_word_embeddings", &z.tied)
	fam.describe(text, m, z)
	text.rest()
	if text != root {
		notQuantized(root)
		root.restOfParts()
	}
	if *root.err != nil {
		return nil, *root.err
	}
	if err := describeTokenizer(dir, root, z.of["vocab"], m); err != nil {
		return nil, err
	}
	shards, err := shardsOf(dir)
	if err != nil {
		return nil, err
	}
	slabs, err := readShards(dir, shards)
	if err != nil {
		return nil, err
	}
	tensors, err := weightsOf(dir, slabs, fam, z)
	if err != nil {
		return nil, err
	}
	m.set("general.file_type", fileType(tensors))
	return &folderModel{shards: shards, keys: m, tensors: tensors}, nil
}

func familyOf(root *config) (family, error) {
	var names []string
	root.get("architectures", &names)
	if len(names) != 1 {
		root.fail("architectures", " names %d of them, not one", len(names))
		return family{}, *root.err
	}
	fam, ok := families[names[0]]
	if !ok {
		root.fail("architectures", ": %q is not supported", names[0])
	}
	return fam, *root.err
}

// sub is the part of a config.json that describes the text's part of a model
// of several; nil where there is one part.
func (c *config) sub() *config { return c.object("text_config") }

// restOfParts refuses unknown fields beside text_config, but for those of the
// parts that are left out.
func (c *config) restOfParts() {
	for name := range c.fields {
		for _, part := range []string{"vision_", "image_", "audio_", "video_", "multimodal_", "projector_", "spatial_merge", "boi_", "eoi_", "boa_", "eoa_"} {
			if strings.HasPrefix(name, part) {
				c.read[name] = true
			}
		}
	}
	c.rest()
}

// shardsOf are the files with a folder's weights: model.safetensors alone, those
// that the index names, or all there are.
func shardsOf(dir string) ([]string, error) {
	if one := filepath.Join(dir, "model.safetensors"); isFile(one) {
		return []string{one}, nil
	}
	index := filepath.Join(dir, "model.safetensors.index.json")
	b, err := Read(index, mostText)
	if errors.Is(err, fs.ErrNotExist) {
		return shardsWithoutIndex(dir)
	}
	var content struct {
		Files map[string]string `json:"weight_map"` // by tensor
	}
	if err == nil {
		err = json.Unmarshal(b, &content)
	}
	if err == nil && len(content.Files) == 0 {
		err = errors.New("field weight_map is missing or empty")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", index, err)
	}
	var shards []string
	for tensor, name := range content.Files {
		path := filepath.Join(dir, name)
		if name != filepath.Base(name) || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s: tensor %q is said to be in %q, which is no file of the folder", index, tensor, name)
		}
		if !slices.Contains(shards, path) {
			shards = append(shards, path)
		}
	}
	slices.Sort(shards)
	for _, path := range shards {
		if !isFile(path) {
			return nil, fmt.Errorf("%s is missing: %s names it", path, filepath.Base(index))
		}
	}
	return shards, nil
}

func shardsWithoutIndex(dir string) ([]string, error) {
	shards, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.safetensors"))
	// The same weights once more, as Mistral's own programs read them.
	shards = slices.DeleteFunc(shards, func(path string) bool { return strings.HasPrefix(filepath.Base(path), "consolidated") })
	if err == nil && len(shards) == 0 {
		err = fmt.Errorf("%s: no weights: model.safetensors is missing", dir)
	}
	for _, path := range shards {
		base, _, n := splitName(path)
		for i := range n {
			if part := fmt.Sprintf("%s-%05d-of-%05d.safetensors", base, i+1, n); !isFile(part) {
				return nil, fmt.Errorf("%s is missing: %s is another of the %d parts", part, filepath.Base(path), n)
			}
		}
	}
	return shards, err
}

// readShards reads the headers of all files, and names tensors as a model of
// the text alone does.
func readShards(dir string, shards []string) (map[string]slab, error) {
	slabs := map[string]slab{}
	for _, path := range shards {
		part, err := readSafetensors(path)
		if err != nil {
			return nil, err
		}
		for _, s := range part {
			name := strings.Replace(s.name, "language_model.", "", 1)
			if other, ok := slabs[name]; ok {
				return nil, fmt.Errorf("%s: tensor %q is in %s too", path, s.name, other.file)
			}
			slabs[name] = s
		}
	}
	return slabs, nil
}

// fileType is GGUF's number for what most of the weights are in.
func fileType(tensors []output) uint32 {
	bytes := map[uint32]uint64{}
	for i := range tensors {
		bytes[tensors[i].Kind] += tensors[i].size()
	}
	switch {
	case bytes[kindBF16] >= max(bytes[kindF16], bytes[kindF32]):
		return 32
	case bytes[kindF16] >= bytes[kindF32]:
		return 1
	}
	return 0
}
