package replay

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"selfplay/bench"
	"selfplay/bench/screen"
	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files")

const hostile = "\x1b[2J\x1b]0;title\a\u202egnp.\x9b31m\r<b>"

// played invents a game in Hebrew and in English with reasons in Arabic, whose
// texts could do harm, and which seat 1 loses by invalid moves.
func played(j scheduler.Job) scheduler.Record {
	first := "[משחק] כללים.\n\n 0 | 1 \n---+---\n 2 | 3 \n\nמשבצות: '[0]', '[1]'"
	other := "[GAME] Rules.\n\n 0 | X \n---+---\n 2 | 3 \n"
	return scheduler.Record{Job: j,
		Turns: []scheduler.Turn{
			{Seat: 0, Observation: first, Thinking: "נחשוב " + hostile, Completion: "<think>נחשוב " + hostile + "</think> \\boxed{1}", Action: "[1]",
				Status: prompts.Boxed, Finish: scheduler.FinishStop, CompletionTokens: 20, ThinkingTokens: 12, Event: games.Event{Action: "[1]", Judged: true, Regret: 0.5}},
			{Seat: 1, Observation: other, Completion: "سلام", Action: "سلام",
				Status: prompts.Raw, Finish: scheduler.FinishLength, CompletionTokens: 5, Event: games.Event{Action: "[سلام]", Invalid: true, Reason: "No such square: " + hostile}},
			{Seat: 1, Observation: other + "[GAME] Again.\n", Completion: "[9]", Action: "[9]",
				Status: prompts.Raw, Finish: scheduler.FinishStop, CompletionTokens: 5, Event: games.Event{Action: "[9]", Invalid: true, Reason: "No such square."}},
		},
		Result: games.Result{Rewards: [2]int{1, -1}, Invalid: [2]bool{false, true}, Turns: [2]int{1, 1}, Roles: [2]string{"שחקן 0", "Player 1"}, Reasons: [2]string{"אין כזאת.", "No such square."}},
	}
}

var experiment = bench.Experiment{Games: []string{"TicTacToe-v0", "Nim-v0"}, Langs: []string{"en", "he"}, N: 6, Seed: 3,
	Reasoned: []bench.Reasoned{{Label: "en+ar", System: "Reason in Arabic."}}, Model: bench.Model{Name: "m" + hostile}, Locales: bench.Locales{Source: "embedded"}}

func game() scheduler.Record {
	return played(scheduler.Job{ID: "TicTacToe-v0/he-en+ar/1", Game: "TicTacToe-v0", Langs: [2]string{"he", "en+ar"}, Index: 1, Seed: 3000001})
}

