package screen

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width is how many columns a line takes. Terminals disagree about what is written
// with several characters, such as flags, families and Indic letters: it is the
// larger number then, so that nothing runs over.
func Width(s string) int {
	n := 0
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		n += clusterWidth(g.Value(), g.Width())
	}
	return n
}

// clusterWidth is what a cluster takes on terminals that know clusters, as whole
// says, or on those that add up its characters.
func clusterWidth(cluster string, whole int) int {
	sum := 0
	for _, r := range cluster {
		sum += displaywidth.Rune(r)
	}
	return max(whole, sum)
}

// Wrap cuts a text, which it cleans, into lines of at most width columns, between
// words where it can. A line keeps the blanks that it begins with, as boards need
// them. What no line has room for becomes a '?'.
func Wrap(s string, width int) []string {
	width = max(width, 1)
	var lines []string
	for line := range strings.SplitSeq(Clean(s), "\n") {
		cells := cellsOf(line, width)
		for _, p := range pieces(cells, width) {
			lines = append(lines, text(cells[p[0]:p[1]]))
		}
	}
	return lines
}

// A cell is what a terminal shows in one place.
type cell struct {
	text  string
	width int
	runes int // of the line
	level int // of bidi's algorithm: odd ones run to the left
}

func text(cells []cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(c.text)
	}
	return b.String()
}

const softHyphen = "\u00ad" // an invitation to break, which some terminals show as a hyphen

// cellsOf cuts a clean line up.
func cellsOf(line string, width int) []cell {
	var cells []cell
	for g := displaywidth.StringGraphemes(line); g.Next(); {
		c := cell{text: g.Value(), width: clusterWidth(g.Value(), g.Width()), runes: utf8.RuneCountInString(g.Value())}
		if c.text == softHyphen {
			c.text, c.width = "", 0
		}
		if c.width > width {
			c.text, c.width = "?", 1
		}
		cells = append(cells, c)
	}
	return cells
}

// pieces are the lines [from,to) that cells are cut into; at least one.
func pieces(cells []cell, width int) [][2]int {
	var all [][2]int
	from, used, breakAt, indent := 0, 0, 0, true
	for i, c := range cells {
		blank := c.text == " "
		if used+c.width > width && i > from && !(blank && !indent) {
			to := breakAt
			if to <= from || c.width == 2 {
				to = i
			}
			all = append(all, [2]int{from, trimmed(cells, from, to)})
			from, breakAt, indent = to, 0, false
			used = 0
			for _, c := range cells[from:i] {
				used += c.width
			}
		}
		used += c.width
		if !blank {
			indent = false
		}
		if (blank && !indent) || c.width == 2 {
			breakAt = i + 1
		}
	}
	return append(all, [2]int{from, trimmed(cells, from, len(cells))})
}

// trimmed is where cells[from:to] end without the blanks at their end.
func trimmed(cells []cell, from, to int) int {
	for to > from && cells[to-1].text == " " {
		to--
	}
	return to
}
