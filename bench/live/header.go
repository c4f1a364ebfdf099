package live

import (
	"fmt"
	"strings"

	"selfplay/bench/screen"
)

// header says how far the run is.
func (m *Model) header(width int) []line {
	lines := []line{m.title(width)}
	if width >= 60 && m.Planned > 0 {
		lines = append(lines, fit(width, bar(width, float64(m.Ended)/float64(m.Planned))...))
	}
	lines = append(lines, flow(width, m.far()...)...)
	lines = append(lines, flow(width, m.tokens()...)...)
	lines = append(lines, flow(width, append(m.loadInShort(), m.faults()...)...)...)
	if n := len(m.Notes); n > 0 {
		lines = append(lines, fit(width, span{warned, screen.Clean(m.Notes[n-1])}))
	}
	return lines
}

// title has the model on the left, and what is being done on the right.
func (m *Model) title(width int) line {
	state := span{good, "playing"}
	switch {
	case m.Stopping:
		state = span{warned, "stopping after the step at hand"}
	case m.Paused:
		state = span{warned, "paused"}
	case m.Pausing:
		state = span{warned, "pausing after the step at hand"}
	case m.Doing != "":
		state = span{good, m.Doing}
	}
	right := []span{state, {faint, " " + clock(m.Elapsed)}}
	room := fit(width, right...)
	if width < 30 {
		return room
	}
	left := fit(width-room.width-2, span{strong, "selfplay "}, span{plain, screen.Clean(m.Model)})
	return line{left.text + strings.Repeat(" ", width-left.width-room.width) + room.text, width}
}

// far is how many games have ended, and when the others will have.
func (m *Model) far() [][]span {
	games := []span{{strong, screen.Thousands(m.Ended)}, {plain, " of " + screen.Thousands(m.Planned) + " games"}}
	if m.Planned > 0 {
		games = append(games, span{plain, fmt.Sprintf(" %d%%", 100*m.Ended/m.Planned)})
	}
	groups := [][]span{games, {{plain, screen.Thousands(m.Live) + " live"}}}
	if m.Lost > 0 {
		groups = append(groups, []span{{bad, fmt.Sprintf("%d of %d replicas lost", m.Lost, m.Replicas)}})
	}
	if m.Rates.Games > 0 {
		groups = append(groups, []span{{plain, perSecond(m.Rates.Games) + " games/s"}})
	}
	return append(groups, m.left()...)
}

// left is how long the rest takes, as far as the games so far tell.
func (m *Model) left() [][]span {
	l := m.Left
	if !l.Known {
		return nil
	}
	group := []span{{strong, screen.Roughly(l.Mean)}, {plain, " left"}, {faint, " (" + screen.Roughly(l.Low) + " to " + screen.Roughly(l.High) + ")"}}
	if l.High == 0 {
		group = []span{{plain, screen.Roughly(l.Low) + " left, or far more"}}
	}
	if m.New == 0 {
		return [][]span{group}
	}
	return [][]span{group, {{faint, "if " + screen.Counted(m.New, "more kind of game is", "more kinds of games are") + " alike"}}}
}

func (m *Model) tokens() [][]span {
	r := m.Rates
	if r.Written+r.Read+r.Reused == 0 {
		return nil
	}
	return [][]span{
		{{plain, "tokens/s: "}, {strong, perSecond(r.Written)}, {plain, " written"}},
		{{strong, perSecond(r.Read)}, {plain, " read"}},
		{{strong, perSecond(r.Reused)}, {plain, " reused"}},
	}
}

// faults are what went wrong with answers.
func (m *Model) faults() [][]span {
	var all Answers
	for _, a := range m.Answers {
		all.add(a)
	}
	if all.Turns == 0 {
		return nil
	}
	group := func(n int, name string) []span {
		s := span{plain, fmt.Sprintf("%s %s", percent(n, all.Turns), name)}
		if n > 0 {
			s.style = warned
		}
		return []span{s}
	}
	groups := [][]span{{{plain, screen.Counted(all.Turns, "answer", "answers")}}, group(all.Invalid, "invalid"), group(all.Truncated, "truncated")}
	if all.Length+all.Context > 0 {
		groups = append(groups, group(all.Length+all.Context, "cut off"))
	}
	return groups
}

// Last is what a session did, as a plain line for when the screen is gone; "" if
// that is nothing.
func Last(s Snapshot) string {
	m := Model{Snapshot: s}
	n := s.Ended - s.Earlier
	if n == 0 {
		return ""
	}
	line := "in this session: " + screen.Counted(n, "game", "games") + " in " + screen.Roughly(s.Played)
	for _, group := range m.faults() {
		line += ", " + group[0].text
	}
	return line
}
