package files

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// A Header is where things lie in a GGUF file: its keys, its tensors, their
// data. It is read with every length bounded by what the file can hold, so that
// a length that a broken file claims never becomes an allocation.
type Header struct {
	Keys    []Key
	Tensors []Tensor
	Data    uint64 // offset of the tensors' data in the file
}

// A Key of the metadata. Its value is a uint64, int64, float64, bool or a short
// string, nil for what is longer.
type Key struct {
	Name       string
	Value      any
	start, end uint64 // of the pair in the file
}

// A Tensor as the file describes it; the offset counts from Header.Data.
type Tensor struct {
	Name   string
	Shape  []uint64
	Kind   uint32
	Offset uint64
}

// value is that of a key, nil where the file lacks it.
func (h *Header) value(name string) any {
	for _, k := range h.Keys {
		if k.Name == name {
			return k.Value
		}
	}
	return nil
}

// Uint is a whole number of the metadata, 0 where the file lacks it or has
// another type there.
func (h *Header) Uint(name string) uint64 {
	switch v := h.value(name).(type) {
	case uint64:
		return v
	case int64:
		return uint64(max(v, 0))
	}
	return 0
}

// Text is a short string of the metadata.
func (h *Header) Text(name string) string {
	s, _ := h.value(name).(string)
	return s
}

// elements are the values in a tensor.
func (t *Tensor) elements() uint64 { return fsggml.Tensor{Shape: t.Shape}.Elements() }

// size is in bytes. It can be relied on after check.
func (t *Tensor) size() uint64 { return fsggml.Tensor{Kind: t.Kind, Shape: t.Shape}.Size() }

// check makes sure that every tensor's data lies within a file of that size.
func (h *Header) check(size uint64) error {
	for i := range h.Tensors {
		t := &h.Tensors[i]
		if fsggml.TensorType(t.Kind).TypeSize() == 0 {
			return fmt.Errorf("tensor %q has type %d, which the runtime does not know", t.Name, t.Kind)
		}
		left := uint64(1) << 44 // values; more would overflow sizes in bytes
		for _, n := range t.Shape {
			if n < 1 || n > left {
				return fmt.Errorf("tensor %q has shape %v", t.Name, t.Shape)
			}
			left /= n
		}
		if end := h.Data + t.Offset + t.size(); t.Offset > size || end > size {
			return fmt.Errorf("tensor %q ends at byte %d of %d: %w", t.Name, end, size, errShort)
		}
	}
	return nil
}

