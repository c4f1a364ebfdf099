package inference

import (
	"math/bits"
	"slices"
)

// A mask says for each row, which is a token, which cells it sees. It is kept
// from step to step, and changes only where what a row sees does.
type mask struct {
	f16   []byte // [cells, rows]: 0 where a cell is seen, minus infinity where not
	cells int
	sees  []int32 // the position of each row's token; -1: the row sees nothing
}

// resize makes a mask of this size, of which nothing is known if it had another.
// host gives the memory.
func (m *mask) resize(cells, rows int, host *pinned) {
	if m.cells == cells && len(m.sees) == rows {
		return
	}
	m.cells = cells
	n := 2 * cells * rows
	if cap(m.f16) < n {
		m.f16 = host.bytes(1 << bits.Len(uint(n-1))) // grows seldom: it is freed with the cache
	}
	m.f16 = m.f16[:n]
	m.sees = slices.Grow(m.sees[:0], rows)[:rows]
	for i := range m.sees {
		m.sees[i] = -1
	}
	blind(m.f16)
}

// blind hides all cells of a row, or of several.
func blind(row []byte) {
	if len(row) > 0 {
		row[0], row[1] = 0x00, 0xfc
		for k := 2; k < len(row); k *= 2 {
			copy(row[k:], row[:k])
		}
	}
}

// row is the i-th row of the mask.
func (m *mask) row(i int) []byte { return m.f16[2*m.cells*i : 2*m.cells*(i+1)] }

// hide has the i-th row see nothing.
func (m *mask) hide(i int) {
	if m.sees[i] >= 0 {
		m.sees[i] = -1
		blind(m.row(i))
	}
}

// see has the i-th row see what a token at this position sees in a span.
func (m *mask) see(sp span, i, position int) {
	row, first := m.row(i), 0
	if was := int(m.sees[i]); sp.window == 0 && was <= position {
		first = was + 1 // it sees the others already
	} else {
		m.hide(i)
		if sp.window > 0 {
			first = max(0, position-sp.window+1)
		}
	}
	m.sees[i] = int32(position)
	// A window that goes over the ring's end goes on at its beginning.
	from, n := sp.cell(first), position-first+1
	before := n
	if sp.cells > 0 {
		before = min(n, sp.cells-from)
	}
	clear(row[2*from : 2*(from+before)])
	clear(row[:2*(n-before)])
}