func TestWriteGame(t *testing.T) {
	for name, s := range map[string]*screen.Screen{"file": nil, "narrow": {Width: 40, Turn: true}, "terminal": {Width: 70}} {
		var out bytes.Buffer
		if err := WriteGame(&out, experiment, game(), s); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("%s: %q", name, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if s != nil && screen.Width(line) > s.Width {
				t.Errorf("%s: %q", name, line)
			}
		}
		golden(t, name, out.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s (%v): got\n%s", path, err, got)
	}
}

// testRun holds 96 games.
func testRun(t *testing.T) *bench.Run {
	t.Helper()
	s, err := bench.Create(t.TempDir(), experiment, bench.Session{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for j := range experiment.Plan().Jobs() {
		if err := s.Append(played(j)); err != nil {
			t.Fatal(err)
		}
	}
	return s.Run
}

// A person is at the keys of a viewer.
type keys struct {
	t    *testing.T
	v    *viewer
	quit bool
}

func (k *keys) send(msg tea.Msg) {
	k.t.Helper()
	_, cmd := k.v.Update(msg)
	for cmd != nil {
		switch msg := cmd().(type) {
		case nil:
			cmd = nil
		case tea.QuitMsg:
			k.quit, cmd = true, nil
		default:
			_, cmd = k.v.Update(msg)
		}
	}
}

// press sends keys, with blanks between; one of several characters that is no name
// is typed.
func (k *keys) press(names string) {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace}
	for _, name := range strings.Fields(names) {
		if code, ok := named[name]; ok {
			k.send(tea.KeyPressMsg{Code: code})
			continue
		}
		if name == "ctrl+c" {
			k.send(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
			continue
		}
		for _, r := range name {
			k.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// screen gives the lines without this program's own styles.
func (k *keys) screen() []string {
	k.t.Helper()
	content := strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[7m", "", "\x1b[m", "").Replace(k.v.View().Content)
	lines := strings.Split(content, "\n")
	if len(lines) != k.v.height {
		k.t.Errorf("%d lines of %d", len(lines), k.v.height)
	}
	for _, line := range lines {
		if screen.Width(line) > k.v.screen.Width || strings.ContainsFunc(line, unicode.IsControl) {
			k.t.Errorf("a line of %d columns: %q", screen.Width(line), line)
		}
	}
	return lines
}

func sit(t *testing.T, v *viewer, width, height int) *keys {
	k := &keys{t: t, v: v}
	if cmd := v.Init(); cmd != nil {
		k.send(cmd())
	}
	k.send(tea.WindowSizeMsg{Width: width, Height: height})
	return k
}

func TestViewOfTheList(t *testing.T) {
	run := testRun(t)
	for _, c := range []struct {
		keys string
		want []string // parts of the screen
		not  string
		quit bool
	}{
		{"", []string{": 96 games", "      0  TicTacToe-v0/en-en/0", "seat 0 won by invalid moves", "enter: open"}, "Nim", false},
		{"end", []string{"     95  Nim-v0/"}, "TicTacToe", false},
		{"end end down up home", []string{"      0  TicTacToe"}, "Nim", false},
		{"g g", []string{"48 games, game Nim-v0", "     48  Nim"}, "TicTacToe-v0/", false},
		{"g g g", []string{": 96 games"}, "", false},
		{"l l", []string{"language he"}, "en-en/", false},
		{"l l l", []string{"language en+ar"}, "en-en/", false},
		{"w w", []string{"0 games, winner 1"}, "TicTacToe-v0/", false},
		{"c c c c c", []string{"96 games, cause length"}, "", false},
		{"c c c c", []string{"0 games, cause truncated"}, "", false},
		{"/ nim-v0/HE", []string{"ID with nim-v0/HE", "part of the ID: nim-v0/HE_"}, "TicTacToe-v0/", false},
		{"/ q\x1b[2J", []string{"0 games"}, "", false},
		{"/ nimm backspace enter w w", []string{"0 games, winner 1, ID with nim"}, "", false},
		{"/ nim enter x", []string{": 96 games"}, "", false},
		{"enter", []string{"turn 1 of 3: seat 0, en", "TicTacToe-v0/en-en/0: won by seat 0"}, "", false},
		{"down down enter", []string{"TicTacToe-v0/en-he/0: won"}, "", false},
		{"enter n n esc", []string{": 96 games"}, "", false},
		{"w w enter", []string{"0 games"}, "", false},
		{"q", nil, "", true},
		{"esc", nil, "", true},
		{"/ ctrl+c", nil, "", true},
		{"enter ctrl+c", nil, "", true},
	} {
		k := sit(t, &viewer{run: run}, 100, 12)
		k.press(c.keys)
		shown := strings.Join(k.screen(), "\n")
		for _, want := range c.want {
			if !strings.Contains(shown, want) {
				t.Errorf("%s: no %q in\n%s", c.keys, want, shown)
			}
		}
		if c.not != "" && strings.Contains(shown, c.not) {
			t.Errorf("%s: %q in\n%s", c.keys, c.not, shown)
		}
		if k.quit != c.quit || k.v.err != nil {
			t.Errorf("%s: quit %v, %v", c.keys, k.quit, k.v.err)
		}
	}
}

// The chosen game is always on the screen.
func TestViewScrolls(t *testing.T) {
	k := sit(t, &viewer{run: testRun(t)}, 80, 9)
	for _, name := range strings.Fields("down down down down down down down pgdown pgdown up up pgup end pgup home pgdown end up up up up up up up up") {
		k.press(name)
		if !slices.Contains(k.v.shown(), k.v.games[k.v.at]) {
			t.Errorf("%s: %d is not among %v", name, k.v.at, k.v.shown())
		}
		k.screen()
	}
	k.send(tea.WindowSizeMsg{Width: 3, Height: 2})
	k.press("down")
	k.screen()
}

// A search that came late is of a filter that no longer holds.
func TestViewForgetsLateSearches(t *testing.T) {
	k := sit(t, &viewer{run: testRun(t)}, 80, 9)
	late := k.v.search()
	k.press("g")
	k.send(late())
	if len(k.v.games) != 48 {
		t.Errorf("%d games", len(k.v.games))
	}
}

func TestViewOfAGame(t *testing.T) {
	for _, c := range []struct {
		keys, want, not string
		quit            bool
	}{
		{"", "turn 1 of 3: seat 0, he, model; boxed, stop; 20 tokens, 12 of them thinking; loses 0.50", "בושחנ", false},
		{"pgdown", "thinking (t shows it)", "", false},
		{"t pgdown", "title␇⟨U+202E⟩gnp", "", false},
		{"n", "turn 2 of 3: seat 1, en+ar, model; raw, length; 5 tokens; invalid; not boxed", "", false},
		{"right pgdown", "ﻡﻼﺳ", "سلام", false},
		{"n p p p", "turn 1 of 3", "", false},
		{"n n", "what is new to it", "Rules", false},
		{"n n n", "won by seat 0 by invalid moves of the other after 3 turns", "", false},
		{"end", "seat 0, he: reward +1, 1 valid move in 1 answer of 20 tokens, 12 of them thinking", "", false},
		{"end n n p", "turn 3 of 3", "", false},
		{"end home", "turn 1 of 3", "", false},
		{"pgdown pgdown pgdown n", "turn 2 of 3", "", false},
		{"q", "", "", true},
		{"esc", "", "", true},
	} {
		v := &viewer{run: &bench.Run{Experiment: experiment}, game: &opened{rec: game()}, alone: true}
		v.screen.Turn = true
		k := sit(t, v, 90, 16)
		k.press(c.keys)
		shown := strings.Join(k.screen(), "\n")
		if !strings.Contains(shown, c.want) || c.not != "" && strings.Contains(shown, c.not) || k.quit != c.quit {
			t.Errorf("%s: quit %v; %q or not %q in\n%s", c.keys, k.quit, c.want, c.not, shown)
		}
	}
}

// Whatever a model writes, a line is as wide as the screen at most and holds nothing
// that steers it.
func FuzzViewOfAGame(f *testing.F) {
	f.Add(hostile+"\n 0 | 1 \nשלום", "سلام "+hostile, 20, 9)
	f.Fuzz(func(t *testing.T, observation, answer string, width, height int) {
		if len(observation)+len(answer) > 1<<12 {
			return
		}
		rec := game()
		for i := range rec.Turns {
			rec.Turns[i].Observation, rec.Turns[i].Thinking, rec.Turns[i].Completion, rec.Turns[i].Action = observation, answer, answer, answer
			rec.Turns[i].Event.Reason, rec.Result.Reasons[i%2], rec.Result.Roles[i%2] = answer, answer, observation
		}
		rec.Job.ID = answer
		v := &viewer{run: &bench.Run{Experiment: experiment}, game: &opened{rec: rec}, alone: true}
		v.screen.Turn = width%2 == 0
		k := sit(t, v, 1+max(0, width)%200, 1+max(0, height)%60)
		for _, name := range []string{"t", "n", "pgdown", "end"} {
			k.press(name)
			k.screen()
		}
	})
}
