package inference

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// draw writes a layout as text: a mask has a line for each token, its slot in
// front, with x for a cell that the token sees and a dot for one that it does
// not. The masks of further spans stand beside the first.
func (l *layout) draw() string {
	var b strings.Builder
	fmt.Fprint(&b, "tokens ", l.tokens, " positions ", l.positions)
	for _, at := range l.at {
		fmt.Fprint(&b, " at ", at)
	}
	fmt.Fprintln(&b, "\noutputs", l.outputs, "of rows", l.rows)
	for _, g := range l.groups {
		fmt.Fprintf(&b, "tokens from %d", g.from)
		if g.gathers != nil {
			fmt.Fprintf(&b, ", gathered %v", g.gathers)
		}
		fmt.Fprintln(&b)
		for i := range g.count * g.length {
			fmt.Fprintf(&b, "  %d", g.first+i/g.length)
			for k := range g.masks {
				fmt.Fprintf(&b, " %s", g.drawMask(k, i))
			}
			fmt.Fprintln(&b)
		}
	}
	if l.gaps {
		fmt.Fprintln(&b, "restore", l.restore)
	}
	if l.tail != nil {
		fmt.Fprint(&b, "tail: ", l.tail.draw())
	}
	return b.String()
}

func (g *groupLayout) drawMask(span, i int) string {
	var b strings.Builder
	cells := g.cells[span]
	for cell := range cells {
		switch v := binary.LittleEndian.Uint16(g.masks[span][2*(i*cells+cell):]); v {
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

// plainStreams have layers that look back over everything.
func plainStreams(slots, cells int) *streams {
	return &streams{slots: slots, cells: cells, spans: []span{{0, cells}}}
}

func TestLay(t *testing.T) {
	six := plainStreams(5, 6) // slots of 6 cells
	// Slots of 12 positions, which some layers keep in rings of 6 cells and see 3 of.
	rings := &streams{slots: 3, cells: 12, spans: []span{{0, 12}, {3, 6}}}
	tailed := &streams{slots: 4, cells: 6, spans: []span{{0, 6}}, tailed: true}
	for _, test := range []struct {
		name                  string
		s                     *streams
		rows                  []Row
		padTokens, padOutputs bool
		want                  string
	}{
		{"a prompt", six, []Row{row(1, 0, []int32{7, 8, 9}, true)}, false, false, `
tokens [7 8 9] positions [0 1 2] at [6 7 8]
outputs [2] of rows [0]
tokens from 0
  1 x.....
  1 xx....
  1 xxx...
`},
		{"a later chunk that draws nothing", six, []Row{row(0, 3, []int32{7, 8}, false)}, false, false, `
tokens [7 8] positions [3 4] at [3 4]
outputs [1] of rows []
tokens from 0
  0 xxxx..
  0 xxxxx.
`},
		{"decode in neighbouring slots, in any order", six,
			[]Row{row(3, 1, []int32{9}, true), row(1, 4, []int32{7}, true), row(2, 0, []int32{8}, false)}, false, false, `
tokens [7 8 9] positions [4 0 1] at [10 12 19]
outputs [0 2] of rows [1 0]
tokens from 0
  1 xxxxx.
  2 x.....
  3 xx....
`},
		{"decode with idle slots between", six,
			[]Row{row(4, 1, []int32{9}, true), row(1, 4, []int32{7}, true)}, false, false, `
tokens [7 9] positions [4 1] at [10 25]
outputs [0 1] of rows [1 0]
tokens from 0, gathered [0 0 0 1]
  1 xxxxx.
  2 ......
  3 ......
  4 xx....
restore [0 3]
`},
		{"decode beside chunks", six,
			[]Row{row(2, 0, []int32{1, 2}, false), row(0, 5, []int32{7}, true), row(1, 2, []int32{3, 4, 5}, true)}, false, false, `
tokens [7 3 4 5 1 2] positions [5 2 3 4 0 1] at [5 8 9 10 12 13]
outputs [0 3] of rows [1 2]
tokens from 0
  0 xxxxxx
tokens from 1
  1 xxx...
  1 xxxx..
  1 xxxxx.
tokens from 4
  2 x.....
  2 xx....
`},
		{"idle slots and chunks", six,
			[]Row{row(0, 0, []int32{7}, true), row(2, 1, []int32{9}, true), row(1, 0, []int32{1, 2}, true), row(4, 2, []int32{3, 4}, true)}, false, false, `
tokens [7 9 1 2 3 4] positions [0 1 0 1 2 3] at [0 13 6 7 26 27]
outputs [0 1 3 5] of rows [0 1 2 3]
tokens from 0, gathered [0 0 1]
  0 x.....
  1 ......
  2 xx....
tokens from 2
  1 x.....
  1 xx....
tokens from 4
  4 xxx...
  4 xxxx..
restore [0 2 3 4 5 6]
`},
		{"a lone token, doubled", six, []Row{row(2, 1, []int32{7}, true)}, true, true, `
tokens [7 7] positions [1 1] at [13 13]
outputs [0 0] of rows [0]
tokens from 0
  2 xx....
  2 xx....
`},
		{"a lone token that draws nothing, doubled", six, []Row{row(2, 1, []int32{7}, false)}, true, true, `
tokens [7 7] positions [1 1] at [13 13]
outputs [0 0] of rows []
tokens from 0
  2 xx....
  2 xx....
`},
		{"a lone output of two tokens, doubled", six, []Row{row(2, 0, []int32{7, 8}, true)}, true, true, `
tokens [7 8] positions [0 1] at [12 13]
outputs [1 1] of rows [0]
tokens from 0
  2 x.....
  2 xx....
`},
		{"two tokens are not doubled", six, []Row{row(0, 0, []int32{7}, true), row(1, 0, []int32{8}, true)}, true, true, `
tokens [7 8] positions [0 0] at [0 6]
outputs [0 1] of rows [0 1]
tokens from 0
  0 x.....
  1 x.....
`},
		// Larger slots: attention is over whole blocks of 32 cells, as many as the
		// farthest token needs, and never beyond the slot.
		{"blocks of cells", plainStreams(2, 40), []Row{row(0, 31, []int32{7}, true), row(1, 2, []int32{8}, true)}, false, false, `
tokens [7 8] positions [31 2] at [31 42]
outputs [0 1] of rows [0 1]
tokens from 0
  0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
  1 xxx.............................
`},
		{"the last block of cells", plainStreams(2, 40), []Row{row(0, 32, []int32{7}, true), row(1, 2, []int32{8}, true)}, false, false, `
tokens [7 8] positions [32 2] at [32 42]
outputs [0 1] of rows [0 1]
tokens from 0
  0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.......
  1 xxx.....................................
`},
		{"a window before it slides", rings, []Row{row(1, 1, []int32{7, 8, 9}, true)}, false, false, `
tokens [7 8 9] positions [1 2 3] at [13 14 15] at [7 8 9]
outputs [2] of rows [0]
tokens from 0
  1 xx.......... xx....
  1 xxx......... xxx...
  1 xxxx........ .xxx..
`},
		{"a window over the ring's end", rings, []Row{row(2, 4, []int32{7, 8, 9, 6}, true)}, false, false, `
tokens [7 8 9 6] positions [4 5 6 7] at [28 29 30 31] at [16 17 12 13]
outputs [3] of rows [0]
tokens from 0
  2 xxxxx....... ..xxx.
  2 xxxxxx...... ...xxx
  2 xxxxxxx..... x...xx
  2 xxxxxxxx.... xx...x
`},
		{"decode in rings of different lengths", rings, []Row{row(0, 11, []int32{7}, true), row(2, 1, []int32{8}, true)}, false, false, `
tokens [7 8] positions [11 1] at [11 25] at [5 13]
outputs [0 1] of rows [0 1]
tokens from 0, gathered [0 0 1]
  0 xxxxxxxxxxxx ...xxx
  1 ............ ......
  2 xx.......... xx....
restore [0 2]
`},
		{"outputs of chunks and decode, by slot", tailed,
			[]Row{row(0, 0, []int32{1, 2}, true), row(1, 5, []int32{7}, true), row(2, 0, []int32{3, 4}, false)}, false, false, `
tokens [7 1 2 3 4] positions [5 0 1 0 1] at [11 0 1 12 13]
outputs [2 0] of rows [0 1]
tokens from 0
  1 xxxxxx
tokens from 1
  0 x.....
  0 xx....
tokens from 3
  2 x.....
  2 xx....
tail: tokens [2 7] positions [1 5] at [1 11]
outputs [0 1] of rows [0 1]
tokens from 0
  0 xx....
  1 xxxxxx
`},
		{"a chunk without an output", tailed, []Row{row(2, 0, []int32{3, 4}, false)}, true, true, `
tokens [3 4] positions [0 1] at [12 13]
outputs [1 1] of rows []
tokens from 0
  2 x.....
  2 xx....
tail: tokens [4 4] positions [1 1] at [13 13]
outputs [0 0] of rows [0]
tokens from 0
  2 xx....
  2 xx....
`},
	} {
		if got := test.s.lay(test.rows, test.padTokens, test.padOutputs).draw(); got != test.want[1:] {
			t.Errorf("%s:\n%swant:\n%s", test.name, got, test.want[1:])
		}
	}
}

// TestLayRandomly checks random batches against what a layout is for: each
// token's attention comes out in the token's place, from its own slot, and over
// no more than the cells up to its own.
func TestLayRandomly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		s := plainStreams(1+rng.IntN(9), 1+rng.IntN(70))
		if rng.IntN(2) == 0 { // a window whose ring has room for the longest rows
			window := 1 + rng.IntN(10)
			s.spans = append(s.spans, span{window, min(s.cells, window+4+rng.IntN(40))})
		}
		s.tailed = rng.IntN(2) == 0
		var rows []Row
		for _, slot := range rng.Perm(s.slots)[:1+rng.IntN(s.slots)] {
			n := 1
			if rng.IntN(3) == 0 {
				n = 1 + rng.IntN(min(s.cells, 5))
			}
			tokens := make([]int32, n)
			for i := range tokens {
				tokens[i] = int32(rng.IntN(1000))
			}
			rows = append(rows, row(slot, rng.IntN(s.cells-n+1), tokens, rng.IntN(2) == 0))
		}
		l := s.lay(rows, rng.IntN(2) == 0, rng.IntN(2) == 0)
		if err := checkLayout(s, l, rows); err != nil {
			t.Fatalf("%v:\n%v\n%s", err, rows, l.draw())
		}
	}
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
		r := Row{Slot: int(l.at[0][o]) / s.cells, Pos: int(l.positions[o]), Tokens: l.tokens[o : o+1], Sample: true}
		if i == 0 || r.Slot != tails[0].Slot { // not doubled
			tails = append(tails, r)
		}
		if l.tail.at[0][i] != l.at[0][o] {
			return fmt.Errorf("the tail's token %d is not output %d", i, o)
		}
	}
	return checkAttention(s, l.tail, tails)
}

