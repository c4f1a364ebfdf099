package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// logLines reads a log, of which every line is one JSON object with a time.
func logLines(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if at, _ := record["time"].(string); at == "" {
			t.Errorf("no time: %s", line)
		} else if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
			t.Error(err)
		}
		all = append(all, record)
	}
	return all
}

// messages are those of a log, without the runtime's.
func messages(all []map[string]any) (list []string) {
	for _, record := range all {
		switch m, _ := record["msg"].(string); m {
		case "started", "run started", "run resumed", "run ended", "ended", "model loaded", "games stored", "replica lost":
			list = append(list, m)
		}
	}
	return list
}

// TestLog has a run that is begun, one that goes on, and one that fails in one file.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "run")
	t.Setenv("SELFPLAY_N", "1")
	args := func(more ...string) []string {
		return append([]string{"bench", "--model", "synthetic:qwen3-tiny", "--games", "Nim", "--langs", "en", "--max-tokens", "4", "--run", folder, "--quiet", "--log", file}, more...)
	}
	before := slog.Default()
	for _, more := range [][]string{nil, {"--log-level", "debug"}, {"--seed", "2"}} {
		r := selfplay("", args(more...)...)
		if r.code != 0 && !slices.Contains(more, "--seed") || strings.Count(r.stderr, "\n") > 1 {
			t.Fatalf("code %d, %s", r.code, r.stderr)
		}
	}
	if slog.Default() != before {
		t.Error("the log is still open")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := logLines(t, string(text))
	want := []string{"started", "model loaded", "run started", "run ended", "ended", "started", "model loaded", "run resumed", "run ended", "ended", "started", "model loaded", "ended"}
	if got := messages(all); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var debug bool
	for _, record := range all {
		switch record["msg"] {
		case "run ended":
			if record["reason"] != "all games are played" || record["ended"] != 2.0 || record["planned"] != 2.0 {
				t.Errorf("%v", record)
			}
		case "started":
			if fmt.Sprint(record["settings"]) != "map[n:1 (SELFPLAY_N)]" || record["command"] != "bench" {
				t.Errorf("%v", record)
			}
		}
		debug = debug || record["level"] == "DEBUG"
	}
	if !debug {
		t.Error("nothing of the runtime at the level debug")
	}
	if last := all[len(all)-1]; last["exit"] != 1.0 || !strings.Contains(last["error"].(string), "another experiment") {
		t.Errorf("%v", last)
	}
}

// TestLogOnScreen: text without a file, JSON for -.
func TestLogOnScreen(t *testing.T) {
	r := selfplay("", "models", "--log-level", "info")
	if r.code != 0 || !strings.Contains(r.stderr, "level=INFO msg=started command=models") || !strings.Contains(r.stderr, "msg=ended exit=0") {
		t.Errorf("code %d, %s", r.code, r.stderr)
	}
	r = selfplay("", "models", "--log", "-")
	if got := messages(logLines(t, r.stderr)); !slices.Equal(got, []string{"started", "ended"}) {
		t.Errorf("%q in %s", got, r.stderr)
	}
	if r = selfplay("", "models", "--log-level", "warn"); r.stderr != "" {
		t.Errorf("at warn: %s", r.stderr)
	}
}

// TestLogOfReplicas: what replicas log is in the log of the run, and nowhere else.
func TestLogOfReplicas(t *testing.T) {
	t.Setenv(asProgram, "1")
	dir := t.TempDir()
	file := filepath.Join(dir, "log")
	r := selfplay("", "bench", "--model", "synthetic:qwen3-tiny", "--games", "Nim", "--langs", "en", "--n", "1", "--max-tokens", "4",
		"--replicas", "2", "--run", filepath.Join(dir, "run"), "--quiet", "--log", file, "--log-level", "debug")
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("code %d, %s", r.code, r.stderr)
	}
	text, _ := os.ReadFile(file)
	from := map[any]int{}
	for _, record := range logLines(t, string(text)) {
		if record["level"] == "DEBUG" {
			from[record["replica"]]++
		}
	}
	if from["cpu0"] == 0 || from["cpu1"] == 0 || from[nil] == 0 {
		t.Errorf("records by replica: %v", from)
	}
}

func TestLogged(t *testing.T) {
	for line, want := range map[string]bool{
		`{"time":"x","level":"INFO","msg":"hello","a":1}`: true,
		`{"level":"INFO"}`:               false,
		`{"level":"LOUD","msg":"hello"}`: false,
		`{"msg":"hello"}`:                false,
		`CUDA error: out of memory`:      false,
		`{"level":"INFO","msg":"cut`:     false,
		`7`:                              false,
	} {
		if logged("cpu0", line) != want {
			t.Errorf("%s: logged %v", line, !want)
		}
	}
}

func TestWaitLine(t *testing.T) {
	for _, c := range []struct {
		doing, more string
		took        time.Duration
		want        string
	}{
		{"exporting r", "1.0 MB written", 2500 * time.Millisecond, "exporting r: 1.0 MB written, 2s"},
		{"joining", "", 61 * time.Second, "joining: 1m1s"},
		{"computing the tables of " + strings.Repeat("x", 30) + "END", "", time.Second, "computing the tables of x..." + strings.Repeat("x", 19) + "END: 1s"},
	} {
		if got := waitLine(c.doing, c.more, c.took); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	var out strings.Builder
	done := waiting(&out, "nothing") // no terminal
	done()
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
	count := &counter{w: failing{}}
	if n, err := count.Write(make([]byte, 3<<20)); n != 1<<20 || err == nil || count.String() != "1.0 MB written" {
		t.Errorf("%d, %v, %s", n, err, count)
	}
}

// failing writes a part.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 1 << 20, errors.New("full") }
