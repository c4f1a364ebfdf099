package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"selfplay/bench"
)

const tunable = "synthetic:qwen3-tiny:q4_1"

// tuneOnce tunes the tiny model in a cache folder of the test's own, and gives
// what was found and where it is stored.
func tuneOnce(t *testing.T) (tuned bench.Tuned, path string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	r := selfplay("", "tune", "--model", tunable, "--context", "256", "--slots", "4", "--json")
	var out struct {
		bench.Tuned
		File string
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.code != 0 || strings.Count(r.stdout, "\n") != 1 {
		t.Fatalf("code %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
	}
	for _, want := range []string{bench.TuneHeader, "file          1  read by 128", "bf16          1  4 slots write", "chosen: ", "stored in " + out.File} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("%q is missing in\n%s", want, r.stderr)
		}
	}
	return out.Tuned, out.File
}

// playTuned plays a short run and gives what standard error says.
func playTuned(t *testing.T, code int, args ...string) string {
	t.Helper()
	r := selfplay("", append([]string{"bench", "--model", tunable, "--games", "Nim", "--langs", "en", "--n", "1", "--max-tokens", "4", "--context", "256"}, args...)...)
	if r.code != code {
		t.Fatalf("%v: code %d: %s", args, r.code, r.stderr)
	}
	return r.stderr
}

