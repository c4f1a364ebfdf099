package inference

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// draw writes a layout as text, for each span what its layers see: a mask has a
// line for each token, with x for a cell that the token sees and a dot for one
// that it does not.
func (l *layout) draw() string {
	var b strings.Builder
	fmt.Fprintln(&b, "tokens", l.tokens, "positions", l.positions)
	fmt.Fprintln(&b, "outputs", l.outputs, "of rows", l.rows)
	for k := range l.spans {
		sl := &l.spans[k]
		fmt.Fprintln(&b, "at", sl.at)
		for _, g := range sl.groups {
			kind := "decode"
			if g.prompt {
				kind = "prompt"
			}
			fmt.Fprintf(&b, "%s from %d", kind, g.from)
			if g.gathers != nil {
				fmt.Fprintf(&b, ", gathered %v", g.gathers)
			}
			fmt.Fprintln(&b)
			for i := range g.count * g.length {
				fmt.Fprintf(&b, "  %d %s\n", g.first+i/g.length*g.stride, g.drawMask(i))
			}
		}
		if sl.restore != nil {
			fmt.Fprintln(&b, "restore", sl.restore)
		}
	}
	if l.tail != nil {
		fmt.Fprint(&b, "tail: ", l.tail.draw())
	}
	return b.String()
}

func (g *groupLayout) drawMask(i int) string {
	var b strings.Builder
	for cell := range g.cells {
		switch v := binary.LittleEndian.Uint16(g.mask.f16[2*(i*g.cells+cell):]); v {
		case 0:
			b.WriteByte('x')
		case 0xfc00: // minus infinity
			b.WriteByte('.')
		default:
			fmt.Fprintf(&b, "<%x>", v)
		}
	}
	return b.String()
}

// at puts a row into a block.
func at(first, cells int, r Row) Row {
	r.Block = Block{first, cells}
	return r
}

