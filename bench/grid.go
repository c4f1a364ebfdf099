package bench

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A grid is a table for a terminal: the first column to the left, the others to
// the right, each as wide as it needs.
type grid [][]string

// row adds one.
func (g *grid) row(cells ...string) { *g = append(*g, cells) }

func (g grid) write(b *strings.Builder) {
	var widths []int
	for _, row := range g {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range g {
		line := ""
		for i, cell := range row {
			if i == 0 {
				line = fmt.Sprintf("%-*s", widths[0], cell)
			} else {
				line += fmt.Sprintf("  %*s", widths[i], cell)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
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
