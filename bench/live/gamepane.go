package live

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"selfplay/bench"
	"selfplay/bench/screen"
	"selfplay/scheduler"
)

// mostShown is how many bytes of one text are shown: its last ones.
const mostShown = 6000

// gameTitle says what game is shown.
func (m *Model) gameTitle(width int) line {
	g := &m.Game
	if g.Job.ID == "" {
		return fit(width, span{faint, "no turn of a game has ended yet"})
	}
	spans := []span{{strong, screen.Clean(g.Job.ID)}}
	for seat := range 2 {
		spans = append(spans, span{plain, fmt.Sprintf("  seat %d %s", seat, screen.Clean(player(g.Job, seat)))})
	}
	switch {
	case g.Over && g.Result.Rewards[0] == g.Result.Rewards[1]:
		spans = append(spans, span{marked, "  drawn"})
	case g.Over && g.Result.Rewards[0] > 0:
		spans = append(spans, span{marked, "  seat 0 won"})
	case g.Over:
		spans = append(spans, span{marked, "  seat 1 won"})
	default:
		spans = append(spans, span{faint, fmt.Sprintf("  game %d of %d", g.Number, g.Of)})
	}
	return fit(width, spans...)
}

// player is who plays in a seat, and in what language.
func player(j scheduler.Job, seat int) string {
	if name := j.Players[seat]; name != "" {
		return name
	}
	return j.Langs[seat]
}

// moves are the latest turns of the game, a line each.
func (m *Model) moves(width, height int) []line {
	lines := []line{m.gameTitle(width)}
	turns := m.Game.Turns
	from := max(0, len(turns)-(height-1))
	for i := range turns[from:] {
		lines = append(lines, m.move(width, from+i))
	}
	return lines
}

func (m *Model) move(width, i int) line {
	t := &m.Game.Turns[i]
	lang := m.Game.Job.Langs[t.Seat]
	head := fit(width, span{faint, fmt.Sprintf("%3d ", i+1)}, span{marked, padded(screen.Clean(lang), labelWidth(m.Game.Job.Langs[:]), false)})
	text := t.Action
	if text == "" {
		text = tail(t.Completion)
	}
	fault := fit(width/2, m.fault(t)...)
	room := width - head.width - fault.width - 1
	if room < 1 {
		return head
	}
	text = text[:min(len(text), 16*room)] // far more than there is room for
	one := strings.Join(strings.Fields(screen.Clean(text)), " ")
	lines := screen.Screen{Width: room, Turn: m.Turn}.Lines(one, bench.InterfaceOf(lang))
	shown := lines[0]
	if len(lines) > 1 {
		shown = cut(one, room)
		if m.Turn {
			shown = screen.Screen{Width: room, Turn: true}.Lines(shown, bench.InterfaceOf(lang))[0]
		}
	}
	shown = padded(shown, room, false)
	return line{head.text + shown + " " + fault.text, head.width + room + 1 + fault.width}
}

// fault says what was wrong with an answer.
func (m *Model) fault(t *scheduler.Turn) []span {
	switch {
	case t.Event.Invalid:
		return []span{{bad, "invalid"}}
	case t.Status == "truncated":
		return []span{{warned, "truncated"}}
	case t.Finish == scheduler.FinishLength || t.Finish == scheduler.FinishContext:
		return []span{{warned, "cut off: " + string(t.Finish)}}
	}
	return nil
}

// game is the end of the game as it was played: what was shown, what was written.
func (m *Model) game(width, height int) []line {
	title := m.gameTitle(width)
	room, up := max(0, height-1), m.lifted()
	var lines []line // the last one first
	for i := len(m.Game.Turns) - 1; i >= 0 && len(lines) < room+up; i-- {
		for _, l := range slices.Backward(m.drawn.turn(m, width, i)) {
			lines = append(lines, l)
		}
	}
	lines = lines[min(up, max(0, len(lines)-room)):]
	lines = lines[:min(len(lines), room)]
	slices.Reverse(lines)
	return append([]line{title}, lines...)
}

// drawn keeps the turns of the game that is shown as they were drawn, since they stay
// as they are. It may be nil.
type drawn struct {
	game  string
	width int
	turns map[int][]line
}

func (d *drawn) turn(m *Model, width, i int) []line {
	if d == nil {
		return m.turn(width, i)
	}
	if d.game != m.Game.Job.ID || d.width != width || len(d.turns) > len(m.Game.Turns) {
		*d = drawn{m.Game.Job.ID, width, map[int][]line{}}
	}
	lines, ok := d.turns[i]
	if !ok {
		lines = m.turn(width, i)
		d.turns[i] = lines
	}
	return lines
}

// turn is one of them in full, but for long texts.
func (m *Model) turn(width, i int) []line {
	t := &m.Game.Turns[i]
	label := m.Game.Job.Langs[t.Seat]
	head := []span{{marked, fmt.Sprintf("turn %d, seat %d, %s", i+1, t.Seat, screen.Clean(player(m.Game.Job, t.Seat)))}}
	if t.CompletionTokens > 0 {
		head = append(head, span{faint, fmt.Sprintf(", %s", screen.Counted(t.CompletionTokens, "token", "tokens"))})
	}
	if fault := m.fault(t); fault != nil {
		head = append(append(head, span{plain, ", "}), fault...)
	}
	s := screen.Screen{Width: max(1, width-2), Turn: m.Turn}
	var lines []line
	for _, text := range s.Lines(tail(strings.Trim(m.news(i), "\n")), bench.InterfaceOf(label)) {
		lines = append(lines, fit(width, span{faint, "│ "}, span{plain, text}))
	}
	lines = append(lines, fit(width, head...))
	for _, text := range s.Lines(tail(strings.Trim(t.Completion, "\n")), bench.InterfaceOf(label)) {
		lines = append(lines, fit(width, span{plain, "  " + text}))
	}
	if t.Event.Invalid {
		for _, text := range s.Lines(t.Event.Reason, bench.InterfaceOf(label)) {
			lines = append(lines, fit(width, span{bad, "  " + text}))
		}
	}
	return lines
}

// news is what the player of a turn was shown and had not been shown before.
func (m *Model) news(i int) string {
	turns := m.Game.Turns
	for k := i - 1; k >= 0; k-- {
		if turns[k].Seat == turns[i].Seat {
			if rest, ok := strings.CutPrefix(turns[i].Observation, turns[k].Observation); ok {
				return rest
			}
			break
		}
	}
	return turns[i].Observation
}

// tail is the end of a long text.
func tail(text string) string {
	if len(text) <= mostShown {
		return text
	}
	text = text[len(text)-mostShown:]
	for i := range min(utf8.UTFMax, len(text)) {
		if utf8.RuneStart(text[i]) {
			return "…" + text[i:]
		}
	}
	return "…" + text
}
