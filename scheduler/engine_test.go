package scheduler

import (
	"fmt"
	"slices"

	"selfplay/inference"
)

// fakeEngine is an engine whose cells remember everything before them as a KV
// cell does. It refuses every batch and every copy that the contract doesn't
// allow.
type fakeEngine struct {
	limits inference.Limits
	sample sampler

	// The pool, cell by cell: the token, remember of it and those before, whether
	// it was computed as a sampled one, and the slot that wrote it.
	tokens []int32
	memory []uint64
	decode []bool
	writer []int32

	slots []fakeSlot
	units []int // by block of the least size, the last step in which it was in a row's block
	step  int

	fail     error // returned by the next Forward
	failCopy error // returned by the next Copy
}

// A fakeSlot is what the engine knows of a slot.
type fakeSlot struct {
	block inference.Block
	held  int // positions computed
	ring  []ringCell
	seen  int // the last step that named it
}

// A ringCell holds a position's memory in a layer that looks back over a window.
type ringCell struct {
	position int
	memory   uint64
}

func newFakeEngine(l inference.Limits, sample sampler) *fakeEngine {
	return &fakeEngine{
		limits: l, sample: sample,
		tokens: make([]int32, l.Pool), memory: make([]uint64, l.Pool),
		decode: make([]bool, l.Pool), writer: slices.Repeat([]int32{none}, l.Pool),
		slots: make([]fakeSlot, l.Slots), units: make([]int, l.Pool/l.Least),
	}
}

func (e *fakeEngine) Limits() inference.Limits { return e.limits }
func (e *fakeEngine) Close() error             { return nil }

// compute does a batch as Run does it.
func (e *fakeEngine) compute(b *inference.Batch) error {
	for _, c := range b.Copies {
		if err := e.Copy(c); err != nil {
			return err
		}
	}
	return e.Forward(b)
}

func (e *fakeEngine) Copy(c inference.Copy) error {
	if e.failCopy != nil {
		return e.failCopy
	}
	if n := len(e.slots); c.Dst < 0 || c.Src < 0 || c.Dst >= n || c.Src >= n {
		return fmt.Errorf("copy from slot %d to %d of %d", c.Src, c.Dst, n)
	}
	if err := e.holds(c.Src, c.From, c.Cells); err != nil || c.Cells < 1 {
		return fmt.Errorf("%+v: %w", c, err)
	}
	from, to := c.From.First, c.To.First
	switch moves := c.Dst == c.Src; {
	case e.misplaced(c.To) || c.Cells > c.To.Cells:
		return fmt.Errorf("%+v: no such block, or too small", c)
	case max(from, to) < min(from, to)+c.Cells:
		return fmt.Errorf("%+v: the cells overlap", c)
	case !moves && slices.Contains(e.decode[from:from+c.Cells], true):
		return fmt.Errorf("%+v: sampled tokens are copied as a prompt", c)
	case !moves:
		e.slots[c.Dst].ring = append(e.slots[c.Dst].ring[:0], e.slots[c.Src].ring...)
	}
	copy(e.tokens[to:to+c.Cells], e.tokens[from:])
	copy(e.memory[to:to+c.Cells], e.memory[from:])
	copy(e.decode[to:to+c.Cells], e.decode[from:])
	for q := to; q < to+c.Cells; q++ {
		e.writer[q] = int32(c.Dst)
	}
	e.slots[c.Dst].block, e.slots[c.Dst].held = c.To, c.Cells
	return nil
}

// misplaced says whether b is no block of the pool.
func (e *fakeEngine) misplaced(b inference.Block) bool {
	l := e.limits
	return b.Cells < l.Least || b.Cells != l.BlockFor(b.Cells) || b.Cells > l.BlockFor(l.Cells) ||
		b.First < 0 || b.First%b.Cells != 0 || b.First+b.Cells > l.Pool
}

// holds is an error unless slot s has n positions in block b. A slot's block
// becomes larger without a copy where its beginning stays.
func (e *fakeEngine) holds(s int, b inference.Block, n int) error {
	if e.misplaced(b) {
		return fmt.Errorf("slot %d: no such block: %+v", s, b)
	}
	if n == 0 {
		return nil
	}
	if had := e.slots[s].block; b.First != had.First || b.Cells < had.Cells || n > e.slots[s].held || n > b.Cells {
		return fmt.Errorf("slot %d has not %d positions in %+v, but %d in %+v", s, n, b, e.slots[s].held, had)
	}
	for _, q := range []int{0, n / 2, n - 1} { // the audit looks at all
		if w := e.writer[b.First+q]; int(w) != s {
			return fmt.Errorf("slot %d: position %d was overwritten by slot %d", s, q, w)
		}
	}
	return nil
}

