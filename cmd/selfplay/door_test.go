package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"selfplay/bench"
	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// evil would clear the screen, set the title, turn text round, run a script and lead
// out of a folder.
const evil = "../../../\x1b[2J\x1b]0;x\x07\u009b31m\u202e\u2066\u200b\x7f\r\x1b[K<script>alert(1)</script>"

// checkHarmless looks for what could steer a terminal.
func checkHarmless(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) && r != '\u200e' && r != '\u200f' && r != '\u061c') {
			t.Errorf("%s: %U in %q", what, r, text[max(0, i-80):min(len(text), i+20)])
			return
		}
	}
}

func TestDoor(t *testing.T) {
	text := "plain\tتجربة 井\n" + evil + "\xff."
	for size := 1; size < len(text); size++ { // characters are cut anywhere
		var b bytes.Buffer
		d := &door{w: &b}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if wrote, err := d.Write([]byte(rest[:n])); wrote != n || err != nil {
				t.Fatal(wrote, err)
			}
			rest = rest[n:]
		}
		checkHarmless(t, "door", b.String())
		if got := b.String(); !strings.HasPrefix(got, "plain\tتجربة 井\n../../../␛[2J") || !strings.HasSuffix(got, "</script>\uFFFD.") {
			t.Fatalf("in pieces of %d: %q", size, got)
		}
	}
}

// The codes that show progress on one line are the program's own alone: what the line
// says has none of its own.
func TestWriteOver(t *testing.T) {
	for line, want := range map[string]string{
		"5%":                 "\r5%\x1b[K\r",
		"":                   "\r\x1b[K\r",
		"done\n":             "\rdone\x1b[K\n",
		"a\r\x1b[K\nb\u202e": "\ra␍␛[K␊b⟨U+202E⟩\x1b[K\r",
		"a\r\x1b[K\nb\n":     "\ra␍␛[K\nb\x1b[K\n",
	} {
		var b bytes.Buffer
		d := &door{w: &b}
		for _, w := range []io.Writer{d, &sharedWriter{w: d}, &sharedWriter{w: &b}, &b} {
			b.Reset()
			writeOver(w, line)
			if b.String() != want {
				t.Errorf("%q by %T: %q, want %q", line, w, b.String(), want)
			}
		}
	}
	var kept []string
	s := &sharedWriter{w: failing{}}
	s.divert(func(text string) { kept = append(kept, text) })
	writeOver(s, "5%")
	writeOver(s, "lost\n")
	if strings.Join(kept, "|") != "lost\n" {
		t.Errorf("%q", kept)
	}
}

func TestIsTerminal(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for w, want := range map[io.Writer]bool{tty: true, &door{w: tty}: true, &sharedWriter{w: &door{w: tty}}: true, null: false, &door{w: null}: false, io.Discard: false} {
		if isTerminal(w) != want {
			t.Errorf("%T: a terminal is %v", w, !want)
		}
	}
}

// Data comes back as it was.
func TestHarmlessJSON(t *testing.T) {
	want := []string{evil, "\U000e0041", "\u2028", "تجربة 井"}
	line, err := toJSON(want)
	if err != nil {
		t.Fatal(err)
	}
	checkHarmless(t, "JSON", string(line))
	var got []string
	if err := json.Unmarshal(line, &got); err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%v: %q of %s", err, got, line)
	}
}

