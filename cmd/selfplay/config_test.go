package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"selfplay/bench"
)

// configure writes a configuration file where the program looks for it.
func configure(t *testing.T, text string) (path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "selfplay", "config")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", dir)
	return path
}

// played is the experiment that a run folder holds.
func played(t *testing.T, dir string) bench.Experiment {
	t.Helper()
	r, err := bench.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Experiment
}

// TestPrecedence has the number of games come from ever stronger places.
func TestPrecedence(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for _, c := range []struct {
		name, file, variable string
		args                 []string
		n                    int
		says                 string // FILE for the path; "" for nothing
	}{
		{"built in", "", "", nil, 400, ""},
		{"above all sections", "n = 2\n", "", nil, 2, "--n 2 (FILE:1)"},
		{"the command's section", "n = 2\n[bench]\nn = 3\n", "", nil, 3, "--n 3 (FILE:3)"},
		{"another command's section", "n = 2\n[debug greedy]\nn = 3\n", "", nil, 2, "--n 2 (FILE:1)"},
		{"the environment", "n = 2\n[bench]\nn = 3\n", "4", nil, 4, "--n 4 (SELFPLAY_N)"},
		{"an empty variable", "n = 2\n", "", nil, 2, "--n 2 (FILE:1)"},
		{"the command line", "n = 2\n[bench]\nn = 3\n", "4", []string{"--n", "5"}, 5, ""},
		{"the command line with the default", "n = 2\n", "4", []string{"--n", "400"}, 400, ""},
	} {
		path := configure(t, c.file)
		t.Setenv("SELFPLAY_N", c.variable)
		os.RemoveAll(dir)
		r := selfplay("", append([]string{"bench", "--model", "builtin:random", "--games", "Nim", "--langs", "en", "--run", dir}, c.args...)...)
		if r.code != 0 {
			t.Errorf("%s: %s", c.name, r.stderr)
			continue
		}
		if n := played(t, dir).N; n != c.n {
			t.Errorf("%s: n is %d, want %d", c.name, n, c.n)
		}
		said, _, _ := strings.Cut(r.stderr, "\n")
		says := ""
		if c.says != "" {
			says = "settings: " + strings.ReplaceAll(c.says, "FILE", path)
		}
		if says != "" && said != says || says == "" && strings.HasPrefix(said, "settings") {
			t.Errorf("%s: says %q, want %q", c.name, said, says)
		}
	}
}

// TestSuiteAmongSettings: a suite wins over what is weaker than the place that names
// it, and says so.
func TestSuiteAmongSettings(t *testing.T) {
	for _, c := range []struct {
		name, file, variable string
		args                 []string
		n                    int
		beaten               string
	}{
		{"flag over file", "n = 2\n", "", []string{"--suite", "paper"}, 400, "--suite paper wins over --n 2 (FILE:1)\n"},
		{"flag over environment", "", "3", []string{"--suite", "paper"}, 400, "--suite paper wins over --n 3 (SELFPLAY_N)\n"},
		{"flags beside each other", "n = 2\n", "3", []string{"--suite", "paper", "--n", "4"}, 4, ""},
		{"file beside file", "suite = paper\nn = 2\n", "", nil, 2, ""},
		{"environment over file", "suite = paper\n", "3", nil, 3, ""},
		{"flag over file's suite", "suite = paper\n", "", []string{"--n", "4"}, 4, ""},
		{"the file's alone", "suite = paper\n", "", nil, 400, ""},
	} {
		path := configure(t, c.file)
		t.Setenv("SELFPLAY_N", c.variable)
		root := rootCommand()
		args := append([]string{"bench", "--model", "builtin:random"}, c.args...)
		command, rest, _ := root.Find(args)
		var errs bytes.Buffer
		command.SetErr(&errs)
		if err := command.ParseFlags(rest); err != nil {
			t.Fatal(err)
		}
		if err := applySettings(command); err != nil {
			t.Fatal(err)
		}
		errs.Reset()
		f := &benchFlags{}
		f.suite, _ = command.Flags().GetString("suite")
		f.n, _ = command.Flags().GetInt("n")
		if _, err := applySuite(command, f); err != nil || f.n != c.n {
			t.Errorf("%s: n is %d, want %d (%v)", c.name, f.n, c.n, err)
		}
		if want := strings.ReplaceAll(c.beaten, "FILE", path); errs.String() != want {
			t.Errorf("%s: says %q, want %q", c.name, errs.String(), want)
		}
		if line := commandLine(command, "run"); c.beaten != "" && strings.Contains(line, "--n=") {
			t.Errorf("%s: %s", c.name, line)
		}
	}
}

