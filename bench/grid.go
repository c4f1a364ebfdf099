package bench

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A grid is a table for a terminal: the first column to the left, the others to
// the right, each as wide as it needs. The first row is the head; a column without
// a head belongs to the one before it.
type grid [][]string

// terminal is the width in columns that tables keep to.
const terminal = 80

// earlyMark stands behind what is of cells that stopped early. It hangs into the
// blanks between columns, so that digits stay under digits.
const earlyMark = "*"

// earlyLegend says what the mark means.
const earlyLegend = earlyMark + ": of cells that stopped early: intervals are for a fixed number of games, and a\nlittle too narrow there\n"

// marked is a cell, with the mark if early.
func marked(cell string, early bool) string {
	if early && cell != "-" {
		return cell + earlyMark
	}
	return cell
}

// row adds one.
func (g *grid) row(cells ...string) { *g = append(*g, cells) }

// write writes the grid, in blocks of columns below each other where it is too
// wide, each with the first column.
func (g grid) write(b *strings.Builder) {
	var widths []int
	for _, row := range g {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(strings.TrimSuffix(cell, earlyMark)))
		}
	}
	for from, to := 1, 0; to < len(widths); from = to {
		if to = g.fits(widths, from); from > 1 {
			b.WriteByte('\n')
		}
		for _, row := range g {
			if len(row) > from || from == 1 {
				g.line(b, widths, row, from, min(to, len(row)))
			}
		}
	}
}

// fits is the end of the block that begins at a column: with as many as there is
// room for, and a mark behind the last, but at least one.
func (g grid) fits(widths []int, from int) int {
	width, to := widths[0], from
	for i := from; i < len(widths); i++ {
		if width += 2 + widths[i]; width >= terminal && to > from {
			return to
		}
		if i+1 == len(widths) || g[0][i+1] != "" {
			to = i + 1
		}
	}
	return to
}

// line writes some columns of a row, and the first.
func (g grid) line(b *strings.Builder, widths []int, row []string, from, to int) {
	line, blanks := fmt.Sprintf("%-*s", widths[0], row[0]), 2
	for i := from; i < to; i++ {
		value, early := strings.CutSuffix(row[i], earlyMark)
		line += fmt.Sprintf("%*s%*s", blanks, "", widths[i], value)
		if blanks = 2; early {
			line, blanks = line+earlyMark, 1
		}
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// wrap writes a list in lines of a terminal's width.
func wrap(b *strings.Builder, line string, items []string) {
	for i, item := range items {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		if len(line)+len(separator)+len(item) >= terminal { // a comma may follow
			b.WriteString(strings.TrimRight(line+separator, " ") + "\n")
			line, separator = "", "  "
		}
		line += separator + item
	}
	b.WriteString(line + "\n")
}

// spread is an interval in words: 0.10 to 0.30.
func spread(i Interval, format string) string {
	return noMinusZero(fmt.Sprintf(format, i[0])) + " to " + noMinusZero(fmt.Sprintf(format, i[1]))
}

// noMinusZero makes +0.00 of -0.00, rounded from below, and 0.0 of 0.0: signs are
// for numbers that can be seen.
func noMinusZero(s string) string {
	if strings.HasPrefix(s, "-") && strings.Trim(s, "-0.") == "" {
		return "+" + s[1:]
	}
	return s
}

// halfWidth is half of an interval, for a column beside the value.
func halfWidth(i Interval) string { return fmt.Sprintf("±%.2f", (i[1]-i[0])/2) }

// pValue is short: none is written as 0.
func pValue(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p %.3f", p)
}

// percentOf is a share in percent, or "-" of nothing.
func percentOf(s Share) string {
	v, ok := s.Value()
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*v)
}

// perTurn is a mean over answers, or "-" of none.
func perTurn(sum, turns int) string {
	if turns == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(sum)/float64(turns))
}
