package static

import (
	"fmt"
	"slices"

	"selfplay/inference"
)

// A Scorer is an engine that tells how likely tokens are. *inference.Model is one.
type Scorer interface {
	Limits() inference.Limits
	// Score computes the rows, and gives the log-probabilities of wanted[i] behind
	// each row that samples.
	Score(b *inference.Batch, wanted [][]int32) ([][]float64, error)
	Copy(inference.Copy) error
}

// A Text is what is scored: how likely each choice's tokens are behind the
// context. None of them is empty.
type Text struct {
	Context []int32
	Choices [][]int32
}

// cells is how many positions scoring it takes.
func (t *Text) cells() int {
	n := 0
	for _, c := range t.Choices {
		n = max(n, len(c)-1) // nothing is asked behind the last
	}
	return len(t.Context) + n
}

// mostReads are the rows of one step whose logits are read: they are large.
const mostReads = 64

// A planner packs texts into steps. It has no engine: it makes batches, and is
// told what came of them.
type planner struct {
	limits inference.Limits
	block  int // cells of each slot's block
	texts  []Text
	queue  *queue   // of what is not begun
	most   int      // texts that are taken from it at once
	open   []*group // whose beginning lies in a slot
	jobs   []*job   // being computed, the longest-running first
	free   []int    // slots
}

// A group is neighbouring texts with the same beginning.
type group struct {
	from, to int // texts not yet begun
	shared   int // tokens of the beginning
	slot     int // that holds it
	held     int // tokens of it that are computed
}

// A job is one text in a slot.
type job struct {
	text, slot int
	pos        int // where the slot goes on
	todo       []int32
	reads      []read // the first ones have been answered
	answered   int
	choices    [][]int32
	context    int // tokens of it
}

// A read is one look at what may follow: behind the context, or further on
// behind the tokens with which a longer choice begins.
type read struct {
	path   []int32   // behind the context
	wanted []int32   // tokens that follow it in some choice
	got    []float64 // their log-probabilities
}

// A step is a batch, with what its rows belong to.
type step struct {
	batch  inference.Batch
	wanted [][]int32
	jobs   []*job // of the rows; nil: of a group's beginning
	budget int    // tokens that it has room for
	reads  int
}

// newPlanner plans for an engine with these limits; most is how many texts it may
// take at once.
func newPlanner(l inference.Limits, texts []Text, longest int, q *queue, most int) (*planner, error) {
	if longest > l.Cells {
		return nil, fmt.Errorf("a text takes %d tokens; a slot holds %d", longest, l.Cells)
	}
	p := &planner{limits: l, block: l.BlockFor(longest), texts: texts, queue: q, most: most}
	for slot := range min(l.Slots, l.Pool/p.block) {
		p.free = append(p.free, slot)
	}
	switch len(p.free) {
	case 0:
		return nil, fmt.Errorf("a text takes %d tokens; the cache holds %d", longest, l.Pool)
	case 1: // there is none to copy from
		p.most = 1
	}
	return p, nil
}

