package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The test binary is the program itself when the first variable is set, so that
// tests can interrupt and kill it. What /proc says of it in the end goes to the
// file that the second one names.
const (
	asProgram  = "TEST_SELFPLAY_AS_PROGRAM"
	statusFile = "TEST_SELFPLAY_STATUS_FILE"
)

func TestMain(m *testing.M) {
	// The runtime takes a thread for every core, and beside the other packages'
	// tests its threads wait for each other longer than they work.
	runtime.GOMAXPROCS(1)
	if os.Getenv(asProgram) != "" {
		slog.SetLogLoggerLevel(slog.LevelError)
		debug.SetGCPercent(gcPercent)
		if slices.Contains(os.Args, replicaName) {
			killLater()
		}
		args := os.Args[1:]
		if os.Getenv(asGuide) != "" {
			args = asInGuide(args)
		}
		stops.begin()
		code := run(args, os.Stdin, os.Stdout, os.Stderr)
		if file := os.Getenv(statusFile); file != "" {
			status, _ := os.ReadFile("/proc/self/status")
			os.WriteFile(file, status, 0o644)
		}
		os.Exit(code)
	}
	slog.SetLogLoggerLevel(slog.LevelError)
	noSettings()
	os.Exit(withOwnCache(m.Run))
}

// userCache is where make puts what tests need.
var userCache, userCacheErr = os.UserCacheDir()

// withOwnCache keeps out of the tests what else the user's cache holds, such as how
// a model was tuned.
func withOwnCache(run func() int) int {
	dir, err := os.MkdirTemp("", "selfplay-test")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_CACHE_HOME", dir)
	return run()
}

// noSettings keeps the defaults of whoever runs the tests out of them, and of the
// processes that they start.
func noSettings() {
	os.Setenv("XDG_CONFIG_HOME", "/dev/null/none")
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, variablePrefix) {
			os.Unsetenv(name)
		}
	}
}

// result is what one run of the program left.
type result struct {
	code           int
	stdout, stderr string
}

// selfplay runs the program within this process.
func selfplay(stdin string, args ...string) result {
	var out, errs bytes.Buffer
	code := run(args, strings.NewReader(stdin), &out, &errs)
	return result{code, out.String(), errs.String()}
}

// child prepares the program as a process of its own.
func child(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), asProgram+"=1")
	return c
}

func modelPath(t *testing.T) string {
	t.Helper()
	return cached(t, "model", "models/SmolLM2-135M-Instruct.Q4_1.gguf")
}

// cached is a file that make fetched into the user's cache folder.
func cached(t *testing.T, made, name string) string {
	t.Helper()
	if userCacheErr != nil {
		t.Fatal(userCacheErr)
	}
	path := filepath.Join(userCache, "selfplay", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not there: run make %s (%v)", filepath.Base(name), made, err)
	}
	return path
}

// export gives the games of a run without what depends on the machine.
func export(t *testing.T, dir string) string {
	t.Helper()
	r := selfplay("", "export", dir, "--format", "jsonl")
	if r.code != 0 {
		t.Fatalf("export: %s", r.stderr)
	}
	return times.ReplaceAllString(r.stdout, `"$1":0`)
}

// times are the parts of an exported game that depend on the machine.
var times = regexp.MustCompile(`"(prefill_tokens|start_ms|end_ms)":\d+`)

// TestGamesDoNotDependOnTheBatch plays the same experiment on the real model,
// with different numbers of slots and tokens a step.
func TestGamesDoNotDependOnTheBatch(t *testing.T) {
	for _, model := range []struct{ name, context string }{
		{modelPath(t), "700"},
		{"synthetic:gemma4-tiny:q4_1", "4000"}, // tokens are bytes: prompts go far past the window's ring
	} {
		var first string
		for _, cut := range [][2]string{{"1", "512"}, {"7", "50"}, {"64", "133"}} {
			dir := filepath.Join(t.TempDir(), "run")
			r := selfplay("", "bench", "--model", model.name, "--games", "Nim", "--langs", "en,ms", "--n", "1", "--max-tokens", "8",
				"--slots", cut[0], "--chunk", cut[1], "--context", model.context, "--run", dir, "--quiet")
			if r.code != 0 {
				t.Fatalf("%s, %s slots: %s", model.name, cut[0], r.stderr)
			}
			games := export(t, dir)
			if first == "" {
				first = games
				if n := strings.Count(games, "\n"); n != 6 {
					t.Fatalf("%d games, want 6", n)
				}
			}
			if games != first {
				t.Errorf("%s, %s slots and %s tokens a step: other games than 1 slot and 512", model.name, cut[0], cut[1])
			}
		}
	}
}

