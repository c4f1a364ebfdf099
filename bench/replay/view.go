package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"selfplay/bench"
	"selfplay/bench/screen"
	"selfplay/scheduler"
)

// View lets a person look through a run on a terminal: a list of the games that the
// filter lets through, or, if it is not nil, one game.
func View(ctx context.Context, run *bench.Run, f bench.Filter, game *scheduler.Record, in io.Reader, out io.Writer) error {
	v := &viewer{run: run, filter: f, screen: screen.Screen{Width: 80, Turn: screen.Turns(os.Getenv)}, height: 24}
	if game != nil {
		v.game, v.alone = &opened{run: run.Experiment, rec: *game}, true
	}
	_, err := tea.NewProgram(v, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		err = nil // the person had enough
	}
	return errors.Join(v.err, err)
}

// narrowest is the width that lines are made for where there is even less, so that
// they are cut off.
const narrowest = 10

// A viewer is what is on the screen: the list, or a game above it.
type viewer struct {
	run    *bench.Run
	screen screen.Screen
	height int
	err    error // ends the program

	filter    bench.Filter
	asked     int // how often the filter was changed
	searching bool
	typing    bool  // the part of an ID that is searched for
	games     []int // positions of those that the filter lets through
	at, top   int   // the chosen one and the first on the screen, in games
	rows      map[int]bench.Listed

	game  *opened
	alone bool // there is no list to go back to
}

// found is what a search came to.
type found struct {
	asked int
	games []int
	err   error
}

func (v *viewer) Init() tea.Cmd {
	if v.alone {
		return nil
	}
	return v.search()
}

// search has the games found that the filter lets through, beside whatever the
// person does.
func (v *viewer) search() tea.Cmd {
	v.asked++
	v.searching = true
	f, asked := v.filter, v.asked
	return func() tea.Msg {
		games, err := v.run.Positions(f)
		return found{asked, games, err}
	}
}

func (v *viewer) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		v.screen.Width, v.height = max(msg.Width, narrowest), max(msg.Height, 1)
	case found:
		if msg.asked == v.asked {
			v.games, v.at, v.top, v.searching = msg.games, 0, 0, false
			v.err = msg.err
		}
	case tea.KeyPressMsg:
		cmd = v.key(msg)
	}
	if v.err == nil && v.game == nil {
		v.err = v.fill()
	}
	if v.err != nil {
		return v, tea.Quit
	}
	return v, cmd
}

func (v *viewer) key(k tea.KeyPressMsg) tea.Cmd {
	switch name := k.String(); {
	case name == "ctrl+c":
		return tea.Quit
	case v.game != nil:
		if v.game.key(name, v.body(), v.screen) {
			return nil
		}
		if v.alone {
			return tea.Quit
		}
		v.game = nil
		return nil
	case v.typing:
		return v.typed(k)
	default:
		return v.listKey(name)
	}
}

// typed takes a key of the part of an ID that is searched for.
func (v *viewer) typed(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter", "esc":
		v.typing = false
		return nil
	case "backspace":
		if r := []rune(v.filter.Part); len(r) > 0 {
			v.filter.Part = string(r[:len(r)-1])
		}
	default:
		v.filter.Part += k.Text
	}
	return v.search()
}

func (v *viewer) listKey(name string) tea.Cmd {
	switch name {
	case "q", "esc":
		return tea.Quit
	case "up", "k":
		v.at--
	case "down", "j":
		v.at++
	case "pgup":
		v.at -= v.body()
	case "pgdown", "space":
		v.at += v.body()
	case "home":
		v.at = 0
	case "end":
		v.at = len(v.games) - 1
	case "enter", "right":
		return v.open()
	case "/":
		v.typing = true
	case "g":
		v.filter.Game = after(v.filter.Game, v.run.Experiment.Games)
		return v.search()
	case "l":
		v.filter.Langs = [2]string{after(v.filter.Langs[0], v.run.Experiment.Labels())}
		return v.search()
	case "w":
		v.filter.Winner = after(v.filter.Winner, []string{"0", "1", bench.Draw})
		return v.search()
	case "c":
		var names []string
		for _, c := range bench.Causes {
			names = append(names, c.Name)
		}
		v.filter.Cause = after(v.filter.Cause, names)
		return v.search()
	case "x":
		v.filter = bench.Filter{}
		return v.search()
	}
	return nil
}

