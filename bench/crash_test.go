package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"selfplay/scheduler"
)

// copyFolder copies a run as it lies on the disk at this moment, as a power cut
// or a kill would leave it.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(filepath.Join(to, "run"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(to, "run")
}

// Cut off anywhere, the write-ahead log costs the games of its last commits and
// no other: what is left is whole, and the run goes on to the same end.
func TestTruncatedLog(t *testing.T) {
	e := testExperiment()
	dir := t.TempDir()
	mustFill(t, dir, e)
	wal := dbName + "-wal"
	info, err := os.Stat(filepath.Join(dir, wal))
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, cut := range []int64{info.Size() / 3, info.Size() / 2, info.Size() - 4096 - 24, info.Size() - 2000, info.Size() - 1} {
		broken := copyFolder(t, dir)
		os.Remove(filepath.Join(broken, dbName+"-shm")) // made again from the log
		if err := os.Truncate(filepath.Join(broken, wal), cut); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		checkWhole(t, broken, seen)
		if len(seen) < last || len(seen) >= 36 || len(seen) == 0 {
			t.Errorf("a log of %d bytes of %d holds %d games, a shorter one %d", cut, info.Size(), len(seen), last)
		}
		last = len(seen)
		if _, err := Play(t.Context(), Options{Dir: broken, Experiment: e, Player: fakePlayer}); err != nil {
			t.Fatal(err)
		}
		checkWhole(t, broken, seen)
		if exportOf(t, broken) != exportOf(t, dir) {
			t.Errorf("cut at %d of %d, other games in the end", cut, info.Size())
		}
	}
}

// A database that lacks its last page is refused, not played on.
func TestTruncatedDatabase(t *testing.T) {
	e := testExperiment()
	dir := t.TempDir()
	mustFill(t, dir, e).Close()
	path := filepath.Join(dir, dbName)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, less := range []int64{1, 4096} {
		if err := os.Truncate(path, info.Size()-less); err != nil {
			t.Fatal(err)
		}
		_, err = Play(t.Context(), Options{Dir: dir, Experiment: e, Player: fakePlayer})
		checkLine(t, err, []string{path, "damaged", "restore it"})
	}
}

// Stopped again and again while random games are played for real, the run has
// the totals and the games of one that nothing stopped.
func TestStoppedRealGames(t *testing.T) {
	e := testExperiment()
	e.N = 20
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	want, err := Play(t.Context(), Options{Dir: whole, Experiment: e, Player: randomPlayer(e.Seed)})
	if err != nil {
		t.Fatal(err)
	}
	cut := errors.New("cut")
	for at := 0; ; at++ { // each invocation ends after a few games
		player := func(ctx context.Context, d Deal, sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
			n := 0
			return randomPlayer(e.Seed)(ctx, d, func(r scheduler.Record) error {
				if n++; n > 11+at {
					return cut
				}
				return sink(r)
			}, progress)
		}
		sum, err := Play(t.Context(), Options{Dir: broken, Experiment: e, Player: player})
		if err == nil {
			if sum.WholeRun != want.WholeRun {
				t.Errorf("totals %+v, want %+v", sum.WholeRun, want.WholeRun)
			}
			break
		}
		if !errors.Is(err, cut) {
			t.Fatal(err)
		}
	}
	times := regexp.MustCompile(`"(start|end)_ms":\d+`)
	if times.ReplaceAllString(exportOf(t, broken), "") != times.ReplaceAllString(exportOf(t, whole), "") {
		t.Error("the stopped run exports other games")
	}
}

// 28,800 games with transcripts take less than 1 GB: a game of ten answers of
// 4,000 bytes each, three quarters of them thinking, in words as frequent as in
// a language, takes less than its share.
func TestSize(t *testing.T) {
	e := testExperiment()
	e.N = 10 // 120 games
	dir := t.TempDir()
	s := mustCreate(t, dir, e)
	jobs := remaining(t, s)
	for _, j := range jobs {
		if err := s.Append(wordyRecord(j)); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	info, err := os.Stat(filepath.Join(dir, dbName))
	if err != nil {
		t.Fatal(err)
	}
	whole := info.Size() / int64(len(jobs)) * 28_800
	t.Logf("28,800 games would take %s bytes", fmt.Sprint(whole))
	if whole > 1e9 {
		t.Errorf("28,800 games would take %d bytes", whole)
	}
}
