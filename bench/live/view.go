package live

import (
	"strings"
)

// View is the screen: Height lines, or fewer, of at most Width columns, with the
// styles as escape codes.
func View(m Model) string {
	width, height := max(1, m.Width), max(1, m.Height)
	lines := m.header(width)
	lines = lines[:min(len(lines), (height+1)/2)] // what comes last tells least
	foot := 0
	if height >= 5 {
		foot = 1
	}
	if room := height - len(lines) - foot; room > 1 {
		if height >= 16 {
			lines = append(lines, line{})
			room--
		}
		body := m.body(width, room)
		lines = append(lines, body[:min(len(body), room)]...)
	}
	if foot > 0 {
		for len(lines) < height-foot {
			lines = append(lines, line{})
		}
		lines = append(lines, m.footer(width))
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return strings.Join(texts, "\n")
}

func (m *Model) body(width, height int) []line {
	if m.Help {
		return help(width)
	}
	switch m.Tab {
	case AnswersTab:
		return m.answers(width)
	case GameTab:
		return m.game(width, height)
	case MachineTab:
		return m.machine(width, height)
	}
	return m.overview(width, height)
}

// gap is between two tables that stand beside each other.
const gap = 3

// machineWidth is what a GPU takes without its name.
const machineWidth = 40

// leastGame is how many lines a game takes at least: what it is, and some moves.
const leastGame = 3

// overview shows what there is room for: the margins, beside them the answers and
// the machine, and below a game, whose lines run over the whole width, since
// terminals that turn right-to-left text turn all of a line.
func (m *Model) overview(width, height int) []line {
	top := m.margins(width)
	for _, table := range [][]line{m.answers(width), m.machine(machineWidth, len(top))} {
		if len(table) > 0 && widest(top)+gap+widest(table) <= width {
			top = beside(gap, top, table)
		}
	}
	left := height - len(top) - 1
	if left < leastGame {
		return top[:min(len(top), height)]
	}
	top = append(top, line{})
	if left < 12 {
		return append(top, m.moves(width, left)...)
	}
	return append(top, m.game(width, left)...)
}

func (m *Model) footer(width int) line {
	var spans []span
	for i, k := range []struct{ key, does string }{
		{"space", m.pauses()}, {"q", "stop"}, {"?", "help"}, {"tab", "view"}, {"↑↓", "game"}, {"←→", "margins"},
	} {
		if i > 0 {
			spans = append(spans, span{plain, "  "})
		}
		spans = append(spans, span{strong, k.key}, span{faint, " " + k.does})
	}
	return fit(width, spans...)
}

func (m *Model) pauses() string {
	if m.Paused || m.Pausing {
		return "go on"
	}
	return "pause"
}

func help(width int) []line {
	var lines []line
	for _, k := range []struct{ keys, does string }{
		{"tab, 1 to 4", "another view: overview, answers, one game, the machine"},
		{"↓ ↑, j k", "the next, the previous game that is being played"},
		{"→ ←, n p", "the margins of the next, the previous kind of game"},
		{"page up, down", "earlier and later turns of the game, in its own view"},
		{"space", "pause, and go on; no game comes out any different"},
		{"q, ctrl-c", "stop: all ended games are kept, and it is said how to go on"},
		{"ctrl-c again", "end at once"},
		{"ctrl-z", "suspend the program; fg goes on with it"},
		{"ctrl-l", "draw the screen anew"},
		{"", "(any key leaves this help)"},
	} {
		lines = append(lines, fit(width, span{strong, padded(k.keys, 15, false)}, span{plain, k.does}))
	}
	return lines
}
