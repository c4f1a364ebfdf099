package live

import (
	"fmt"
	"slices"
	"strings"

	"selfplay/bench/screen"
)

// margins are those of one kind of game: of the row's label over the column's.
func (m *Model) margins(width int) []line {
	at := m.shownKind()
	if at < 0 {
		return nil
	}
	k := m.Kinds[at]
	head := []span{{strong, k.Name}, {plain, fmt.Sprintf("  %s of %s games", screen.Thousands(k.Ended), screen.Thousands(k.Planned))}}
	if len(m.Kinds) > 1 {
		head = append(head, span{faint, fmt.Sprintf("  game %d of %d", at+1, len(m.Kinds))})
	}
	names := labelWidth(m.Rows)
	counts := true
	column := max(10, columnWidth(m.Columns))
	if names+column*len(m.Columns) > width {
		column = max(9, columnWidth(m.Columns))
	}
	if names+column*len(m.Columns) > width {
		counts, column = false, max(marginWidth, columnWidth(m.Columns))
	}
	fits := min(len(m.Columns), max(0, width-names)/column)
	lines := []line{fit(width, head...)}
	top := []span{{plain, strings.Repeat(" ", names)}}
	for _, c := range m.Columns[:fits] {
		name := screen.Clean(c)
		if counts && widthOf(name) <= marginWidth-1 { // above the margins, not above the counts
			name = padded(padded(name, marginWidth, true), column, false)
		}
		top = append(top, span{strong, padded(name, column, true)})
	}
	if hidden := len(m.Columns) - fits; hidden > 0 {
		top = append(top, span{faint, fmt.Sprintf(" +%d", hidden)})
	}
	lines = append(lines, fit(width, top...))
	for i, row := range m.Rows {
		spans := []span{{strong, padded(screen.Clean(row), names, false)}}
		for j := range fits {
			spans = append(spans, cellOf(k.Scores[i*len(m.Columns)+j], column, counts)...)
		}
		lines = append(lines, fit(width, spans...))
	}
	return lines
}

// marginWidth is that of a margin with a blank.
const marginWidth = 5

// cellOf is one margin with, if there is room, the number of its games.
func cellOf(s Score, column int, counts bool) []span {
	v, ok := s.Margin()
	if !ok && counts {
		return []span{{faint, padded(padded("·", marginWidth, true), column, false)}}
	}
	if !ok {
		return []span{{faint, padded("·", column, true)}}
	}
	style := plain
	if v >= 0.005 {
		style = good
	} else if v <= -0.005 {
		style = bad
	}
	if !counts {
		return []span{{style, padded(margin(v), column, true)}}
	}
	games := shorter(s.Games())
	if column > 9 {
		games = short(s.Games())
	}
	return []span{{style, padded(margin(v), marginWidth, true)}, {faint, padded(games, column-marginWidth, true)}}
}

// labelWidth is that of a column of labels, with a blank.
func labelWidth(labels []string) int { return max(3, columnWidth(labels)) }

func columnWidth(labels []string) int {
	width := 0
	for _, l := range labels {
		width = max(width, widthOf(screen.Clean(l))+1)
	}
	return width
}

// answers has a row for each label.
func (m *Model) answers(width int) []line {
	names := max(8, labelWidth(m.Rows))
	lines := []line{fit(width, span{strong, padded("answers", names, false)}, span{faint, fmt.Sprintf("%7s%14s%14s%9s%9s%9s", "all", "invalid", "truncated", "length", "context", "tokens")})}
	var total Answers
	for _, a := range append(slices.Clone(m.Answers), Answers{}) {
		name := screen.Clean(a.Label)
		if total.add(a); a.Label == "" {
			a, name = total, "all"
		}
		spans := []span{{strong, padded(name, names, false)}, {plain, padded(short(a.Turns), 7, true)}}
		for _, n := range []struct{ n, width int }{{a.Invalid, 14}, {a.Truncated, 14}, {a.Length, 9}, {a.Context, 9}} {
			text, style := short(n.n), plain
			if n.width == 14 {
				text = padded(text, 6, true) + padded(percent(n.n, a.Turns), 6, true)
			}
			if n.n > 0 {
				style = warned
			}
			spans = append(spans, span{style, padded(text, n.width, true)})
		}
		tokens := ""
		if a.Turns > 0 {
			tokens = short(a.Tokens / a.Turns)
		}
		lines = append(lines, fit(width, append(spans, span{plain, padded(tokens, 9, true)})...))
	}
	return lines
}
