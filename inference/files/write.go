package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// metadata is keys and values as they lie in a GGUF file.
type metadata struct {
	n     uint64
	bytes bytes.Buffer
}

// set adds a key. Numbers are written in the type they have here.
func (m *metadata) set(name string, value any) {
	m.n++
	m.text(name)
	switch v := value.(type) {
	case string:
		m.number(uint32(ggufString))
		m.text(v)
	case []string:
		m.number(uint32(ggufArray), uint32(ggufString), uint64(len(v)))
		for _, s := range v {
			m.text(s)
		}
	case uint32:
		m.number(uint32(ggufUint32), v)
	case float32:
		m.number(uint32(ggufFloat32), v)
	case bool:
		m.number(uint32(ggufBool), v)
	case []int32:
		m.number(uint32(ggufArray), uint32(ggufInt32), uint64(len(v)), v)
	case []bool:
		m.number(uint32(ggufArray), uint32(ggufBool), uint64(len(v)), v)
	default:
		panic(fmt.Sprintf("files: key %s has a value of type %T", name, value))
	}
}

func (m *metadata) text(s string) {
	m.number(uint64(len(s)))
	m.bytes.WriteString(s)
}

func (m *metadata) number(values ...any) {
	for _, v := range values {
		binary.Write(&m.bytes, binary.LittleEndian, v) // to memory, of fixed sizes: it cannot fail
	}
}

// An output is a tensor to be written, and what writes its data.
type output struct {
	Tensor
	write func(w io.Writer) error
}

// writeGGUF writes a whole file from front to back.
func writeGGUF(w io.Writer, keys uint64, pairs io.Reader, align uint64, tensors []output) error {
	head := &metadata{}
	head.bytes.WriteString("GGUF")
	head.number(uint32(3), uint64(len(tensors)), keys)
	out := &counter{w: w}
	if _, err := out.Write(head.bytes.Bytes()); err != nil {
		return err
	}
	if _, err := io.Copy(out, pairs); err != nil {
		return err
	}
	list, at := &metadata{}, uint64(0)
	for i := range tensors {
		t := &tensors[i]
		list.text(t.Name)
		list.number(uint32(len(t.Shape)), t.Shape, t.Kind, at)
		at = padded(at+t.size(), align)
	}
	if _, err := out.Write(list.bytes.Bytes()); err != nil {
		return err
	}
	if err := out.pad(align); err != nil {
		return err
	}
	for i := range tensors {
		start := out.n
		if err := tensors[i].write(out); err != nil {
			return err
		}
		if n := out.n - start; n != tensors[i].size() {
			panic(fmt.Sprintf("files: tensor %s has %d bytes and %d were written", tensors[i].Name, tensors[i].size(), n))
		}
		if err := out.pad(align); err != nil {
			return err
		}
	}
	return nil
}

func padded(n, align uint64) uint64 { return (n + align - 1) / align * align }

// A counter counts what is written.
type counter struct {
	w io.Writer
	n uint64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += uint64(n)
	return n, err
}

// pad writes zeros up to a multiple of align.
func (c *counter) pad(align uint64) error {
	_, err := io.CopyN(c, zeros{}, int64(padded(c.n, align)-c.n))
	return err
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// A gauge passes on what is written, ends it when the context does, and tells
// what share of the total has passed.
type gauge struct {
	ctx         context.Context
	w           io.Writer
	done, total int64
	tell        func(share float64) // may be nil
}

func (g *gauge) Write(b []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := g.w.Write(b)
	g.done += int64(n)
	if g.tell != nil && g.total > 0 {
		g.tell(min(1, float64(g.done)/float64(g.total)))
	}
	return n, err
}

// isMatrix: all other tensors are computed in F32.
func (t *Tensor) isMatrix() bool { return len(t.Shape) > 1 }

const (
	kindF32  = uint32(fsggml.TensorTypeF32)
	kindF16  = uint32(fsggml.TensorTypeF16)
	kindBF16 = uint32(fsggml.TensorTypeBF16)
)
