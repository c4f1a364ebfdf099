package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"selfplay/bench/translate"
	"selfplay/locales"
)

// germanCandidates is a file of the program's own German of Nim.
func germanCandidates(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	for _, game := range []string{"Nim", locales.Common} {
		texts, err := locales.Embedded().Strings(game, "de")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if err := json.NewEncoder(&b).Encode(translate.Candidate{Game: game, Key: text.Key, Lang: "de", Text: text.Text}); err != nil {
				t.Fatal(err)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "de.jsonl")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// An askingCase is a command that asks a model: what it does in a folder, and the
// lines of its log once all is done.
type askingCase struct {
	log   string
	args  func(dir string) []string
	lines int
	at    string // the message at which a replica is killed: some questions are answered by then
}

// askingCases are translating, and judging with a second judge that is asked in this
// process. Before each, begin makes the folder.
func askingCases(t *testing.T) (cases map[string]askingCase, begin func(dir string)) {
	candidates := germanCandidates(t)
	small := []string{"--max-tokens", "6", "--slots", "4", "--context", "2000", "--device", "cpu"}
	return map[string]askingCase{
			"translate": {translate.LogName, func(dir string) []string {
				return append([]string{"locales", "translate", "--lang", "sw", "--games", "Nim", "--model", "synthetic:qwen3-tiny", "--seeds", "2", "--out", dir}, small...)
			}, 16 + 16 + 2, "25"}, // the German ones stand there already; texts, and a term of each file
			"judge": {"judged.jsonl", func(dir string) []string {
				return append([]string{"locales", "judge", dir, "--langs", "de", "--model", "synthetic:qwen3-tiny", "--model", "synthetic:llama-tiny"}, small...)
			}, 2 * 16, "10"},
		}, func(dir string) {
			t.Helper()
			if r := selfplay("", "locales", "translate", "--lang", "de", "--games", "Nim", "--candidates", candidates, "--out", dir); r.code != 0 {
				t.Fatal(r.stderr)
			}
		}
}

// askedLines are the lines of a log in an order of their own: which answer comes first is
// chance. No line may be there twice: it would have been asked for again.
func askedLines(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	slices.Sort(lines)
	if len(data) == 0 {
		return nil
	}
	if len(slices.Compact(slices.Clone(lines))) != len(lines) {
		t.Errorf("%s has a line twice", file)
	}
	return lines
}

// TestAskingReplicaKilled: one of two processes is killed while a model translates or
// judges; the other one answers its questions, and all is as in one process.
func TestAskingReplicaKilled(t *testing.T) {
	t.Setenv(asProgram, "1")
	cases, begin := askingCases(t)
	for name, c := range cases {
		alone := filepath.Join(t.TempDir(), "alone")
		begin(alone)
		if r := selfplay("", c.args(alone)...); r.code != 0 {
			t.Fatal(r.stderr)
		}
		want := askedLines(t, filepath.Join(alone, c.log))
		if len(want) != c.lines {
			t.Fatalf("%s: %d lines, want %d", name, len(want), c.lines)
		}
		for _, at := range []string{"3", c.at} { // 3: while terms are asked for, before texts are
			dir := filepath.Join(t.TempDir(), "two")
			begin(dir)
			t.Setenv(killReplica, at+" "+filepath.Join(t.TempDir(), "killed"))
			r := selfplay("", append(c.args(dir), "--replicas", "2")...)
			os.Unsetenv(killReplica)
			if r.code != 0 || strings.Count(r.stderr, "signal: killed): it ended; the questions that it had begun are asked again\n") != 1 {
				t.Errorf("%s, killed at message %s: code %d: %s", name, at, r.code, r.stderr)
			}
			if got := askedLines(t, filepath.Join(dir, c.log)); !slices.Equal(got, want) {
				t.Errorf("%s, killed at message %s: %d lines, or others than in one process", name, at, len(got))
			}
		}
	}
}

// TestAskingAllReplicasKilled: both are killed; what is finished is kept, one line says
// so, and the same command asks for the rest alone.
func TestAskingAllReplicasKilled(t *testing.T) {
	t.Setenv(asProgram, "1")
	cases, begin := askingCases(t)
	for name, c := range cases {
		dir := filepath.Join(t.TempDir(), "two")
		begin(dir)
		before := len(askedLines(t, filepath.Join(dir, c.log)))
		t.Setenv(killReplica, c.at+" ")
		r := selfplay("", append(c.args(dir), "--replicas", "2")...)
		os.Unsetenv(killReplica)
		kept := askedLines(t, filepath.Join(dir, c.log))
		if r.code != 1 || len(kept) == before || len(kept) == c.lines {
			t.Fatalf("%s: code %d with %d lines: %s", name, r.code, len(kept), r.stderr)
		}
		if want := "what is finished is kept in " + dir; !strings.Contains(r.stderr, "no replica is left: replica cpu") || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "resume with the same command\n") {
			t.Errorf("%s: %s", name, r.stderr)
		}
		r = selfplay("", c.args(dir)...)
		if r.code != 0 {
			t.Fatalf("%s: %s", name, r.stderr)
		}
		now := askedLines(t, filepath.Join(dir, c.log))
		if len(now) != c.lines || len(slices.Compact(slices.Sorted(slices.Values(append(now, kept...))))) != c.lines {
			t.Errorf("%s: %d lines, some of those that were kept are gone", name, len(now))
		}
		if name == "judge" && !strings.Contains(r.stderr, "synthetic:qwen3-tiny: "+strconv.Itoa(c.lines/2-len(kept))+" questions\n") {
			t.Errorf("it is asked for other than the rest of %d: %s", len(kept), r.stderr)
		}
	}
}
