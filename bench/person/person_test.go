package person

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"selfplay/bench"
	"selfplay/bench/screen"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/locales"
	"selfplay/scheduler"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files")

// policy are the settings of a game against a policy.
func policy(p scheduler.Policy) scheduler.Config {
	return scheduler.Config{Seed: 1, New: deal, Policies: map[string]scheduler.Policy{"": p}}
}

func deal(j scheduler.Job) (games.Game, error) {
	spec, err := games.Lookup(j.Game)
	if err != nil {
		return nil, err
	}
	return spec.New(locales.Embedded(), bench.Interfaces(j.Langs), j.Seed)
}

func jobOf(game string, langs ...string) scheduler.Job {
	for j := range (bench.Plan{Games: []string{game}, Langs: slices.Compact(slices.Clone(langs)), N: 1, Seed: 1}).Jobs() {
		if j.Langs == [2]string(langs) {
			return j
		}
	}
	panic("no such job")
}

// play has a person type a text, and gives what was shown.
func play(t *testing.T, o Options, typed string) string {
	t.Helper()
	var out bytes.Buffer
	o.In, o.Out, o.Echo = strings.NewReader(typed), &out, true
	if o.Opponent == "" {
		o.Opponent = "the other"
	}
	if err := Play(t.Context(), o); err != nil {
		t.Error(err)
	}
	return out.String()
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

// Whole games, to be read.
func TestPlay(t *testing.T) {
	narrow := func() *screen.Screen { return &screen.Screen{Width: 60, Turn: true} }
	for name, c := range map[string]struct {
		o     Options
		typed string
	}{
		"won":      {Options{Config: policy(scheduler.Random{}), Job: jobOf("Nim-v0", "en", "fr")}, ":prompt\n:answer\n:system\n:what\n\n\\boxed{0 2}\n:answer\n[2 4]\n1 4\n[0 1]\n[2 1]\n"},
		"refused":  {Options{Config: policy(scheduler.Optimal{}), Job: jobOf("KuhnPoker-v0", "he", "en"), Seat: 1}, "<think>[bet]</think>nothing\n<think>never\n"},
		"terminal": {Options{Config: policy(scheduler.Optimal{}), Job: jobOf("TicTacToe-v0", "ar", "ar"), Screen: narrow}, "4\n:prompt\n:all\n:help\n:quit\n"},
		"left":     {Options{Config: policy(scheduler.Random{}), Job: jobOf("ColonelBlotto-v0", "en", "en"), Seat: 1}, "[A7 B7 C6]\n:answer\n"},
		"default":  {Options{Config: policy(scheduler.Random{}), Job: jobOf("IteratedPrisonersDilemma-v0-short", "en", "en")}, "hello\n\x1b[2J\u202eanything\n"},
	} {
		got := play(t, c.o, c.typed)
		if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("%s: %q", name, got)
		}
		golden(t, name, got)
	}
}

// A terminal that is made narrower has its lines from then on.
func TestTerminalChanges(t *testing.T) {
	asked := 0
	now := func() *screen.Screen {
		if asked++; asked > 2 { // which are the first two lines
			return &screen.Screen{Width: 40}
		}
		return &screen.Screen{Width: 120}
	}
	got := play(t, Options{Config: policy(scheduler.Optimal{}), Job: jobOf("TicTacToe-v0", "en", "en"), Screen: now}, "4\n:help\n")
	begin, rest, ok := strings.Cut(got, "lists commands\n")
	if !ok || screen.Width(begin) < 100 {
		t.Fatal(got)
	}
	for line := range strings.Lines(rest) {
		if screen.Width(strings.TrimSuffix(line, "\n")) > 40 {
			t.Errorf("%q", line)
		}
	}
}

