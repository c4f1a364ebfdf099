package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// splitFiles writes four tensors of three types into parts of a split file, as
// llama.cpp's own splitting does: all keys in the first part, three in each.
func splitFiles(t *testing.T, align uint32, change func(part int, m *metadata, tensors *[]output)) (path func(part int) string, data map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	path = func(part int) string { return filepath.Join(dir, fmt.Sprintf("big-%05d-of-00003.gguf", part)) }
	data = map[string][]byte{}
	per := [][]Tensor{
		{{Name: "a", Shape: []uint64{5, 3}, Kind: kindF32}},
		{{Name: "b", Shape: []uint64{107}, Kind: kindF32}, {Name: "c", Shape: []uint64{3, 3}, Kind: kindBF16}},
		{{Name: "d", Shape: []uint64{32, 2}, Kind: 2}}, // Q4_0
	}
	for i, tensors := range per {
		m := &metadata{}
		if i == 0 {
			m.set("general.architecture", "llama")
			m.set("llama.context_length", uint32(77))
			m.set("tokenizer.ggml.tokens", []string{"x", "yy"})
			if align != 32 {
				m.set("general.alignment", align)
			}
		}
		m.n++ // 16 bits, as llama.cpp writes them
		m.text(splitNo)
		m.number(uint32(ggufUint16), uint16(i))
		m.n++
		m.text(splitCount)
		m.number(uint32(ggufUint16), uint16(3))
		m.n++
		m.text(splitTensors)
		m.number(uint32(ggufInt32), int32(4))
		var outs []output
		for _, x := range tensors {
			b := make([]byte, x.size())
			for j := range b {
				b[j] = byte(len(data)*50 + j)
			}
			data[x.Name] = b
			outs = append(outs, output{x, func(w io.Writer) error { _, err := w.Write(b); return err }})
		}
		if change != nil {
			change(i+1, m, &outs)
		}
		own := uint64(32)
		if i == 0 {
			own = uint64(align)
		}
		var b bytes.Buffer
		if err := writeGGUF(&b, m.n, bytes.NewReader(m.bytes.Bytes()), own, outs); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(i+1), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path, data
}

// TestSplit: any part names the whole, which has all tensors and keys but those
// of the splitting.
func TestSplit(t *testing.T) {
	for _, align := range []uint32{32, 64} {
		path, data := splitFiles(t, align, nil)
		f := finder(t)
		merged := ""
		for part := 1; part <= 3; part++ {
			m, err := f.Find(context.Background(), path(part))
			if err != nil {
				t.Fatal(err)
			}
			if m.Name != "big.gguf" || merged != "" && m.Path != merged {
				t.Errorf("part %d is of %s, %s", part, m.Name, m.Path)
			}
			merged = m.Path
		}
		h, err := readHeader(merged)
		if err != nil {
			t.Fatal(err)
		}
		if h.Data%uint64(align) != 0 || slices.ContainsFunc(h.Tensors, func(x Tensor) bool { return x.Offset%uint64(align) != 0 }) {
			t.Errorf("alignment %d: data at %d, tensors %v", align, h.Data, h.Tensors)
		}
		got := decode(t, merged)
		want := map[string]any{"general.architecture": "llama", "llama.context_length": uint32(77), "tokenizer.ggml.tokens": `["x","yy"]`}
		if align != 32 {
			want["general.alignment"] = align
		}
		if !maps.Equal(got.kv, want) {
			t.Errorf("keys %v", got.kv)
		}
		if !maps.EqualFunc(got.data, data, bytes.Equal) {
			t.Errorf("tensors %v", slices.Sorted(maps.Keys(got.data)))
		}
	}
}

func TestBrokenSplits(t *testing.T) {
	ctx := context.Background()
	path, _ := splitFiles(t, 32, nil)
	if err := os.Remove(path(2)); err != nil {
		t.Fatal(err)
	}
	_, err := finder(t).Find(ctx, path(1))
	checkError(t, "missing part", err, "part 2 of 3 is missing", path(2))

	path, _ = splitFiles(t, 32, nil)
	if err := os.Rename(path(3), path(2)); err != nil {
		t.Fatal(err)
	}
	_, err = finder(t).Find(ctx, path(1))
	checkError(t, "wrong part", err, path(2), "say part 3 of 3, its name says 2 of 3")

	path, _ = splitFiles(t, 32, nil)
	four := filepath.Join(filepath.Dir(path(1)), "big-00004-of-00003.gguf")
	if err := os.Rename(path(3), four); err != nil {
		t.Fatal(err)
	}
	_, err = finder(t).Find(ctx, four)
	checkError(t, "part beyond", err, "there is no part 4 of 3")

	path, _ = splitFiles(t, 32, nil)
	h, err := readHeader(path(2))
	if err == nil {
		err = os.Truncate(path(2), int64(h.Data)+440) // within the second of two tensors
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = finder(t).Find(ctx, path(1))
	checkError(t, "truncated", err, path(2), "truncated GGUF")

	path, _ = splitFiles(t, 32, func(part int, m *metadata, outs *[]output) {
		if part == 2 {
			*outs = (*outs)[:1]
		}
	})
	_, err = finder(t).Find(ctx, path(1))
	checkError(t, "fewer tensors", err, path(1), "key split.tensors.count is 4, but the parts hold 3 tensors")

	path, _ = splitFiles(t, 32, func(part int, m *metadata, outs *[]output) {
		if part == 3 {
			(*outs)[0].Name = "a"
		}
	})
	_, err = finder(t).Find(ctx, path(1))
	checkError(t, "a tensor twice", err, path(3), `tensor "a" is in `+path(1))

	path, _ = splitFiles(t, 32, nil)
	alone := filepath.Join(filepath.Dir(path(1)), "renamed.gguf")
	if err := os.Rename(path(2), alone); err != nil {
		t.Fatal(err)
	}
	_, err = finder(t).Find(ctx, alone)
	checkError(t, "another name", err, alone, "part 2 of 3", "NAME-00002-of-00003.gguf")
}

// TestScan reads values of all types, and headers that lie.
func TestScan(t *testing.T) {
	m := &metadata{}
	for _, v := range []struct {
		name string
		kind uint32
		v    any
	}{
		{"u8", ggufUint8, uint8(200)}, {"i8", ggufInt8, int8(-3)}, {"u16", ggufUint16, uint16(60000)}, {"i16", ggufInt16, int16(-300)}, {"i32", ggufInt32, int32(-70000)},
		{"f32", ggufFloat32, float32(0.5)}, {"yes", ggufBool, uint8(1)}, {"u64", ggufUint64, uint64(1 << 60)}, {"i64", ggufInt64, int64(-1 << 60)}, {"f64", ggufFloat64, 0.1},
	} {
		m.n++
		m.text(v.name)
		m.number(v.kind, v.v)
	}
	m.set("text", "abc")
	m.set("list", []int32{1, 2, 3})
	m.set("long", string(make([]byte, 5000)))
	var b bytes.Buffer
	if err := writeGGUF(&b, m.n, bytes.NewReader(m.bytes.Bytes()), 32, nil); err != nil {
		t.Fatal(err)
	}
	h, err := Scan(bytes.NewReader(b.Bytes()), uint64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := []any{uint64(200), int64(-3), uint64(60000), int64(-300), int64(-70000), 0.5, true, uint64(1 << 60), int64(-1 << 60), 0.1, "abc", nil, nil}
	var got []any
	for _, k := range h.Keys {
		got = append(got, k.Value)
	}
	if !slices.Equal(got, want) {
		t.Errorf("values %v", got)
	}
	for n := range b.Len() {
		if _, err := Scan(bytes.NewReader(b.Bytes()[:n]), uint64(n)); err == nil && uint64(n) < h.Keys[len(h.Keys)-1].end {
			t.Errorf("no error for %d of %d bytes", n, b.Len())
		}
	}
	start := binary.LittleEndian.AppendUint64([]byte("GGUF\x03\x00\x00\x00"), 0)
	one := binary.LittleEndian.AppendUint64(slices.Clone(start), 1)
	for name, tail := range map[string]string{
		"unknown type":    "\x01\x00\x00\x00\x00\x00\x00\x00k\x63\x00\x00\x00\x00\x00\x00\x00",
		"array of arrays": "\x01\x00\x00\x00\x00\x00\x00\x00k\x09\x00\x00\x00\x09\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00",
		"long name":       "\xff\xff\x0f\x00\x00\x00\x00\x00",
	} {
		data := slices.Concat(one, []byte(tail), make([]byte, 1<<20))
		_, err := Scan(bytes.NewReader(data), uint64(len(data)))
		checkError(t, name, err, "broken GGUF")
	}
}
