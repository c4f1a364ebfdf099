package live

import "slices"

// A Tab is one of the views.
type Tab int

const (
	Overview Tab = iota
	AnswersTab
	GameTab
	MachineTab
	tabs
)

// A Model is what is shown, and how.
type Model struct {
	Snapshot
	Width, Height int
	Tab           Tab
	Help          bool
	Turn          bool // right-to-left text has to be turned, see screen.Screen

	kind   string // of games whose margins are shown; "": the one being played
	asking string // the game shown in full, while its latest answer has been moved up in
	up     int    // by so many lines

	drawn *drawn
}

// NewModel is an empty screen; turn says whether right-to-left text has to be turned
// for it, see screen.Screen.
func NewModel(turn bool) Model { return Model{Turn: turn, drawn: &drawn{}} }

// An Action is what a key asks of the program.
type Action int

const (
	None    Action = iota
	Pause          // or go on
	Stop           // as an interrupt does
	Suspend        // the whole program
	Redraw
	NextGame
	PreviousGame
)

// Press is what a key does, by the names that bubbletea gives keys.
func (m Model) Press(key string) (Model, Action) {
	if m.Help && key != "ctrl+c" && key != "ctrl+z" && key != "q" {
		m.Help = false
		return m, None
	}
	switch key {
	case "ctrl+c":
		return m, Stop
	case "q":
		if m.Stopping { // only an interrupt ends the program before that is done
			return m, None
		}
		return m, Stop
	case "space", " ":
		return m, Pause
	case "ctrl+z":
		return m, Suspend
	case "ctrl+l":
		return m, Redraw
	case "down", "j":
		return m, NextGame
	case "up", "k":
		return m, PreviousGame
	case "right", "n":
		m.kind = m.otherKind(1)
	case "left", "p":
		m.kind = m.otherKind(-1)
	case "tab", "v":
		m.Tab = (m.Tab + 1) % tabs
	case "shift+tab":
		m.Tab = (m.Tab + tabs - 1) % tabs
	case "1", "2", "3", "4":
		m.Tab = Tab(key[0] - '1')
	case "pgup", "b":
		m.asking, m.up = m.Game.Job.ID, m.lifted()+max(1, m.Height/2)
	case "pgdown", "f":
		m.up = max(0, m.lifted()-max(1, m.Height/2))
	case "?", "h":
		m.Help = true
	}
	return m, None
}

// Resize is a terminal of another size.
func (m Model) Resize(width, height int) Model {
	m.Width, m.Height = max(1, width), max(1, height)
	return m
}

// See is a newer state of the run.
func (m Model) See(s Snapshot) Model {
	m.Snapshot = s
	return m
}

// lifted is how far the game is moved up, if it is still the one that was.
func (m *Model) lifted() int {
	if m.asking != m.Game.Job.ID {
		return 0
	}
	return m.up
}

// shownKind is the kind of games whose margins are shown, in Kinds: what the user
// chose, or the one that the games being played are of; -1 without any.
func (m *Model) shownKind() int {
	for _, name := range []string{m.kind, m.Game.Job.Game} {
		if i := slices.IndexFunc(m.Kinds, func(k Kind) bool { return k.Name == name }); i >= 0 {
			return i
		}
	}
	for i, k := range slices.Backward(m.Kinds) {
		if k.Ended > 0 {
			return i
		}
	}
	return min(0, len(m.Kinds)-1)
}

func (m *Model) otherKind(by int) string {
	n := len(m.Kinds)
	if n == 0 {
		return ""
	}
	return m.Kinds[(m.shownKind()+by+n)%n].Name
}