// rewrite changes a part of the stored choice.
func rewrite(t *testing.T, path, old, new string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := regexp.MustCompile(old).ReplaceAll(data, []byte(new))
	if bytes.Equal(changed, data) {
		t.Fatalf("no %s in %s", old, data)
	}
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTune(t *testing.T) {
	tuned, path := tuneOnce(t)
	if len(tuned.Choices) != 2 || len(tuned.Points) < 8 || tuned.Context != 256 || tuned.Model.SHA256 == "" || tuned.Device.Cores != 1 {
		t.Fatalf("%+v", tuned)
	}
	for _, p := range tuned.Points {
		if len(p.Rates) < 3 || p.Rates[0] <= 0 || p.Threads != 1 {
			t.Errorf("%+v", p)
		}
	}
	// What was found is known from here on.
	rewrite(t, path, `"slots": \d+,\n\s*"chunk": \d+,\n\s*"threads": 1`, `"slots": 3, "chunk": 99, "threads": 1`)
	rewrite(t, path, `("weights": )"\w+"(,\n\s*"completion)`, `$1"file"$2`)
	run := func() string { return filepath.Join(t.TempDir(), "run") }
	for _, c := range []struct {
		name     string
		args     []string
		says     string // of tuned settings
		plan     string
		settings string
	}{
		{"all open", nil, "--slots 3 --chunk 99 --threads 1 --weights file", "as in the file", "for 3 slots of at most 256), 99 tokens a step, 1 thread\n"},
		{"slots given", []string{"--slots", "2"}, "--chunk 99 --threads 1 --weights file", "as in the file", "for 2 slots of at most 256), 99 tokens a step"},
		{"many slots given", []string{"--slots", "60"}, "--chunk 120 --threads 1 --weights file", "as in the file", "for 60 slots of at most 256), 120 tokens a step"},
		{"another context", []string{"--context", "300"}, "", "", "for 64 slots of at most 300), 512 tokens a step"},
		{"not tuned for bf16", []string{"--weights", "bf16"}, "the tuned settings are not used: they are not for --weights bf16", "expanded to bf16", "for 64 slots of at most 256), 512 tokens a step"},
		{"nothing open", []string{"--weights", "file", "--slots", "2", "--chunk", "50", "--threads", "1"}, "", "as in the file", "for 2 slots of at most 256), 50 tokens a step"},
	} {
		said := playTuned(t, 0, append(c.args, "--run", run())...)
		if !strings.Contains(said, c.settings) || !strings.Contains(said, c.plan) || !strings.Contains(said, c.says) || strings.Count(said, "tuned") != min(1, len(c.says)) {
			t.Errorf("%s: %s", c.name, said)
		}
	}
	if said := playTuned(t, 0, "--quiet", "--run", run()); !strings.HasPrefix(said, tunable+": tuned on 2") || strings.Count(said, "\n") != 1 {
		t.Errorf("quiet is not to be silent about it: %s", said)
	}
}

// TestTuneSlidingWindow: slots of a model whose rings are far shorter than what
// they hold are filled and gone on with as such a model allows.
func TestTuneSlidingWindow(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	r := selfplay("", "tune", "--model", "synthetic:gemma4-tiny", "--context", "1500", "--slots", "3")
	if r.code != 0 || !strings.Contains(r.stdout, "read by 750") || !strings.Contains(r.stdout, "3 slots write") || strings.Contains(r.stdout, "bf16  ") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestTunedRunIsResumed: what is tuned between two sessions of a run does not
// change its weights.
func TestTunedRunIsResumed(t *testing.T) {
	tuned, path := tuneOnce(t)
	t.Chdir(t.TempDir())
	other := tuned.Choices[1].Weights
	weights := func(dir string) string { return bench.WeightsOf(dir) }
	named := filepath.Join(t.TempDir(), "named")
	playTuned(t, 0, "--weights", other, "--run", named)
	playTuned(t, 0, "--run", named)
	if weights(named) != other {
		t.Errorf("the named run has weights %s, want %s", weights(named), other)
	}
	folders := func() []string {
		list, err := filepath.Glob("runs/*")
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	playTuned(t, 0, "--weights", other)
	playTuned(t, 0)
	if list := folders(); len(list) != 1 || weights(list[0]) != other {
		t.Errorf("the run that the experiment names was not resumed: %v", list)
	}
	playTuned(t, 0, "--weights", tuned.Choices[0].Weights)
	if list := folders(); len(list) != 2 {
		t.Errorf("weights that are given are another experiment: %v", list)
	}
	playTuned(t, 0, "--seed", "5")
	if list := folders(); len(list) != 3 {
		t.Errorf("another seed is another experiment: %v", list)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	playTuned(t, 0, "--run", named)
}

func TestTunedDoesNotFit(t *testing.T) {
	_, path := tuneOnce(t)
	rewrite(t, path, `"slots": \d+,\n\s*"chunk"`, `"slots": 1000000, "chunk"`)
	said := playTuned(t, 0, "--run", filepath.Join(t.TempDir(), "run"))
	if !strings.Contains(said, "the tuned settings are not used, run selfplay tune again: "+tunable) || !strings.Contains(said, "does not fit into") || !strings.Contains(said, "for 64 slots of at most 256), 512 tokens") {
		t.Error(said)
	}
	rewrite(t, path, `"format": 1`, `"format": 7`)
	said = playTuned(t, 1, "--run", filepath.Join(t.TempDir(), "run"))
	if !strings.Contains(said, path) || !strings.Contains(said, "delete the file") || strings.Count(said, "\n") != 1 {
		t.Error(said)
	}
}

func TestTuneFaults(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	for _, c := range []struct {
		name string
		code int
		says string
		args []string
	}{
		{"no model", 2, "--model is missing", nil},
		{"no such shape", 2, "synthetic:qwen9", []string{"--model", "synthetic:qwen9"}},
		{"a policy", 2, "builtin:random", []string{"--model", "builtin:random"}},
		{"missing file", 1, "nowhere.gguf", []string{"--model", "nowhere.gguf"}},
		{"negative slots", 2, "--slots", []string{"--model", tunable, "--slots", "-1"}},
		{"one slot", 1, "--slots", []string{"--model", tunable, "--slots", "1"}},
		{"context too long", 1, "--context 9000", []string{"--model", tunable, "--context", "9000"}},
		{"context too short", 1, "--context", []string{"--model", tunable, "--context", "2", "--slots", "2"}},
		{"no room", 1, "does not fit", []string{"--model", tunable, "--slots", "1000000"}},
	} {
		r := selfplay("", append([]string{"tune"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) || strings.Contains(r.stderr, "panic") {
			t.Errorf("%s: code %d: %s", c.name, r.code, r.stderr)
		}
	}
	if list, _ := filepath.Glob(filepath.Join(cache, "selfplay", "tuned", "*")); len(list) > 0 {
		t.Errorf("stored all the same: %v", list)
	}
	// Where nothing can be stored, nothing is measured.
	file := filepath.Join(cache, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", file)
	if r := selfplay("", "tune", "--model", tunable); r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "set XDG_CACHE_HOME") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestTuneInterrupt: an interrupt stores nothing.
func TestTuneInterrupt(t *testing.T) {
	cache := t.TempDir()
	c := child("tune", "--model", tunable)
	c.Env = append(c.Env, "XDG_CACHE_HOME="+cache)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1)
	if _, err := out.Read(buffer); err != nil { // the header: from here on the signal is caught
		t.Fatal(err)
	}
	c.Process.Signal(os.Interrupt)
	rest := new(bytes.Buffer)
	rest.ReadFrom(out)
	c.Wait()
	list, _ := filepath.Glob(filepath.Join(cache, "selfplay", "tuned", "*"))
	if c.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "nothing is stored") || len(list) > 0 {
		t.Errorf("code %d, stored %v: %s", c.ProcessState.ExitCode(), list, errs.String())
	}
}
