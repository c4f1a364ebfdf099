package live

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"selfplay/bench"
	"selfplay/bench/screen"
	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

func TestCount(t *testing.T) {
	for n, want := range map[int][3]string{
		0: {"0", "0", "0"}, 999: {"999", "999", "999"}, 1000: {"1,000", "1.0k", "1k"}, 12_345: {"12,345", "12k", "12k"},
		99_499: {"99,499", "99k", "99k"}, 99_500: {"99,500", "100k", ".1M"}, 157_000: {"157,000", "157k", ".2M"},
		999_499: {"999,499", "999k", "1M"}, 1_234_567: {"1,234,567", "1.2M", "1M"}, 2_000_000: {"2,000,000", "2.0M", "2M"},
	} {
		if got := [3]string{screen.Thousands(n), short(n), shorter(n)}; got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestMargin(t *testing.T) {
	for v, want := range map[float64]string{0: ".00", -0.001: ".00", 0.5: "+.50", -0.125: "-.12", 1: "+1.0", -1: "-1.0", 0.999: "+1.0"} {
		if got := margin(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestCores(t *testing.T) {
	stat := "cpu  9 9 9 9\ncpu0 100 0 100 800 0 0 0 0 50 0\ncpu1 0 0 0 1000 0 0 0 0 0 0\ncpu3 5 5 5 5 5 5 5 5 0 0\nintr 1 2 3 4 5 6 7\n"
	c := NewCores(func() string { return stat }, "Name:\tx\nCpus_allowed_list:\t0-2,7\n")
	stat = "cpu0 150 0 125 825 0 0 0 0 90 0\ncpu1 0 0 0 1080 10 10 0 0 0 0\ncpu3 9 5 5 5 5 5 5 5 0 0\n"
	if got := fmt.Sprint(c.Load()); got != "[0.75 0.1]" {
		t.Errorf("load %s", got)
	}
	if got := fmt.Sprint(c.Load()); got != "[0 0]" { // no time has passed
		t.Errorf("then %s", got)
	}
	stat = ""
	if got := c.Load(); len(got) != 0 {
		t.Errorf("without the kernel's file %v", got)
	}
	if all := NewCores(func() string { return "cpu0 1 1 1 1 1\ncpu9 1 1 1 1 1" }, "Cpus_allowed_list: what"); len(all.before) != 2 {
		t.Errorf("%d cores where it is not told which are allowed", len(all.before))
	}
}

// newCollector is one of a run of two games and three labels, whose clock is now.
func newCollector(now *time.Duration, e bench.Experiment) (*Collector, *Gate) {
	clock := func() time.Duration { return *now }
	gate := NewGate(clock)
	return NewCollector(e, clock, gate, nil), gate
}

var experiment = bench.Experiment{Games: []string{"TicTacToe-v0", "Nim-v0"}, Langs: []string{"en", "he", "zh"}, N: 50}

func record(id, game, a, b string, reward int, turns ...scheduler.Turn) scheduler.Record {
	return scheduler.Record{
		Job:    scheduler.Job{ID: id, Game: game, Langs: [2]string{a, b}},
		Result: games.Result{Rewards: [2]int{reward, -reward}}, Turns: turns,
	}
}

func TestCollectorCounts(t *testing.T) {
	now := time.Duration(0)
	c, _ := newCollector(&now, experiment)
	before := record("a", "Nim-v0", "he", "en", 1)
	c.Earlier(bench.Outcome{Job: before.Job, Rewards: before.Result.Rewards})
	c.Progress(scheduler.Progress{}, 600)
	turns := []scheduler.Turn{
		{Seat: 0, Status: prompts.Raw, Event: games.Event{Invalid: true}, CompletionTokens: 5},
		{Seat: 1, Status: prompts.Truncated, Finish: scheduler.FinishLength, CompletionTokens: 7},
		{Seat: 1, Finish: scheduler.FinishContext},
	}
	r := record("b", "Nim-v0", "en", "he", -1, turns...)
	for i := range turns {
		c.Turned(r.Job, turns[:i+1])
	}
	if s := c.Snapshot(); s.Ended != 1 || s.Game.Job.ID != "b" || len(s.Game.Turns) != 3 || s.Game.Number != 1 || s.Game.Of != 1 || s.New != 1 {
		t.Errorf("while it is played: %+v", s)
	}
	c.Ended(r)
	c.Ended(record("c", "Nim-v0", "en", "en", 1))
	c.Ended(record("d", "Nim-v0", "zh", "en", 0))
	now = 10 * time.Second
	c.Progress(scheduler.Progress{Stats: scheduler.Stats{Started: 8, Ended: 3, CompletionTokens: 120, PrefillTokens: 500, CopiedTokens: 30, KeptTokens: 20}}, 600)
	s := c.Snapshot()
	if s.Ended != 4 || s.Earlier != 1 || s.Planned != 600 || s.Live != 5 || s.Rates != (Rates{Games: 0.3, Written: 12, Read: 50, Reused: 5}) {
		t.Errorf("%+v", s)
	}
	nim := s.Kinds[1]
	want := make([]Score, 9)
	want[0*3+0] = Score{Won: 1} // en with itself, by seat 0
	want[0*3+1], want[1*3+0] = Score{Lost: 2}, Score{Won: 2}
	want[0*3+2], want[2*3+0] = Score{Drawn: 1}, Score{Drawn: 1}
	if fmt.Sprint(nim.Scores) != fmt.Sprint(want) || nim.Ended != 4 || s.Kinds[0].Ended != 0 || nim.Planned != 600 {
		t.Errorf("scores %v, want %v; %d of %d", nim.Scores, want, nim.Ended, nim.Planned)
	}
	if got := fmt.Sprint(s.Answers); got != fmt.Sprint([]Answers{
		{Label: "en", Turns: 1, Invalid: 1, Tokens: 5}, {Label: "he", Turns: 2, Truncated: 1, Length: 1, Context: 1, Tokens: 7}, {Label: "zh"}}) {
		t.Errorf("answers %s", got)
	}
	s.Kinds[1].Scores[0].Won = 99
	if c.Snapshot().Kinds[1].Scores[0].Won == 99 {
		t.Error("a snapshot shares what goes on")
	}
}

// Against opponents the rows are the model's.
func TestCollectorOpponents(t *testing.T) {
	now := time.Duration(0)
	e := experiment
	e.Opponents = []string{"builtin:random", "builtin:optimal"}
	c, _ := newCollector(&now, e)
	r := record("a", "Nim-v0", "en", "en", 1, scheduler.Turn{Seat: 0}, scheduler.Turn{Seat: 1})
	r.Job.Players = [2]string{"builtin:optimal", ""}
	c.Turned(r.Job, r.Turns[:1])
	c.Turned(r.Job, r.Turns)
	c.Ended(r)
	s := c.Snapshot()
	if got := s.Kinds[1].Scores[1]; got != (Score{Lost: 1}) || s.Answers[0].Turns != 1 {
		t.Errorf("%+v, answers %+v", s.Kinds[1].Scores, s.Answers)
	}
}

// The game that is shown stays when it has ended, for a while.
func TestCollectorShowsGames(t *testing.T) {
	now := time.Duration(0)
	c, _ := newCollector(&now, experiment)
	shown := func() string {
		g := c.Snapshot().Game
		return fmt.Sprintf("%s %d/%d %v", g.Job.ID, g.Number, g.Of, g.Over)
	}
	expect := func(want string) {
		t.Helper()
		if got := shown(); got != want {
			t.Errorf("shown is %q, want %q", got, want)
		}
	}
	expect(" 0/0 false")
	c.Another(1)
	var all []scheduler.Record
	for _, id := range []string{"a", "b", "c"} {
		r := record(id, "Nim-v0", "en", "he", 1, scheduler.Turn{})
		all = append(all, r)
		c.Turned(r.Job, r.Turns)
	}
	expect("a 1/3 false")
	c.Another(-1)
	expect("c 3/3 false")
	c.Another(1)
	c.Another(1)
	expect("b 2/3 false")
	c.Ended(all[1])
	expect("b 0/2 true")
	now += lingerOver - 1
	expect("b 0/2 true")
	now++
	expect("a 1/2 false")
	c.Ended(all[0])
	c.Another(1) // not to be waited for
	expect("c 1/1 false")
	c.Ended(all[2])
	now += time.Hour
	expect("c 0/0 true") // there is no other
}

// Rates and the time left leave out the time in which the run stood still.
func TestCollectorPauses(t *testing.T) {
	now := time.Duration(0)
	c, gate := newCollector(&now, experiment)
	c.Progress(scheduler.Progress{}, 300)
	ended := 0
	play := func(seconds int) {
		for range seconds {
			now += time.Second
			ended++
			c.Ended(record(fmt.Sprint(ended), "Nim-v0", "en", "he", 1))
			c.Progress(scheduler.Progress{Stats: scheduler.Stats{Started: ended, Ended: ended, CompletionTokens: 10 * ended}}, 300)
			c.Snapshot()
		}
	}
	play(10)
	before := c.Snapshot()
	gate.Toggle()
	now += 20 * time.Minute
	gate.Toggle()
	gate.Skip(time.Hour)
	now += time.Hour
	if after := c.Snapshot(); after.Rates != before.Rates || after.Left != before.Left || !after.Left.Known {
		t.Errorf("%+v after a pause, %+v before", after, before)
	}
	play(60)
	s := c.Snapshot()
	if s.Rates.Games != 1 || s.Rates.Written != 10 {
		t.Errorf("rates %+v", s.Rates)
	}
	if l := s.Left; l.Low > 230*time.Second || l.Mean < 225*time.Second || l.Mean > 240*time.Second || l.High < 230*time.Second {
		t.Errorf("230 games left, one a second: %+v", l)
	}
}

func TestCollectorDoing(t *testing.T) {
	c := NewCollector(bench.Experiment{}, func() time.Duration { return 0 }, NewGate(nil), nil)
	done := c.Doing("reading")
	during := c.Snapshot().Doing
	done()
	if after := c.Snapshot().Doing; during != "reading" || after != "" {
		t.Errorf("%q while it reads, %q after it", during, after)
	}
}

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		g := NewGate(func() time.Duration { return time.Since(from) })
		g.Hold(t.Context()) // it is open
		if shut, held, _ := g.state(); shut || held {
			t.Error("a new gate is not open")
		}
		g.Toggle()
		if shut, held, _ := g.state(); !shut || held {
			t.Error("it is shut, and nobody is there yet")
		}
		ctx, cancel := context.WithCancel(t.Context())
		passed := make(chan string, 2)
		go func() { g.Hold(t.Context()); passed <- "opened" }()
		go func() { g.Hold(ctx); passed <- "cancelled" }()
		synctest.Wait()
		if _, held, _ := g.state(); !held || len(passed) > 0 {
			t.Error("nobody waits")
		}
		cancel()
		if got := <-passed; got != "cancelled" {
			t.Errorf("%s first", got)
		}
		time.Sleep(time.Minute)
		g.Toggle()
		if got := <-passed; got != "opened" {
			t.Error(got)
		}
		synctest.Wait()
		if shut, held, paused := g.state(); shut || held || paused != time.Minute {
			t.Errorf("shut %v, held %v, paused for %v", shut, held, paused)
		}
	})
}

func TestPress(t *testing.T) {
	m := Model{Width: 80, Height: 24}.See(Snapshot{Kinds: []Kind{{Name: "A", Ended: 3}, {Name: "B"}, {Name: "C"}}, Game: Game{Job: scheduler.Job{ID: "a1", Game: "A"}}})
	for _, c := range []struct {
		keys   string
		action Action
		state  string // tab, kind, help, lifted
	}{
		{"", None, "0 A false 0"},
		{"tab", None, "1 A false 0"},
		{"shift+tab shift+tab", None, "2 A false 0"},
		{"tab tab tab tab", None, "0 A false 0"},
		{"3 v 2", None, "1 A false 0"},
		{"right", None, "0 B false 0"},
		{"n n n", None, "0 A false 0"},
		{"left p", None, "0 B false 0"},
		{"down", NextGame, "0 A false 0"}, {"j", NextGame, "0 A false 0"},
		{"up", PreviousGame, "0 A false 0"}, {"k", PreviousGame, "0 A false 0"},
		{"space", Pause, "0 A false 0"},
		{"q", Stop, "0 A false 0"}, {"ctrl+c", Stop, "0 A false 0"},
		{"ctrl+z", Suspend, "0 A false 0"}, {"ctrl+l", Redraw, "0 A false 0"},
		{"?", None, "0 A true 0"},
		{"? space", None, "0 A false 0"},
		{"h q", Stop, "0 A true 0"},
		{"pgup pgup pgdown", None, "0 A false 12"},
		{"pgup pgdown pgdown", None, "0 A false 0"},
		{"x F1 é", None, "0 A false 0"},
	} {
		m, action := m, None
		for _, key := range strings.Fields(c.keys) {
			m, action = m.Press(key)
		}
		state := fmt.Sprint(int(m.Tab), " ", m.Kinds[m.shownKind()].Name, " ", m.Help, " ", m.lifted())
		if action != c.action || state != c.state {
			t.Errorf("%q: action %d, state %s; want %d, %s", c.keys, action, state, c.action, c.state)
		}
	}
	// A second q waits with the first one, an interrupt does not.
	m.Stopping = true
	if _, a := m.Press("q"); a != None {
		t.Error("q ends the program at once")
	}
	if _, a := m.Press("ctrl+c"); a != Stop {
		t.Error("ctrl+c does not")
	}
	// Another game is shown from its end.
	m, _ = m.Press("pgup")
	m = m.See(Snapshot{Game: Game{Job: scheduler.Job{ID: "a2"}}})
	if m.lifted() != 0 {
		t.Error("another game is moved up")
	}
}