func TestLay(t *testing.T) {
	plain := &streams{spans: []span{{}}, most: 9, manner: onCPU}
	fused := &streams{spans: []span{{}}, most: 9, manner: manner{fused: true, grain: 32}}
	rings := &streams{spans: []span{{}, {3, 6}}, most: 9, manner: onCPU}
	tailed := &streams{spans: []span{{}}, most: 9, tailed: true, manner: onCPU}
	for _, test := range []struct {
		name                  string
		s                     *streams
		rows                  []Row
		padTokens, padOutputs bool
		want                  string
	}{
		{"a prompt", plain, []Row{at(6, 6, row(1, 0, []int32{7, 8, 9}, true))}, false, false, `
tokens [7 8 9] positions [0 1 2]
outputs [2] of rows [0]
at [6 7 8]
prompt from 0
  6 x.....
  6 xx....
  6 xxx...
`},
		{"a later chunk that draws nothing", plain, []Row{at(0, 6, row(0, 3, []int32{7, 8}, false))}, false, false, `
tokens [7 8] positions [3 4]
outputs [1] of rows []
at [3 4]
prompt from 0
  0 xxxx..
  0 xxxxx.
`},
		{"decode in neighbouring blocks, in any order", plain,
			[]Row{at(18, 6, row(3, 1, []int32{9}, true)), at(6, 6, row(7, 4, []int32{7}, true)), at(12, 6, row(2, 1, []int32{8}, false))}, false, false, `
tokens [7 8 9] positions [4 1 1]
outputs [0 2] of rows [1 0]
at [10 13 19]
decode from 0
  6 xxxxx.
  12 xx....
  18 xx....
`},
		{"decode with idle blocks between", plain,
			[]Row{at(24, 6, row(4, 1, []int32{9}, true)), at(6, 6, row(1, 4, []int32{7}, true))}, false, false, `
tokens [7 9] positions [4 1]
outputs [0 1] of rows [1 0]
at [10 25]
decode from 0, gathered [0 0 0 1]
  6 xxxxx.
  12 ......
  18 ......
  24 xx....
restore [0 3]
`},
		{"decode in blocks that lie far apart", plain,
			[]Row{at(60, 6, row(4, 1, []int32{9}, true)), at(0, 6, row(1, 4, []int32{7}, true))}, false, false, `
tokens [7 9] positions [4 1]
outputs [0 1] of rows [1 0]
at [4 61]
decode from 0
  0 xxxxx.
decode from 1
  60 xx....
`},
		{"decode in blocks of two sizes", plain,
			[]Row{at(12, 12, row(0, 7, []int32{5}, true)), at(6, 6, row(1, 2, []int32{6}, true)), at(0, 6, row(2, 1, []int32{7}, true))}, false, false, `
tokens [7 6 5] positions [1 2 7]
outputs [0 1 2] of rows [2 1 0]
at [1 8 19]
decode from 0
  0 xx....
  6 xxx...
decode from 2
  12 xxxxxxxx....
`},
		{"decode beside chunks", plain,
			[]Row{at(12, 6, row(2, 0, []int32{1, 2}, false)), at(0, 6, row(0, 5, []int32{7}, true)), at(6, 6, row(1, 2, []int32{3, 4, 5}, true))}, false, false, `
tokens [7 1 2 3 4 5] positions [5 0 1 2 3 4]
outputs [0 5] of rows [1 2]
at [5 12 13 8 9 10]
decode from 0
  0 xxxxxx
prompt from 1
  12 x.....
  12 xx....
prompt from 3
  6 xxx...
  6 xxxx..
  6 xxxxx.
`},
		{"idle blocks and chunks", plain,
			[]Row{at(0, 6, row(0, 1, []int32{7}, true)), at(12, 6, row(2, 1, []int32{9}, true)), at(6, 6, row(1, 0, []int32{1, 2}, true))}, false, false, `
tokens [7 9 1 2] positions [1 1 0 1]
outputs [0 1 3] of rows [0 1 2]
at [1 13 6 7]
decode from 0, gathered [0 0 1]
  0 xx....
  6 ......
  12 xx....
prompt from 2
  6 x.....
  6 xx....
restore [0 2 3 4]
`},
		{"a prompt's token alone: its attention is doubled", plain, []Row{at(0, 6, row(0, 0, []int32{7}, true)), at(6, 6, row(1, 0, []int32{8, 9}, true))}, false, false, `
tokens [7 8 9] positions [0 0 1]
outputs [0 2] of rows [0 1]
at [0 6 7]
prompt from 0, gathered [0 0]
  0 x.....
  0 x.....
prompt from 1
  6 x.....
  6 xx....
restore [0 2 3]
`},
		{"fused attention doubles none", fused, []Row{at(0, 6, row(0, 0, []int32{7}, true))}, false, false, `
tokens [7] positions [0]
outputs [0] of rows [0]
at [0]
prompt from 0
  0 x.....
`},
		{"a lone token, doubled", plain, []Row{at(12, 6, row(2, 1, []int32{7}, true))}, true, true, `
tokens [7 7] positions [1 1]
outputs [0 0] of rows [0]
at [13 13]
decode from 0
  12 xx....
restore [0 0]
`},
		{"a prompt's lone token, doubled, that draws nothing", plain, []Row{at(12, 6, row(2, 0, []int32{7}, false))}, true, true, `
tokens [7 7] positions [0 0]
outputs [0 0] of rows []
at [12 12]
prompt from 0, gathered [0 0]
  12 x.....
  12 x.....
restore [0 0]
`},
		{"a lone output of two tokens, doubled", plain, []Row{at(12, 6, row(2, 0, []int32{7, 8}, true))}, true, true, `
tokens [7 8] positions [0 1]
outputs [1 1] of rows [0]
at [12 13]
prompt from 0
  12 x.....
  12 xx....
`},
		{"two tokens are not doubled", plain, []Row{at(0, 6, row(0, 1, []int32{7}, true)), at(6, 6, row(1, 1, []int32{8}, true))}, true, true, `
tokens [7 8] positions [1 1]
outputs [0 1] of rows [0 1]
at [1 7]
decode from 0
  0 xx....
  6 xx....
`},
		// Larger slots: attention is over whole groups of 32 cells, as many as the
		// farthest token needs, and never beyond the block.
		{"groups of cells", plain, []Row{at(0, 40, row(0, 31, []int32{7}, true)), at(40, 40, row(1, 2, []int32{8}, true))}, false, false, `
tokens [7 8] positions [31 2]
outputs [0 1] of rows [0 1]
at [31 42]
decode from 0
  0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
  40 xxx.............................
`},
		{"the last cells", plain, []Row{at(0, 40, row(0, 32, []int32{7}, true)), at(40, 40, row(1, 2, []int32{8}, true))}, false, false, `
tokens [7 8] positions [32 2]
outputs [0 1] of rows [0 1]
at [32 42]
decode from 0
  0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.......
  40 xxx.....................................
`},
		{"a window before it slides", rings, []Row{at(24, 12, row(1, 1, []int32{7, 8, 9}, true))}, false, false, `
tokens [7 8 9] positions [1 2 3]
outputs [2] of rows [0]
at [25 26 27]
prompt from 0
  24 xx..........
  24 xxx.........
  24 xxxx........
at [7 8 9]
prompt from 0
  6 xx....
  6 xxx...
  6 .xxx..
`},
		{"a window over the ring's end", rings, []Row{at(0, 12, row(2, 4, []int32{7, 8, 9, 6}, true))}, false, false, `
tokens [7 8 9 6] positions [4 5 6 7]
outputs [3] of rows [0]
at [4 5 6 7]
prompt from 0
  0 xxxxx.......
  0 xxxxxx......
  0 xxxxxxx.....
  0 xxxxxxxx....
at [16 17 12 13]
prompt from 0
  12 ..xxx.
  12 ...xxx
  12 x...xx
  12 xx...x
`},
		{"decode in rings, in another order than in blocks", rings,
			[]Row{at(24, 12, row(0, 11, []int32{7}, true)), at(12, 12, row(2, 1, []int32{8}, true))}, false, false, `
tokens [8 7] positions [1 11]
outputs [0 1] of rows [1 0]
at [13 35]
decode from 0
  12 xx..........
  24 xxxxxxxxxxxx
at [13 5]
decode from 1, gathered [1 0 0]
  0 ...xxx
  6 ......
  12 xx....
restore [2 0]
`},
		{"outputs of chunks and decode", tailed,
			[]Row{at(0, 6, row(0, 0, []int32{1, 2}, true)), at(6, 6, row(1, 5, []int32{7}, true)), at(12, 6, row(2, 0, []int32{3, 4}, false))}, false, false, `
tokens [7 1 2 3 4] positions [5 0 1 0 1]
outputs [0 2] of rows [1 0]
at [11 0 1 12 13]
decode from 0
  6 xxxxxx
prompt from 1
  0 x.....
  0 xx....
prompt from 3
  12 x.....
  12 xx....
tail: tokens [7 2] positions [5 1]
outputs [0 1] of rows [1 0]
at [11 1]
decode from 0
  6 xxxxxx
prompt from 1, gathered [1 1]
  0 xx....
  0 xx....
restore [0 1]
`},
		{"a chunk without an output", tailed, []Row{at(12, 6, row(2, 0, []int32{3, 4}, false))}, true, true, `
tokens [3 4] positions [0 1]
outputs [1 1] of rows []
at [12 13]
prompt from 0
  12 x.....
  12 xx....
tail: tokens [4 4] positions [1 1]
outputs [0 0] of rows [0]
at [13 13]
prompt from 0, gathered [0 0]
  12 xx....
  12 xx....
restore [0 0]
`},
	} {
		if got := test.s.lay(test.rows, test.padTokens, test.padOutputs, nil).draw(); got != test.want[1:] {
			t.Errorf("%s:\n%swant:\n%s", test.name, got, test.want[1:])
		}
	}
}