func checkAttention(s *streams, l *layout, rows []Row) error {
	// What the attention of each group gives, one after the other.
	type attention struct {
		token, slot int
		masks       []string
	}
	var all []attention
	for _, g := range l.groups {
		for i := range g.count * g.length {
			a := attention{token: g.from + i, slot: g.first + i/g.length}
			if g.gathers != nil {
				a.token = int(g.gathers[i])
			}
			for k := range s.spans {
				a.masks = append(a.masks, g.drawMask(k, i))
			}
			all = append(all, a)
		}
		if g.gatheredCount != g.count*g.length || g.first+g.count > s.slots {
			return fmt.Errorf("a group of %d slots from %d gives %d tokens", g.count, g.first, g.gatheredCount)
		}
		for k, cells := range g.cells {
			if cells > s.spans[k].cells {
				return fmt.Errorf("a group attends over %d cells of %d", cells, s.spans[k].cells)
			}
		}
	}
	if l.gaps {
		var restored []attention
		for _, i := range l.restore {
			restored = append(restored, all[i])
		}
		all = restored
	}
	if len(all) != len(l.tokens) || len(l.positions) != len(l.tokens) {
		return fmt.Errorf("%d attentions, %d positions for %d tokens", len(all), len(l.positions), len(l.tokens))
	}
	bySlot := map[int]*Row{}
	want := 0
	for i := range rows {
		bySlot[rows[i].Slot] = &rows[i]
		want += len(rows[i].Tokens)
	}
	if want == 1 && len(l.tokens) == 2 {
		want = 2 // doubled
	}
	if want != len(l.tokens) {
		return fmt.Errorf("%d tokens, want %d", len(l.tokens), want)
	}
	for i, a := range all {
		r := bySlot[a.slot]
		if r == nil || a.token != i {
			return fmt.Errorf("token %d gets the attention of token %d in slot %d", i, a.token, a.slot)
		}
		pos := int(l.positions[i])
		if at := pos - r.Pos; at < 0 || at >= len(r.Tokens) || r.Tokens[at] != l.tokens[i] {
			return fmt.Errorf("token %d is not of slot %d", i, a.slot)
		}
		for k, sp := range s.spans {
			if int(l.at[k][i]) != a.slot*sp.cells+pos%sp.cells {
				return fmt.Errorf("token %d goes to cell %d", i, l.at[k][i])
			}
			seen := make([]bool, sp.cells)
			for p := 0; p <= pos; p++ {
				seen[p%sp.cells] = sp.window == 0 || p > pos-sp.window
			}
			for cell, sees := range seen {
				if got := cell < len(a.masks[k]) && a.masks[k][cell] == 'x'; got != sees {
					return fmt.Errorf("token %d at position %d, span %v: sees %s", i, pos, sp, a.masks[k])
				}
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
		last := len(rows[r].Tokens) - 1
		if o := l.outputs[i]; int(l.at[0][o]) != rows[r].Slot*s.cells+rows[r].Pos+last {
			return fmt.Errorf("row %d gets output %d", r, o)
		}
	}
	return nil
}
