package bench

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// testExperiment is 2 games, 2 languages, n=3: 36 games.
func testExperiment() Experiment {
	return Experiment{
		Games: []string{"TicTacToe-v0", "Nim-v0"}, Langs: []string{"en", "ar"}, N: 3, Seed: 1,
		Model: Model{Name: "m.gguf", Size: 10, SHA256: "aa"}, System: "Play.",
		Temperature: 1, TopK: 64, TopP: 0.95, MaxTokens: 100, Context: 1000,
		Locales: Locales{Source: "embedded", SHA256: "bb"},
	}
}

// played invents a record for a job: seat 0 wins even indices, seat 1 odd ones.
// Observations grow as a game's history does.
func played(j scheduler.Job) scheduler.Record {
	r := scheduler.Record{Job: j}
	winner := j.Index % 2
	r.Result.Rewards[winner], r.Result.Rewards[1-winner] = 1, -1
	r.Result.Reasons = [2]string{"Line.", "خط."}
	r.Result.Invalid[1-winner] = j.Index == 2
	r.Result.Turns = [2]int{2, 1}
	r.Result.Roles = [2]string{"X", "O"}
	history := [2]string{"[GAME] Rules.\n", "[GAME] قواعد.\n"}
	for i := range 3 {
		seat := i % 2
		history[seat] += fmt.Sprintf("[GAME] board %d\n", i)
		r.Turns = append(r.Turns, scheduler.Turn{
			Seat: seat, Observation: history[seat],
			Completion: "hm \x00 \xff \\boxed{4}", Thinking: "hm", Action: "[4]",
			Status: prompts.Boxed, Finish: scheduler.FinishStop,
			Event:        games.Event{Action: "[4]", Invalid: i == 2, Reason: "taken", Default: i == 1, Judged: i < 2, Regret: 0.5 * float64(i%2)},
			PromptTokens: 20, CompletionTokens: 5, ThinkingTokens: 2, Prefill: 10,
			Start: time.Duration(i) * time.Second, End: time.Duration(i)*time.Second + 7*time.Millisecond,
		})
		history[seat] += "[4]\n"
	}
	return r
}

func mustCreate(t *testing.T, dir string, e Experiment) *Store {
	t.Helper()
	s, err := Create(dir, e, Session{Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// mustFill stores every game of the experiment, as played invents them, one by one.
func mustFill(t *testing.T, dir string, e Experiment) *Store {
	t.Helper()
	s := mustCreate(t, dir, e)
	for _, j := range remaining(t, s) {
		if err := s.Append(played(j)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func remaining(t *testing.T, s *Store) []scheduler.Job {
	t.Helper()
	seq, err := s.Remaining()
	if err != nil {
		t.Fatal(err)
	}
	var jobs []scheduler.Job
	for j := range seq {
		jobs = append(jobs, j)
	}
	return jobs
}

func TestStoreKeepsEverything(t *testing.T) {
	dir := t.TempDir() + "/a run? 100%#"
	s := mustCreate(t, dir, testExperiment())
	jobs := remaining(t, s)
	var want []scheduler.Record
	for _, j := range jobs {
		want = append(want, played(j))
	}
	for i := range want { // stored from last to first: reading restores plan order
		if err := s.Append(want[len(want)-1-i]); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []scheduler.Record
	if err := r.Each(func(rec scheduler.Record) error { got = append(got, rec); return nil }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d records differ from the %d stored:\n%+v\n%+v", len(got), len(want), got[0], want[0])
	}
	one, ok, err := r.Find(jobs[5].ID)
	if err != nil || !ok || !reflect.DeepEqual(one, want[5]) {
		t.Errorf("Find: %v %v %+v", ok, err, one)
	}
	if _, ok, _ := r.Find("nothing"); ok {
		t.Error("found a game that was not played")
	}
}

// Evalscope 1416, ogx 5643: a resumed run must not overwrite, must not play
// again what has ended, and must report old and new games together.
func TestStoreResumes(t *testing.T) {
	dir := t.TempDir()
	s := mustCreate(t, dir, testExperiment())
	jobs := remaining(t, s)
	if len(jobs) != 36 {
		t.Fatalf("%d jobs, want 36", len(jobs))
	}
	first := played(jobs[4])
	first.Turns[0].Completion = "kept from the first session"
	if err := s.Append(first, played(jobs[0])); err != nil {
		t.Fatal(err)
	}
	s.Close()

	s = mustCreate(t, dir, testExperiment())
	left := remaining(t, s)
	if len(left) != 34 || left[0] != jobs[1] || left[3] != jobs[5] {
		t.Fatalf("%d left, first %v", len(left), left[0])
	}
	for _, j := range left {
		if err := s.Append(played(j)); err != nil {
			t.Fatal(err)
		}
	}
	rec, _, err := s.Find(jobs[4].ID)
	if err != nil || rec.Turns[0].Completion != first.Turns[0].Completion {
		t.Errorf("the first session's game was overwritten: %v", err)
	}
	if rep, err := s.Report(); err != nil || rep.Games != 36 {
		t.Errorf("%d games reported, %v", rep.Games, err)
	}
	if len(remaining(t, s)) != 0 || len(s.How) != 2 {
		t.Errorf("%d remain, %d sessions", len(remaining(t, s)), len(s.How))
	}
}

func TestStoreRefusesDuplicatesAndStrangers(t *testing.T) {
	s := mustCreate(t, t.TempDir(), testExperiment())
	jobs := remaining(t, s)
	if err := s.Append(played(jobs[0])); err != nil {
		t.Fatal(err)
	}
	// One bad game in a batch: nothing of the batch is kept.
	if err := s.Append(played(jobs[1]), played(jobs[0])); err == nil || !strings.Contains(err.Error(), jobs[0].ID) {
		t.Errorf("a game was stored twice: %v", err)
	}
	stranger := jobs[1]
	stranger.Seed++
	if err := s.Append(played(stranger)); err == nil || !strings.Contains(err.Error(), "not of this run's plan") {
		t.Errorf("a game of no plan was stored: %v", err)
	}
	if n, err := s.Games(); n != 1 || err != nil {
		t.Errorf("%d games, %v", n, err)
	}
}