// TestLayRandomly checks random batches against what a layout is for: each
// token's attention comes out in the token's place, from its own slot, and over
// no more than the cells up to its own.
func TestLayRandomly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		slots, least := 1+rng.IntN(9), 1+rng.IntN(70)
		s := &streams{spans: []span{{}}, most: 1 + rng.IntN(12), tailed: rng.IntN(2) == 0, manner: manner{fused: rng.IntN(2) == 0, grain: 32}}
		if rng.IntN(2) == 0 { // a window whose ring has room for the longest rows
			window := 1 + rng.IntN(10)
			s.spans = append(s.spans, span{window, rng.IntN(2) * (window + 4 + rng.IntN(40))})
		}
		if rng.IntN(2) == 0 {
			slices.Reverse(s.spans)
		}
		var old *layout
		rows := randomRows(rng, slots, least)
		for range 4 {
			old = s.lay(rows, rng.IntN(2) == 0, rng.IntN(2) == 0, old)
			if err := checkLayout(s, old, rows); err != nil {
				t.Fatalf("%v:\n%v\n%s", err, rows, old.draw())
			}
			if len(rows) > 1 && rng.IntN(2) == 0 { // a turn ends
				i := rng.IntN(len(rows))
				rows = slices.Delete(rows, i, i+1)
			}
			if rng.IntN(3) == 0 || !goOn(rows) {
				rows = randomRows(rng, slots, least)
			}
		}
	}
}

