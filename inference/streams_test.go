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
// front, with x for a cell that the token sees and a dot for one that it does not.
func (l *layout) draw() string {
	var b strings.Builder
	fmt.Fprintln(&b, "tokens", l.tokens, "positions", l.positions, "at", l.at)
	fmt.Fprintln(&b, "outputs", l.outputs, "of rows", l.rows)
	for _, g := range l.groups {
		fmt.Fprintf(&b, "tokens from %d", g.from)
		if g.gathers != nil {
			fmt.Fprintf(&b, ", gathered %v", g.gathers)
		}
		fmt.Fprintln(&b)
		for i := range g.count * g.length {
			fmt.Fprintf(&b, "  %d %s\n", g.first+i/g.length, g.drawMask(i))
		}
	}
	if l.gaps {
		fmt.Fprintln(&b, "restore", l.restore)
	}
	return b.String()
}

func (g *groupLayout) drawMask(i int) string {
	var b strings.Builder
	for cell := range g.cells {
		switch v := binary.LittleEndian.Uint16(g.masks[2*(i*g.cells+cell):]); v {
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

func TestLay(t *testing.T) {
	six := &streams{slots: 5, cells: 6} // slots of 6 cells
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
		{"blocks of cells", &streams{slots: 2, cells: 40}, []Row{row(0, 31, []int32{7}, true), row(1, 2, []int32{8}, true)}, false, false, `
tokens [7 8] positions [31 2] at [31 42]
outputs [0 1] of rows [0 1]
tokens from 0
  0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
  1 xxx.............................
`},
		{"the last block of cells", &streams{slots: 2, cells: 40}, []Row{row(0, 32, []int32{7}, true), row(1, 2, []int32{8}, true)}, false, false, `
tokens [7 8] positions [32 2] at [32 42]
outputs [0 1] of rows [0 1]
tokens from 0
  0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.......
  1 xxx.....................................
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
		s := &streams{slots: 1 + rng.IntN(9), cells: 1 + rng.IntN(70)}
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
	// What the attention of each group gives, one after the other.
	type attention struct {
		token, slot int
		mask        string
	}
	var all []attention
	for _, g := range l.groups {
		for i := range g.count * g.length {
			token := g.from + i
			if g.gathers != nil {
				token = int(g.gathers[i])
			}
			all = append(all, attention{token, g.first + i/g.length, g.drawMask(i)})
		}
		if g.gatheredCount != g.count*g.length || g.cells > s.cells || g.first+g.count > s.slots {
			return fmt.Errorf("a group of %d slots from %d, %d cells, gives %d tokens", g.count, g.first, g.cells, g.gatheredCount)
		}
	}
	if l.gaps {
		var restored []attention
		for _, i := range l.restore {
			restored = append(restored, all[i])
		}
		all = restored
	}
	if len(all) != len(l.tokens) || len(l.positions) != len(l.tokens) || len(l.at) != len(l.tokens) {
		return fmt.Errorf("%d attentions, %d positions, %d cells for %d tokens", len(all), len(l.positions), len(l.at), len(l.tokens))
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
		if int(l.at[i]) != a.slot*s.cells+pos {
			return fmt.Errorf("token %d goes to cell %d", i, l.at[i])
		}
		if seen := strings.Repeat("x", pos+1); strings.TrimRight(a.mask, ".") != seen {
			return fmt.Errorf("token %d at position %d sees %s", i, pos, a.mask)
		}
	}
	return checkOutputs(s, l, rows)
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
		if o := l.outputs[i]; int(l.at[o]) != rows[r].Slot*s.cells+rows[r].Pos+last {
			return fmt.Errorf("row %d gets output %d", r, o)
		}
	}
	return nil
}