// TestSuiteOfSettings: a suite from the environment is what is played.
func TestSuiteOfSettings(t *testing.T) {
	t.Setenv("SELFPLAY_SUITE", "paper")
	t.Setenv("SELFPLAY_OPPONENT", "builtin:random, builtin:optimal") // as people write lists
	t.Setenv("SELFPLAY_N", "1")
	dir := filepath.Join(t.TempDir(), "run")
	if r := selfplay("", "bench", "--model", "builtin:random", "--run", dir, "--langs", "en", "--games", "Nim,TicTacToe", "--quiet"); r.code != 0 || r.stderr != "" {
		t.Fatalf("code %d, %s", r.code, r.stderr)
	}
	if e := played(t, dir); e.N != 1 || len(e.Langs) != 1 || len(e.Games) != 2 {
		t.Errorf("%+v", e)
	}
}

// TestConfigFaults: one line that names the file, its line, and what to do.
func TestConfigFaults(t *testing.T) {
	for _, c := range []struct {
		text string
		line string
		says string
	}{
		{"langss = en\n", ":1", "no command has a flag --langss: did you mean langs?"},
		{"\n[bench]\nmax_tokens = 3", ":3", "selfplay bench has no flag --max_tokens: did you mean max-tokens?"},
		{"[bench]\nformat = csv", ":2", "selfplay bench has no flag --format"},
		{"[bnech]\nn = 3", ":2", "[bnech] is no command: did you mean bench?"},
		{"[replica]\nlog = x", ":2", "[replica] is no command"},
		{"[bench", ":1", "a section is [COMMAND]"},
		{"[ ]", ":1", "the section names no command"},
		{"[bench] n = 3", ":1", "a section is [COMMAND]"},
		{"n 3", ":1", "'n 3': write flag = value"},
		{"n = many", ":1", "--n many: give a whole number"},
		{"[export]\n\n[debug greedy]\nn = 1.5 # not whole", ":4", "--n 1.5: give a whole number"},
		{"quiet = 7", ":1", "--quiet 7: give true or false"},
		{"n =", ":1", "n: there is no value"},
		{"n = # none", ":1", "n: there is no value"},
		{`model = "x`, ":1", "no closing quote"},
		{`model = "x" y`, ":1", "more behind it"},
		{"n = 1\nn = 2", ":2", "n is given twice: line 1 has it too"},
		{"config = other", ":1", "no command has a flag --config"},
		{"help = true", ":1", "no command has a flag --help"},
		{"\xff\xfe", ":1", "this is no text"},
	} {
		path := configure(t, c.text)
		for _, args := range []string{"models", "config", "bench --n 4"} {
			r := selfplay("", strings.Fields(args)...)
			if want := "selfplay: " + path + c.line + ": "; r.code != 2 || !strings.HasPrefix(r.stderr, want) || !strings.Contains(r.stderr, c.says) || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("%q, %s: code %d, %s, want %s%s", c.text, args, r.code, r.stderr, want, c.says)
			}
		}
		for _, args := range []string{"--help", "bench --help", "help bench", "completion zsh", "--version"} { // which a broken file must not break
			if r := selfplay("", strings.Fields(args)...); r.code != 0 {
				t.Errorf("%q, %s: %s", c.text, args, r.stderr)
			}
		}
	}
}

