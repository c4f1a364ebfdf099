package inference

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml/backend/ggml"
)

// A tinyModel is a made-up llama of one layer with random weights and a
// vocabulary of single bytes, small enough to be written and opened many times.
type tinyModel struct {
	kv      fsggml.KV
	tensors []*fsggml.Tensor
}

// tinyVocab is the smallest made-up vocabulary.
const tinyVocab = madeUpControls + 256 + 2

// newTiny makes a model with matrices of the given type and rows of 64 values,
// or 256 where the type has such blocks.
func newTiny(kind fsggml.TensorType) *tinyModel {
	hidden := max(64, uint64(kind.BlockSize()))
	const heads, kvHeads = 4, 2
	size := synthetic{
		arch: "llama", layers: 1, hidden: int(hidden), mlp: int(2 * hidden), heads: heads, kvHeads: kvHeads,
		headDim: int(hidden / heads), context: 512, eps: 1e-5, ropeBase: 10000,
	}
	m := &tinyModel{kv: size.keys()}
	maps.Copy(m.kv, madeUpVocab(tinyVocab))
	for _, key := range []string{"llama.attention.key_length", "llama.attention.value_length"} {
		delete(m.kv, key) // as in many files of this architecture
	}
	rng := rand.New(rand.NewPCG(5, 6))
	vocab, kvRow := uint64(tinyVocab), hidden/heads*kvHeads
	m.add(rng, kind, "token_embd.weight", hidden, vocab)
	m.add(rng, fsggml.TensorTypeF32, "output_norm.weight", hidden)
	for _, norm := range []string{"attn_norm", "ffn_norm"} {
		m.add(rng, fsggml.TensorTypeF32, "blk.0."+norm+".weight", hidden)
	}
	for _, w := range []struct {
		name     string
		row, out uint64
	}{
		{"attn_q", hidden, hidden}, {"attn_k", hidden, kvRow}, {"attn_v", hidden, kvRow}, {"attn_output", hidden, hidden},
		{"ffn_gate", hidden, 2 * hidden}, {"ffn_up", hidden, 2 * hidden}, {"ffn_down", 2 * hidden, hidden},
	} {
		m.add(rng, kind, "blk.0."+w.name+".weight", w.row, w.out)
	}
	return m
}

// add makes a tensor of random values, those of norms near 1.
func (m *tinyModel) add(rng *rand.Rand, kind fsggml.TensorType, name string, shape ...uint64) {
	n := uint64(1)
	for _, d := range shape {
		n *= d
	}
	if typeIQ2XXS <= kind && kind <= typeIQ4XS || kind == typeIQ1M {
		m.tensors = append(m.tensors, &fsggml.Tensor{Name: name, Kind: uint32(kind), Shape: shape, WriterTo: bytes.NewReader(randomBlocks(rng, kind, n))})
		return
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64()) / 8
		if len(shape) == 1 {
			values[i]++
		}
	}
	m.tensors = append(m.tensors, &fsggml.Tensor{Name: name, Kind: uint32(kind), Shape: shape, WriterTo: bytes.NewReader(ggml.Quantize(kind, values, shape))})
}

// addFloats makes a row of F32 values.
func (m *tinyModel) addFloats(name string, values []float32) {
	shape := []uint64{uint64(len(values))}
	m.tensors = append(m.tensors, &fsggml.Tensor{Name: name, Shape: shape, WriterTo: bytes.NewReader(ggml.Quantize(fsggml.TensorTypeF32, values, shape))})
}

// randomBlocks are n values of a type that takes long to quantize to, or cannot
// be without samples of activations: any bytes are values of such a type, once
// the block's scale is a small f16. It comes first, in IQ1_M spread over the end.
func randomBlocks(rng *rand.Rand, kind fsggml.TensorType, n uint64) []byte {
	size := int(kind.TypeSize())
	b := make([]byte, int(n/kind.BlockSize())*size)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	for block := range slices.Chunk(b, size) {
		if kind == typeIQ1M {
			block[size-1] = block[size-1]&0x0f | 0x20
		} else {
			block[1] = 0x20
		}
	}
	return b
}

// tensor is the one of that name; the layer's without "blk.0.".
func (m *tinyModel) tensor(name string) *fsggml.Tensor {
	for _, t := range m.tensors {
		if t.Name == name || t.Name == "blk.0."+name {
			return t
		}
	}
	panic(fmt.Sprintf("no tensor %s in %v", name, slices.Collect(maps.Keys(m.kv))))
}

// write gives the path of the model's file. It can be called once.
func (m *tinyModel) write(t testing.TB) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "tiny.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := fsggml.WriteGGUF(f, m.kv, m.tensors); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// bytes are the file's.
func (m *tinyModel) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(m.write(t))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
