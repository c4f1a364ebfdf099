package live

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"selfplay/bench"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/locales"
	"selfplay/scheduler"
)

// A run of twelve hours has about 1.7 million steps, at 40 a second. TestSoak plays
// as many when this variable has their number, as by make soak; else a few.
const (
	soakVariable = "SELFPLAY_SOAK_STEPS"
	shortSoak    = 30_000
)

// alphabet makes some answers legal.
const alphabet = "[[0123456789]]  "

// A parrot is an engine and its codec whose tokens are bytes. It writes what the
// draws say, in turns of 60 tokens on average.
type parrot struct {
	limits inference.Limits
	before func() error // called in each step
}

func (p *parrot) Limits() inference.Limits  { return p.limits }
func (p *parrot) Close() error              { return nil }
func (p *parrot) Copy(inference.Copy) error { return nil }

func (p *parrot) Forward(b *inference.Batch) error {
	if err := p.before(); err != nil {
		return err
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		r.Token = int32(alphabet[int(r.Draw*1e6)%len(alphabet)])
		if r.Draw < 1.0/60 {
			r.Token = 0
		}
	}
	return nil
}

func (p *parrot) Prompt(system, user string) ([]int32, bool, error) {
	text := system + user
	ids := make([]int32, len(text))
	for i := range ids {
		ids[i] = int32(text[i])
	}
	return ids, false, nil
}

func (p *parrot) Text(ids []int32) string {
	b := make([]byte, len(ids))
	for i, id := range ids {
		b[i] = byte(id)
	}
	return string(b)
}

func (p *parrot) Cuts(_ []int32, places []int) []int { return places }
func (p *parrot) End(id int32) bool                  { return id == 0 }

func deal(j scheduler.Job) (games.Game, error) {
	spec, err := games.Lookup(j.Game)
	if err != nil {
		return nil, err
	}
	return spec.New(locales.Embedded(), j.Langs, j.Seed)
}

// A reading is what the process holds at some step.
type reading struct{ heap, goroutines, files int }

func read(t *testing.T) (r reading) {
	runtime.GC()
	runtime.GC() // what pools keep goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Error(err)
	}
	return reading{int(m.HeapAlloc), runtime.NumGoroutine(), len(open)}
}

// mayWait is what the games take that wait for a busy disk: many more than the
// store takes at once do not. Records that nobody lets go would take more.
const mayWait = 2 << 20

// flat compares the second quarter of a session, when all has been used once, with
// the last: the least of each, as games wait for the disk now and then.
func flat(t *testing.T, session int, all []reading) {
	t.Helper()
	n := len(all) / 4
	if n < 2 {
		t.Errorf("session %d: %d readings", session, len(all))
		return
	}
	least := func(part []reading) reading {
		r := part[0]
		for _, p := range part {
			r = reading{min(r.heap, p.heap), min(r.goroutines, p.goroutines), min(r.files, p.files)}
		}
		return r
	}
	early, late := least(all[n:2*n]), least(all[len(all)-n:])
	t.Logf("session %d: %d readings, heap %d KB early, %d KB late; %d and %d goroutines; %d and %d files", session, len(all), early.heap>>10, late.heap>>10, early.goroutines, late.goroutines, early.files, late.files)
	if late.heap > early.heap+mayWait || late.goroutines > early.goroutines || late.files > early.files {
		t.Errorf("session %d grew from %+v to %+v", session, early, late)
	}
}

// A soak is one run in several sessions.
type soak struct {
	t     *testing.T
	o     bench.Options
	every int // steps between readings

	mu       sync.Mutex
	steps    int
	readings []reading
	view     Model
	sight    func() Snapshot
}

// step is called in each step of any replica. Now and then somebody looks at the view.
func (s *soak) step() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps++
	if s.steps%50 == 0 {
		s.view = s.view.See(s.sight())
		View(s.view)
	}
	if s.steps%s.every == 0 {
		s.readings = append(s.readings, read(s.t))
	}
}