// evilRun is the folder of a run of a game that was played elsewhere.
func evilRun(t *testing.T, game string) string {
	t.Helper()
	name := func(s string) string { return s + strings.NewReplacer("/", "").Replace(evil) }
	e := bench.Experiment{
		Games: []string{game}, Langs: []string{"en", name("zz")}, N: 1, System: evil, Think: evil,
		Model: bench.Model{Name: evil, SHA256: evil}, Weights: evil, Locales: bench.Locales{Source: evil}, MaxTokens: 5, Context: 50,
	}
	dir := filepath.Join(t.TempDir(), "run")
	s, err := bench.Create(dir, e, bench.Session{Program: evil, Model: evil, Suite: evil, Settings: map[string]string{evil: evil, "device": evil, "kernels": evil}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	jobs, err := s.Remaining()
	if err != nil {
		t.Fatal(err)
	}
	for j := range jobs {
		r := scheduler.Record{Job: j}
		r.Result.Rewards = [2]int{1, -1}
		r.Result.Reasons, r.Result.Roles = [2]string{evil, evil}, [2]string{evil, evil}
		for seat := range 2 {
			r.Turns = append(r.Turns, scheduler.Turn{Seat: seat, Observation: evil, Completion: evil, Thinking: evil, Action: evil, Status: prompts.Status(evil),
				Finish: scheduler.Finish(evil), Event: games.Event{Action: evil, Reason: evil, Invalid: true}})
		}
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// evilModel is the file of a model whose names are evil.
func evilModel(t *testing.T, arch string) string {
	t.Helper()
	var b []byte
	number := func(n uint64) { b = binary.LittleEndian.AppendUint64(b, n) }
	text := func(s string) { number(uint64(len(s))); b = append(b, s...) }
	b = append(b, "GGUF\x03\x00\x00\x00"...)
	number(1)
	pairs := []string{"general.architecture", arch, "general.name", evil, evil, evil, "tokenizer.chat_template", "{{ raise_exception('" + strings.ReplaceAll(evil, "\r", "") + "') }}", "tokenizer.ggml.model", evil}
	number(uint64(len(pairs) / 2))
	for i := 0; i < len(pairs); i += 2 {
		text(pairs[i])
		b = append(b, 8, 0, 0, 0)
		text(pairs[i+1])
	}
	text(evil)
	b = binary.LittleEndian.AppendUint32(b, 1)
	number(32)
	b = append(b, 0, 0, 0, 0)
	number(0)
	b = append(b, make([]byte, 1024)...)
	path := filepath.Join(t.TempDir(), "x\x1b[2J\u202e.gguf")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// evilLocales is a folder of strings.
func evilLocales(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	content, err := json.Marshal(map[string]any{evil: evil, "name": evil, "language_name": evil, "errors": map[string]string{evil: "{" + evil + "}"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"common/en.json", "common/zz.json", "TicTacToe/en.json", "TicTacToe/zz.json", "Chess\x1b[2J\u202e/en.json", "TicTacToe/e\x1b\u202e.json"} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// On a terminal, where the program itself moves the cursor, no text does.
func TestEvilNamesOnTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	played, model, locales := evilRun(t, "TicTacToe-v0"), evilModel(t, "llama"), evilLocales(t)
	for _, args := range [][]string{
		{"report", played}, {"replay", played}, {"replay", played, "0", "--plain"}, {"export", played}, {"export", played, "--format", "csv", "--table", "turns"},
		{"locales", "list", "--locales", locales}, {"locales", "check", locales}, {"doctor", "--model", model}, {"help", evil},
	} {
		master, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := term.MakeRaw(tty.Fd()); err != nil { // so that it passes lines on as they are
			t.Fatal(err)
		}
		read := make(chan string)
		go func() {
			all, _ := io.ReadAll(master) // ends with an error once nobody has the terminal
			read <- string(all)
		}()
		var stderr bytes.Buffer
		code := run(args, strings.NewReader(""), tty, &stderr)
		tty.Close()
		text := <-read
		master.Close()
		checkHarmless(t, strings.Join(args, " "), text)
		if text == "" && args[0] != "help" && args[0] != "doctor" {
			t.Errorf("%q: code %d, nothing on the terminal, %s", args, code, stderr.String())
		}
	}
}

// Whatever the names and texts in files from elsewhere are, nothing in them reaches
// the terminal but what can be looked at, and nothing a page but text.
func TestEvilNames(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	store := t.TempDir()
	t.Setenv("OLLAMA_MODELS", store)
	manifest := filepath.Join(store, "manifests", "registry.ollama.ai", "library", "m\x1b[2J\u202e", "t\u009b")
	if err := os.MkdirAll(filepath.Dir(manifest), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifest, []byte(`{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"`+"\u202e\u009b"+`"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run, foreign, locales, out := evilRun(t, "TicTacToe-v0"), evilRun(t, "Chess\x1b[2J\u202e"), evilLocales(t), filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	unknown, known := evilModel(t, evil), evilModel(t, "llama")
	if err := os.MkdirAll(filepath.Join(cache, "selfplay", "models"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, path := range []string{unknown, known} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(cache, "selfplay", "models", "m\x1b\u202e"+string(rune('0'+i))+".gguf"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, figures, game := filepath.Join(out, "page.html"), filepath.Join(out, "figures"), filepath.Join(out, "game.html")
	for _, args := range [][]string{
		{"report", run}, {"report", run, "--json"}, {"report", run, "--paper"}, {"report", foreign}, {"report", foreign, "--json"}, {"replay", foreign}, {"report", run, foreign}, {"report", run, "--html", page, "--figures", figures, "--csv", filepath.Join(out, "csv")},
		{"replay", run}, {"replay", run, "--json"}, {"replay", run, "0"}, {"replay", run, "zz"}, {"replay", run, "0", "--html", game},
		{"replay", run, evil}, {"merge", "--out", filepath.Join(out, "joined"), run, run}, {"merge", "--out", filepath.Join(out, "joined"), run}, {"report", evil}, {"export", evil},
		{"models"}, {"models", "--json"},
		{"locales", "list", "--locales", locales}, {"locales", "list", "--locales", locales, "--json"}, {"locales", "check", locales}, {"locales", "check", locales, "--json"},
		{"locales", "import", locales, "-o", filepath.Join(out, "l.zip")}, {"locales", "check", evil},
		{"doctor", "--model", unknown}, {"doctor", "--model", known}, {"doctor", "--model", known, "--json"},
		{"bench", "--model", unknown, "--run", filepath.Join(out, "r")}, {"bench", "--model", known, "--run", filepath.Join(out, "r")}, {"bench", "--model", "ollama:" + evil},
		{"bench", "--model", "builtin:random", "--locales", locales, "--run", filepath.Join(out, "r"), "--games", "TicTacToe-v0", "--langs", "zz", "--n", "1"},
		{"slurm", filepath.Join(out, "slurm"), "--shards", "2", "--", "--model", unknown}, {"slurm", filepath.Join(out, "slurm\x1b$(touch x)"), "--shards", "2", "--", "--model", "builtin:random", "--system", evil}, {evil}, {"report", run, "--" + evil}, {"help", evil}, {"config", evil},
	} {
		r := selfplay("", args...)
		what := strings.Join(args, " ")
		checkHarmless(t, what+": stdout", r.stdout)
		checkHarmless(t, what+": stderr", r.stderr)
		t.Logf("%d %q: %d bytes, %.150q", r.code, what, len(r.stdout), r.stderr)
		if strings.Contains(r.stderr, "panic") || r.code == 0 && r.stdout == "" && args[0] == "report" && r.stderr == "" {
			t.Errorf("%q: %s", what, r.stderr)
		}
	}
	for _, path := range []string{page, game} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, path, string(text))
		if bytes.Contains(text, []byte("<script>alert(1)")) {
			t.Errorf("%s holds a script", path)
		}
	}
	// Files lie where they were asked for.
	if beside, err := os.ReadDir(filepath.Dir(out)); err != nil || len(beside) != 1 {
		t.Errorf("beside the folder lie %v, %v", beside, err)
	}
	for _, dir := range []string{out, figures, filepath.Join(out, "csv")} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			checkHarmless(t, "the name of a file", e.Name())
		}
	}
}
