package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"selfplay/bench"
)

// randomArgs play 2,400 games between random players.
func randomArgs(more ...string) []string {
	return append([]string{"bench", "--model", "builtin:random", "--games", "TicTacToe,Nim", "--n", "100", "--langs", "en,he,zh"}, more...)
}

// outcome is what a run came to, without what depends on the machine.
type outcome struct {
	totals map[string]any // its report
	games  string         // its export
}

func outcomeOf(dir string) (o outcome, err error) {
	report, games := selfplay("", "report", dir, "--json"), selfplay("", "export", dir, "--format", "jsonl")
	if games.code != 0 {
		return o, errors.New(games.stderr)
	}
	if err := json.Unmarshal([]byte(report.stdout), &o.totals); err != nil {
		return o, fmt.Errorf("%w: %s", err, report.stderr)
	}
	delete(o.totals, "seconds")
	delete(o.totals, "run")
	o.games = times.ReplaceAllString(games.stdout, `"$1":0`)
	return o, nil
}

// unstopped is what those games come to where nothing stops them.
var unstopped = sync.OnceValues(func() (outcome, error) {
	dir, err := os.MkdirTemp("", "selfplay-test")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(dir)
	if r := selfplay("", randomArgs("--quiet", "--run", dir)...); r.code != 0 {
		return outcome{}, errors.New(r.stderr)
	}
	return outcomeOf(dir)
})

// checkOutcome compares a run with one that nothing stopped.
func checkOutcome(t *testing.T, dir string) {
	t.Helper()
	want, err := unstopped()
	if err != nil {
		t.Fatal(err)
	}
	got, err := outcomeOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.totals, want.totals) || got.totals["games"] != 2400. {
		t.Errorf("%v games and %v, or reports that differ:\n%v\n%v", got.totals["games"], want.totals["games"], got.totals, want.totals)
	}
	if got.games != want.games || strings.Count(got.games, "\n") != 2400 {
		t.Error("the games differ from those of an uninterrupted run")
	}
}

// storedGames says how many games a run holds by now; none where it has not begun.
func storedGames(dir string) int {
	r, err := bench.Open(dir)
	if err != nil {
		return 0
	}
	defer r.Close()
	n, _ := r.Games()
	return n
}

// Killed at 20 moments, a run of real games goes on each time: nothing is lost, nothing
// is there twice, the file is whole, and in the end all is as in a run that nothing
// stopped. Half of the moments are of progress, some games after those that were kept;
// the others are random ones, also before the first game and while the run is opened.
func TestKill(t *testing.T) {
	broken, seen, rng := filepath.Join(t.TempDir(), "broken"), map[string]bool{}, rand.New(rand.NewPCG(3, 4))
	for kills := 0; kills < 20; {
		c := child(randomArgs("--quiet", "--run", broken)...)
		ended := make(chan error, 1)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- c.Wait() }()
		var err error
		if kills%2 == 0 {
			err = waitForGames(ended, broken, len(seen)+1+rng.IntN(50))
		} else {
			err = waitFor(ended, time.Duration(rng.IntN(100))*time.Millisecond)
		}
		if err == errAlive {
			c.Process.Signal(syscall.SIGKILL)
			err = <-ended
			kills++
		}
		checkKilled(t, broken, seen)
		if err == nil { // it was too fast: once more from the start
			checkOutcome(t, broken)
			broken, seen = filepath.Join(t.TempDir(), "broken"), map[string]bool{}
		} else if !strings.Contains(err.Error(), "killed") {
			t.Fatal(err)
		}
	}
	t.Logf("%d games were kept over the kills", len(seen))
	if r := selfplay("", randomArgs("--quiet", "--run", broken)...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	checkKilled(t, broken, seen)
	checkOutcome(t, broken)
}

// errAlive says that a process had not ended when what was waited for came.
var errAlive = errors.New("it lives")

// waitForGames waits until a run holds so many games, or its process has ended.
func waitForGames(ended chan error, dir string, n int) error {
	for storedGames(dir) < n {
		if err := waitFor(ended, 5*time.Millisecond); err != errAlive {
			return err
		}
	}
	return errAlive
}

// waitFor waits for a time, or for a process that ends before.
func waitFor(ended chan error, d time.Duration) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(d):
		return errAlive
	}
}

// checkKilled reads the run as it was left, and adds its games to seen.
func checkKilled(t *testing.T, dir string, seen map[string]bool) {
	t.Helper()
	r, err := bench.Open(dir)
	if err != nil && len(seen) == 0 && strings.Contains(err.Error(), "no run folder") {
		return // killed before the run began
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	db, err := sql.Open("sqlite", filepath.Join(dir, "games.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity %q, %v", verdict, err)
	}
	now := map[string]bool{}
	if err := r.Outcomes(func(o bench.Outcome) error {
		if now[o.Job.ID] {
			t.Errorf("%s is there twice", o.Job.ID)
		}
		now[o.Job.ID] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for id := range seen {
		if !now[id] {
			t.Fatalf("%s was kept and is gone", id)
		}
	}
	for id := range now {
		seen[id] = true
	}
}

// Told to stop by a signal, the program keeps what has ended, says so with exit code 1,
// and prints a command that a shell takes as it is and that plays the rest. Meanwhile
// no other process may write to the run.
func TestStopAndResume(t *testing.T) {
	for signal, run := range map[os.Signal]string{os.Interrupt: "", syscall.SIGTERM: "it's a $run; really"} {
		home := t.TempDir() // the run's folder is relative to it
		args := randomArgs("--quiet")
		if run != "" {
			args = append(args, "--run", run)
		}
		c := child(args...)
		c.Dir = home
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		dir := filepath.Join(home, run)
		for run == "" {
			if found, _ := filepath.Glob(filepath.Join(home, "runs", "*")); len(found) == 1 {
				dir, run = found[0], "the default"
			} else if err := waitFor(ended, 5*time.Millisecond); err != errAlive {
				t.Fatalf("%v: it ended early: %v, %s", signal, err, stderr.String())
			}
		}
		if err := waitForGames(ended, dir, 1); err != errAlive {
			t.Fatalf("%v: it ended early: %v, %s", signal, err, stderr.String())
		}
		c.Process.Signal(syscall.SIGSTOP) // or it may be at its end before the second process has begun
		if second := selfplay("", randomArgs("--quiet", "--run", dir)...); second.code != 1 || !strings.Contains(second.stderr, dir+" is being written by another process") || strings.Count(second.stderr, "selfplay: ") != 1 {
			t.Errorf("a second process: exit code %d: %s", second.code, second.stderr)
		}
		c.Process.Signal(signal)
		c.Process.Signal(syscall.SIGCONT)
		<-ended
		kept := storedGames(dir)
		if code := c.ProcessState.ExitCode(); code != 1 || kept == 0 || kept == 2400 {
			t.Fatalf("%v: exit code %d with %d games: %s", signal, code, kept, stderr.String())
		}
		_, rest, ok := strings.Cut(stderr.String(), "resume with: ")
		command, after, _ := strings.Cut(rest, "\n")
		if !ok || after != "" && !strings.HasPrefix(after, "selfplay: ") || !strings.Contains(stderr.String(), "selfplay: stopped (") {
			t.Fatalf("%v: %s", signal, stderr.String())
		}
		shell := exec.Command("sh", "-c", command)
		shell.Dir, shell.Env = home, append(os.Environ(), asProgram+"=1")
		if out, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s: %v, %s", signal, command, err, out)
		}
		checkOutcome(t, dir)
	}
}
