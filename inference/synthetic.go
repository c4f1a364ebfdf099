package inference

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"golang.org/x/sys/unix"
)

// A synthetic model has the shape of a published one and random weights: for
// tuning and for tests. It is named synthetic:ARCH-SIZE, or
// synthetic:ARCH-SIZE:TYPE with another type of matrices than bf16. Its weights
// are a function of that name alone.

const syntheticPrefix = "synthetic:"

// syntheticVersion changes whenever the same name gives other weights.
const syntheticVersion = "1"

// IsSynthetic tells whether Open makes the model of this name up.
func IsSynthetic(name string) bool { return strings.HasPrefix(name, syntheticPrefix) }

// A synthetic is what the metadata of such a model says.
type synthetic struct {
	arch                    string
	layers, hidden, mlp     int
	heads, kvHeads, headDim int
	vocab, context          int
	eps, ropeBase           float32
	optional                []string  // the tensors it has of those that a file may lack; those of layers without the layer
	own                     fsggml.KV // keys of the architecture's own; they go before the common ones
}

// yarnOf are the keys of Ministral 3's scaling. The numbers besides these are
// those that all of its sizes have.
func yarnOf(factor float32, original uint32) fsggml.KV {
	return fsggml.KV{
		"rope.scaling.type": "yarn", "rope.scaling.factor": factor, "rope.scaling.original_context_length": original,
		"rope.scaling.yarn_beta_fast": float32(32), "rope.scaling.yarn_beta_slow": float32(1),
		"rope.scaling.yarn_log_multiplier": float32(1), "attention.temperature_scale": float32(0.1),
	}
}

// gemma4Of are the keys of Gemma 4's own: every so many layers one looks back
// over everything, the last shared ones keep no keys and values, and have an MLP
// of the width wide.
func gemma4Of(layers, every, shared, mlp, wide, window, windowHead, perLayer int) fsggml.KV {
	slides, widths := make([]bool, layers), make([]int32, layers)
	for i := range layers {
		slides[i] = (i+1)%every != 0
		if widths[i] = int32(mlp); i >= layers-shared {
			widths[i] = int32(wide)
		}
	}
	return fsggml.KV{
		"attention.sliding_window": uint32(window), "attention.sliding_window_pattern": slides, "attention.shared_kv_layers": uint32(shared),
		"attention.key_length_swa": uint32(windowHead), "attention.value_length_swa": uint32(windowHead),
		"rope.dimension_count_swa": uint32(windowHead), "rope.freq_base_swa": float32(1e4),
		"feed_forward_length": widths, "embedding_length_per_layer_input": uint32(perLayer), "final_logit_softcapping": float32(30),
	}
}

// The tensors that only some models of an architecture have.
var (
	tied       = []string{}
	untied     = []string{"output.weight"}
	llama3Tied = []string{"rope_freqs.weight"}
	llama3     = []string{"rope_freqs.weight", "output.weight"}
	gemma4E    = []string{"attn_v.weight", "layer_output_scale.weight"}
)

