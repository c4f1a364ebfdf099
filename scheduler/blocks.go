package scheduler

import (
	"math/bits"

	"selfplay/inference"
)

// blocks are the free cells of the pool. They are given out in blocks of
// least<<k cells that begin at multiples of their size, so that each but the
// largest has a buddy: the other half of the block of the next size. Two free
// buddies are always one block.
//
// The lowest block of the smallest size that will do is given out first: blocks
// in use lie together then, and the engine attends over whole runs of them.
type blocks struct {
	least int
	free  []set // by k, the free blocks of least<<k cells by number: block n begins at n*(least<<k)
}

// newBlocks has all of the pool free.
func newBlocks(l inference.Limits) blocks {
	p := blocks{least: l.Least}
	for size := l.Least; size <= l.BlockFor(l.Cells); size *= 2 {
		p.free = append(p.free, newSet(l.Pool/size))
	}
	top := len(p.free) - 1
	for n := range l.Pool / p.size(top) {
		p.free[top].add(n)
	}
	return p
}

func (p *blocks) size(k int) int { return p.least << k }

// class is the k of a size.
func (p *blocks) class(size int) int { return bits.Len(uint(size/p.least)) - 1 }

// take gives out a block of size cells; false if no such is free.
func (p *blocks) take(size int) (inference.Block, bool) {
	for k := p.class(size); k < len(p.free); k++ {
		n, ok := p.free[k].first()
		if !ok {
			continue
		}
		p.free[k].remove(n)
		for ; p.size(k) > size; k-- { // the lower half is taken
			n *= 2
			p.free[k-1].add(n + 1)
		}
		return inference.Block{First: n * size, Cells: size}, true
	}
	return inference.Block{}, false
}

// give takes back a block.
func (p *blocks) give(b inference.Block) {
	k, n := p.class(b.Cells), b.First/b.Cells
	for ; k < len(p.free)-1 && p.free[k].has(n^1); k++ {
		p.free[k].remove(n ^ 1)
		n /= 2
	}
	p.free[k].add(n)
}

// widen gives out what is around b, a block given out, up to the block of size
// cells in which b lies; false if not all of that is free.
func (p *blocks) widen(b inference.Block, size int) (inference.Block, bool) {
	from, to := p.class(b.Cells), p.class(size)
	for k := from; k < to; k++ {
		if !p.free[k].has(b.First/p.size(k) ^ 1) {
			return inference.Block{}, false
		}
	}
	for k := from; k < to; k++ {
		p.free[k].remove(b.First/p.size(k) ^ 1)
	}
	return around(b, size), true
}

// around is the block of size cells in which b lies.
func around(b inference.Block, size int) inference.Block {
	return inference.Block{First: b.First / size * size, Cells: size}
}

// A set of numbers below a bound.
type set struct {
	words []uint64
	low   int // no word before this one has a bit
}

func newSet(n int) set { return set{words: make([]uint64, (n+63)/64)} }

func (s *set) has(i int) bool { return s.words[i/64]>>(i%64)&1 == 1 }
func (s *set) remove(i int)   { s.words[i/64] &^= 1 << (i % 64) }

func (s *set) add(i int) {
	s.words[i/64] |= 1 << (i % 64)
	s.low = min(s.low, i/64)
}

// first is the lowest number; false if there is none.
func (s *set) first() (int, bool) {
	for ; s.low < len(s.words); s.low++ {
		if w := s.words[s.low]; w != 0 {
			return s.low*64 + bits.TrailingZeros64(w), true
		}
	}
	return 0, false
}