// common is how many tokens both begin with, but for the last one, whose logits
// are wanted.
func common(a, b []int32) int {
	n := min(len(a), len(b)) - 1
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// next is the next step; nil when nothing is left. What was begun first goes first.
func (p *planner) next() *step {
	s := &step{budget: p.limits.Tokens}
	for _, j := range p.jobs {
		p.compute(s, j)
	}
	for _, g := range p.open {
		p.advance(s, g)
	}
	p.open = slices.DeleteFunc(p.open, func(g *group) bool { return g.from == g.to })
	for s.budget > 0 && len(s.batch.Rows) < p.limits.Rows {
		g := p.queue.take(len(p.free), p.most)
		if g == nil {
			break
		}
		g.slot = p.take()
		p.advance(s, g)
		if g.from < g.to {
			p.open = append(p.open, g)
		}
	}
	if len(s.batch.Rows) == 0 {
		if len(p.jobs) > 0 || len(p.open) > 0 {
			panic("static: no text goes on")
		}
		return nil
	}
	return s
}

func (p *planner) take() int {
	slot := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return slot
}

// advance computes the group's beginning, or begins its texts behind it. The last
// one goes on in the slot where that is.
func (p *planner) advance(s *step, g *group) {
	if g.held < g.shared {
		beginning := p.texts[g.from].Context[:g.shared]
		g.held += p.row(s, nil, g.slot, g.held, beginning[g.held:], nil)
		return
	}
	for g.from < g.to && s.budget > 0 && len(s.batch.Rows) < p.limits.Rows {
		slot := g.slot
		if g.to-g.from > 1 {
			if len(p.free) == 0 {
				return
			}
			slot = p.take()
			s.batch.Copies = append(s.batch.Copies, inference.Copy{Dst: slot, Src: g.slot, To: p.at(slot), From: p.at(g.slot), Cells: g.shared})
		}
		t := &p.texts[g.from]
		j := &job{text: g.from, slot: slot, pos: g.shared, todo: t.Context[g.shared:], reads: reads(t.Choices), choices: t.Choices, context: len(t.Context)}
		g.from++
		p.jobs = append(p.jobs, j)
		p.compute(s, j)
	}
}

// compute adds a row of the job, if there is room.
func (p *planner) compute(s *step, j *job) {
	n := p.row(s, j, j.slot, j.pos, j.todo, j.reads[j.answered].wanted)
	j.pos, j.todo = j.pos+n, j.todo[n:]
}

// row adds as many of the tokens as there is room for, and says how many. Behind
// the last one the wanted tokens are read, if any are.
func (p *planner) row(s *step, j *job, slot, pos int, tokens, wanted []int32) int {
	n := min(len(tokens), s.budget)
	if n == len(tokens) && wanted != nil && s.reads == mostReads {
		n-- // its logits come with a later step
	}
	if n <= 0 || len(s.batch.Rows) == p.limits.Rows {
		return 0
	}
	r := inference.Row{Slot: slot, Block: p.at(slot), Pos: pos, Tokens: tokens[:n], Sample: n == len(tokens) && wanted != nil}
	if !r.Sample {
		wanted = nil
	} else {
		s.reads++
	}
	s.budget -= n
	s.batch.Rows = append(s.batch.Rows, r)
	s.wanted = append(s.wanted, wanted)
	s.jobs = append(s.jobs, j)
	return n
}

// at is the slot's part of the pool.
func (p *planner) at(slot int) inference.Block {
	return inference.Block{First: slot * p.block, Cells: p.block}
}

// ended takes what a step gave, and gives the jobs that need no other.
func (p *planner) ended(s *step, scores [][]float64) (ended []*job) {
	for i, j := range s.jobs {
		if !s.batch.Rows[i].Sample {
			continue
		}
		j.reads[j.answered].got = scores[i]
		j.answered++
		if j.answered < len(j.reads) { // back to where the context ends
			j.pos, j.todo = j.context, j.reads[j.answered].path
			continue
		}
		ended = append(ended, j)
		p.free = append(p.free, j.slot)
	}
	p.jobs = slices.DeleteFunc(p.jobs, func(j *job) bool { return j.answered == len(j.reads) })
	return ended
}

// reads are those that the choices need: one where each choice is a single
// token, and else one more for each beginning of a choice.
func reads(choices [][]int32) (all []read) {
	for _, c := range choices {
		for k, token := range c {
			i := slices.IndexFunc(all, func(r read) bool { return slices.Equal(r.path, c[:k]) })
			if i < 0 {
				i, all = len(all), append(all, read{path: c[:k]})
			}
			if !slices.Contains(all[i].wanted, token) {
				all[i].wanted = append(all[i].wanted, token)
			}
		}
	}
	return all
}

// sums are the choices' log-probabilities.
func (j *job) sums() []float64 {
	sums := make([]float64, len(j.choices))
	for i, c := range j.choices {
		for k, token := range c {
			r := &j.reads[slices.IndexFunc(j.reads, func(r read) bool { return slices.Equal(r.path, c[:k]) })]
			sums[i] += r.got[slices.Index(r.wanted, token)]
		}
	}
	return sums
}