// readHeader reads and checks the header of a file.
func readHeader(path string) (*Header, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := Scan(f, uint64(size))
	if err == nil {
		err = h.check(uint64(size))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// errShort is what a file that ends too early says.
var errShort = errors.New("truncated GGUF, fetch the file again")

// A scan walks over a header.
type scan struct {
	r         *bufio.Reader
	at, total uint64
}

// Scan reads the header of a GGUF file of the given size. It checks magic and
// version, and that every length in the metadata and the list of tensors lies
// within the file.
func Scan(r io.Reader, size uint64) (*Header, error) {
	s := &scan{r: bufio.NewReaderSize(r, 1<<16), total: size}
	var magic [4]byte
	if s.read(magic[:]) != nil || string(magic[:]) != "GGUF" {
		return nil, errors.New("not a GGUF file")
	}
	version, err := s.number(4)
	if err != nil {
		return nil, err
	}
	if version != 2 && version != 3 {
		return nil, fmt.Errorf("GGUF version %d; versions 2 and 3 are supported", version)
	}
	tensors, err := s.number(8)
	if err != nil {
		return nil, err
	}
	keys, err := s.number(8)
	if err != nil {
		return nil, err
	}
	h := &Header{}
	for range keys {
		k, err := s.key()
		if err != nil {
			return nil, err
		}
		h.Keys = append(h.Keys, k)
	}
	for range tensors {
		t, err := s.tensor()
		if err != nil {
			return nil, err
		}
		h.Tensors = append(h.Tensors, t)
	}
	a, err := h.alignment()
	h.Data = (s.at + a - 1) / a * a
	return h, err
}

// alignment is what the offsets of tensors are multiples of.
func (h *Header) alignment() (uint64, error) {
	const key = "general.alignment"
	if h.value(key) == nil {
		return 32, nil
	}
	a := h.Uint(key)
	if a == 0 || a > math.MaxUint32 {
		return 1, fmt.Errorf("broken GGUF: key %s is %v", key, h.value(key))
	}
	return a, nil
}

func (s *scan) read(b []byte) error {
	if uint64(len(b)) > s.total-s.at {
		return errShort
	}
	if _, err := io.ReadFull(s.r, b); err != nil {
		return errShort
	}
	s.at += uint64(len(b))
	return nil
}

func (s *scan) skip(n uint64) error {
	if n > s.total-s.at {
		return errShort
	}
	if _, err := s.r.Discard(int(n)); err != nil {
		return errShort
	}
	s.at += n
	return nil
}

// number reads one of the given bytes, 8 at most.
func (s *scan) number(size uint64) (uint64, error) {
	var b [8]byte
	err := s.read(b[:size])
	return binary.LittleEndian.Uint64(b[:]), err
}

// text reads a string and gives it if it has at most that many bytes.
func (s *scan) text(most uint64) (string, bool, error) {
	n, err := s.number(8)
	if err != nil {
		return "", false, err
	}
	if n > most {
		return "", false, s.skip(n)
	}
	if n > s.total-s.at {
		return "", false, errShort
	}
	b := make([]byte, n)
	err = s.read(b)
	return string(b), true, err
}

// name reads the name of a key or a tensor. GGUF allows 64 KB for it.
func (s *scan) name() (string, error) {
	name, ok, err := s.text(math.MaxUint16)
	if err == nil && !ok {
		err = errors.New("broken GGUF: a name of more than 65535 bytes")
	}
	return name, err
}

// Types of values.
const (
	ggufUint8 = iota
	ggufInt8
	ggufUint16
	ggufInt16
	ggufUint32
	ggufInt32
	ggufFloat32
	ggufBool
	ggufString
	ggufArray
	ggufUint64
	ggufInt64
	ggufFloat64
)

// ggufSizes are the bytes of the types of one size.
var ggufSizes = map[uint64]uint64{
	ggufUint8: 1, ggufInt8: 1, ggufUint16: 2, ggufInt16: 2, ggufUint32: 4, ggufInt32: 4, ggufFloat32: 4,
	ggufBool: 1, ggufUint64: 8, ggufInt64: 8, ggufFloat64: 8,
}

func (s *scan) key() (k Key, err error) {
	k.start = s.at
	if k.Name, err = s.name(); err != nil {
		return k, err
	}
	kind, err := s.number(4)
	if err != nil {
		return k, err
	}
	switch kind {
	case ggufArray:
		err = s.array()
	case ggufString:
		var short bool
		var text string
		if text, short, err = s.text(1 << 12); short {
			k.Value = text
		}
	default:
		k.Value, err = s.scalar(kind)
	}
	k.end = s.at
	return k, err
}

func (s *scan) scalar(kind uint64) (any, error) {
	size, ok := ggufSizes[kind]
	if !ok {
		return nil, fmt.Errorf("broken GGUF: a value of unknown type %d", kind)
	}
	bits, err := s.number(size)
	switch kind {
	case ggufInt8:
		return int64(int8(bits)), err
	case ggufInt16:
		return int64(int16(bits)), err
	case ggufInt32:
		return int64(int32(bits)), err
	case ggufInt64:
		return int64(bits), err
	case ggufFloat32:
		return float64(math.Float32frombits(uint32(bits))), err
	case ggufFloat64:
		return math.Float64frombits(bits), err
	case ggufBool:
		return bits != 0, err
	}
	return bits, err
}

// array steps over one.
func (s *scan) array() error {
	kind, err := s.number(4)
	if err != nil {
		return err
	}
	n, err := s.number(8)
	if err != nil {
		return err
	}
	if size, ok := ggufSizes[kind]; ok {
		if n > (s.total-s.at)/size {
			return errShort
		}
		return s.skip(n * size)
	}
	if kind != ggufString {
		return fmt.Errorf("broken GGUF: an array of unknown type %d", kind)
	}
	if n > (s.total-s.at)/8 {
		return errShort
	}
	for range n {
		if _, _, err := s.text(0); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) tensor() (t Tensor, err error) {
	if t.Name, err = s.name(); err != nil {
		return t, err
	}
	dims, err := s.number(4)
	if err != nil {
		return t, err
	}
	if dims > 4 {
		return t, fmt.Errorf("broken GGUF: tensor %q has %d dimensions", t.Name, dims)
	}
	t.Shape = make([]uint64, dims)
	for i := range t.Shape {
		if t.Shape[i], err = s.number(8); err != nil {
			return t, err
		}
	}
	kind, err := s.number(4)
	if err != nil {
		return t, err
	}
	t.Kind = uint32(kind)
	t.Offset, err = s.number(8)
	return t, err
}
