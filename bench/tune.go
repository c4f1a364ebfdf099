package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"selfplay/inference"
)

// A Tuner measures how fast a model is with different settings, in short steps
// on real engines.
type Tuner struct {
	// Open loads the model. Its engine has room for all slots that are to be tried.
	Open    func(weights string, threads int) (inference.Engine, error)
	Weights []string             // that are tried; only the first must load
	Threads int                  // the most that are tried
	GPU     bool                 // it computes: fewer threads are not tried
	Now     func() time.Duration // on any clock
	Show    func(Point)          // is told each point once it is measured
	Note    func(string)         // is told why something is not measured
}

// TuneTokens is the largest chunk that is tried.
const TuneTokens = 1024

const (
	leastTried   = 64 // the smallest chunk
	fewestSteps  = 4  // of decoding in one repetition
	fewestTokens = 16 // that it writes
	fewestRepeat = 3
	mostRepeat   = 9    // where the repetitions scatter
	mostTokens   = 3072 // of all repetitions, unless the fewest have more
	fillChunk    = 256
)

// Run measures all types of weights with all threads; of the better one then
// with fewer threads, as long as that costs no speed.
func (t *Tuner) Run(ctx context.Context) ([]Point, error) {
	var points []Point
	for i, weights := range t.Weights {
		p, err := t.measure(ctx, weights, t.Threads, nil)
		if noRoom := (inference.NoRoom{}); i > 0 && errors.As(err, &noRoom) {
			t.Note(fmt.Sprintf("--weights %s is not tried: %v", weights, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		points = append(points, p...)
	}
	if t.GPU {
		return points, nil
	}
	best := choose(points)[0]
	for threads := t.Threads / 2; threads > 0; threads /= 2 {
		p, err := t.measure(ctx, best.Weights, threads, &best)
		if err != nil {
			return nil, err
		}
		points = append(points, p...)
		if choose(points)[0].Threads != threads {
			break
		}
	}
	return points, nil
}

// measure loads the model and gives its curves of reading and of writing, or
// only the points of one choice.
func (t *Tuner) measure(ctx context.Context, weights string, threads int, only *Choice) (points []Point, err error) {
	e, err := t.Open(weights, threads)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	runtime.LockOSThread() // as whoever drives an engine does
	defer runtime.UnlockOSThread()
	l := e.Limits()
	l.Slots = min(l.Slots, l.Rows, l.Pool/halfBlock(l))
	if l.Slots < 2 || l.Cells < 4 {
		return nil, fmt.Errorf("there is nothing to tune with %d slots of %d tokens: give a larger --slots, or another --context", l.Slots, l.Cells)
	}
	chunks, slots := triedChunks(l), triedSlots(l)
	if only != nil {
		chunks, slots = []int{min(only.Chunk, chunks[0])}, []int{only.Slots}
	}
	m := &meter{Tuner: t, ctx: ctx, engine: e, half: l.Cells / 2, setting: Point{Weights: weights, Threads: threads}}
	if err := m.reading(chunks); err != nil {
		return nil, err
	}
	if err := m.writing(slots); err != nil {
		return nil, err
	}
	return m.points, nil
}

// halfBlock is the size of the blocks that hold half a slot and one token more.
func halfBlock(l inference.Limits) int { return l.BlockFor(l.Cells/2 + 1) }

// triedChunks are those that fit into half a slot, the largest first.
func triedChunks(l inference.Limits) []int {
	most := min(l.Tokens, l.Cells/2)
	chunks := []int{min(most, TuneTokens)}
	for c := TuneTokens; c >= leastTried; c /= 2 {
		if c < chunks[0] {
			chunks = append(chunks, c)
		}
	}
	return chunks
}

// triedSlots doubles up to what the engine has.
func triedSlots(l inference.Limits) []int {
	var slots []int
	for n := 1; n < l.Slots; n *= 2 {
		slots = append(slots, n)
	}
	return append(slots, l.Slots)
}

// A meter measures one engine.
type meter struct {
	*Tuner
	ctx     context.Context
	engine  inference.Engine
	half    int   // of a slot: what a game holds on average
	held    int   // positions that slot 0 has computed
	setting Point // the part that all points share
	points  []Point
}

// block is the slot's part of the pool.
func (m *meter) block(slot int) inference.Block {
	size := halfBlock(m.engine.Limits())
	return inference.Block{First: slot * size, Cells: size}
}

// copy copies the first n positions of slot 0.
func (m *meter) copy(slot, n int) error {
	return m.engine.Copy(inference.Copy{Dst: slot, Src: 0, To: m.block(slot), From: m.block(0), Cells: n})
}

// reading measures prompts in chunks, the largest first. All lie around the same
// position, so that a token has the same to look back on in each. Slot 0 holds
// what comes before, and is only ever gone on with, as a model that slides a
// window demands; slot 1 reads.
func (m *meter) reading(chunks []int) error {
	for _, c := range chunks {
		at := (m.half - c) / 2
		if err := m.fill(at); err != nil {
			return err
		}
		p := m.setting
		p.Chunk = c
		b := &inference.Batch{Rows: []inference.Row{{Slot: 1, Block: m.block(1), Pos: at, Tokens: made(c), Sample: true, Draw: 0.5}}}
		err := m.repeat(p, c, func() error { return m.engine.Forward(b) }, func() error { return m.copy(1, at) })
		if err != nil {
			return err
		}
	}
	return m.fill(m.half)
}

// writing measures decoding in more and more slots, each half full, until it
// gets slower.
func (m *meter) writing(slots []int) error {
	for slot := 1; slot < slices.Max(slots); slot++ {
		if err := m.copy(slot, m.half); err != nil {
			return err
		}
	}
	best, slower := 0.0, 0
	for _, n := range slots {
		b, count := &inference.Batch{}, max(fewestSteps, fewestTokens/n)
		for slot := range n {
			b.Rows = append(b.Rows, inference.Row{Slot: slot, Block: m.block(slot), Pos: m.half, Tokens: made(1), Decode: true, Sample: true, Draw: 0.5})
		}
		steps := func() error {
			for range count {
				if err := m.engine.Forward(b); err != nil {
					return err
				}
			}
			return nil
		}
		p := m.setting
		p.Slots = n
		if err := m.repeat(p, count*n, steps, nil); err != nil {
			return err
		}
		rate := m.points[len(m.points)-1].rate()
		best = max(best, rate)
		if slower++; rate >= (1-tolerance)*best {
			slower = 0
		}
		if slower == 2 {
			break
		}
	}
	return nil
}

// repeat does the same work of so many tokens several times, more often where
// the times scatter, and keeps and shows the point. What before does is not timed.
func (m *meter) repeat(p Point, tokens int, work, before func() error) error {
	most := min(mostRepeat, mostTokens/tokens)
	for len(p.Rates) < fewestRepeat || len(p.Rates) < most && p.spread() > tolerance {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if before != nil {
			if err := before(); err != nil {
				return err
			}
		}
		start := m.Now()
		if err := work(); err != nil {
			return err
		}
		took := m.Now() - start
		p.Rates = append(p.Rates, float64(tokens)/max(took, time.Nanosecond).Seconds())
	}
	m.points = append(m.points, p)
	m.Show(p)
	return nil
}

// fill has slot 0 compute all positions before n.
func (m *meter) fill(n int) error {
	for m.held < n {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		c := min(n-m.held, fillChunk, m.engine.Limits().Tokens)
		b := &inference.Batch{Rows: []inference.Row{{Block: m.block(0), Pos: m.held, Tokens: made(c)}}}
		if err := m.engine.Forward(b); err != nil {
			return err
		}
		m.held += c
	}
	return nil
}

// made are tokens that any vocabulary has.
func made(n int) []int32 {
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(i % 100)
	}
	return tokens
}
