package live

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"selfplay/bench/screen"
	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

var update = flag.Bool("update", false, "rewrite the screens in testdata")

var langs = []string{"en", "ar", "de", "es", "fr", "he", "ms", "zh"}

// full is a run of eight languages under way.
func full() Snapshot {
	s := Snapshot{
		Model: "Qwen3-4B-Q4_1.gguf", Elapsed: 2*time.Hour + 34*time.Minute + 56*time.Second,
		Planned: 172_800, Ended: 31_337, Earlier: 1_200, Live: 64, Replicas: 8, New: 4,
		Rates: Rates{Games: 3.214, Written: 5_204, Read: 18_811.4, Reused: 41_200},
		Left:  Left{Known: true, Mean: 12 * time.Hour, Low: 11*time.Hour + 10*time.Minute, High: 13 * time.Hour},
		Rows:  langs, Columns: langs,
	}
	for _, name := range []string{"TicTacToe-v0", "Nim-v0", "SimpleTak-v0", "ColonelBlotto-v0", "KuhnPoker-v0", "IteratedPrisonersDilemma-v0"} {
		s.Kinds = append(s.Kinds, Kind{Name: name, Planned: 28_800, Scores: make([]Score, 64)})
	}
	s.Kinds[0].Ended, s.Kinds[1].Ended = 28_800, 2_537
	for i := range 64 {
		row, column := i/8, i%8
		s.Kinds[0].Scores[i] = Score{Won: 400 + 100*row, Lost: 400 + 100*column}
		if row <= column && row != 3 {
			s.Kinds[1].Scores[i] = Score{Won: 10 * column, Drawn: 5, Lost: 3 * row}
			s.Kinds[1].Scores[column*8+row] = Score{Won: 3 * row, Drawn: 5, Lost: 10 * column}
		}
	}
	for i, l := range langs {
		s.Answers = append(s.Answers, Answers{Label: l, Turns: 1000 * (i + 1), Invalid: 37 * i, Truncated: i * i, Length: 3 * i, Context: i / 7, Tokens: 120_000 * (i + 1)})
	}
	for i := range 8 {
		util, power, used, temperature := uint32(90+i), uint32(610_400+i*1000), uint64(71_000_000_000), uint32(60+i)
		s.Load.GPUs = append(s.Load.GPUs, GPU{Name: "NVIDIA H200", Util: &util, Power: &power, Used: &used, Temperature: &temperature})
	}
	s.Load.GPUs[7] = GPU{Name: "NVIDIA H200"} // one that tells nothing
	return s
}

// nim is a game in which a model writes what could steer a terminal.
func nim(a, b string, texts ...[2]string) Game {
	g := Game{Job: scheduler.Job{ID: "Nim-v0/" + a + "-" + b + "/12", Game: "Nim-v0", Langs: [2]string{a, b}}, Number: 3, Of: 64}
	history := [2]string{}
	for i, text := range texts {
		seat := i % 2
		history[seat] += text[0]
		g.Turns = append(g.Turns, scheduler.Turn{Seat: seat, Observation: history[seat], Completion: text[1], Action: text[1], Status: prompts.Raw, Finish: scheduler.FinishStop, CompletionTokens: 7 * (i + 1)})
	}
	return g
}

func hebrew() Game {
	g := nim("he", "zh",
		[2]string{"[משחק] ערימה 0: 3\nערימה 1: 4\n", "\\boxed{[1 2]}"},
		[2]string{"[游戏] 第0堆：3 第1堆：2\n", "我从第一堆拿走两个。\x1b[2J\x1b[31m\a[0 1]\u202e反\ue000"},
		[2]string{"\n[שחקן 1] [0 1]\n[משחק] ערימה 0: 2\n", "אני לוקח שני אבנים מן הערימה 0, ואז נשאר רק אחד [0 2]"},
		[2]string{"\n[玩家 0] [0 2]\n", strings.Repeat("我想一想，", 40)},
	)
	g.Turns[1].Event = games.Event{Invalid: true, Reason: "括号里没有数字。"}
	g.Turns[3].Status, g.Turns[3].Finish, g.Turns[3].Action = prompts.Truncated, scheduler.FinishLength, ""
	return g
}

func arabic() Game {
	return nim("ar", "en",
		[2]string{"[اللعبة] الكومة 0: 3\n | X | 0 |\n---+---\n", "سآخذ حجرين من الكومة [1 2]"},
		[2]string{"[GAME] Pile 0: 3\n", "<think>Take one.</think>\n\n\\boxed{[0 1]}\n"},
	)
}