// randomRows are rows of random slots in random blocks.
func randomRows(rng *rand.Rand, slots, least int) (rows []Row) {
	first := 0
	for _, slot := range rng.Perm(slots)[:1+rng.IntN(slots)] {
		cells := least << rng.IntN(3)
		first = (first+cells-1)/cells*cells + cells*rng.IntN(3)*rng.IntN(8)
		n, decode := 1, rng.IntN(2) == 0
		if !decode {
			n = 1 + rng.IntN(min(cells, 5))
		}
		tokens := make([]int32, n)
		for i := range tokens {
			tokens[i] = int32(rng.IntN(1000))
		}
		rows = append(rows, Row{Slot: slot, Block: Block{first, cells}, Pos: rng.IntN(cells - n + 1), Tokens: tokens, Decode: decode, Sample: rng.IntN(2) == 0})
		first += cells
	}
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// goOn moves the rows to their next positions, as from one step of decoding to
// the next; false if one's block ends there.
func goOn(rows []Row) bool {
	for i := range rows {
		r := &rows[i]
		if r.Pos++; r.Pos+len(r.Tokens) > r.Block.Cells {
			return false
		}
	}
	return true
}

func checkLayout(s *streams, l *layout, rows []Row) error {
	if err := checkAttention(s, l, rows); err != nil {
		return err
	}
	if err := checkOutputs(s, l, rows); err != nil || l.tail == nil {
		return err
	}
	// The tail is of the outputs, in their order.
	var tails []Row
	for i, o := range l.outputs {
		r := rows[rowOf(s, l, rows, int(o))]
		n := len(r.Tokens) - 1
		r.Pos, r.Tokens, r.Sample = r.Pos+n, r.Tokens[n:], true
		if i == 0 || r.Slot != tails[0].Slot { // not doubled
			tails = append(tails, r)
		}
		if l.tail.spans[0].at[i] != l.spans[0].at[o] {
			return fmt.Errorf("the tail's token %d is not output %d", i, o)
		}
	}
	return checkAttention(s, l.tail, tails)
}

// rowOf is the row that a token belongs to: the one that has its cell.
func rowOf(s *streams, l *layout, rows []Row, token int) int {
	return slices.IndexFunc(rows, func(r Row) bool {
		b := s.spans[0].block(r.Slot, r.Block)
		at := int(l.spans[0].at[token])
		return at >= b.First && at < b.First+b.Cells
	})
}

func checkAttention(s *streams, l *layout, rows []Row) error {
	want := 0
	for i := range rows {
		want += len(rows[i].Tokens)
	}
	if want == 1 && len(l.tokens) == 2 {
		want = 2 // doubled
	}
	if want != len(l.tokens) || len(l.positions) != len(l.tokens) {
		return fmt.Errorf("%d tokens, %d positions, want %d", len(l.tokens), len(l.positions), want)
	}
	for k, sp := range s.spans {
		if err := checkSpan(s, l, rows, sp, &l.spans[k]); err != nil {
			return fmt.Errorf("span %v: %w", sp, err)
		}
	}
	return nil
}

func checkSpan(s *streams, l *layout, rows []Row, sp span, sl *spanLayout) error {
	type attention struct { // what the groups give, one after the other
		token, first int
		prompt       bool
		mask         string
	}
	var all []attention
	sizes := map[int]bool{}
	parts := 0
	for _, g := range sl.groups {
		for i := range g.count * g.length {
			a := attention{token: g.from + i, first: g.first + i/g.length*g.stride, prompt: g.prompt, mask: g.drawMask(i)}
			if g.gathers != nil {
				a.token = int(g.gathers[i])
			}
			all = append(all, a)
		}
		if g.cells > g.stride {
			return fmt.Errorf("a group attends over %d cells of %d", g.cells, g.stride)
		}
		if g.prompt && g.length == 1 && !s.fused {
			return errors.New("a prompt's lone token takes another kernel")
		}
		if g.prompt {
			parts++
		} else {
			sizes[g.stride] = true
		}
	}
	if most := max(s.most, parts+len(sizes)); len(sl.groups) > most {
		return fmt.Errorf("%d attentions, at most %d", len(sl.groups), most)
	}
	if sl.restore != nil {
		var restored []attention
		for _, i := range sl.restore {
			restored = append(restored, all[i])
		}
		for i, a := range all { // what is computed for nothing should cost little
			if !a.prompt && !slices.Contains(sl.restore, int32(i)) && strings.Contains(a.mask, "x") {
				return fmt.Errorf("an idle slot sees %s", a.mask)
			}
		}
		all = restored
	}
	if len(all) != len(l.tokens) || len(sl.at) != len(l.tokens) {
		return fmt.Errorf("%d attentions, %d cells for %d tokens", len(all), len(sl.at), len(l.tokens))
	}
	for i, a := range all {
		r := &rows[rowOf(s, l, rows, i)]
		b := sp.block(r.Slot, r.Block)
		if a.first != b.First || a.prompt == r.Decode || l.tokens[a.token] != l.tokens[i] || l.positions[a.token] != l.positions[i] {
			return fmt.Errorf("token %d of slot %d gets the attention of token %d over the block at %d", i, r.Slot, a.token, a.first)
		}
		pos := int(l.positions[i])
		if at := pos - r.Pos; at < 0 || at >= len(r.Tokens) || r.Tokens[at] != l.tokens[i] {
			return fmt.Errorf("token %d is not of slot %d", i, r.Slot)
		}
		if int(sl.at[i]) != b.First+sp.cell(pos) {
			return fmt.Errorf("token %d goes to cell %d", i, sl.at[i])
		}
		seen := make([]bool, b.Cells)
		for p := 0; p <= pos; p++ {
			seen[sp.cell(p)] = sp.window == 0 || p > pos-sp.window
		}
		for cell, sees := range seen {
			if got := cell < len(a.mask) && a.mask[cell] == 'x'; got != sees {
				return fmt.Errorf("token %d at position %d sees %s", i, pos, a.mask)
			}
		}
	}
	return nil
}

// checkOutputs makes sure that the rows that sample get the logits of their last
// tokens.
func checkOutputs(s *streams, l *layout, rows []Row) error {
	var sampling []int
	for i, r := range rows {
		if r.Sample {
			sampling = append(sampling, i)
		}
	}
	if got := slices.Sorted(slices.Values(l.rows)); !slices.Equal(got, sampling) {
		return fmt.Errorf("outputs of rows %v, want %v", got, sampling)
	}
	for i, r := range l.rows {
		o := int(l.outputs[i])
		if rowOf(s, l, rows, o) != r || int(l.positions[o]) != rows[r].Pos+len(rows[r].Tokens)-1 {
			return fmt.Errorf("row %d gets output %d", r, o)
		}
	}
	return nil
}
