package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// randomRun plays a small run.
func randomRun(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	r := selfplay("", append([]string{"bench", "--model", "builtin:random", "--games", "Nim", "--langs", "en,ar", "--n", "2", "--quiet", "--run", dir}, args...)...)
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	return dir
}

func TestExportIntoAFile(t *testing.T) {
	run := randomRun(t)
	folder := t.TempDir()
	for _, args := range [][]string{{}, {"--format", "csv"}, {"--format", "csv", "--table", "turns"}, {"--format", "parquet", "--table", "turns"}} {
		args = append([]string{"export", run}, args...)
		want := selfplay("", args...)
		path := filepath.Join(folder, "out")
		os.WriteFile(path, []byte("from before"), 0o600)
		got := selfplay("", append(args, "--out", path)...)
		data, err := os.ReadFile(path)
		if want.code != 0 || got.code != 0 || err != nil || len(data) < 100 || string(data) != want.stdout || got.stdout != "" {
			t.Errorf("%q: %d %d %v, %d bytes in the file, %d on standard output: %s", args, want.code, got.code, err, len(data), len(want.stdout), got.stderr)
		}
	}
	// Where it cannot be written, what was there stays and nothing is left beside.
	path := filepath.Join(folder, "out")
	os.WriteFile(path, []byte("from before"), 0o600)
	broken := randomRun(t)
	os.Truncate(filepath.Join(broken, "games.db"), 3*4096)
	r := selfplay("", "export", broken, "--out", path)
	data, _ := os.ReadFile(path)
	entries, _ := os.ReadDir(folder)
	if r.code != 1 || string(data) != "from before" || len(entries) != 1 || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("code %d, %q, %d files: %s", r.code, data, len(entries), r.stderr)
	}
}

// Whoever reads the export may stop: that is no fault to tell of.
func TestExportIntoAClosedPipe(t *testing.T) {
	run := randomRun(t, "--n", "50")
	c := child("export", run)
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"id":"Nim-v0/en-en/0"`) {
		t.Errorf("%v: %.100s", err, line)
	}
	out.Close()
	c.Wait()
	if errs.String() != "" {
		t.Errorf("it complains: %s", errs.String())
	}
}

func TestMergeCommand(t *testing.T) {
	run, other := randomRun(t), randomRun(t, "--seed", "2")
	out := filepath.Join(t.TempDir(), "joined")
	for _, c := range []struct {
		code int
		want []string
		args []string
	}{
		{0, []string{out + ": 12 of 12 games from 1 run joined\n"}, []string{"merge", "--out", out, run}},
		{0, []string{"12 of 12 games from 1 run had been joined already"}, []string{"merge", run, "--out", out}},
		{1, []string{"different experiments: seed is 1 there, 2 here"}, []string{"merge", run, other, "--out", out + "2"}},
		{1, []string{"both hold game Nim-v0/en-en/0"}, []string{"merge", run, run, "--out", out + "2"}},
		{2, []string{"--out"}, []string{"merge", run}},
		{2, []string{"arg"}, []string{"merge", "--out", out}},
	} {
		r := selfplay("", c.args...)
		for _, want := range c.want {
			if r.code != c.code || !strings.Contains(r.stdout+r.stderr, want) {
				t.Errorf("%q: code %d, want %d with %q: %s%s", c.args, r.code, c.code, want, r.stdout, r.stderr)
			}
		}
	}
	if export(t, out) != export(t, run) {
		t.Error("the joined run exports other games")
	}
}
