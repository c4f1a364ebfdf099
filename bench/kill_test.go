package bench

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"selfplay/scheduler"
)

// childFolder, if set, makes the test binary a process that plays the kill
// test's experiment into that folder, to be killed.
const childFolder = "SELFPLAY_BENCH_TEST_FOLDER"

// mergeFolders, if set, makes it one that joins the runs after the first folder
// into the first.
const mergeFolders = "SELFPLAY_BENCH_TEST_MERGE"

func TestMain(m *testing.M) {
	if dirs := filepath.SplitList(os.Getenv(mergeFolders)); len(dirs) > 0 {
		if _, err := Merge(dirs[0], dirs[1:]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv(childFolder); dir != "" {
		if _, err := Play(context.Background(), Options{Dir: dir, Experiment: killExperiment(), Player: slowPlayer}); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// killExperiment is 4,800 games.
func killExperiment() Experiment {
	e := testExperiment()
	e.N = 400
	return e
}

// slowPlayer ends a few games at a time, so that transactions of several sizes
// are open when the process is killed.
func slowPlayer(ctx context.Context, d Deal,
	sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
	return fakePlayer(ctx, d, sink, func(p scheduler.Progress) {
		if p.Ended%7 == 0 {
			time.Sleep(time.Millisecond)
		}
	})
}

func startChild(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	return startWith(t, childFolder+"="+dir)
}

func startWith(t *testing.T, env string) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), env)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	return child
}

// Killed at any time, a run folder is whole: what had ended stays, once, and
// the next process goes on from there.
func TestKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	seen := map[string]bool{}
	for range 20 {
		child := startChild(t, dir)
		time.Sleep(time.Duration(rand.IntN(80)) * time.Millisecond)
		child.Process.Kill()
		child.Wait()
		checkWhole(t, dir, seen)
	}
	t.Logf("%d games ended under fire", len(seen))
	if err := startChild(t, dir).Wait(); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, dir, seen)
	if want := killExperiment().Plan().Len(); len(seen) != want {
		t.Errorf("%d games in the end, want %d", len(seen), want)
	}
}

// checkWhole reads the folder, without mending it first, and adds its games to
// seen; all that was seen before must be there still.
func checkWhole(t *testing.T, dir string, seen map[string]bool) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, runName)); err != nil && len(seen) == 0 {
		return // killed before the run began
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var verdict string
	if err := r.db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity %q, %v", verdict, err)
	}
	now := map[string]bool{}
	err = r.Each(func(rec scheduler.Record) error {
		if now[rec.Job.ID] || len(rec.Turns) != 3 {
			t.Errorf("%s: seen before in this reading %v, %d turns", rec.Job.ID, now[rec.Job.ID], len(rec.Turns))
		}
		now[rec.Job.ID] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range seen {
		if !now[id] {
			t.Fatalf("%s had ended and is gone", id)
		}
	}
	for id := range now {
		seen[id] = true
	}
}

// A run can be read while another process writes it.
func TestReadWhileWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	child := startChild(t, dir)
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	seen, reads := map[string]bool{}, 0
	for {
		select {
		case err := <-ended:
			if err != nil || reads < 2 {
				t.Errorf("the writer: %v; %d reads beside it", err, reads)
			}
			checkWhole(t, dir, seen)
			if want := killExperiment().Plan().Len(); len(seen) != want {
				t.Errorf("%d games, want %d", len(seen), want)
			}
			return
		default:
			checkWhole(t, dir, seen)
			reads++
		}
	}
}
