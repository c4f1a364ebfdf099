package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"selfplay/games"
	"selfplay/inference"
	"selfplay/scheduler"
)

// scripted is an engine whose every answer is one token and its end, and the
// codec to it, whose tokens are bytes. Their work takes a known time on the
// clock of synctest.
type scripted struct {
	limits  inference.Limits
	forward func(step int)
	steps   int
}

func (e *scripted) Limits() inference.Limits { return e.limits }
func (e *scripted) Close() error             { return nil }

func (e *scripted) Copy(inference.Copy) error {
	time.Sleep(time.Millisecond)
	return nil
}

func (e *scripted) Forward(b *inference.Batch) error {
	e.steps++
	e.forward(e.steps)
	for i := range b.Rows {
		if b.Rows[i].Tokens[0] == 'a' && len(b.Rows[i].Tokens) == 1 {
			b.Rows[i].Token = 0
		} else {
			b.Rows[i].Token = 'a'
		}
	}
	return nil
}

func (e *scripted) Prompt(_, user string) ([]int32, bool, error) {
	time.Sleep(1500 * time.Nanosecond)
	var ids []int32
	for _, c := range []byte(user) {
		ids = append(ids, int32(c))
	}
	return ids, false, nil
}

func (e *scripted) Text(ids []int32) string                 { return strings.Repeat("a", len(ids)) }
func (e *scripted) Cuts(_ []int32, places []int) (at []int) { return places }
func (e *scripted) End(id int32) bool                       { return id == 0 }

// twoTurns is a game of one answer a seat.
type twoTurns struct{ turn int }

func (g *twoTurns) ToMove() int { return g.turn }
func (g *twoTurns) Observation() string {
	return strings.Repeat("The rules are these. ", 4)[:60+g.turn]
}
func (g *twoTurns) Result() (games.Result, bool) { return games.Result{}, g.turn == 2 }
func (g *twoTurns) Step(string) games.Event {
	g.turn++
	return games.Event{}
}

// A file is what a timeline writes into.
type file struct {
	bytes.Buffer
	writes []int // how long it was after each
	fail   error
	closed int
}

func (f *file) Write(p []byte) (int, error) {
	if f.fail != nil {
		return 0, f.fail
	}
	n, err := f.Buffer.Write(p)
	f.writes = append(f.writes, f.Len())
	return n, err
}

func (f *file) Close() error {
	f.closed++
	return nil
}

// playScripted plays n games, two at once, with a timeline.
func playScripted(ctx context.Context, n int, forward func(step int), f *file) (Summary, error) {
	var jobs []scheduler.Job
	for i := range n {
		jobs = append(jobs, scheduler.Job{ID: strings.Repeat("g", i+1), Index: i})
	}
	e := &scripted{limits: inference.Limits{Rows: 2, Slots: 2, Cells: 100, Tokens: 70, Pool: 200, Least: 100}, forward: forward}
	cfg := scheduler.Config{
		New:    func(scheduler.Job) (games.Game, error) { return &twoTurns{}, nil },
		Limits: e.limits, Codec: e,
	}
	t := newTimeline(f)
	sum, err := play(ctx, OnEngine(cfg, e), Deal{Jobs: slices.Values(jobs), Total: len(jobs)}, &progressLine{planned: n}, t,
		func(...scheduler.Record) error { return nil })
	return sum, errors.Join(err, t.close())
}

// event is what tests want to know of one.
type event struct {
	Name, Ph string
	Ts, Dur  float64
	Args     map[string]any
}

func parseTimeline(t *testing.T, text []byte) (all []event) {
	t.Helper()
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return all
}

func count(all []event, name string) (n int) {
	for _, e := range all {
		if e.Name == name {
			n++
		}
	}
	return n
}

const wantTimeline = `[{"name":"process_name","ph":"M","pid":1,"args":{"name":"selfplay"}},
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"engine"}},
{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"host"}},
{"name":"thread_name","ph":"M","pid":1,"tid":3,"args":{"name":"waiting for the store"}},
{"name":"next","ph":"X","pid":1,"tid":2,"ts":0.000,"dur":3.000,"args":{}},
{"name":"step","ph":"X","pid":1,"tid":1,"ts":3.000,"dur":40000.000,"args":{"decode_rows":0,"prefill_rows":1,"prefill_tokens":60,"copies":0,"copied_tokens":0,"live_games":2}},
{"name":"done","ph":"X","pid":1,"tid":2,"ts":40003.000,"dur":0.000,"args":{"ended_games":0}},
{"name":"next","ph":"X","pid":1,"tid":2,"ts":40003.000,"dur":0.000,"args":{}},
{"name":"step","ph":"X","pid":1,"tid":1,"ts":40003.000,"dur":41000.000,"args":{"decode_rows":1,"prefill_rows":1,"prefill_tokens":1,"copies":1,"copied_tokens":59,"live_games":2}},
{"name":"done","ph":"X","pid":1,"tid":2,"ts":81003.000,"dur":1.500,"args":{"ended_games":0}},
{"name":"next","ph":"X","pid":1,"tid":2,"ts":81004.500,"dur":0.000,"args":{}},
{"name":"step","ph":"X","pid":1,"tid":1,"ts":81004.500,"dur":40000.000,"args":{"decode_rows":1,"prefill_rows":1,"prefill_tokens":1,"copies":0,"copied_tokens":0,"live_games":2}},
{"name":"done","ph":"X","pid":1,"tid":2,"ts":121004.500,"dur":1.500,"args":{"ended_games":0}},
{"name":"tokens/s","ph":"C","pid":1,"ts":0.000,"args":{"read":512.4,"written":41.3}},
{"name":"live games","ph":"C","pid":1,"ts":121006.000,"args":{"games":2}},
{"name":"next","ph":"X","pid":1,"tid":2,"ts":121006.000,"dur":0.000,"args":{}},
{"name":"step","ph":"X","pid":1,"tid":1,"ts":121006.000,"dur":40000.000,"args":{"decode_rows":1,"prefill_rows":1,"prefill_tokens":1,"copies":0,"copied_tokens":0,"live_games":2}},
{"name":"done","ph":"X","pid":1,"tid":2,"ts":161006.000,"dur":0.000,"args":{"ended_games":1}},
{"name":"next","ph":"X","pid":1,"tid":2,"ts":161006.000,"dur":0.000,"args":{}},
{"name":"step","ph":"X","pid":1,"tid":1,"ts":161006.000,"dur":40000.000,"args":{"decode_rows":1,"prefill_rows":0,"prefill_tokens":0,"copies":0,"copied_tokens":0,"live_games":1}},
{"name":"done","ph":"X","pid":1,"tid":2,"ts":201006.000,"dur":0.000,"args":{"ended_games":1}},
{"name":"tokens/s","ph":"C","pid":1,"ts":121006.000,"args":{"read":12.5,"written":37.5}},
{"name":"live games","ph":"C","pid":1,"ts":201006.000,"args":{"games":0}},
{"name":"tokens/s","ph":"C","pid":1,"ts":201006.000,"args":{"read":0.0,"written":0.0}}]
`