// TestInterrupt stops a run on the real model with the signal of Ctrl-C, and
// goes on with the command that it printed.
func TestInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	trace := filepath.Join(t.TempDir(), "trace.json")
	c := child("bench", "--model", modelPath(t), "--games", "Nim", "--langs", "en", "--n", "8", "--max-tokens", "8", "--slots", "2", "--context", "700", "--run", dir, "--trace", trace)
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	if err := waitForGames(ended, dir, 1); err != errAlive {
		t.Fatalf("it ended early: %v, %s", err, errs.String())
	}
	c.Process.Signal(os.Interrupt)
	<-ended
	if code := c.ProcessState.ExitCode(); code != 1 {
		t.Fatalf("exit code %d after an interrupt: %s", code, errs.String())
	}
	timeline, _ := os.ReadFile(trace)
	var events []struct{ Name string }
	if err := json.Unmarshal(timeline, &events); err != nil || events[0].Name != "process_name" || !bytes.Contains(timeline, []byte(`"decode_rows":2`)) {
		t.Errorf("the timeline: %v in %.300s", err, timeline)
	}
	kept := storedGames(dir)
	_, rest, ok := strings.Cut(errs.String(), "resume with: ")
	command, _, _ := strings.Cut(rest, "\n")
	if !ok || kept == 0 || kept == 16 {
		t.Fatalf("%d games are kept and standard error says: %s", kept, errs.String())
	}
	r := selfplay("", strings.Fields(command)[1:]...)
	if r.code != 0 {
		t.Fatalf("resuming: %s", r.stderr)
	}
	if n := strings.Count(export(t, dir), "\n"); n != 16 {
		t.Errorf("%d games after resuming, want 16", n)
	}
}

// TestMemory: weights, planned cache and 300 MB on top is all that a run takes.
func TestMemory(t *testing.T) {
	c := child("bench", "--model", modelPath(t), "--games", "Nim", "--langs", "en", "--n", "8", "--max-tokens", "4",
		"--slots", "64", "--context", "600", "--run", filepath.Join(t.TempDir(), "run"))
	file := filepath.Join(t.TempDir(), "status")
	c.Env = append(c.Env, statusFile+"="+file)
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	m := regexp.MustCompile(`weights (\d+) MB.*cache (\d+) MB`).FindStringSubmatch(errs.String())
	if m == nil {
		t.Fatalf("the plan is not shown: %s", errs.String())
	}
	weights, _ := strconv.Atoi(m[1])
	cache, _ := strconv.Atoi(m[2])
	// Not the child's rusage: that starts at the peak of the process that made it.
	status, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	hwm := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status)
	if hwm == nil {
		t.Fatalf("no VmHWM in %s", status)
	}
	kb, _ := strconv.Atoi(string(hwm[1]))
	peak := kb >> 10
	t.Logf("peak %d MB, weights %d MB, cache %d MB", peak, weights, cache)
	if peak > weights+cache+300 {
		t.Errorf("peak resident set %d MB for weights of %d MB and a cache of %d MB", peak, weights, cache)
	}
}

