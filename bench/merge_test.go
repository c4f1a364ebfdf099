package bench

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"selfplay/scheduler"
)

// shards plays the games of e on n runs, every n-th on each, the first of them
// in two sessions, and one run of them all; it returns the folders, the whole
// one last.
func shards(t *testing.T, e Experiment, n int) []string {
	t.Helper()
	parent := t.TempDir()
	var dirs []string
	for k := range n + 1 {
		dir := filepath.Join(parent, fmt.Sprint("run", k))
		dirs = append(dirs, dir)
		sessions := 1
		if k == 0 {
			sessions = 2
		}
		for half := range sessions {
			s, err := Create(dir, e, Session{Program: fmt.Sprint("shard ", k, " session ", half), Started: time.Unix(int64(1000-k), 0).UTC()})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.addGPUs(twoGPUs(true).Devices()[:1]); err != nil {
				t.Fatal(err)
			}
			i := 0
			var batch []scheduler.Record
			for j := range e.Plan().Jobs() {
				if (k == n || i%n == k) && (sessions == 1 || i/n%2 == half) {
					batch = append(batch, played(j))
				}
				i++
			}
			if err := s.Append(batch...); err != nil {
				t.Fatal(err)
			}
			s.Close()
		}
	}
	return dirs
}

// exportOf is the export of a folder in lines of JSON.
func exportOf(t *testing.T, dir string) string {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return string(export(t, r, FormatJSONL, ""))
}

func TestMergeIsTheWholeRun(t *testing.T) {
	dirs := shards(t, testExperiment(), 3)
	whole := dirs[3]
	out := filepath.Join(t.TempDir(), "new", "joined")
	m, err := Merge(out+"/", []string{dirs[2], dirs[0], dirs[1]})
	if err != nil || m != (Merged{Games: 36, Planned: 36}) {
		t.Fatal(m, err)
	}
	if got, want := exportOf(t, out), exportOf(t, whole); got != want {
		t.Error("the joined run exports other games than the whole one")
	}
	r, err := Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.Created.Equal(time.Unix(998, 0)) {
		t.Errorf("created %v", r.Created)
	}
	// Who played what stays known: 12 games of the first folder, then 6 and 6.
	var programs []string
	for _, how := range r.How {
		programs = append(programs, how.Program)
	}
	if want := []string{"shard 2 session 0", "shard 0 session 0", "shard 0 session 1", "shard 1 session 0"}; !slices.Equal(programs, want) {
		t.Errorf("sessions %q", programs)
	}
	var sessions, gpus string
	err = r.read(func(tx *sql.Tx) error {
		if err := tx.QueryRow(`SELECT group_concat(n, ' ') FROM (SELECT count(*) n FROM games GROUP BY session ORDER BY session)`).Scan(&sessions); err != nil {
			return err
		}
		return tx.QueryRow(`SELECT group_concat(session || uuid, ' ') FROM (SELECT * FROM gpus ORDER BY session)`).Scan(&gpus)
	})
	if err != nil || sessions != "12 6 6 12" || gpus != "0GPU-c 1GPU-c 2GPU-c 3GPU-c" {
		t.Errorf("%v: games by session %q, GPUs %q", err, sessions, gpus)
	}
	// Again: it is there. And it can go on as a run: nothing is left to play.
	if m, err := Merge(out, []string{dirs[2], dirs[0], dirs[1]}); err != nil || !m.Already {
		t.Error(m, err)
	}
	if left := remaining(t, mustCreate(t, out, testExperiment())); len(left) != 0 {
		t.Errorf("%d games left", len(left))
	}
}

// Part of the shards make a run that can be played on.
func TestMergeOfAPartGoesOn(t *testing.T) {
	dirs := shards(t, testExperiment(), 3)
	out := t.TempDir() // empty
	m, err := Merge(out, dirs[:2])
	if err != nil || m.Games != 24 {
		t.Fatal(m, err)
	}
	if _, err := Play(t.Context(), Options{Dir: out, Experiment: testExperiment(), Player: fakePlayer}); err != nil {
		t.Fatal(err)
	}
	if exportOf(t, out) != exportOf(t, dirs[3]) {
		t.Error("the run that went on exports other games than the whole one")
	}
}

func TestMergeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, dirs []string) (out string, runs []string)
		want  []string
	}{
		{"overlap", func(t *testing.T, dirs []string) (string, []string) { return "out", []string{dirs[0], dirs[2]} },
			[]string{"run0 and ", "run2 both hold game TicTacToe-v0/en-en/0:"}},
		{"the same twice", func(t *testing.T, dirs []string) (string, []string) { return "out", []string{dirs[0], dirs[0]} },
			[]string{"both hold game"}},
		{"other seed", func(t *testing.T, dirs []string) (string, []string) {
			e := testExperiment()
			e.Seed = 2
			other := t.TempDir()
			mustCreate(t, other, e).Close()
			return "out", []string{dirs[0], other}
		}, []string{"run0 (there)", "different experiments: seed is 1 there, 2 here"}},
		{"written", func(t *testing.T, dirs []string) (string, []string) {
			mustCreate(t, dirs[1], testExperiment())
			return "out", dirs[:2]
		}, []string{"run1 is being written by another process"}},
		{"no run", func(t *testing.T, dirs []string) (string, []string) { return "out", []string{dirs[0], t.TempDir()} },
			[]string{"is no run folder"}},
		{"another run there", func(t *testing.T, dirs []string) (string, []string) { return dirs[2], dirs[:2] },
			[]string{"run2 holds another run", "--out"}},
		{"files there", func(t *testing.T, dirs []string) (string, []string) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "thesis.tex"), "x")
			return dir, dirs[:2]
		}, []string{"is not empty", "--out"}},
		{"a file there", func(t *testing.T, dirs []string) (string, []string) {
			return filepath.Join(dirs[0], runName), dirs[:2]
		}, []string{"run.json cannot be read (not a directory)", "--out"}},
		{"damaged", func(t *testing.T, dirs []string) (string, []string) {
			execDB(t, dirs[1], `DELETE FROM transcripts`)
			return "out", dirs[:2]
		}, []string{"games.db is damaged", "game TicTacToe-v0/en-en/0r"}},
		{"session unknown", func(t *testing.T, dirs []string) (string, []string) {
			execDB(t, dirs[1], `UPDATE games SET session = 7`)
			return "out", dirs[:2]
		}, []string{"do not belong together", "session 7 of 1", "run1"}},
		{"other plan", func(t *testing.T, dirs []string) (string, []string) {
			execDB(t, dirs[1], `UPDATE games SET seed = 7`)
			return "out", dirs[:2]
		}, []string{"not of this run's plan"}},
		{"merging at the same time", func(t *testing.T, dirs []string) (string, []string) {
			mustCreate(t, dirs[0]+"x"+mergeSuffix, testExperiment())
			return dirs[0] + "x", dirs[:2]
		}, []string{"x.merging is being written by another process"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dirs := shards(t, testExperiment(), 2)
			out, runs := c.spoil(t, dirs)
			if out == "out" {
				out = filepath.Join(t.TempDir(), out)
			}
			_, err := Merge(out, runs)
			checkLine(t, err, c.want)
			if _, err := os.Stat(out + mergeSuffix); err == nil && c.name != "merging at the same time" {
				t.Error("it left its work behind")
			}
			if _, err := os.Stat(filepath.Join(out, dbName)); err == nil && !strings.Contains(c.name, "another run") {
				t.Error("a refused merge made a run")
			}
		})
	}
}

// Killed at any time, a merge has made the whole run or none, and the next one
// makes it.
func TestMergeKilled(t *testing.T) {
	e := testExperiment()
	e.N = 60
	dirs := shards(t, e, 2)
	out := filepath.Join(t.TempDir(), "joined")
	want := exportOf(t, dirs[2])
	env := mergeFolders + "=" + strings.Join([]string{out, dirs[0], dirs[1]}, string(filepath.ListSeparator))
	unfinished := 0
	for range 8 {
		child := startWith(t, env)
		time.Sleep(time.Duration(rand.IntN(120)) * time.Millisecond)
		child.Process.Kill()
		child.Wait()
		if _, err := os.Stat(out); err != nil {
			unfinished++
		} else if exportOf(t, out) != want {
			t.Fatal("a merge that was killed left half a run")
		}
	}
	t.Logf("%d of 8 were killed before the end", unfinished)
	if err := startWith(t, env).Wait(); err != nil {
		t.Fatal(err)
	}
	if exportOf(t, out) != want {
		t.Error("other games after kills")
	}
	if _, err := os.Stat(out + mergeSuffix); err == nil {
		t.Error("work is left behind")
	}
}

// A run of the real scheduler, in pieces that are joined, is the run in one go.
func TestMergeOfRealGames(t *testing.T) {
	e := testExperiment()
	e.N = 4
	var all []scheduler.Job
	for j := range e.Plan().Jobs() {
		all = append(all, j)
	}
	parent := t.TempDir()
	var dirs []string
	for k := range 2 {
		dir := filepath.Join(parent, fmt.Sprint(k))
		s := mustCreate(t, dir, e)
		var mine []scheduler.Job
		for i, j := range all {
			if i%2 == k {
				mine = append(mine, j)
			}
		}
		err := randomPlayer(e.Seed)(context.Background(), Deal{Jobs: slices.Values(mine), Total: len(mine)}, func(r scheduler.Record) error { return s.Append(r) }, func(scheduler.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		dirs = append(dirs, dir)
	}
	out, whole := filepath.Join(parent, "joined"), filepath.Join(parent, "whole")
	if _, err := Merge(out, dirs); err != nil {
		t.Fatal(err)
	}
	if _, err := Play(t.Context(), Options{Dir: whole, Experiment: e, Player: randomPlayer(e.Seed)}); err != nil {
		t.Fatal(err)
	}
	times := regexp.MustCompile(`"(start|end)_ms":\d+`)
	if times.ReplaceAllString(exportOf(t, out), "") != times.ReplaceAllString(exportOf(t, whole), "") {
		t.Error("the pieces, joined, export other games than the run in one go")
	}
}
