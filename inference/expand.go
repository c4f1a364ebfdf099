package inference

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml/backend/ggml"
)

// Weights says in which types the weights are computed. It changes logits a
// little, as every type rounds activations in its own way, and so it belongs to
// an experiment.
type Weights string

const (
	// WeightsAuto is bf16 where it is faster for many slots, else file.
	WeightsAuto Weights = "auto"
	// WeightsFile leaves the types as they are in the file.
	WeightsFile Weights = "file"
	// WeightsBF16 expands those types to bf16 whose rows the runtime multiplies
	// one by one, however many there are: Q4_1, Q5_1, the K and most I types. It
	// takes up to four times the memory, and pays when many slots decode or
	// prompts are long.
	WeightsBF16 Weights = "bf16"
)

// resolve decides what auto means for this file on this machine. GPUs have kernels
// for all types.
func (w Weights) resolve(h *header, gpu bool) (Weights, error) {
	switch w {
	case WeightsFile, WeightsBF16:
		return w, nil
	case WeightsAuto, "":
	default:
		return w, fmt.Errorf("--weights %s: give auto, file or bf16", w)
	}
	if gpu || !h.grows() {
		return WeightsFile, nil
	}
	// What counts is what the kernels were compiled for, and not only the CPU.
	if _, features := kernels(); slices.Contains(features, "AVX512_BF16") {
		return WeightsBF16, nil
	}
	return WeightsFile, nil
}

// Expands tells whether WeightsBF16 is something else than WeightsFile for the
// model of this file.
func Expands(path string) (bool, error) {
	h, err := readHeader(path)
	if err != nil {
		return false, err
	}
	return h.grows(), nil
}

// grows tells whether WeightsBF16 expands anything.
func (h *header) grows() bool {
	for _, t := range h.tensors {
		if grows(t) {
			return true
		}
	}
	return false
}

// lookedUp is a table of embeddings that is multiplied with nothing.
const lookedUp = "per_layer_token_embd.weight"

// grows tells whether WeightsBF16 expands the tensor.
func grows(t *fsggml.Tensor) bool {
	if len(t.Shape) < 2 || t.Name == lookedUp {
		return false
	}
	switch fsggml.TensorType(t.Kind) {
	case fsggml.TensorTypeQ4_1, fsggml.TensorTypeQ5_1, fsggml.TensorTypeQ2_K, fsggml.TensorTypeQ3_K,
		fsggml.TensorTypeQ4_K, fsggml.TensorTypeQ5_K, fsggml.TensorTypeQ6_K:
		return true
	}
	return false
}

// expanded gives the header of the file with the tensors that grow in bf16.
func (h *header) expanded() *header {
	e := &header{path: h.path, file: h.file, kv: h.kv, tensors: map[string]*fsggml.Tensor{}, offset: h.offset}
	for name, t := range h.tensors {
		c := *t
		if grows(t) {
			c.Kind = uint32(fsggml.TensorTypeBF16)
		}
		e.tensors[name] = &c
	}
	return e
}

// writeExpanded writes the expanded weights to a temporary file, since the
// runtime loads from files alone, and gives it open: the file is gone once it is
// closed, whatever ends the program.
func writeExpanded(h *header) (_ *os.File, err error) {
	src, err := os.Open(h.file)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	dst, err := tempGGUF(h.expandedFrom(src))
	if err != nil {
		return nil, NoRoom{fmt.Errorf("--weights bf16 needs room in %s for the expanded weights, or set TMPDIR: %w", os.TempDir(), err)}
	}
	return dst, nil
}

// openPath is a name under which an open file can be opened again, also one
// that has lost its own.
func openPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// expandedFrom is what the file of the expanded weights holds.
func (h *header) expandedFrom(src io.ReaderAt) (kv fsggml.KV, list []*fsggml.Tensor) {
	for name, t := range h.expanded().tensors {
		t.WriterTo = tensorCopy{src, h.offset, h.tensors[name], t}
		list = append(list, t)
	}
	// The runtime asks this file for no more than how many layers there are.
	kv = fsggml.KV{"general.architecture": h.kv.Architecture(), h.kv.Architecture() + ".block_count": h.kv.Uint("block_count")}
	return kv, list
}

// tensorCopy writes a tensor's data in the type that it has at its destination.
type tensorCopy struct {
	file     io.ReaderAt
	offset   uint64 // of the tensors' data in the file
	from, to *fsggml.Tensor
}

func (c tensorCopy) WriteTo(w io.Writer) (written int64, err error) {
	r := io.NewSectionReader(c.file, int64(c.offset+c.from.Offset), int64(c.from.Size()))
	if c.from.Kind == c.to.Kind {
		return io.Copy(w, r)
	}
	kind := fsggml.TensorType(c.from.Kind)
	row := c.from.Shape[0]
	rows := c.from.Elements() / row
	step := max(1, (1<<20)/row) // about a million values at a time
	for at := uint64(0); at < rows; at += step {
		n := min(step, rows-at)
		data := make([]byte, n*row/kind.BlockSize()*kind.TypeSize())
		if _, err := io.ReadFull(r, data); err != nil {
			return written, err
		}
		values := ggml.ConvertToF32(data, c.from.Kind, n*row)
		k, err := io.Copy(w, bytes.NewReader(ggml.Quantize(fsggml.TensorTypeBF16, values, []uint64{row, n})))
		written += k
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