// The same answers as a player of bench gave get the same answers, whichever seat
// the person takes.
func TestPlayAsInBench(t *testing.T) {
	for _, game := range []string{"TicTacToe-v0", "Nim-v0", "KuhnPoker-v0", "ColonelBlotto-v0", "IteratedPrisonersDilemma-v0"} {
		job := jobOf(game, "en", "ar")
		cfg := policy(scheduler.Random{})
		cfg.Jobs = func(yield func(scheduler.Job) bool) { yield(job) }
		core, err := scheduler.NewCore(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var rec scheduler.Record
		if err := scheduler.Run(t.Context(), core, nil, func(r scheduler.Record) error { rec = r; return nil }, nil); err != nil {
			t.Fatal(err)
		}
		for seat := range 2 {
			var typed, want []string
			for _, turn := range rec.Turns {
				if turn.Seat == seat {
					typed = append(typed, turn.Action, ":answer")
				} else {
					want = append(want, turn.Completion)
				}
			}
			d := &recorder{}
			cfg := policy(d)
			shown := play(t, Options{Config: cfg, Job: job, Seat: seat}, strings.Join(typed, "\n")+"\n")
			if !slices.Equal(d.answers, want) || !strings.Contains(shown, fmt.Sprintf("after %d turns\n", len(rec.Turns))) {
				t.Errorf("%s, seat %d: %q, want %q\n%s", game, seat, d.answers, want, shown)
			}
		}
	}
}

// A recorder is the random policy, with its answers kept.
type recorder struct {
	scheduler.Random
	answers []string
}

func (r *recorder) Act(g games.Game, intn func(n int) int) string {
	r.answers = append(r.answers, r.Random.Act(g, intn))
	return r.answers[len(r.answers)-1]
}

// spelled is a language whose tokens are characters; 0 ends a turn.
type spelled struct{ open bool }

func (s spelled) Prompt(system, user string) (ids []int32, open bool, err error) {
	return []rune(system + "|" + user + ">"), s.open, nil
}
func (spelled) Text(ids []int32) string { return string(ids) }
func (spelled) Cuts(ids []int32, places []int) []int {
	cuts := make([]int, len(places))
	for i, p := range places {
		cuts[i] = len([]rune(string(ids)[:p]))
	}
	return cuts
}
func (spelled) End(id int32) bool { return id == 0 }

// A script says what it is told to, turn by turn, whatever it is asked.
type script struct {
	turns  []string
	said   []rune
	stop   func() // called in the middle of the first turn, if not nil
	limits inference.Limits
}

func (s *script) Limits() inference.Limits { return s.limits }
func (*script) Copy(inference.Copy) error  { return nil }
func (*script) Close() error               { return nil }
func (s *script) Forward(b *inference.Batch) error {
	for i := range b.Rows {
		row := &b.Rows[i]
		if !row.Sample {
			continue
		}
		if s.stop != nil && row.Decode {
			s.stop()
		}
		if !row.Decode {
			s.said, s.turns = []rune(s.turns[0]), s.turns[1:]
		}
		row.Token = 0
		if len(s.said) > 0 {
			row.Token, s.said = s.said[0], s.said[1:]
		}
	}
	return nil
}

func modelled(turns ...string) Options {
	limits := inference.Limits{Slots: 1, Rows: 1, Cells: 3000, Pool: 3000, Least: 3000, Tokens: 500}
	return Options{
		Config: scheduler.Config{Seed: 1, New: deal, MaxTokens: 60, Codec: spelled{}, Limits: limits, System: func(string) string { return "Play." }},
		Engine: &script{turns: turns, limits: limits}, Show: func(ids []int32) string { return string(ids) },
		Job: jobOf("TicTacToe-v0", "en", "zh"),
	}
}

func TestPlayAgainstAModel(t *testing.T) {
	o := modelled("<think>它在 4, \x1b[31m</think>我选 \\boxed{0}", "nonsense", "\\boxed{8}", "<think>"+strings.Repeat("x", 100), "[1]")
	got := play(t, o, "4\n:prompt\n:answer\n:system\n[2]\n:answer\n6\n")
	golden(t, "model", got)
	o = modelled("0</think>[8]")
	o.Config.Codec = spelled{open: true}
	if got := play(t, o, "4\n:answer\n"); !strings.Contains(got, "extracted (raw): [8]") {
		t.Errorf("thinking that the prompt opened:\n%s", got)
	}
	o = modelled("[8]")
	o.Config.Limits.Cells = 100
	if got := play(t, o, "4\n"); !strings.Contains(got, "the other could not answer: its prompt of ") || !strings.Contains(got, "--context 100") || !strings.Contains(got, "you won") {
		t.Errorf("a context that is too small:\n%s", got)
	}
}

// On a terminal the model is seen at work; the count gives way to what follows.
func TestPlayShowsWork(t *testing.T) {
	o := modelled("[0]", "[8]")
	o.Screen = func() *screen.Screen { return &screen.Screen{Width: 80} }
	got := play(t, o, "4\n")
	for _, want := range []string{"\rthe other reads its prompt of ", "\rthe other answers: 1 tokens\x1b[K", "\rthe other answers: 3 tokens\x1b[K", "\r\x1b[Kthe other has answered; :answer shows it\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// An interrupt ends the game whether the person or the model is at it, and so does
// the end of what is typed.
func TestPlayIsInterrupted(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	for name, typed := range map[string]io.Reader{"the model's turn": strings.NewReader("4\n[2]\n"), "the person's turn": r, "no input": strings.NewReader("")} {
		ctx, stop := context.WithCancel(t.Context())
		o := modelled("[0]", "[8]")
		var out bytes.Buffer
		o.In, o.Out, o.Opponent = typed, &out, "the other"
		switch name {
		case "the model's turn":
			o.Engine.(*script).stop = stop
		case "the person's turn":
			o.Out = onWrite{&out, func(s string) {
				if s == "answer> " {
					stop()
				}
			}}
		}
		err := Play(ctx, o)
		want := "stopped after 0 turns\n"
		if name == "the model's turn" {
			want = "stopped after 1 turns\n"
		}
		if err != nil || !strings.HasSuffix(out.String(), want) {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
		stop()
	}
}

// onWrite calls f with what is written.
type onWrite struct {
	io.Writer
	f func(string)
}

func (w onWrite) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.f(string(p))
	return n, err
}