// session plays on three replicas. The second is lost after some steps of its own,
// and the run is told to stop after as many games; 0: neither.
func (s *soak) session(lost, games int) (bench.Summary, error) {
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	limits := inference.Limits{Rows: 8, Slots: 12, Cells: 8192, Tokens: 2000, Pool: 4 * 8192, Least: 512}
	var team []scheduler.Replica
	for i := range 3 {
		own := 0
		p := &parrot{limits, func() error {
			s.step()
			if own++; i == 1 && own == lost {
				return errors.New("the device is gone")
			}
			return nil
		}}
		team = append(team, scheduler.Replica{Name: fmt.Sprint("r", i), Engine: p, Codec: p})
	}
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	gate := NewGate(clock)
	collector := NewCollector(s.o.Experiment, clock, gate, nil)
	s.sight, s.view, s.readings = collector.Snapshot, Model{}.Resize(200, 60), nil
	o := s.o
	o.Viewer, o.Hold = collector, gate.Hold
	cfg := scheduler.Config{Seed: 1, MaxTokens: 200, New: deal}
	play := bench.OnReplicas(cfg, team, func(scheduler.Replica, error) {})
	o.Player = func(ctx context.Context, d bench.Deal, sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		return play(ctx, d, func(r scheduler.Record) error {
			if games--; games == 0 {
				stop()
			}
			return sink(r)
		}, progress)
	}
	return bench.Play(ctx, o)
}

// Whatever a run of many hours does, memory, goroutines and files stay as few as
// they were, and the store holds each game once and as it was played: with a view
// that looks on, a replica that is lost, and a stop in the middle.
func TestSoak(t *testing.T) {
	steps := shortSoak
	if text := os.Getenv(soakVariable); text != "" {
		var err error
		if steps, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	// A game takes about 18 steps, with 24 played at once.
	e := bench.Experiment{Games: []string{"TicTacToe-v0", "Nim-v0"}, Langs: []string{"en", "ar", "zh"}, N: max(1, steps/18/24), Seed: 1,
		Model: bench.Model{Name: "parrot"}, MaxTokens: 200, Context: 8192}
	s := &soak{t: t, o: bench.Options{Dir: filepath.Join(t.TempDir(), "run"), Experiment: e}, every: max(1, steps/80)}
	planned := e.Plan().Len()
	before := read(t)
	sum, err := s.session(steps/32, planned/4) // early, for what is under way ends after it is told to stop
	if !errors.Is(err, context.Canceled) || sum.ReplicasLost != 1 || sum.Games < planned/4 || sum.Games == planned {
		t.Fatalf("%v: %d games of %d, %d replicas lost in %d steps", err, sum.Games, planned, sum.ReplicasLost, s.steps)
	}
	flat(t, 1, s.readings)
	first := sum.Games
	if sum, err = s.session(0, 0); err != nil || first+sum.Games != planned || sum.WholeRun.Games != planned {
		t.Fatalf("%v: %d and %d games of %d", err, first, sum.Games, planned)
	}
	flat(t, 2, s.readings)
	if after := read(t); after.goroutines > before.goroutines || after.files > before.files {
		t.Errorf("%+v before, %+v after", before, after)
	}
	t.Logf("%d steps, %d games, %d turns", s.steps, planned, sum.Report.Turns)
	checkSoaked(t, s.o.Dir, e)
}

// checkSoaked plays each stored game again by its answers.
func checkSoaked(t *testing.T, dir string, e bench.Experiment) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "games.db"))
	if err != nil {
		t.Fatal(err)
	}
	var verdict string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("%v: %s", err, verdict)
	}
	db.Close()
	run, err := bench.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	planned := map[scheduler.Job]bool{}
	for j := range e.Plan().Jobs() {
		planned[j] = true
	}
	err = run.Each(func(r scheduler.Record) error {
		if !planned[r.Job] {
			t.Errorf("%s is stored twice, or not of the plan", r.Job.ID)
		}
		delete(planned, r.Job)
		g, err := deal(r.Job)
		if err != nil {
			return err
		}
		for i, turn := range r.Turns {
			if turn.Seat != g.ToMove() || turn.Observation != g.Observation() {
				return fmt.Errorf("%s: turn %d was shown another text", r.Job.ID, i)
			}
			g.Step(turn.Action)
		}
		if want, over := g.Result(); !over || !reflect.DeepEqual(r.Result, want) {
			return fmt.Errorf("%s: %+v stored, %+v played", r.Job.ID, r.Result, want)
		}
		return nil
	})
	if err != nil || len(planned) > 0 {
		t.Errorf("%v; %d games are missing", err, len(planned))
	}
}