func (e *fakeEngine) Forward(b *inference.Batch) error {
	if e.fail != nil {
		return e.fail
	}
	e.step++
	if n := b.Tokens(); n > e.limits.Tokens || n == 0 {
		return fmt.Errorf("%d tokens in a step of at most %d", n, e.limits.Tokens)
	}
	if len(b.Rows) > e.limits.Rows {
		return fmt.Errorf("%d rows in a step of at most %d", len(b.Rows), e.limits.Rows)
	}
	for i := range b.Rows {
		if err := e.check(&b.Rows[i]); err != nil {
			return err
		}
		e.forward(&b.Rows[i])
	}
	return nil
}

func (e *fakeEngine) check(row *inference.Row) error {
	s, n := row.Slot, len(row.Tokens)
	if s < 0 || s >= e.limits.Slots {
		return fmt.Errorf("no slot %d", s)
	}
	if err := e.holds(s, row.Block, row.Pos); err != nil {
		return err
	}
	switch {
	case e.slots[s].seen == e.step:
		return fmt.Errorf("two rows of slot %d in a step", s)
	case n == 0 || row.Decode && (n > 1 || row.Pos == 0):
		return fmt.Errorf("slot %d: a row of %d tokens at %d, decode %v", s, n, row.Pos, row.Decode)
	case row.Pos < 0 || row.Pos+n > min(e.limits.Cells, row.Block.Cells):
		return fmt.Errorf("slot %d: %d tokens at %d leave its %d cells, of which %d are in use", s, n, row.Pos, e.limits.Cells, row.Block.Cells)
	case row.Draw < 0 || row.Draw >= 1 || !row.Sample && row.Draw != 0:
		return fmt.Errorf("slot %d: draw %v, sample %v", s, row.Draw, row.Sample)
	case row.Pos > 0 && e.decode[row.Block.First+row.Pos-1] && !row.Decode:
		return fmt.Errorf("slot %d: a prompt goes on after the sampled token at %d", s, row.Pos-1)
	case !e.resumes(s, row.Block, row.Pos):
		return fmt.Errorf("slot %d: position %d sees what has left its ring", s, row.Pos)
	}
	e.slots[s].seen = e.step
	for u := row.Block.First / e.limits.Least; u < (row.Block.First+row.Block.Cells)/e.limits.Least; u++ {
		if e.units[u] == e.step {
			return fmt.Errorf("slot %d: another row's block overlaps %+v", s, row.Block)
		}
		e.units[u] = e.step
	}
	return nil
}

func (e *fakeEngine) forward(row *inference.Row) {
	s, first, last := &e.slots[row.Slot], row.Block.First, uint64(0)
	if row.Pos > 0 {
		last = e.memory[first+row.Pos-1]
	}
	for i, t := range row.Tokens {
		last = remember(last, t, row.Decode)
		q := first + row.Pos + i
		e.tokens[q], e.memory[q], e.decode[q], e.writer[q] = t, last, row.Decode, int32(row.Slot)
		if n := e.limits.Ring; n > 0 {
			if len(s.ring) == 0 {
				s.ring = make([]ringCell, n)
			}
			s.ring[(row.Pos+i)%n] = ringCell{row.Pos + i, last}
		}
	}
	s.block, s.held = row.Block, row.Pos+len(row.Tokens)
	if row.Sample {
		row.Token = e.sample(e.tokens[first:first+s.held], last, row.Draw)
	}
}

// resumes says whether slot s, in block b, still holds what position n would see
// in its ring.
func (e *fakeEngine) resumes(s int, b inference.Block, n int) bool {
	ring := e.slots[s].ring
	for q := max(0, n-e.limits.Window+1); q < n && e.limits.Ring > 0; q++ {
		if len(ring) == 0 || ring[q%len(ring)] != (ringCell{q, e.memory[b.First+q]}) {
			return false
		}
	}
	return true
}
