package inference

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/ollama/ollama/ml"
	"golang.org/x/sync/errgroup"
)

// Forward computes the rows of a batch and draws the tokens of those that
// sample.
func (m *Model) Forward(b *Batch) error {
	err := m.compute(b.Rows, m.picks, m.draw)
	if errors.Is(err, errNaN) {
		err = fmt.Errorf("%w%s", err, m.whereNaN(b.Rows))
	}
	return err
}

// draw fills in the tokens of the rows that the outputs belong to.
func (m *Model) draw(rows []Row, g *graph, outputs []int) error {
	if g.picks != nil {
		best, err := g.picks.read()
		for i := 0; err == nil && i < len(outputs); i++ {
			r := &rows[outputs[i]]
			r.Token, err = sampleBest(best[i], r.Draw)
		}
		return err
	}
	logits := g.logits.Floats()
	draw := func(i int) (err error) {
		r := &rows[outputs[i]]
		r.Token, err = Sample(logits[i*m.vocab:(i+1)*m.vocab], r.Draw)
		return err
	}
	if len(outputs) == 1 { // another thread would cost more than it does
		return draw(0)
	}
	var drawing errgroup.Group
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		drawing.Go(func() error {
			for i := w; i < len(outputs); i += workers {
				if err := draw(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return drawing.Wait()
}

// whereNaN computes the rows of a batch again, one by one, and says which layer
// is the first to give something that is not a number.
func (m *Model) whereNaN(rows []Row) (where string) {
	defer func() { // memory may be short: the error that there is says enough
		if recover() != nil {
			where = ""
		}
	}()
	for _, r := range m.computeBeginnings(rows) {
		for i, h := range m.hiddenStates(r) {
			if slices.ContainsFunc(h, func(x float32) bool { return x != x }) {
				return fmt.Sprintf(" (slot %d, positions from %d: layer %d is the first)", r.Slot, r.Pos, i)
			}
		}
	}
	return " (what the layers gave are numbers: it is the output)"
}

// hiddenStates computes a row and gives what each layer gives.
func (m *Model) hiddenStates(r Row) (states [][]float32) {
	m.forget()
	ctx, kept := m.be.NewContext(), m.be.NewContextSize(len(m.arch.streams()))
	defer ctx.Close()
	defer kept.Close()
	var layers []ml.Tensor
	step := m.streams.graph(ctx, m.streams.lay([]Row{r}, m.padTokens, m.padOutputs, nil))
	step.watched = func(h ml.Tensor) {
		to := kept.Layer(len(layers)).Zeros(ml.DTypeF32, h.Shape()...)
		ctx.Forward(h.Copy(ctx, to))
		layers = append(layers, to)
	}
	step.tail.watched = step.watched
	ctx.Forward(m.arch.forward(step)).Compute()
	for _, h := range layers {
		states = append(states, h.BackendGet())
	}
	return states
}

// Logits computes the rows of a batch and gives the logits, [vocab], of those
// that sample, by their place in the batch; nil for the others. Nothing is
// drawn.
func (m *Model) Logits(b *Batch) ([][]float32, error) {
	all := make([][]float32, 0, len(b.Rows))
	err := m.compute(b.Rows, false, func(rows []Row, g *graph, outputs []int) error {
		logits, part := g.logits.Floats(), make([][]float32, len(rows))
		for i, r := range outputs {
			part[r] = logits[i*m.vocab : (i+1)*m.vocab]
		}
		all = append(all, part...)
		return nil
	})
	return all, err
}

// compute runs the graph over the rows, in as many parts as its size demands,
// and hands on each part's graph: outputs[i] is the row that its i-th output
// belongs to. picks: the device is to pick the best.
func (m *Model) compute(rows []Row, picks bool, done func(part []Row, g *graph, outputs []int) error) (err error) {
	defer caught(&err, "computing a batch")
	if err := m.check(rows); err != nil {
		return err
	}
	rest := m.computeBeginnings(rows)
	for at := 0; at < len(rest); {
		n := m.fitting(rest[at:])
		g := m.step(rest[at:at+n], picks)
		if err := done(rows[at:at+n], g, g.layout.rows); err != nil {
			return err
		}
		at += n
	}
	for _, r := range rows {
		lowest := m.lowest[r.Slot]
		if r.Pos == 0 { // it begins anew
			lowest = 0
		}
		m.lowest[r.Slot] = m.limits.Lowest(lowest, r.Pos+len(r.Tokens))
	}
	return nil
}

// computeBeginnings computes rows too long for the rings of a slot part by part,
// and gives what is left of all rows.
func (m *Model) computeBeginnings(rows []Row) []Row {
	if m.limits.Ring == 0 {
		return rows
	}
	rest := slices.Clone(rows)
	for {
		var parts []Row
		for i := range rest {
			if r := &rest[i]; len(r.Tokens) > longestPart {
				parts = append(parts, Row{Slot: r.Slot, Block: r.Block, Pos: r.Pos, Tokens: r.Tokens[:longestPart]})
				r.Pos, r.Tokens = r.Pos+longestPart, r.Tokens[longestPart:]
			}
		}
		if len(parts) == 0 {
			return rest
		}
		for len(parts) > 0 {
			n := m.fitting(parts)
			m.step(parts[:n], m.picks).wait()
			parts = parts[n:]
		}
	}
}

// fitting is how many of the rows fit into one graph: each part of a prompt's
// chunk is an attention there, and so is each size of block that decodes.
func (m *Model) fitting(rows []Row) int {
	sizes := map[int]bool{}
	parts := 0
	for n := range rows {
		if r := &rows[n]; r.Decode {
			sizes[r.Block.Cells] = true
		} else {
			parts += m.streams.parts(len(r.Tokens))
		}
		if n > 0 && parts+len(sizes) > m.streams.most {
			return n
		}
	}
	return len(rows)
}

// step computes the graph of the rows: the last one again where only the
// contents of its inputs differ, as from one decoding step to the next. On GPUs it
// may still be under way: reading what it gives waits, and must come before the
// next step.
func (m *Model) step(rows []Row, picks bool) *graph {
	l := m.streams.lay(rows, m.padTokens, m.padOutputs, m.spare)
	m.spare = nil
	if g := m.last; g != nil && m.reuses && picks == (g.picks != nil) && g.layout.sameShape(l) {
		m.spare, g.layout = g.layout, l
		g.step.fill(l)
	} else {
		m.forget()
		m.last = m.build(l, picks)
	}
	m.last.ctx.Compute(m.last.gives()...)
	return m.last
}

// A graph is a step that is built. Its tensors lie in the memory that the
// runtime gave to the graph computed last, and so it must be that one to be
// computed again.
type graph struct {
	ctx    ml.Context
	layout *layout
	step   *step
	logits ml.Tensor // [vocab, outputs]
	picks  *picks    // of the logits; nil: they are to be read themselves
}

func (m *Model) build(l *layout, picks bool) *graph {
	g := &graph{ctx: m.be.NewContext(), layout: l}
	g.ctx.SetBatchSize(m.streams.sizeHint(l))
	g.step = m.streams.graph(g.ctx, l)
	g.logits = m.arch.forward(g.step)
	if picks {
		g.picks = pick(g.ctx, g.logits)
	}
	g.ctx.Forward(g.gives()...)
	return g
}

// sizeHint is what the runtime is told of a step's size. For CUDA it only decides
// whether the kernels are recorded to be launched at once the next time: for 1
// they are. That is right for steps that only decode, which come in few shapes,
// and must be wrong for the others: after a few that are recorded in vain the
// runtime gives it up for good.
func (s *streams) sizeHint(l *layout) int {
	switch {
	case !s.few:
		return len(l.tokens)
	case l.decodes:
		return 1
	}
	return max(2, len(l.tokens))
}

// gives are the tensors that are read once the graph is computed.
func (g *graph) gives() []ml.Tensor {
	if g.picks != nil {
		return g.picks.tensors()
	}
	return []ml.Tensor{g.logits}
}

// wait waits until the graph is computed.
func (g *graph) wait() {
	if g.picks != nil {
		g.picks.sums.Floats()
		return
	}
	g.logits.Floats()
}

// forget frees the last graph. It comes before any other graph is computed.
func (m *Model) forget() {
	if m.last != nil {
		m.last.ctx.Close()
		m.last, m.spare = nil, m.last.layout
	}
}

// check refuses rows that the runtime would abort on, or that would read or
// write cells of another slot.
func (m *Model) check(rows []Row) error {
	l := m.limits
	if len(rows) > l.Rows {
		return fmt.Errorf("%d rows in a step of at most %d", len(rows), l.Rows)
	}
	seen := make(map[int]bool, len(rows))
	for i := range rows {
		r := &rows[i]
		n := len(r.Tokens)
		if err := l.checkBlock(r.Slot, r.Block); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		switch {
		case seen[r.Slot]:
			return fmt.Errorf("two rows name slot %d", r.Slot)
		case n == 0 || r.Pos < 0 || r.Pos+n > min(l.Cells, r.Block.Cells) || r.Decode && n > 1:
			return fmt.Errorf("row %d has %d tokens from position %d in a block of %d cells", i, n, r.Pos, r.Block.Cells)
		}
		seen[r.Slot] = true
		if r.Pos > 0 && !l.Resumes(m.lowest[r.Slot], r.Pos) {
			return fmt.Errorf("row %d goes on at position %d, but slot %d holds the positions from %d on", i, r.Pos, r.Slot, m.lowest[r.Slot])
		}
		for _, t := range r.Tokens {
			if t < 0 || int(t) >= m.vocab {
				return fmt.Errorf("row %d holds token %d; the vocabulary has %d", i, t, m.vocab)
			}
		}
	}
	return checkApart(rows)
}

// checkBlock refuses a slot and a block that an engine with these limits has not.
func (l Limits) checkBlock(slot int, b Block) error {
	switch {
	case slot < 0 || slot >= l.Slots:
		return fmt.Errorf("slot %d of %d", slot, l.Slots)
	case b.Cells < l.Least || b.Cells > l.BlockFor(l.Cells) || b.Cells != l.BlockFor(b.Cells),
		b.First < 0 || b.First%b.Cells != 0 || b.First > l.Pool-b.Cells:
		return fmt.Errorf("a block of %d cells from %d in a pool of %d", b.Cells, b.First, l.Pool)
	}
	return nil
}

// checkApart refuses rows whose blocks overlap.
func checkApart(rows []Row) error {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return rows[a].Block.First - rows[b].Block.First })
	for j := 1; j < len(order); j++ {
		a, b := &rows[order[j-1]], &rows[order[j]]
		if a.Block.First+a.Block.Cells > b.Block.First {
			return fmt.Errorf("the blocks of slots %d and %d overlap", a.Slot, b.Slot)
		}
	}
	return nil
}

// Copy makes the first cells of one slot equal to those of another, or moves
// what a slot holds to another block.
func (m *Model) Copy(c Copy) (err error) {
	defer caught(&err, "copying a slot")
	err = m.limits.checkBlock(c.Src, c.From)
	if err == nil {
		err = m.limits.checkBlock(c.Dst, c.To)
	}
	if err != nil {
		return fmt.Errorf("copying a slot: %w", err)
	}
	switch {
	case c.Cells < 0 || c.Cells > min(c.From.Cells, c.To.Cells):
		return fmt.Errorf("copying %d positions from a block of %d to one of %d", c.Cells, c.From.Cells, c.To.Cells)
	case c.Cells == 0 || c.From == c.To && c.Src == c.Dst:
		return nil
	case !m.limits.Resumes(m.lowest[c.Src], c.Cells):
		return fmt.Errorf("copying %d positions of slot %d, which holds those from %d on", c.Cells, c.Src, m.lowest[c.Src])
	}
	m.forget()
	ctx := m.be.NewContext()
	defer ctx.Close()
	if m.streams.copy(ctx, c) {
		ctx.Compute()
	}
	m.lowest[c.Dst] = m.lowest[c.Src]
	return nil
}
