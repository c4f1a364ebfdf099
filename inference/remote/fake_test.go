package remote

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"selfplay/inference"
)

// fakeEngine notes what it is asked, and draws tokens from that.
type fakeEngine struct {
	limits inference.Limits
	seen   []string
	fail   error // of Forward
	closed int
}

func (e *fakeEngine) Limits() inference.Limits { return e.limits }
func (e *fakeEngine) Close() error             { e.closed++; return nil }

func (e *fakeEngine) Copy(c inference.Copy) error {
	e.seen = append(e.seen, fmt.Sprint(c))
	if c.Cells < 0 {
		return errors.New("no cells")
	}
	return nil
}

func (e *fakeEngine) Forward(b *inference.Batch) error {
	for i := range b.Rows {
		r := &b.Rows[i]
		e.seen = append(e.seen, fmt.Sprint(*r))
		if r.Sample {
			r.Token = drawn(r)
		}
	}
	return e.fail
}

// Score notes what it is asked, and scores a token by that and the row.
func (e *fakeEngine) Score(b *inference.Batch, wanted [][]int32) ([][]float64, error) {
	if len(wanted) != len(b.Rows) {
		return nil, errors.New("other rows are wanted")
	}
	scores := make([][]float64, len(b.Rows))
	for i := range b.Rows {
		r := &b.Rows[i]
		e.seen = append(e.seen, fmt.Sprint(*r))
		for _, t := range wanted[i] {
			if r.Sample {
				scores[i] = append(scores[i], scored(r, t))
			}
		}
	}
	return scores, e.fail
}

func scored(r *inference.Row, token int32) float64 { return -math.Pi * float64(drawn(r)-token) }

// drawn depends on all of a row.
func drawn(r *inference.Row) int32 {
	n := int32(r.Slot + 3*r.Block.First + 5*r.Block.Cells + 7*r.Pos + int(r.Draw*1e6))
	for _, t := range r.Tokens {
		n = 31*n + t
	}
	if r.Decode {
		n = -n
	}
	return n
}

// randomBatch makes a batch of n rows, prompts among them.
func randomBatch(r *rand.Rand, n int) *inference.Batch {
	b := &inference.Batch{}
	for range r.IntN(4) {
		b.Copies = append(b.Copies, inference.Copy{
			Dst: r.IntN(99), Src: r.IntN(99), Cells: r.IntN(1 << 20),
			To: inference.Block{First: r.IntN(1 << 30), Cells: r.IntN(1 << 20)}, From: inference.Block{First: r.IntN(1 << 30), Cells: 1},
		})
	}
	for range n {
		row := inference.Row{
			Slot: r.IntN(5000), Block: inference.Block{First: r.IntN(1 << 30), Cells: r.IntN(1 << 20)}, Pos: r.IntN(1 << 20),
			Decode: r.IntN(2) == 0, Sample: r.IntN(3) > 0, Tokens: []int32{r.Int32()},
		}
		if row.Sample {
			row.Draw = r.Float64()
		}
		for range r.IntN(20) {
			row.Tokens = append(row.Tokens, r.Int32N(300_000))
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// A fakeChild is the other side within this process.
type fakeChild struct {
	close  func()
	killed int
}

func (c *fakeChild) kill() { c.killed++; c.close() }
func (c *fakeChild) exit() (string, []string) {
	c.close()
	return "exit status 7", []string{"one", "two"}
}

// serve connects an Engine with Serve; ended gets what that returns.
func serve(open Open) (e *Engine, ended chan error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended = make(chan error, 1)
	go func() {
		err := Serve(inR, outW, "v1", open)
		outW.Close()
		inR.Close()
		ended <- err
	}()
	child := &fakeChild{close: func() { inW.Close(); outR.Close() }}
	return &Engine{name: "r0", child: child, c: connection{r: outR, w: inW}}, ended
}

// asSeen is what a fake engine sees of a batch.
func asSeen(b *inference.Batch) (seen []string) {
	for _, c := range b.Copies {
		seen = append(seen, fmt.Sprint(c))
	}
	for _, r := range b.Rows {
		seen = append(seen, fmt.Sprint(r))
	}
	return seen
}

func clone(b *inference.Batch) *inference.Batch {
	return &inference.Batch{Copies: slices.Clone(b.Copies), Rows: slices.Clone(b.Rows)}
}
