// Package inference runs a language model inside the process: it loads the
// weights, keeps one KV stream per slot, computes batches of rows of different
// kinds in one step, samples, and turns chats into tokens and back. It knows
// nothing of games.
package inference

import "time"

// An Engine is one loaded model on one set of devices. It is used by one
// goroutine at a time.
type Engine interface {
	// Limits says what fits; it never changes while the engine lives.
	Limits() Limits
	// Forward computes every row of the batch and fills in Row.Token for those
	// that sample. After an error the contents of all slots are unknown.
	Forward(*Batch) error
	// Copy makes the first cells of one slot equal to those of another, or moves
	// what a slot holds to another block.
	Copy(Copy) error
	Close() error
}

// Limits of an engine.
type Limits struct {
	Rows   int // rows of one step
	Tokens int // tokens of all rows of one step together
	Slots  int // that can hold something
	Cells  int // tokens that one slot may hold
	// All slots share one pool of cells, cut into blocks of Least<<k cells, as many
	// as hold Cells tokens at most. A block begins at a multiple of its size.
	Pool  int // cells, a multiple of the largest block's
	Least int // cells of the smallest block
	// Some models have layers that look back over a window alone, and keep no
	// more than a ring of cells for each slot, beside the pool. What has left the
	// ring is lost: the slot cannot go on, nor be copied, from where its window was.
	Window int // tokens that such layers see, the last one's own among them; 0: there are none
	Ring   int // tokens that they keep
}

// BlockFor is the size in cells of the smallest block that holds n tokens, at
// most Cells.
func (l Limits) BlockFor(n int) int {
	size := l.Least
	for size < n {
		size *= 2
	}
	return size
}

// Lowest is the first position that a slot's rings hold once it holds n
// positions, given which it was before.
func (l Limits) Lowest(before, n int) int {
	if l.Ring == 0 {
		return 0
	}
	return max(before, n-l.Ring)
}

// Resumes says whether a slot whose rings hold the positions from lowest on can
// go on at position n, or be copied up to it.
func (l Limits) Resumes(lowest, n int) bool {
	return lowest <= max(0, n-l.Window+1)
}

// A Block is the part of the pool where a slot keeps its positions: position p
// in cell First+p.
type Block struct{ First, Cells int }

// A Row is a run of tokens that one slot computes in a step: a chunk of a
// prompt (prefill) or the one token sampled last (decode). The two may take
// kernels that round differently, so that a token must be computed as what it
// is, also when it is computed again.
type Row struct {
	Slot   int
	Block  Block   // the slot's: all its earlier tokens are in it
	Pos    int     // position in the slot of Tokens[0]; cells before it must hold this row's earlier tokens
	Tokens []int32 // at least one; decode: just one
	Decode bool    // whether the token was sampled
	Sample bool    // whether a token is drawn after the last of Tokens
	Draw   float64 // the uniform number in [0,1) that decides the draw
	Token  int32   // the drawn token, filled in by Forward
}

// A Copy makes the first Cells positions of slot Dst, in block To, equal to those
// of slot Src in block From. Dst and Src may be the same slot, which so moves to
// another block with all that it holds; one block may then be a half of the
// other.
type Copy struct {
	Dst, Src int
	To, From Block
	Cells    int
}

// A Batch is the work of one step. At most one row names a slot, and no two
// slots' blocks overlap.
type Batch struct {
	// Copies come before the rows, in this order: whoever drives the engine has
	// Engine.Copy do them, and then Forward, which takes no notice of them.
	Copies []Copy
	Rows   []Row
	// At is when Forward returned, counted from the start of the run. Whoever
	// drives the engine sets it, so that the scheduler's core needs no clock.
	At time.Duration
}

// Tokens counts the tokens of all rows.
func (b *Batch) Tokens() int {
	n := 0
	for i := range b.Rows {
		n += len(b.Rows[i].Tokens)
	}
	return n
}