// after is what comes after a value in a list; "" is before the first and after the
// last.
func after(value string, all []string) string {
	if i := slices.Index(all, value) + 1; i < len(all) {
		return all[i]
	}
	return ""
}

func (v *viewer) open() tea.Cmd {
	if len(v.games) == 0 || v.searching {
		return nil
	}
	rec, ok, err := v.run.FindAt(v.games[v.at])
	if err == nil && !ok {
		err = fmt.Errorf("%s: the game at %d is gone", v.run.Dir, v.games[v.at])
	}
	if v.err = err; err == nil {
		v.game = &opened{run: v.run.Experiment, rec: rec}
	}
	return nil
}

// body is how many lines are between head and foot.
func (v *viewer) body() int { return max(1, v.height-3) }

// fill keeps the chosen game on the screen, and reads the rows that are on it.
func (v *viewer) fill() error {
	v.at = max(0, min(v.at, len(v.games)-1))
	v.top = max(0, min(v.top, v.at), v.at-v.body()+1)
	rows := map[int]bench.Listed{}
	for _, position := range v.shown() {
		l, ok := v.rows[position]
		if !ok {
			var err error
			if l, ok, err = v.run.At(position); err != nil {
				return err
			}
		}
		if ok {
			rows[position] = l
		}
	}
	v.rows = rows
	return nil
}

// shown are the games on the screen.
func (v *viewer) shown() []int { return v.games[v.top:min(len(v.games), v.top+v.body())] }

func (v *viewer) View() tea.View {
	head, body, foot := v.list()
	if v.game != nil {
		head, body, foot = v.game.show(v.body(), v.screen)
	}
	for len(body) < v.body() {
		body = append(body, "")
	}
	lines := slices.Concat([]string{bold(v.line(head))}, body, []string{"", faint(v.line(foot))})
	view := tea.NewView(strings.Join(lines[:min(len(lines), v.height)], "\n"))
	view.AltScreen = true
	return view
}

// line makes a text fit on one line.
func (v *viewer) line(text string) string { return firstLine(text, v.screen) }

func firstLine(text string, s screen.Screen) string {
	lines := screen.Wrap(text, s.Width)
	if len(lines) == 1 {
		return lines[0]
	}
	return screen.Wrap(text, s.Width-1)[0] + "…"
}

var (
	bold    = ansi.Style(nil).Bold().Styled
	faint   = ansi.Style(nil).Faint().Styled
	reverse = ansi.Style(nil).Reverse(true).Styled
)

func (v *viewer) list() (head string, body []string, foot string) {
	count := screen.Counted(len(v.games), "game", "games")
	if len(v.games) == 1 {
		count = "1 game"
	}
	if v.searching {
		count = "searching"
	}
	head = fmt.Sprintf("%s: %s%s", v.run.Dir, count, v.filtered())
	for i, position := range v.shown() {
		row := fmt.Sprintf("%7d", position)
		if l, ok := v.rows[position]; ok {
			row = Row(l)
		}
		if row = v.line(row); v.top+i == v.at {
			row = reverse(row)
		}
		body = append(body, row)
	}
	if v.typing {
		return head, body, "part of the ID: " + v.filter.Part + "_  enter: done"
	}
	return head, body, "enter: open  only: g game, l language, w winner, c cause, / ID  x: all  q: quit"
}

// filtered says what the list is limited to.
func (v *viewer) filtered() string {
	f, text := v.filter, ""
	say := func(name, value string) {
		if value != "" {
			text += ", " + name + " " + value
		}
	}
	say("game", f.Game)
	say("language", strings.TrimRight(f.Langs[0]+"-"+f.Langs[1], "-"))
	say("winner", f.Winner)
	say("cause", f.Cause)
	say("ID with", f.Part)
	if f.Longer > 0 {
		say("longer than", fmt.Sprint(f.Longer))
	}
	if f.Shorter > 0 {
		say("shorter than", fmt.Sprint(f.Shorter))
	}
	return text
}
