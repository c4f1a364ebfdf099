package inference

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/ollama/ollama/ml"
)

// picks are the TopK best of each output's logits, picked where the logits are: a
// few hundred bytes for each output cross to the host, not its whole vocabulary.
//
// Logits are cut into groups. Those of the TopK highest are in the TopK groups
// with the highest best ones, so that only these need be sorted.
type picks struct {
	size   int       // of a group
	groups ml.Tensor // i32 [groups, outputs] the groups that are looked into
	places ml.Tensor // i32 [picked, outputs] the best, counted through these groups
	logits ml.Tensor // f32 [1, picked, outputs] theirs, best first
	sums   ml.Tensor // f32 [1, outputs] of all logits: no number if one is none
}

// groupSize is how a vocabulary is cut for picks; 0 if that cannot be done evenly.
func groupSize(vocab int) int {
	for size := 128; size >= 16; size /= 2 {
		if vocab%size == 0 {
			return size
		}
	}
	return 0
}

// pick picks of logits, [vocab, outputs].
func pick(ctx ml.Context, logits ml.Tensor) *picks {
	vocab, n := logits.Dim(0), logits.Dim(1)
	size := groupSize(vocab)
	count := vocab / size
	looked := min(TopK, count)
	best := logits.Reshape(ctx, size, count*n).TopK(ctx, 1) // [1, count*n]
	highest := logits.Reshape(ctx, 1, size, count*n).Rows(ctx, best)
	groups := highest.Reshape(ctx, count, n).TopK(ctx, looked)
	candidates := logits.Reshape(ctx, size, count, n).Rows(ctx, groups) // [size, looked, n]
	places := candidates.Reshape(ctx, size*looked, n).TopK(ctx, min(TopK, size*looked))
	p := &picks{
		size:   size,
		groups: groups.Contiguous(ctx),
		places: places.Contiguous(ctx),
		logits: candidates.Reshape(ctx, 1, size*looked, n).Rows(ctx, places),
		sums:   logits.SumRows(ctx),
	}
	return p
}

func (p *picks) tensors() []ml.Tensor { return []ml.Tensor{p.groups, p.places, p.logits, p.sums} }

// read gives the candidates of each output, best first; of equal ones the lower
// token first.
func (p *picks) read() ([][]Candidate, error) {
	groups, places, logits := readInts(p.groups), readInts(p.places), p.logits.Floats()
	outputs := p.groups.Dim(1)
	looked, picked := p.groups.Dim(0), p.places.Dim(0)
	for _, sum := range p.sums.Floats() {
		if sum-sum != 0 {
			return nil, errNaN
		}
	}
	all := make([][]Candidate, outputs)
	for i := range all {
		c := make([]Candidate, picked)
		for j := range c {
			place := int(places[i*picked+j])
			group := int(groups[i*looked+place/p.size])
			c[j] = Candidate{int32(group*p.size + place%p.size), logits[i*picked+j]}
		}
		slices.SortFunc(c, byLogit)
		all[i] = c
	}
	return all, nil
}

// byLogit has the best candidate first.
func byLogit(a, b Candidate) int {
	return cmp.Or(cmp.Compare(b.Logit, a.Logit), cmp.Compare(a.ID, b.ID))
}

// readInts are the values of a computed tensor of i32.
func readInts(t ml.Tensor) []int32 {
	b := t.Bytes()
	v := make([]int32, len(b)/4)
	for i := range v {
		v[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}