// TestFaults is what a careless user would try.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	os.WriteFile(text, []byte("no model\n"), 0o644)
	short := filepath.Join(dir, "short.gguf")
	data, err := os.ReadFile(modelPath(t))
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(short, data[:len(data)/2], 0o644)
	other := filepath.Join(dir, "other")
	if r := selfplay("", "bench", "--model", "builtin:random", "--games", "Nim", "--langs", "en", "--n", "1", "--run", other, "--quiet"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	bench := func(args ...string) []string {
		return append([]string{"bench", "--games", "Nim", "--langs", "en", "--n", "1", "--run", filepath.Join(dir, "run"), "--quiet"}, args...)
	}
	random := func(args ...string) []string { return bench(append([]string{"--model", "builtin:random"}, args...)...) }
	for _, c := range []struct {
		name string
		code int
		says []string // all of these
		args []string
	}{
		{"no model", 2, []string{"--model"}, bench()},
		{"unknown player", 2, []string{"builtin:clever"}, bench("--model", "builtin:clever")},
		{"missing file", 1, []string{"nowhere.gguf: there is no such file", "a Hugging Face folder", "selfplay models"}, bench("--model", "nowhere.gguf")},
		{"a folder", 1, []string{dir, "a folder of GGUF files"}, bench("--model", dir)},
		{"not in Ollama's store", 1, []string{"--model", "ollama:absent", "ollama pull"}, bench("--model", "ollama:absent")},
		{"no GGUF", 1, []string{text, "not a GGUF"}, bench("--model", text)},
		{"truncated", 1, []string{short, "truncated"}, bench("--model", short)},
		{"unknown game", 2, []string{"--games", "Chess", "Nim-v0"}, random("--games", "Chess")},
		{"unknown language", 2, []string{"--langs", `"xx"`, "en"}, random("--langs", "xx")},
		{"n below 1", 2, []string{"--n 0: give at least 1"}, random("--n", "0")},
		{"negative slots", 2, []string{"--slots"}, random("--slots", "-1")},
		{"negative pool", 2, []string{"--pool"}, random("--pool", "-1")},
		{"unknown cache", 2, []string{"--cache q4_0: give f16 or q8_0"}, random("--cache", "q4_0")},
		{"unknown weights", 2, []string{"--weights", "int3"}, bench("--model", modelPath(t), "--weights", "int3")},
		{"no thinking to switch in tokenize", 1, []string{"--think off"}, []string{"debug", "tokenize", "--model", modelPath(t), "--think", "off"}},
		{"no thinking to switch in greedy", 1, []string{"--think on"}, []string{"debug", "greedy", "--model", modelPath(t), "--think", "on"}},
		{"no thinking to switch", 1, []string{"--think off"}, bench("--model", modelPath(t), "--think", "off")},
		{"unknown thinking", 2, []string{"--think maybe: give auto, on or off"}, bench("--model", modelPath(t), "--think", "maybe")},
		{"unknown thinking in greedy", 2, []string{"--think maybe"}, []string{"debug", "greedy", "--model", modelPath(t), "--think", "maybe"}},
		{"negative context in greedy", 2, []string{"--context -5"}, []string{"debug", "greedy", "--model", modelPath(t), "--context", "-5"}},
		{"no games", 2, []string{"--games is empty"}, []string{"bench", "--model", "builtin:random", "--games", "", "--run", filepath.Join(dir, "run")}},
		{"no languages", 2, []string{"--langs is empty"}, []string{"bench", "--model", "builtin:random", "--langs", "", "--run", filepath.Join(dir, "run")}},
		{"empty run", 2, []string{"report got the arguments ''"}, []string{"report", ""}},
		{"page over a folder", 1, []string{"--html " + dir + " is a folder"}, []string{"report", other, "--html", dir}},
		{"page into nowhere", 1, []string{"--html", "there is no folder " + dir + "/missing"}, []string{"report", other, "--html", dir + "/missing/x.html"}},
		{"figures over a file", 1, []string{"--figures " + text + " is a file"}, []string{"report", other, "--figures", text}},
		{"no accuracy", 1, []string{"--accuracy", "nowhere.csv"}, []string{"report", other, "--html", dir + "/x.html", "--accuracy", "nowhere.csv"}},
		{"import over a folder", 1, []string{"-o " + dir + " is a folder"}, []string{"locales", "import", dir, "-o", dir}},
		{"context too long", 1, []string{"--context", "8192"}, bench("--model", modelPath(t), "--context", "9000")},
		{"unknown prompt", 2, []string{"--prompt"}, bench("--model", modelPath(t), "--prompt", "rude")},
		{"unknown suite", 2, []string{"--suite", `"nature"`, "paper"}, random("--suite", "nature")},
		{"unknown opponent", 2, []string{"--opponent builtin:clever", "builtin:random"}, random("--opponent", "builtin:clever")},
		{"opponent without an answer", 2, []string{"--opponent builtin:optimal", "ColonelBlotto-v0", "--games Nim-v0"}, random("--opponent", "builtin:optimal", "--games", "Nim,ColonelBlotto")},
		{"opponent twice", 2, []string{"builtin:random is given twice"}, random("--opponent", "builtin:random,builtin:random")},
		{"no reasoning to change", 2, []string{"--reason-in", "builtin:random"}, random("--reason-in", "fr")},
		{"unknown language to reason in", 2, []string{"--reason-in", `"xx"`, "zh"}, bench("--model", "synthetic:qwen3-tiny", "--langs", "en,zh", "--reason-in", "xx")},
		{"interface alone", 2, []string{"--interface", "--reason-in"}, random("--interface", "en")},
		{"foreign interface", 2, []string{"--interface zh", "--langs en"}, bench("--model", "synthetic:qwen3-tiny", "--reason-in", "fr", "--interface", "zh")},
		{"reasons as it reads", 2, []string{"--reason-in en"}, bench("--model", "synthetic:qwen3-tiny", "--langs", "en,fr", "--reason-in", "en", "--interface", "en")},
		{"reasons in none of its own", 2, []string{"--reason-in fr: with --prompt reason-in:zh", "--interface"}, bench("--model", "synthetic:qwen3-tiny", "--langs", "en,fr", "--prompt", "reason-in:zh", "--reason-in", "fr")},
		{"label without others", 2, []string{"en+fr has nobody to play"}, bench("--model", "synthetic:qwen3-tiny", "--reason-in", "fr")},
		{"interval of nothing", 2, []string{"--until-ci -0.1"}, random("--until-ci", "-0.1")},
		{"interval of all", 2, []string{"--until-ci 1"}, random("--until-ci", "1")},
		{"interval of no number", 2, []string{"--until-ci NaN"}, random("--until-ci", "nan")},
		{"unwritable run", 1, []string{text}, random("--run", filepath.Join(text, "run"))},
		{"unwritable timeline", 2, []string{"--trace", text}, random("--trace", filepath.Join(text, "t.json"))},
		{"other experiment", 1, []string{other, "n is 1 there, 2 here", "--run"}, random("--n", "2", "--run", other)},
		{"no run", 1, []string{"nothing"}, []string{"report", filepath.Join(dir, "nothing")}},
		{"no table", 2, []string{"--table", "moves"}, []string{"export", other, "--format", "csv", "--table", "moves"}},
		{"table of lines", 2, []string{"--table", "jsonl"}, []string{"export", other, "--table", "games"}},
		{"export over a folder", 1, []string{"--out " + other + " is a folder"}, []string{"export", other, "--out", other}},
		{"export into nowhere", 1, []string{"--out", "there is no folder " + other + "/missing"}, []string{"export", other, "--out", other + "/missing/x.jsonl"}},
		{"no format", 2, []string{"--format", "xml"}, []string{"export", other, "--format", "xml"}},
		{"unknown flag", 2, []string{"--fast"}, random("--fast")},
		{"unknown command", 2, []string{"plya"}, []string{"plya"}},
		{"too many arguments", 2, []string{"arg"}, []string{"export", "a", "b"}},
		{"no run named", 2, []string{"arg"}, []string{"report"}},
		{"a run twice", 2, []string{"twice"}, []string{"report", other, other + "/."}},
		{"no model of the paper", 2, []string{"--paper", "builtin:random", "Qwen3-4B", "--paper-model"}, []string{"report", other, "--paper"}},
		{"another model than the paper's", 2, []string{"--paper-model", "GPT"}, []string{"report", other, "--paper", "--paper-model", "GPT"}},
		{"a model of no paper", 2, []string{"--paper-model"}, []string{"report", other, "--paper-model", "Qwen3-4B"}},
		{"no folder for CSV", 1, []string{"--csv", text}, []string{"report", other, "--csv", filepath.Join(text, "csv")}},
		{"no locales", 2, []string{"--locales", "nowhere"}, random("--locales", "nowhere")},
		{"greedy n", 2, []string{"--n"}, []string{"debug", "greedy", "--model", modelPath(t), "--n", "0"}},
		{"tokenize without model", 2, []string{"--model"}, []string{"debug", "tokenize"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := selfplay("", c.args...)
			line := strings.TrimSuffix(r.stderr, "\n")
			if r.code != c.code || strings.Contains(line, "\n") {
				t.Errorf("exit code %d, want %d, in one line: %s", r.code, c.code, r.stderr)
			}
			for _, s := range c.says {
				if !strings.Contains(line, s) {
					t.Errorf("%q is missing in: %s", s, line)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "run")); err == nil {
				t.Error("the run folder was made all the same")
			}
		})
	}
}

