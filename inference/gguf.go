package inference

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	fsggml "github.com/ollama/ollama/fs/ggml"

	"selfplay/inference/files"
)

// header is the checked description of a GGUF file: metadata and tensors. The
// keys of an architecture are asked for without its name in front.
type header struct {
	path    string // what the user calls the model
	file    string // where its data is read from
	kv      fsggml.KV
	tensors map[string]*fsggml.Tensor
	offset  uint64 // of the tensors' data in the file
	// invent is told of every tensor that the architecture asks for, and may add
	// it to those that there are; nil for a file, which has them or not.
	invent func(name string, optional bool, shape []int)
}

// readHeader reads the description of a model file and makes sure that the
// runtime, which trusts it, can be given it.
func readHeader(path string) (*header, error) {
	if IsSynthetic(path) {
		return syntheticHeader(path)
	}
	f, size, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := decodeGGUF(f, uint64(size))
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, oneLine(err.Error()))
	}
	h.path, h.file = path, path
	return h, nil
}

// decodeGGUF is readHeader on the bytes of a file of the given size.
func decodeGGUF(r io.ReadSeeker, size uint64) (h *header, err error) {
	scan, err := files.Scan(r, size)
	if err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			h, err = nil, fmt.Errorf("broken GGUF: %v", p)
		}
	}()
	file, err := fsggml.Decode(r, -1)
	if err != nil {
		return nil, fmt.Errorf("truncated or broken GGUF, fetch the file again: %w", err)
	}
	h = &header{kv: file.KV(), tensors: map[string]*fsggml.Tensor{}, offset: file.Tensors().Offset}
	if n := scan.Uint("split.count"); n > 1 { // before its tensors, of which some are in other files
		return nil, fmt.Errorf("one of %d parts of a split GGUF: merge them into one file", n)
	}
	for _, t := range file.Tensors().Items() {
		if err := checkTensor(t, h.kv.BlockCount()); err != nil {
			return nil, err
		}
		if end := h.offset + t.Offset + t.Size(); t.Offset > size || end > size {
			return nil, fmt.Errorf("tensor %q ends at byte %d of %d: truncated GGUF, fetch the file again", t.Name, end, size)
		}
		if h.tensors[t.Name] != nil {
			return nil, fmt.Errorf("broken GGUF: two tensors are named %q", t.Name)
		}
		h.tensors[t.Name] = t
	}
	return h, nil
}

// checkTensor refuses what would make the runtime abort the process.
func checkTensor(t *fsggml.Tensor, layers uint64) error {
	kind := fsggml.TensorType(t.Kind)
	if kind.TypeSize() == 0 {
		return fmt.Errorf("tensor %q has type %d, which the runtime does not know", t.Name, t.Kind)
	}
	if len(t.Shape) < 1 || len(t.Shape) > 4 {
		return fmt.Errorf("tensor %q has %d dimensions", t.Name, len(t.Shape))
	}
	left := uint64(1) << 44 // values; more would overflow sizes in bytes
	for _, n := range t.Shape {
		if n < 1 || n > left {
			return fmt.Errorf("tensor %q has shape %v", t.Name, t.Shape)
		}
		left /= n
	}
	if t.Shape[0]%kind.BlockSize() != 0 {
		return fmt.Errorf("tensor %q: rows of %d values are no multiple of the %d in a block of %s", t.Name, t.Shape[0], kind.BlockSize(), kind)
	}
	// The runtime takes the first number in a name for the layer, and an
	// architecture asks for the number of layers.
	if digits := strings.FieldsFunc(t.Name, func(r rune) bool { return !unicode.IsNumber(r) }); len(digits) > 0 && layers > 0 {
		if n, err := strconv.ParseUint(digits[0], 10, 64); err == nil && n >= layers {
			return fmt.Errorf("tensor %q belongs to a layer beyond the %d of key block_count", t.Name, layers)
		}
	}
	return nil
}

// mostOf is far beyond any count of a model, and products of three fit.
const mostOf = 1 << 24

// count is a required whole number of the architecture, at least 1.
func (h *header) count(key string) (int, error) {
	n := h.kv.Uint(key)
	if n < 1 || n > mostOf {
		return 0, fmt.Errorf("%s: key %s.%s is missing or out of range", h.path, h.kv.Architecture(), key)
	}
	return int(n), nil
}

// float is a required positive number of the architecture.
func (h *header) float(key string) (float32, error) {
	x := h.kv.Float(key)
	if !(x > 0) {
		return 0, fmt.Errorf("%s: key %s.%s is missing or not positive", h.path, h.kv.Architecture(), key)
	}
	return x, nil
}
