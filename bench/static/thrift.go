package static

import (
	"encoding/binary"
	"errors"
)

// A structure is one of Thrift, in which Parquet describes itself: its fields by
// their ids. Numbers and truth values are int64, texts []byte, lists []any.
type structure map[int]any

func (s structure) int(id int) int64     { n, _ := s[id].(int64); return n }
func (s structure) list(id int) []any    { l, _ := s[id].([]any); return l }
func (s structure) sub(id int) structure { t, _ := s[id].(structure); return t }
func (s structure) text(id int) string   { b, _ := s[id].([]byte); return string(b) }
func (s structure) truth(id int) bool    { return s.int(id) != 0 }
func (s structure) has(id int) (ok bool) { _, ok = s[id]; return ok }
func asStructure(v any) (s structure)    { s, _ = v.(structure); return s }

var errThrift = errors.New("its description of itself is broken")

// readStructure reads one at the beginning of b, and says how long it is. What it
// takes is in proportion to that: no length is believed that b does not bear out.
func readStructure(b []byte) (s structure, n int, err error) {
	r := thriftReader{b: b}
	s = r.structure(0)
	if r.bad {
		return nil, 0, errThrift
	}
	return s, len(b) - len(r.b), nil
}

// Types of Thrift's compact protocol.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
	thriftUUID
)

// deepest is more than anything of Parquet's is nested.
const deepest = 32

type thriftReader struct {
	b   []byte // what is left
	bad bool
}

func (r *thriftReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.b, r.bad = nil, true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *thriftReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *thriftReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count is a number of things that take a byte each at least.
func (r *thriftReader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return 0
	}
	return int(n)
}

func (r *thriftReader) int() int64 { // in zigzag
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *thriftReader) structure(depth int) structure {
	s := structure{}
	for id := 0; ; {
		head := r.byte()
		if r.bad || head == thriftStop {
			return s
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int(int16(r.int()))
		}
		switch kind := head & 15; kind {
		case thriftTrue, thriftFalse: // said by the type itself
			s[id] = int64(2 - kind)
		default:
			s[id] = r.value(kind, depth)
		}
	}
}

func (r *thriftReader) value(kind byte, depth int) any {
	if depth > deepest {
		r.b, r.bad = nil, true
	}
	switch kind {
	case thriftTrue, thriftFalse: // within a list
		return int64(r.byte() & 1)
	case thriftByte:
		return int64(int8(r.byte()))
	case thriftInt16, thriftInt32, thriftInt64:
		return r.int()
	case thriftDouble:
		return r.take(8)
	case thriftBinary:
		return r.take(r.count())
	case thriftUUID:
		return r.take(16)
	case thriftStruct:
		return r.structure(depth + 1)
	case thriftList, thriftSet:
		head := r.byte()
		n := int(head >> 4)
		if n == 15 {
			n = r.count()
		}
		return r.values(n, head&15, depth)
	case thriftMap: // Parquet has none that matters
		n := r.count()
		if n == 0 {
			return nil
		}
		kinds := r.byte()
		for range n {
			r.value(kinds>>4, depth+1)
			r.value(kinds&15, depth+1)
		}
		return nil
	}
	r.b, r.bad = nil, true
	return nil
}

func (r *thriftReader) values(n int, kind byte, depth int) (all []any) {
	for range n {
		if r.bad {
			return nil
		}
		all = append(all, r.value(kind, depth+1))
	}
	return all
}