// TestDebug feeds lines to the debug commands.
func TestDebug(t *testing.T) {
	r := selfplay(`{"completion": "<think>\\boxed{1}</think>I take \\boxed{0 3}."}`+"\n\n"+`{"completion": "<think>no end"}`, "debug", "extract")
	want := `{"action":"[0 3]","status":"boxed","thinking":"\\boxed{1}"}` + "\n" + `{"action":"","status":"truncated","thinking":"no end"}` + "\n"
	if r.code != 0 || r.stdout != want {
		t.Errorf("extract: code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	r = selfplay(`{"text": "Nim <|im_end|>"}`+"\n"+`{"messages": [{"role": "user", "content": "hi<|im_end|>"}]}`, "debug", "tokenize", "--model", modelPath(t))
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if r.code != 0 || len(lines) != 2 {
		t.Fatalf("tokenize: code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	var got struct {
		Prompt string
		IDs    []int32
	}
	if err := json.Unmarshal([]byte(lines[1]), &got); err != nil {
		t.Fatal(err)
	}
	ends := 0
	for _, id := range got.IDs {
		if id == 2 {
			ends++
		}
	}
	// The template ends the system message that it adds, and the user's; the
	// marker inside the message is text.
	if ends != 2 || strings.Count(got.Prompt, "<|im_end|>") != 3 {
		t.Errorf("%d end markers among the ids of %q", ends, got.Prompt)
	}
	r = selfplay(`{"ids": [1, 4093, 198]}`, "debug", "greedy", "--model", modelPath(t), "--n", "3")
	var out struct {
		IDs []int32
		Top [][]struct {
			ID      int32
			LogProb float64
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || len(out.IDs) != 3 || len(out.Top) != 3 || out.Top[0][0].ID != out.IDs[0] {
		t.Errorf("greedy: code %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
	}
	for _, bad := range []string{"extract", "trace"} {
		if r := selfplay("{]", "debug", bad); r.code != 1 || !strings.Contains(r.stderr, "line 1") {
			t.Errorf("%s of broken JSON: code %d, %s", bad, r.code, r.stderr)
		}
	}
}

// TestTokenizeVocabulary reads a file without weights and without a template.
func TestTokenizeVocabulary(t *testing.T) {
	vocab := cached(t, "fixtures", "fixtures/llama.cpp-0.3.36/models/ggml-vocab-llama-bpe.gguf")
	r := selfplay(`{"text": "\n\n\n<|eot_id|>"}`, "debug", "tokenize", "--model", vocab)
	if want := `{"prompt":"\n\n\n<|eot_id|>","ids":[1432,27,91,68,354,851,91,29]}` + "\n"; r.code != 0 || r.stdout != want {
		t.Errorf("code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	for _, command := range []string{"tokenize", "greedy"} {
		r = selfplay(`{"messages": [{"role": "user", "content": "hi"}]}`, "debug", command, "--model", vocab)
		want := map[string]string{"tokenize": "line 1: " + vocab + ": no chat template", "greedy": vocab + ": a vocabulary without weights"}[command]
		if r.code != 1 || !strings.Contains(r.stderr, want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: code %d, %s%s", command, r.code, r.stdout, r.stderr)
		}
	}
}

// TestReport checks the report's JSON against the exported games.
func TestReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := selfplay("", "bench", "--model", "builtin:random", "--games", "TicTacToe", "--langs", "en,fr", "--n", "30", "--run", dir, "--json")
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	var sum map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &sum); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"games", "seconds", "games_per_s", "completion_tokens", "completion_tok_per_s", "thinking_tokens", "prompt_tokens",
		"prompt_tok_per_s", "prefill_tokens", "turns", "invalid_losses", "wins0", "wins1", "draws",
		"copied_tokens", "kept_tokens", "engine_seconds", "host_share"} {
		if _, ok := sum[key]; !ok {
			t.Errorf("--json lacks %q", key)
		}
	}
	var rep struct {
		Margins map[string]map[string]map[string]float64
		Games   int
	}
	if err := json.Unmarshal([]byte(selfplay("", "report", dir, "--json").stdout), &rep); err != nil {
		t.Fatal(err)
	}
	balance, n := 0, 0
	for line := range strings.Lines(export(t, dir)) {
		var g struct {
			Langs   [2]string
			Rewards [2]int
		}
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		switch g.Langs {
		case [2]string{"en", "fr"}:
			balance, n = balance+g.Rewards[0], n+1
		case [2]string{"fr", "en"}:
			balance, n = balance+g.Rewards[1], n+1
		}
	}
	got := rep.Margins["TicTacToe-v0"]["en"]["fr"]
	if want := float64(balance) / float64(n); rep.Games != 180 || n != 60 || fmt.Sprintf("%.9f", got) != fmt.Sprintf("%.9f", want) {
		t.Errorf("margin %v of %d games, by hand %v of %d", got, rep.Games, want, n)
	}
}
