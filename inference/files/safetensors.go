package files

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sort"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// A slab is a tensor in a safetensors file. The shape is as there: the last
// dimension is the one whose values lie side by side.
type slab struct {
	name  string
	file  string // path
	dtype string
	shape []uint64
	at    uint64 // in the file
	size  uint64 // bytes
}

// dtypes that the runtime computes in, by their name in safetensors.
var dtypes = map[string]fsggml.TensorType{
	"F32":  fsggml.TensorTypeF32,
	"F16":  fsggml.TensorTypeF16,
	"BF16": fsggml.TensorTypeBF16,
}

// maxSafetensorsHeader is the format's own limit.
const maxSafetensorsHeader = 100_000_000

// readSafetensors reads the header of a file: a length, a JSON object that
// describes the tensors, and their data up to the end.
func readSafetensors(path string) ([]slab, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	slabs, err := decodeSafetensors(f, uint64(size))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range slabs {
		slabs[i].file = path
	}
	return slabs, nil
}

// decodeSafetensors gives the tensors in the order of their data.
func decodeSafetensors(r io.Reader, size uint64) ([]slab, error) {
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, fmt.Errorf("truncated safetensors, fetch the file again")
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > size-8 {
		return nil, fmt.Errorf("its header claims %d bytes of a file of %d: truncated or no safetensors, fetch the file again", n, size)
	}
	if n > maxSafetensorsHeader {
		return nil, fmt.Errorf("its header claims %d bytes, more than safetensors allows", n)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("truncated safetensors, fetch the file again")
	}
	var slabs []slab
	err := eachField(head, func(name string, value json.RawMessage) error {
		if name == "__metadata__" {
			return nil
		}
		s, err := decodeSlab(name, value, size-8-n)
		s.at += 8 + n
		slabs = append(slabs, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	sort.Slice(slabs, func(a, b int) bool { return slabs[a].at < slabs[b].at })
	last := slab{at: 8 + n}
	for _, s := range slabs {
		if s.size == 0 {
			continue
		}
		if s.at < last.at+last.size {
			return nil, fmt.Errorf("tensors %q and %q overlap", last.name, s.name)
		}
		last = s
	}
	return slabs, nil
}

// decodeSlab reads one tensor's description; data is how many bytes of data the
// file has.
func decodeSlab(name string, value json.RawMessage, data uint64) (slab, error) {
	var d struct {
		DType   string   `json:"dtype"`
		Shape   []uint64 `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(value, &d); err != nil {
		return slab{}, fmt.Errorf("tensor %q: %w", name, err)
	}
	if len(d.Offsets) != 2 || d.Offsets[0] > d.Offsets[1] {
		return slab{}, fmt.Errorf("tensor %q: data_offsets are %v", name, d.Offsets)
	}
	if d.Offsets[1] > data {
		return slab{}, fmt.Errorf("tensor %q ends at byte %d of %d: truncated safetensors, fetch the file again", name, d.Offsets[1], data)
	}
	s := slab{name: name, dtype: d.DType, shape: d.Shape, at: d.Offsets[0], size: d.Offsets[1] - d.Offsets[0]}
	left, count := uint64(1)<<44, uint64(1)
	for _, n := range d.Shape {
		if n > left {
			return slab{}, fmt.Errorf("tensor %q has shape %v", name, d.Shape)
		}
		left /= max(1, n)
		count *= n
	}
	// A tensor of a part that is left out may have any type.
	if kind, ok := dtypes[d.DType]; ok && s.size != count*kind.TypeSize() {
		return slab{}, fmt.Errorf("tensor %q: data_offsets hold %d bytes, its shape %v of %s %d", name, s.size, d.Shape, d.DType, count*kind.TypeSize())
	}
	return s, nil
}

// eachField walks over a JSON object. A name that comes twice is an error, not
// the last one's.
func eachField(object []byte, visit func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("no JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if seen[name] {
			return fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if err := visit(name, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more follows the JSON object")
	}
	return nil
}
