package scheduler

import (
	"math/rand/v2"
	"slices"
	"testing"

	"selfplay/inference"
)

// dumbBlocks is the pool as a row of cells, taken or not.
type dumbBlocks []bool

func (d dumbBlocks) free(first, n int) bool { return !slices.Contains(d[first:first+n], true) }

func (d dumbBlocks) set(first, n int, taken bool) {
	for i := first; i < first+n; i++ {
		d[i] = taken
	}
}

// take is the first free block of size cells within the smallest free block
// around it, of those that are as small the lowest one.
func (d dumbBlocks) take(size, largest int) (int, bool) {
	for around := size; around <= largest; around *= 2 {
		for first := 0; first < len(d); first += around {
			// Free, and not half of a larger free block.
			twice := first / (2 * around) * 2 * around
			if d.free(first, around) && (around == largest || !d.free(twice, 2*around)) {
				return first, true
			}
		}
	}
	return 0, false
}

// The allocator does what the row of cells does, whatever is asked in any order.
func TestBlocks(t *testing.T) {
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		l := inference.Limits{Least: 1 + r.IntN(5)}
		l.Cells = l.Least << r.IntN(6)
		largest := l.BlockFor(l.Cells)
		l.Pool = largest * (1 + r.IntN(9))
		p, d := newBlocks(l), make(dumbBlocks, l.Pool)
		var taken []inference.Block
		for range 2000 {
			size := l.Least << r.IntN(len(p.free))
			switch what := r.IntN(5); {
			case what < 2:
				first, is := d.take(size, largest)
				b, ok := p.take(size)
				if ok != is || ok && b != (inference.Block{First: first, Cells: size}) {
					t.Fatalf("%+v: a block of %d cells is %+v %v, want %d %v", l, size, b, ok, first, is)
				}
				if ok {
					d.set(b.First, b.Cells, true)
					taken = append(taken, b)
				}
			case len(taken) == 0:
			case what < 4:
				i := r.IntN(len(taken))
				d.set(taken[i].First, taken[i].Cells, false)
				p.give(taken[i])
				taken = slices.Delete(taken, i, i+1)
			default:
				i := r.IntN(len(taken))
				old := taken[i]
				size = max(size, old.Cells)
				first := old.First / size * size
				is := d.free(first, old.First-first) && d.free(old.First+old.Cells, first+size-old.First-old.Cells)
				b, ok := p.widen(old, size)
				if ok != is || ok && b != (inference.Block{First: first, Cells: size}) {
					t.Fatalf("%+v: %+v widened to %d cells is %+v %v, want %d %v", l, old, size, b, ok, first, is)
				}
				if ok {
					d.set(first, size, true)
					taken[i] = b
				}
			}
		}
		for _, b := range taken {
			p.give(b)
		}
		if whole, want := newBlocks(l), len(p.free)-1; !slices.Equal(p.free[want].words, whole.free[want].words) {
			t.Fatalf("%+v: all is given back, yet not whole: %v", l, p.free)
		}
	}
}

func TestBlocksAllocateNothing(t *testing.T) {
	p := newBlocks(inference.Limits{Least: 16, Cells: 1024, Pool: 64 << 10})
	var taken []inference.Block
	for {
		b, ok := p.take(16 << (len(taken) % 5))
		if !ok {
			break
		}
		taken = append(taken, b)
	}
	n := testing.AllocsPerRun(100, func() {
		for i := 0; i < len(taken); i += 2 {
			p.give(taken[i])
		}
		for i := 0; i < len(taken); i += 2 {
			taken[i], _ = p.take(taken[i].Cells)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