// The whole file of two games: their prompts are one, so that the second one is
// a copy, but for its last token.
func TestTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f file
		sum, err := playScripted(t.Context(), 2, func(int) { time.Sleep(40 * time.Millisecond) }, &f)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.String(); got != wantTimeline {
			t.Errorf("got\n%s\nwant\n%s", got, wantTimeline)
		}
		parseTimeline(t, f.Bytes())
		if f.closed != 1 {
			t.Errorf("closed %d times", f.closed)
		}
		if sum.EngineSeconds != 0.201 || sum.HostShare != 6.0/201_006 || sum.CopiedTokens != 59 || sum.KeptTokens != 120 {
			t.Errorf("%+v", sum)
		}
	})
}

// Interrupted, the list is closed behind the last step; killed, it lacks its
// bracket alone.
func TestTimelineInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, steps := range []int{1, 2, 777} {
			var f file
			ctx, cancel := context.WithCancel(t.Context())
			_, err := playScripted(ctx, 2000, func(step int) {
				time.Sleep(time.Millisecond)
				if step == steps {
					cancel()
				}
			}, &f)
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if got := count(parseTimeline(t, f.Bytes()), "step"); got != steps {
				t.Errorf("%d of %d steps", got, steps)
			}
			if steps == 777 && len(f.writes) < 5 {
				t.Errorf("%d bytes in %d writes", f.Len(), len(f.writes))
			}
			for _, n := range f.writes[:len(f.writes)-1] {
				parseTimeline(t, append(slices.Clone(f.Bytes()[:n]), ']'))
			}
		}
	})
}

// A full disk costs the timeline, never a game.
func TestTimelineFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := file{fail: errors.New("the disk is full")}
		sum, err := playScripted(t.Context(), 300, func(int) {}, &f)
		if !errors.Is(err, f.fail) || sum.Games != 300 || f.closed != 1 {
			t.Errorf("%v, %d games, closed %d times", err, sum.Games, f.closed)
		}
	})
}

// The spans of a step without an engine that waits for the store, and the
// counters over 100 ms and over what is left.
func TestTimelineWaits(t *testing.T) {
	var f file
	tl := newTimeline(&f)
	var p scheduler.Progress
	for range 5 {
		p.Started += 3
		p.Ended += 2
		at := p.Elapsed
		p.Last = scheduler.Step{Asked: at, Begun: at + 1e6, Computed: at + 1e6, Taken: at + 3e6, Handed: at + 30e6}
		p.Elapsed = p.Last.Handed
		tl.step(p)
	}
	if err := tl.close(); err != nil {
		t.Fatal(err)
	}
	all := parseTimeline(t, f.Bytes())
	waited := 0.0
	var live []any
	for _, e := range all {
		if e.Name == "wait" {
			waited += e.Dur
		}
		if e.Name == "live games" {
			live = append(live, e.Ts, e.Args["games"])
		}
	}
	if count(all, "step") != 0 || count(all, "next") != 5 || count(all, "done") != 5 || waited != 5*27e3 {
		t.Errorf("waited %v in\n%s", waited, f.String())
	}
	if want := []any{120e3, 4.0, 150e3, 5.0}; !slices.Equal(live, want) {
		t.Errorf("live games %v, want %v", live, want)
	}
}

// Play closes the file whatever becomes of the run.
func TestPlayTrace(t *testing.T) {
	o := Options{Dir: t.TempDir(), Experiment: testExperiment(), Player: fakePlayer}
	other := o
	other.Experiment.Seed++
	for _, c := range []struct {
		o     Options
		steps int
		fails bool
	}{{o, 36, false}, {o, 0, false}, {other, 0, true}} {
		var f file
		c.o.Trace = &f
		_, err := Play(t.Context(), c.o)
		if (err != nil) != c.fails || f.closed != 1 {
			t.Errorf("%v, closed %d times", err, f.closed)
		}
		if got := count(parseTimeline(t, f.Bytes()), "next"); got != c.steps {
			t.Errorf("%d steps, want %d", got, c.steps)
		}
	}
	full := errors.New("the disk is full")
	o.Trace = &file{fail: full}
	if sum, err := Play(t.Context(), o); !errors.Is(err, full) || !strings.Contains(err.Error(), "timeline") || sum.WholeRun.Games != 36 {
		t.Errorf("%v, %d games", err, sum.WholeRun.Games)
	}
}
