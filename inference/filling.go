package inference

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml/backend/ggml"
)

// A filling says how random values of a type are made. Types of single values are
// converted. In a block any bits are values, once its scale d is a sane f16.
type filling struct {
	kind fsggml.TensorType
	// scale is the byte of a block where d stands, minimum that of what is
	// subtracted from or added to the values so that their mean is 0: d times
	// shift. A shift of 0: the type has none.
	scale, minimum int
	shift          float64
	spread         float64 // the values' standard deviation where d is 1; 0: no blocks
}

// fillings by the name of the type. The spreads follow from uniform bits: of q in
// 0..15 it is 4.61, of q in 0..31 9.23, of a byte with a sign 73.9. In the K
// types a value is d*scale*q - dmin*minimum, each 6 bits or, in Q6_K, d*scale*q
// with a scale of a byte.
var fillings = map[string]filling{
	"f32":  {kind: fsggml.TensorTypeF32},
	"f16":  {kind: fsggml.TensorTypeF16},
	"bf16": {kind: fsggml.TensorTypeBF16},
	"q4_0": {kind: fsggml.TensorTypeQ4_0, spread: 4.64},
	"q4_1": {kind: fsggml.TensorTypeQ4_1, minimum: 2, shift: -7.5, spread: 4.61},
	"q5_0": {kind: fsggml.TensorTypeQ5_0, spread: 9.25},
	"q5_1": {kind: fsggml.TensorTypeQ5_1, minimum: 2, shift: -15.5, spread: 9.23},
	"q8_0": {kind: fsggml.TensorTypeQ8_0, spread: 73.9},
	"q4_k": {kind: fsggml.TensorTypeQ4_K, minimum: 2, shift: 7.5, spread: 258},
	"q5_k": {kind: fsggml.TensorTypeQ5_K, minimum: 2, shift: 15.5, spread: 527},
	"q6_k": {kind: fsggml.TensorTypeQ6_K, scale: 208, spread: 1366},
}

// poolBlocks is how many blocks, or single values, of noise are made for
// matrices of a type and row length; all of them repeat it, each from a place of
// its own. It is a prime, and more than any model has rows: so no two rows of a
// matrix are the same.
const poolBlocks = 1<<19 - 1

// fill gives the tensors random data. Rows of a matrix have a length near 1, so
// that activations stay what they are from layer to layer; vectors, which are
// norms, lie near 1.
func fill(tensors map[string]*fsggml.Tensor) {
	type poolKey struct {
		kind uint32
		row  uint64
	}
	blocks := map[poolKey]uint64{} // of the largest matrix
	for _, t := range tensors {
		k := poolKey{t.Kind, t.Shape[0]}
		blocks[k] = max(blocks[k], t.Elements()/fsggml.TensorType(t.Kind).BlockSize())
	}
	pools := map[poolKey][]byte{}
	for name, t := range tensors {
		seed := fnv.New64a()
		seed.Write([]byte(name))
		if len(t.Shape) == 1 {
			t.WriterTo = bytes.NewReader(nearOne(rand.New(rand.NewPCG(seed.Sum64(), 1)), t.Shape[0]))
			continue
		}
		k := poolKey{t.Kind, t.Shape[0]}
		if pools[k] == nil {
			pools[k] = pool(fsggml.TensorType(t.Kind), t.Shape[0], min(blocks[k], poolBlocks))
		}
		size := fsggml.TensorType(t.Kind).TypeSize()
		t.WriterTo = repeated{pools[k], seed.Sum64() % (uint64(len(pools[k])) / size) * size, t.Size()}
	}
}

// nearOne are n values of F32.
func nearOne(rng *rand.Rand, n uint64) []byte {
	var b []byte
	for range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(1+float32(rng.NormFloat64())/8))
	}
	return b
}

// pool is noise of n blocks, whose rows have a length near 1.
func pool(kind fsggml.TensorType, row, n uint64) []byte {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(kind))
	binary.LittleEndian.PutUint64(seed[8:], row)
	rng := rand.NewChaCha8(seed)
	deviation := 1 / math.Sqrt(float64(row))
	made := fillingOf(kind)
	if made.spread == 0 {
		values := make([]float32, n)
		for i := range values { // a uniform value in ±1 has a deviation of 1/√3
			values[i] = float32((2*float64(rng.Uint64()>>11)/(1<<53) - 1) * math.Sqrt(3) * deviation)
		}
		return ggml.Quantize(kind, values, []uint64{n})
	}
	b := make([]byte, n*kind.TypeSize())
	rng.Read(b)
	d := deviation / made.spread
	half := ggml.Quantize(fsggml.TensorTypeF16, []float32{float32(d), float32(d * made.shift)}, []uint64{2})
	for at := 0; at < len(b); at += int(kind.TypeSize()) {
		copy(b[at+made.scale:], half[:2])
		if made.shift != 0 {
			copy(b[at+made.minimum:], half[2:])
		}
	}
	return b
}

func fillingOf(kind fsggml.TensorType) filling {
	for _, n := range fillings {
		if n.kind == kind {
			return n
		}
	}
	panic("inference: no noise of type " + kind.String())
}

// repeated writes a pool from a byte on, again and again, size bytes in all.
type repeated struct {
	pool       []byte
	from, size uint64
}

func (r repeated) WriteTo(w io.Writer) (written int64, err error) {
	for at := r.from; uint64(written) < r.size; at = 0 {
		part := r.pool[at:min(uint64(len(r.pool)), at+r.size-uint64(written))]
		n, err := w.Write(part)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
