package inference

import "math"

// Among computes a prompt and some tokens after it alone, and then in two slots
// among others in as many as a step has, up to 64, and gives the largest
// difference of a logit. On CPUs there is none, because games depend on it. On
// GPUs kernels, and with them the order of sums, are chosen by the number of rows.
func (m *Model) Among() (slots int, difference float64, err error) {
	const prompt, decoded = 40, 6
	l := m.limits
	cells := min(l.Cells, prompt+decoded)
	size := l.BlockFor(cells)
	slots = min(l.Rows, l.Slots, l.Pool/size, l.Tokens/prompt, 64)
	token := func(slot, at int) int32 { return int32((7*at*at + 13*at + 101*slot) % m.vocab) }
	step := func(slot, like, from, to int) Row {
		r := Row{Slot: slot, Block: Block{slot * size, size}, Pos: from, Decode: from > 0, Sample: true}
		for at := from; at < to; at++ {
			r.Tokens = append(r.Tokens, token(like, at))
		}
		return r
	}
	from := 0
	var alone [][]float32
	for to := min(prompt, cells); to <= cells; from, to = to, to+1 {
		got, err := m.Logits(&Batch{Rows: []Row{step(0, 0, from, to)}})
		if err != nil {
			return slots, 0, err
		}
		alone = append(alone, got[0])
	}
	from = 0
	for i, to := 0, min(prompt, cells); to <= cells; i, from, to = i+1, to, to+1 {
		var rows []Row
		for slot := range slots {
			like := slot
			if slot == slots-1 {
				like = 0
			}
			rows = append(rows, step(slot, like, from, to))
		}
		got, err := m.Logits(&Batch{Rows: rows})
		if err != nil {
			return slots, 0, err
		}
		for _, slot := range []int{0, slots - 1} {
			for k, x := range got[slot] {
				difference = max(difference, math.Abs(float64(x)-float64(alone[i][k])))
			}
		}
	}
	return slots, difference, nil
}
