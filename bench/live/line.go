package live

import (
	"strings"

	"charm.land/lipgloss/v2"

	"selfplay/bench/screen"
)

// A style is what stands before a text in that style, and after it.
type style struct{ before, after string }

// The colours are the terminal's own, which suit its background.
var (
	plain  = style{}
	strong = styled(lipgloss.NewStyle().Bold(true))
	faint  = styled(lipgloss.NewStyle().Faint(true))
	good   = styled(lipgloss.NewStyle().Foreground(lipgloss.Green))
	bad    = styled(lipgloss.NewStyle().Foreground(lipgloss.Red))
	warned = styled(lipgloss.NewStyle().Foreground(lipgloss.Yellow))
	marked = styled(lipgloss.NewStyle().Foreground(lipgloss.Cyan))
)

// styled has lipgloss do its work once, since a screen is hundreds of texts.
func styled(s lipgloss.Style) style {
	before, after, _ := strings.Cut(s.Render("x"), "x")
	return style{before, after}
}

// A line is part of a row of the screen: text with its styles, and the columns that
// it takes.
type line struct {
	text  string
	width int
}

// A span is text in one style. It is clean, but for newlines.
type span struct {
	style style
	text  string
}

// fit makes a line of at most width columns.
func fit(width int, spans ...span) line {
	var l line
	for _, s := range spans {
		text := cut(s.text, width-l.width)
		if text == "" {
			continue
		}
		l.text += s.style.before + text + s.style.after
		l.width += widthOf(text)
		if strings.HasSuffix(text, more) && text != s.text {
			break
		}
	}
	return l
}

const more = "…" // of a text that is cut

// cut shortens a clean text to width columns, which shows.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if widthOf(text) <= width {
		return text
	}
	if width == 1 {
		return more
	}
	parts := screen.Wrap(text, width-1)
	return strings.TrimRight(parts[0], " ") + more
}

// padded is a text with blanks to its right, or left.
func padded(text string, width int, right bool) string {
	blanks := strings.Repeat(" ", max(0, width-widthOf(text)))
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

// widthOf is screen.Width, which need not look at what is ASCII.
func widthOf(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return screen.Width(text)
		}
	}
	return len(text)
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
