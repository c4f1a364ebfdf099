package live

import (
	"strings"

	"charm.land/lipgloss/v2"

	"selfplay/bench/screen"
)

// The colours are the terminal's own, which suit its background.
var (
	plain  = lipgloss.NewStyle()
	strong = plain.Bold(true)
	faint  = plain.Faint(true)
	good   = plain.Foreground(lipgloss.Green)
	bad    = plain.Foreground(lipgloss.Red)
	warned = plain.Foreground(lipgloss.Yellow)
	marked = plain.Foreground(lipgloss.Cyan)
)

// A line is part of a row of the screen: text with its styles, and the columns that
// it takes.
type line struct {
	text  string
	width int
}

// A span is text in one style. It is clean, but for newlines.
type span struct {
	style lipgloss.Style
	text  string
}

// fit makes a line of at most width columns.
func fit(width int, spans ...span) line {
	var l line
	for _, s := range spans {
		text := cut(s.text, width-l.width)
		if text != "" {
			l.text += s.style.Render(text)
			l.width += screen.Width(text)
		}
	}
	return l
}

// cut shortens a clean text to width columns, which shows.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if screen.Width(text) <= width {
		return text
	}
	if width == 1 {
		return "…"
	}
	parts := screen.Wrap(text, width-1)
	return strings.TrimRight(parts[0], " ") + "…"
}

// padded is a text with blanks to its right, or left.
func padded(text string, width int, right bool) string {
	blanks := strings.Repeat(" ", max(0, width-screen.Width(text)))
	if right {
		return blanks + text
	}
	return text + blanks
}

// flow puts groups of spans into as many lines as they take, two blanks between.
func flow(width int, groups ...[]span) []line {
	var lines []line
	var at line
	for _, g := range groups {
		l := fit(width, g...)
		switch {
		case l.width == 0:
		case at.width == 0:
			at = l
		case at.width+2+l.width <= width:
			at = line{at.text + "  " + l.text, at.width + 2 + l.width}
		default:
			lines = append(lines, at)
			at = l
		}
	}
	if at.width > 0 {
		lines = append(lines, at)
	}
	return lines
}

// beside puts columns of lines next to each other, gap blanks apart.
func beside(gap int, columns ...[]line) []line {
	var all []line
	from := 0
	for i, column := range columns {
		if i > 0 {
			from += gap
		}
		to := from
		for k, l := range column {
			for len(all) <= k {
				all = append(all, line{})
			}
			all[k].text += strings.Repeat(" ", from-all[k].width) + l.text
			all[k].width = from + l.width
			to = max(to, from+l.width)
		}
		from = to
	}
	return all
}

func widest(lines []line) (width int) {
	for _, l := range lines {
		width = max(width, l.width)
	}
	return width
}

// bar is a share, 0 to 1, drawn width columns wide.
func bar(width int, share float64) []span {
	if width <= 0 {
		return nil
	}
	eighths := int(min(1, max(0, share))*float64(8*width) + 0.5)
	full, part := eighths/8, eighths%8
	text := strings.Repeat("█", full)
	if part > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[part-1])
		full++
	}
	return []span{{good, text}, {faint, strings.Repeat("·", width-full)}}
}