// synthetics by name. The sizes are those that Qwen/Qwen3-*, meta-llama/Llama-3.*,
// mistralai/Ministral-3-*-2512 and google/gemma-4-* were published with; of models
// that read images or sound too, those of the language model alone.
var synthetics = map[string]synthetic{
	// name: arch, layers, hidden, mlp, heads, kv heads, head size, vocab, context, eps, rope base, optional, own
	"qwen3-0.6b": {"qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 40960, 1e-6, 1e6, tied, nil},
	"qwen3-1.7b": {"qwen3", 28, 2048, 6144, 16, 8, 128, 151936, 40960, 1e-6, 1e6, tied, nil},
	"qwen3-4b":   {"qwen3", 36, 2560, 9728, 32, 8, 128, 151936, 40960, 1e-6, 1e6, tied, nil},
	"qwen3-8b":   {"qwen3", 36, 4096, 12288, 32, 8, 128, 151936, 40960, 1e-6, 1e6, untied, nil},
	"qwen3-14b":  {"qwen3", 40, 5120, 17408, 40, 8, 128, 151936, 40960, 1e-6, 1e6, untied, nil},
	"qwen3-32b":  {"qwen3", 64, 5120, 25600, 64, 8, 128, 151936, 40960, 1e-6, 1e6, untied, nil},

	"ministral3-3b":  {"mistral3", 26, 3072, 9216, 32, 8, 128, 131072, 262144, 1e-5, 1e6, tied, yarnOf(16, 16384)},
	"ministral3-8b":  {"mistral3", 34, 4096, 14336, 32, 8, 128, 131072, 262144, 1e-5, 1e6, untied, yarnOf(16, 16384)},
	"ministral3-14b": {"mistral3", 40, 5120, 16384, 32, 8, 128, 131072, 262144, 1e-5, 1e9, untied, yarnOf(16, 16384)},

	"llama3.2-1b": {"llama", 16, 2048, 8192, 32, 8, 64, 128256, 131072, 1e-5, 5e5, llama3Tied, nil},
	"llama3.2-3b": {"llama", 28, 3072, 8192, 24, 8, 128, 128256, 131072, 1e-5, 5e5, llama3Tied, nil},
	"llama3.1-8b": {"llama", 32, 4096, 14336, 32, 8, 128, 128256, 131072, 1e-5, 5e5, llama3, nil},

	"gemma4-e2b": {"gemma4", 35, 1536, 6144, 8, 1, 512, 262144, 131072, 1e-6, 1e6, gemma4E, gemma4Of(35, 5, 20, 6144, 2*6144, 512, 256, 256)},
	"gemma4-e4b": {"gemma4", 42, 2560, 10240, 8, 2, 512, 262144, 131072, 1e-6, 1e6, gemma4E, gemma4Of(42, 6, 18, 10240, 10240, 512, 256, 256)},

	// Made up, for tests: rows are long enough for every type.
	"qwen3-tiny":    {"qwen3", 2, 256, 512, 4, 2, 64, 512, 8192, 1e-6, 1e6, tied, nil},
	"llama-tiny":    {"llama", 2, 256, 512, 4, 2, 64, 512, 8192, 1e-5, 5e5, llama3, nil},
	"mistral3-tiny": {"mistral3", 2, 256, 512, 4, 2, 64, 512, 8192, 1e-5, 1e6, tied, yarnOf(16, 512)},
	"gemma4-tiny":   {"gemma4", 6, 256, 512, 4, 1, 128, 512, 8192, 1e-6, 1e6, gemma4E, gemma4Of(6, 3, 2, 512, 1024, 32, 64, 256)},
}

// parseSynthetic takes a name apart.
func parseSynthetic(name string) (s synthetic, kind fsggml.TensorType, err error) {
	size, typeName, ok := strings.Cut(strings.TrimPrefix(name, syntheticPrefix), ":")
	if !ok {
		typeName = "bf16"
	}
	s, ok = synthetics[size]
	if !ok {
		return s, 0, fmt.Errorf("%s: there is no such shape; give synthetic: and one of %s", name, strings.Join(slices.Sorted(maps.Keys(synthetics)), ", "))
	}
	made, ok := fillings[typeName]
	if !ok {
		return s, 0, fmt.Errorf("%s: there is no such type; give one of %s", name, strings.Join(slices.Sorted(maps.Keys(fillings)), ", "))
	}
	return s, made.kind, nil
}

// keys are the metadata, without the tokenizer's.
func (s synthetic) keys() fsggml.KV {
	kv := fsggml.KV{
		"general.architecture": s.arch,
		"block_count":          uint32(s.layers), "context_length": uint32(s.context),
		"embedding_length": uint32(s.hidden), "feed_forward_length": uint32(s.mlp),
		"attention.head_count": uint32(s.heads), "attention.head_count_kv": uint32(s.kvHeads),
		"attention.key_length": uint32(s.headDim), "attention.value_length": uint32(s.headDim),
		"attention.layer_norm_rms_epsilon": s.eps,
		"rope.dimension_count":             uint32(s.headDim), "rope.freq_base": s.ropeBase,
	}
	maps.Copy(kv, s.own)
	full := fsggml.KV{}
	for key, value := range kv {
		if key != "general.architecture" {
			key = s.arch + "." + key
		}
		full[key] = value
	}
	return full
}

// Control tokens of made-up vocabularies; the tokens of the bytes follow them.
const (
	madeUpEnd = iota
	madeUpStart
	madeUpBOS
	madeUpControls
)

// madeUpVocab are the keys of a vocabulary of n tokens: control tokens, single
// bytes, two words, and as many more as are needed, which no text becomes.
func madeUpVocab(n int) fsggml.KV {
	tokens := []string{"<|end|>", "<|start|>", "<|bos|>"}
	types := slices.Repeat([]int32{typeNormal}, n)
	for _, r := range byteRunes() {
		tokens = append(tokens, string(r))
	}
	tokens = append(tokens, "th", "the")
	for i := range madeUpControls {
		types[i] = typeControl
	}
	for i := len(tokens); i < n; i++ {
		tokens = append(tokens, fmt.Sprintf("Ġw%d", i))
	}
	return fsggml.KV{
		"tokenizer.ggml.model":        "gpt2",
		"tokenizer.ggml.pre":          "gpt-2",
		"tokenizer.ggml.tokens":       tokens,
		"tokenizer.ggml.token_type":   types,
		"tokenizer.ggml.merges":       []string{"t h", "th e"},
		"tokenizer.ggml.eos_token_id": uint32(madeUpEnd),
		"tokenizer.chat_template":     "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}<|start|>assistant\n",
	}
}

// syntheticHeader describes the model of this name. Its tensors are those that
// the architecture asks for; there is no file of them yet.
func syntheticHeader(name string) (*header, error) {
	s, kind, err := parseSynthetic(name)
	if err != nil {
		return nil, err
	}
	return s.header(name, kind, madeUpVocab(s.vocab))
}

func (s synthetic) header(name string, kind fsggml.TensorType, tokenizer fsggml.KV) (*header, error) {
	kv := s.keys()
	maps.Copy(kv, tokenizer)
	f, err := tempGGUF(kv, nil) // the metadata in the form that is read from files
	if err != nil {
		return nil, fmt.Errorf("%s needs room in %s, or set TMPDIR: %w", name, os.TempDir(), err)
	}
	defer f.Close()
	h, err := readHeader(openPath(f))
	if err != nil {
		return nil, err
	}
	h.path, h.file = name, ""
	h.invent = func(name string, optional bool, shape []int) {
		if h.tensors[name] != nil || optional && !slices.Contains(s.optional, layerless(name)) {
			return
		}
		t := &fsggml.Tensor{Name: name, Kind: uint32(kind)}
		if len(shape) == 1 {
			t.Kind = uint32(fsggml.TensorTypeF32)
		}
		for _, n := range shape {
			t.Shape = append(t.Shape, uint64(n))
		}
		h.tensors[name] = t
	}
	_, err = architectures[s.arch](h, s.vocab)
	return h, err
}

// layerless is a tensor's name without its layer.
func layerless(name string) string {
	if rest, ok := strings.CutPrefix(name, "blk."); ok {
		_, name, _ = strings.Cut(rest, ".")
	}
	return name
}

// CheckSynthetic says whether there is a synthetic model of this name.
func CheckSynthetic(name string) error {
	_, _, err := parseSynthetic(name)
	return err
}

// SyntheticID checks the name of a synthetic model and gives what tells its
// weights from others: their size in bytes and a hash.
func SyntheticID(name string) (size int64, sha string, err error) {
	s, kind, err := parseSynthetic(name)
	if err != nil {
		return 0, "", err
	}
	h, err := s.header(name, kind, nil)
	if err != nil {
		return 0, "", err
	}
	sum := sha256.Sum256([]byte(name + " version " + syntheticVersion))
	return int64(h.size()), hex.EncodeToString(sum[:]), nil
}

// size counts the bytes of all tensors.
func (h *header) size() (n uint64) {
	for _, t := range h.tensors {
		n += t.Size()
	}
	return n
}

// writeSynthetic writes the weights to a temporary file, from which they are
// loaded, and gives it open.
func (h *header) writeSynthetic() (*os.File, error) {
	if err := roomFor(h.path, h.size(), os.TempDir()); err != nil {
		return nil, err
	}
	fill(h.tensors)
	kv := fsggml.KV{}
	for key, value := range h.kv {
		if !strings.HasPrefix(key, "tokenizer.") { // which was read already
			kv[key] = value
		}
	}
	f, err := tempGGUF(kv, slices.Collect(maps.Values(h.tensors)))
	if err != nil {
		return nil, fmt.Errorf("%s needs room in %s for its weights, or set TMPDIR: %w", h.path, os.TempDir(), err)
	}
	written, err := readHeader(openPath(f))
	if err != nil {
		f.Close()
		return nil, err
	}
	h.file, h.offset = openPath(f), written.offset
	return f, nil
}

// roomFor refuses weights of more bytes than the folder has room for.
func roomFor(name string, size uint64, dir string) error {
	free, err := DiskFree(dir)
	if err == nil && size > free {
		err = fmt.Errorf("%s: its weights are %d MB, but %s has room for %d MB: make room, or set TMPDIR", name, size>>20, dir, free>>20)
	}
	return err
}

// DiskFree is how many bytes a folder has room for.
func DiskFree(dir string) (uint64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	return disk.Bavail * uint64(disk.Bsize), nil
}

// tempGGUF writes a file without a name: it is gone once it is closed, whatever
// ends the program.
func tempGGUF(kv fsggml.KV, tensors []*fsggml.Tensor) (*os.File, error) {
	f, err := nameless()
	if err != nil {
		return nil, err
	}
	if err := fsggml.WriteGGUF(f, kv, tensors); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// nameless is a new file that never has a name where the file system knows such, so
// that a program that ends at any moment leaves none; elsewhere it has one for a moment.
func nameless() (*os.File, error) {
	dir := os.TempDir()
	if fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600); err == nil {
		return os.NewFile(uintptr(fd), filepath.Join(dir, "selfplay-weights")), nil
	}
	f, err := os.CreateTemp("", "selfplay-weights-*.gguf")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// SyntheticNames are the names of all shapes, and of the types that may stand
// behind one with a colon between.
func SyntheticNames() (shapes, types []string) {
	for name := range synthetics {
		shapes = append(shapes, syntheticPrefix+name)
	}
	slices.Sort(shapes)
	return shapes, slices.Sorted(maps.Keys(fillings))
}