// TestConfigPlaces: which file is read, and that one that is named must be there.
func TestConfigPlaces(t *testing.T) {
	path := configure(t, "log-level = warn\n")
	other := filepath.Join(t.TempDir(), "team.conf")
	if err := os.WriteFile(other, []byte("log-level = error\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	for _, c := range []struct {
		variable string
		args     string
		code     int
		says     string
	}{
		{"", "config", 0, "file: " + path + "\n"},
		{other, "config", 0, "file: " + other + "\n"},
		{other, "config --config " + path, 0, "file: " + path + "\n"},
		{other, "config --config /dev/null", 0, "file: /dev/null\nnothing is set"},
		{"/nowhere/x", "models", 2, "SELFPLAY_CONFIG: open /nowhere/x: no such file"},
		{"", "models --config /nowhere/x", 2, "--config: open /nowhere/x: no such file"},
		{"", "models --config " + dir, 2, "is a directory"},
		{"", "models --config /dev/zero", 2, "/dev/zero is no configuration file"},
	} {
		t.Setenv("SELFPLAY_CONFIG", c.variable)
		r := selfplay("", strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.says) {
			t.Errorf("%s %s: code %d, %s%s, want %s", c.variable, c.args, r.code, r.stdout, r.stderr, c.says)
		}
	}
	t.Setenv("SELFPLAY_CONFIG", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", "")
	if r := selfplay("", "config"); r.code != 0 || !strings.Contains(r.stdout, "file: none") {
		t.Errorf("without a home: code %d, %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestConfigCommand shows what is set, and where.
func TestConfigCommand(t *testing.T) {
	path := configure(t, "langs = en,de\n[debug]\nthink = off\n[locales list]\njson = true\n")
	t.Setenv("SELFPLAY_CACHE", "q8_0")
	r := selfplay("", "config")
	for _, want := range []string{"--langs  en,de  " + path + ":1  bench, eval, ", "--think  off    " + path + ":3  debug greedy, debug tokenize\n", "--json   true   " + path + ":5  locales list\n", "SELFPLAY_CACHE"} {
		if r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("code %d, %q is missing in\n%s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	r = selfplay("", "config", "bench")
	for _, want := range []string{"--cache       q8_0", "SELFPLAY_CACHE\n", "--n           400 ", "--think       auto "} {
		if r.code != 0 || !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "--config") {
			t.Errorf("code %d, %q is missing in\n%s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	for args, code := range map[string]int{"debug": 2, "bench x": 2, "locales check": 0} {
		if r := selfplay("", append([]string{"config"}, strings.Fields(args)...)...); r.code != code {
			t.Errorf("config %s: code %d, %s", args, r.code, r.stderr)
		}
	}
	t.Setenv("SELFPLAY_N", "x")
	for _, args := range []string{"config bench", "bench"} {
		if r := selfplay("", strings.Fields(args)...); r.code != 2 || !strings.Contains(r.stderr, "SELFPLAY_N: --n x: give a whole number") {
			t.Errorf("%s: code %d, %s", args, r.code, r.stderr)
		}
	}
}

// TestSettingsOfErrors: an error that names a flag says where its value is from.
func TestSettingsOfErrors(t *testing.T) {
	path := configure(t, "[export]\ntable = turns\n[bench]\ncontext = 0\n")
	t.Setenv("SELFPLAY_GPUS", "0")
	r := selfplay("", "bench", "--model", "builtin:random", "--device", "cpu", "--quiet")
	if r.code != 2 || !strings.HasSuffix(r.stderr, "--device cpu computes on no GPU (--gpus is set by SELFPLAY_GPUS)\n") {
		t.Errorf("code %d, %s", r.code, r.stderr)
	}
	r = selfplay("", "export", "nowhere", "--format", "xml") // the table is not what is wrong
	if r.code != 2 || strings.Contains(r.stderr, path+":2)\nselfplay: --format xml: give jsonl, csv or parquet (") {
		t.Errorf("code %d, %s", r.code, r.stderr)
	}
	r = selfplay("", "export", "nowhere") // where a default does not fit, it is no mistake
	if r.code != 1 || !strings.Contains(r.stderr, "nowhere is no run folder") {
		t.Errorf("code %d, %s", r.code, r.stderr)
	}
	for text, want := range map[string]bool{"--n 0": true, "--names": false, "--n-x": false, "a --n": true, "--names or --n,": true, "": false} {
		if names(text, "--n") != want {
			t.Errorf("%q names --n: %v", text, !want)
		}
	}
}

// TestVariablesWithTypos are named, and stop nothing.
func TestVariablesWithTypos(t *testing.T) {
	t.Setenv("SELFPLAY_LANGZ", "en")
	t.Setenv("SELFPLAY_SERVICE_HOST", "10.0.0.1") // as Kubernetes sets for a service of that name
	t.Setenv("SELFPLAY_PORT", "80")
	r := selfplay("", "models")
	if want := "selfplay: warning: SELFPLAY_LANGZ sets nothing: did you mean SELFPLAY_LANGS?\n"; r.code != 0 || r.stderr != want {
		t.Errorf("code %d, %swant %s", r.code, r.stderr, want)
	}
}

// TestResumeWithSettings: the command that goes on says all that environment and
// file said, so that it plays the same without them.
func TestResumeWithSettings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	configure(t, "[bench]\ngames = Nim\nlangs = \"en\" # one\nmax-tokens = 8\n")
	t.Setenv("SELFPLAY_N", "400")
	t.Setenv("SELFPLAY_RUN", dir)
	c := child("bench", "--model", "synthetic:qwen3-tiny", "--slots", "2", "--context", "1500")
	line := interrupted(t, c, dir)
	for _, want := range []string{" --games=Nim", " --langs=en", " --max-tokens=8", " --n=400", " --run=" + dir} {
		if strings.Count(line, want) != 1 {
			t.Errorf("%q is missing or twice in %s", want, line)
		}
	}
	before := played(t, dir)
	t.Setenv("XDG_CONFIG_HOME", "/dev/null/none")
	t.Setenv("SELFPLAY_N", "7")
	t.Setenv("SELFPLAY_RUN", "")
	c = child(strings.Fields(line)[1:]...)
	if again := interrupted(t, c, dir); !strings.HasSuffix(again, strings.TrimPrefix(line, strings.Fields(line)[0])) {
		t.Errorf("resumed with\n%s\nit says\n%s", line, again)
	}
	if after := played(t, dir); after.N != before.N || after.N != 400 {
		t.Errorf("n was %d and is %d", before.N, after.N)
	}
}

// interrupted stops a run once a game has ended that had not before, and gives the
// command that it prints.
func interrupted(t *testing.T, c *exec.Cmd, dir string) string {
	t.Helper()
	kept := storedGames(dir)
	out, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	read := make(chan struct{})
	go func() { errs.ReadFrom(out); close(read) }()
	for ended := false; !ended && storedGames(dir) == kept; {
		select {
		case <-read:
			ended = true
		default:
		}
	}
	c.Process.Signal(os.Interrupt)
	<-read
	c.Wait()
	_, rest, ok := strings.Cut(errs.String(), "resume with: ")
	line, _, _ := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("no command to resume with: %s", errs.String())
	}
	return line
}

// TestReplicaTakesNoSettings: neither environment nor file reach the processes that
// compute for this one.
func TestReplicaTakesNoSettings(t *testing.T) {
	t.Setenv(asProgram, "1")
	configure(t, "this is broken\n")
	for _, c := range []struct{ name string }{{replicaName}, {"completion"}, {"__complete"}} {
		command := subcommand(rootCommand(), c.name)
		if command != nil && takesSettings(command) {
			t.Errorf("%s takes settings", c.name)
		}
	}
	good := filepath.Join(t.TempDir(), "good")
	if err := os.WriteFile(good, []byte("threads = 1\nlog = "+good+".log\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SELFPLAY_DEVICE", "cpu")
	r := selfplay("", "bench", "--config", good, "--model", "synthetic:qwen3-tiny", "--games", "Nim", "--langs", "en", "--n", "1", "--max-tokens", "4", "--replicas", "2", "--run", filepath.Join(t.TempDir(), "run"), "--json", "--quiet")
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("code %d, %s", r.code, r.stderr)
	}
	var sum struct{ Replicas int }
	if err := json.Unmarshal([]byte(r.stdout), &sum); err != nil || sum.Replicas != 2 {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

func TestParseConfig(t *testing.T) {
	got, err := parseConfig([]byte("\uFEFFa=1\r\n # no\n\n[ debug   greedy ] # which\nb-c = x y#z # why\nd = \"q # \\\" \" # q\ne = \"\"\nf = a=b\n"))
	want := []configEntry{
		{"", "a", "1", 1}, {"debug greedy", "b-c", "x y#z", 5}, {"debug greedy", "d", `q # " `, 6}, {"debug greedy", "e", "", 7}, {"debug greedy", "f", "a=b", 8},
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v, %v", got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("entry %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

// FuzzParseConfig reads anything: entries of its lines, or a fault of one.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("n = 1\n[bench]\nmodel = \"a # b\" # c\n"))
	f.Add([]byte("[bench]\r\nlangs = en,de#\r\n\uFEFFx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseConfig(data)
		lines := bytes.Count(data, []byte("\n")) + 1
		if fault, ok := err.(lineFault); err != nil && (!ok || fault.line < 1 || fault.line > lines || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("%#v of %d lines", err, lines)
		}
		for i, e := range entries {
			if e.line < 1 || e.line > lines || i > 0 && e.line <= entries[i-1].line {
				t.Fatalf("entry %d in line %d of %d", i, e.line, lines)
			}
			if !bytes.Contains(data, []byte(e.key)) || strings.ContainsAny(e.section+e.key, "\n=") && !strings.Contains(e.section, "=") {
				t.Fatalf("%+v", e)
			}
		}
		checkConfig(entries)
	})
}