func screens() map[string]Model {
	run, begun, paused := full(), Snapshot{Model: "builtin:random", Planned: 24, Rows: langs[:2], Columns: langs[:2], Kinds: []Kind{{Name: "TicTacToe-v0", Planned: 24, Scores: make([]Score, 4)}}}, full()
	run.Game = hebrew()
	paused.Game, paused.Paused, paused.Lost, paused.Live = arabic(), true, 1, 1
	paused.Load.GPUs, paused.Load.Cores = nil, []float64{1, 0.5, 0.031, 0}
	begun.Doing = "reading what has been played"
	paused.Notes = []string{"first", "selfplay: warning: replica gpu3: \x1b[31mthe device is gone"}
	paused.Left.High = 0
	against := full()
	against.Columns = []string{"builtin:random", "builtin:optimal"}
	against.Stopping, against.New = true, 0
	against.Game = arabic()
	against.Game.Job.Players[1] = "builtin:optimal"
	against.Game.Over, against.Game.Result.Rewards = true, [2]int{-1, 1}
	reasoned := full()
	reasoned.Rows = append([]string{}, langs...)
	reasoned.Rows = append(reasoned.Rows, "zh+fr", "zh+en")
	reasoned.Columns = reasoned.Rows
	for i := range reasoned.Kinds {
		reasoned.Kinds[i].Scores = make([]Score, 100)
	}
	reasoned.Kinds[0].Scores[7] = Score{Won: 157_000}
	return map[string]Model{
		"overview": {Snapshot: run, Turn: true}, "overview-turned-by-terminal": {Snapshot: run},
		"answers": {Snapshot: run, Tab: AnswersTab}, "game": {Snapshot: run, Tab: GameTab, Turn: true}, "machine": {Snapshot: run, Tab: MachineTab},
		"paused": {Snapshot: paused, Turn: true}, "begun": {Snapshot: begun}, "help": {Snapshot: run, Help: true},
		"against": {Snapshot: against, Turn: true}, "reasoned": {Snapshot: reasoned}, "empty": {},
	}
}

var trailing = regexp.MustCompile(`(?m) +$`)

// TestScreens compares whole screens, without their styles, with those in testdata,
// which a person has looked at.
func TestScreens(t *testing.T) {
	for name, m := range screens() {
		for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}} {
			got := trailing.ReplaceAllString(ansi.Strip(View(m.Resize(size[0], size[1]))), "") + "\n"
			file := filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.txt", name, size[0], size[1]))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is now (go test -update, if that is right):\n%s", file, got)
			}
		}
	}
}

// No screen is larger than the terminal, or holds anything that steers it but
// styles, whatever its size.
func TestScreensFit(t *testing.T) {
	for name, m := range screens() {
		for _, width := range []int{1, 2, 13, 29, 60, 79, 133, 350} {
			for _, height := range []int{1, 2, 4, 5, 6, 15, 16, 33} {
				checkFits(t, fmt.Sprintf("%s, %dx%d", name, width, height), m.Resize(width, height))
			}
		}
	}
}

func checkFits(t *testing.T, what string, m Model) {
	t.Helper()
	styled := View(m)
	lines := strings.Split(ansi.Strip(styled), "\n")
	if len(lines) > m.Height {
		t.Fatalf("%s: %d lines", what, len(lines))
	}
	for _, l := range lines {
		if w := screen.Width(l); w > m.Width || w != screen.Width(strings.TrimSuffix(screen.Clean(l), "\n")) {
			t.Fatalf("%s: %d columns in %q", what, w, l)
		}
	}
	for rest := styled; ; {
		_, after, more := strings.Cut(rest, "\x1b")
		if !more {
			return
		}
		sequence, _, ok := strings.Cut(after, "m")
		if !ok || strings.Trim(sequence, "[0123456789;") != "" {
			t.Fatalf("%s: an escape sequence that is no style: %.20q", what, after)
		}
		rest = after
	}
}

// FuzzScreen shows what a model could write.
func FuzzScreen(f *testing.F) {
	for _, m := range []Game{hebrew(), arabic()} {
		for _, turn := range m.Turns {
			f.Add(turn.Observation, turn.Completion, "he", uint8(80), uint8(24))
		}
	}
	f.Add("\x1b]0;title\a", "\xff\u202e\u0000\u200d", "ar", uint8(3), uint8(7))
	f.Fuzz(func(t *testing.T, shown, written, lang string, width, height uint8) {
		s := full()
		s.Notes = []string{written}
		s.Model = shown
		s.Game = nim(lang, "en", [2]string{shown, written}, [2]string{written, shown}, [2]string{shown, ""})
		s.Game.Turns[0].Event = games.Event{Invalid: true, Reason: written}
		for tab := range tabs {
			for _, turn := range []bool{false, true} {
				checkFits(t, "fuzzed", Model{Snapshot: s, Tab: tab, Turn: turn}.Resize(int(width), int(height)))
			}
		}
	})
}

func TestLast(t *testing.T) {
	s := full()
	s.Played = 2*time.Hour + 34*time.Minute
	want := "in this session: 30,137 games in 2h34m, 36,000 answers, 2.9% invalid, 0.4% truncated, 0.2% cut off"
	if got := Last(s); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	s.Ended = s.Earlier
	if got := Last(s); got != "" {
		t.Errorf("nothing was played: %s", got)
	}
}

// BenchmarkView is what the view takes of a core each time: four times a second.
func BenchmarkView(b *testing.B) {
	s := full()
	s.Game = hebrew()
	s.Game.Turns = s.Game.Turns[:2]
	long := strings.Repeat("اللعبة القادمة في الكومة الأولى، ثم نرى ما يحدث. ", 80)
	for range 4 {
		s.Game.Turns = append(s.Game.Turns, scheduler.Turn{Seat: 0, Observation: long, Completion: long, Action: long})
	}
	m := NewModel(true).See(s).Resize(200, 60)
	for b.Loop() {
		View(m)
	}
}
