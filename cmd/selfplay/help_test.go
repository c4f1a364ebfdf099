package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandLines are the calls of this program in an example: without comments, what
// a pipe brings, and where output goes.
func commandLines(t *testing.T, example string) (calls [][]string) {
	t.Helper()
	for line := range strings.Lines(strings.ReplaceAll(example, "|\n", "| ")) {
		words := shellWords(t, line)
		for i := 0; i < len(words) && words[i] != "#"; i++ {
			if words[i] != "selfplay" && words[i] != "<(selfplay" {
				continue
			}
			end := i + 1
			for end < len(words) && !slices.Contains([]string{"<", ">", "|"}, words[end]) {
				end++
			}
			calls = append(calls, words[i+1:end])
			i = end
		}
	}
	return calls
}

// shellWords splits a line as a shell does, where only single quotes are used.
func shellWords(t *testing.T, line string) (words []string) {
	t.Helper()
	word, quote, open := "", false, false
	for _, r := range strings.TrimSpace(line) + " " {
		switch {
		case r == '\'':
			quote, open = !quote, true
		case quote || r != ' ':
			word, open = word+string(r), true
		case open:
			words, word, open = append(words, strings.TrimSuffix(word, ")")), "", false
		}
	}
	return words
}

// TestExamples: every command that people may call has examples, and they are
// command lines of this program.
func TestExamples(t *testing.T) {
	walk(rootCommand(), func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		path := c.CommandPath()
		if c.Example == "" {
			t.Errorf("%s has no Example", path)
			return
		}
		own := false
		for _, args := range commandLines(t, c.Example) {
			of, err := checkCall(args)
			if err != nil {
				t.Errorf("%s: example selfplay %s: %v", path, strings.Join(args, " "), err)
			}
			own = own || of == path || strings.HasPrefix(of, path+" ")
		}
		if !own {
			t.Errorf("%s: no example calls it: %s", path, c.Example)
		}
	})
}

// checkCall parses a command line without running it, and has values that are of a
// closed list be in it. It gives the command.
func checkCall(args []string) (string, error) {
	root := rootCommand()
	c, rest, err := root.Find(args)
	if err != nil {
		return "", err
	}
	if err := c.ParseFlags(rest); err != nil {
		return "", c.FlagErrorFunc()(c, err)
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		return "", err
	}
	for _, arg := range c.Flags().Args() {
		if c.HasSubCommands() {
			return "", usagef("%s is no command", arg)
		}
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		given := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			given = strings.Join(list.GetSlice(), ",")
		}
		complete, ok := c.GetFlagCompletionFunc(f.Name)
		if !ok || slices.Contains([]string{"model", "run", "csv", "figures", "data", "out", "gpus"}, f.Name) {
			return
		}
		known, _ := complete(c, nil, given)
		if !slices.Contains(known, given) {
			err = usagef("--%s %s is none of %v", f.Name, given, known)
		}
	})
	return c.CommandPath(), err
}

// TestCheckCall: the test above would notice.
func TestCheckCall(t *testing.T) {
	for _, line := range []string{"bench --lang en", "bench --n x", "bench --games Chess", "export", "bnech", "debug trac", "export r --format xml", "completion"} {
		if _, err := checkCall(strings.Fields(line)); err == nil {
			t.Errorf("selfplay %s passes", line)
		}
	}
	got := commandLines(t, "  # selfplay not this\n  echo '{\"a b\"}' |\n    selfplay debug extract > x\n  source <(selfplay completion bash)\n")
	if len(got) != 2 || !slices.Equal(got[0], []string{"debug", "extract"}) || !slices.Equal(got[1], []string{"completion", "bash"}) {
		t.Errorf("calls %q", got)
	}
}

// TestHelp: all that bench can is under a title, on a terminal of 80 columns, and
// what is for this program alone is shown nowhere.
func TestHelp(t *testing.T) {
	r := selfplay("", "bench", "--help")
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	for line := range strings.Lines(r.stdout) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	at := 0
	for _, title := range []string{"Usage:", "Examples:", "What is played:", "How the model answers:", "What computes it (", "Where it is kept and what is shown:", "Flags of all commands:"} {
		next := strings.Index(r.stdout, "\n"+title)
		if title != "Usage:" && next <= at || next < 0 {
			t.Errorf("%q is not where it should be in:\n%s", title, r.stdout)
		}
		at = next
	}
	benchCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if strings.Count(r.stdout, "\n  --"+f.Name) < 1 {
			t.Errorf("--%s is not shown", f.Name)
		}
	})
	if r := selfplay("", "--help"); r.code != 0 || !strings.Contains(r.stdout, "\n  completion  ") || strings.Contains(r.stdout, replicaName+" ") {
		t.Errorf("code %d: %s", r.code, r.stdout)
	}
	if r := selfplay("", "slurm", "--help"); !strings.Contains(r.stdout, "slurm RUN --shards N [flags] -- BENCH-FLAGS\n") {
		t.Errorf("what follows -- is bench's: %s", r.stdout)
	}
	if help, flag := selfplay("", "help", "locales", "check"), selfplay("", "locales", "check", "--help"); help.stdout != flag.stdout {
		t.Errorf("help locales check says\n%s--help\n%s", help.stdout, flag.stdout)
	}
}

func TestDescribed(t *testing.T) {
	var b strings.Builder
	described(&b, "  --x", "a "+strings.Repeat("word ", 15)+"end", 10)
	described(&b, "  --long-name", "text", 10)
	described(&b, "  --y", strings.Repeat("item,", 20)+"item", 10)
	want := "  --x     a word word word word word word word word word word word word word\n" +
		"          word word end\n" +
		"  --long-name\n          text\n" +
		"  --y     " + strings.Repeat("item,", 14) + "\n          " + strings.Repeat("item,", 6) + "item\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestTypos is what fingers do.
func TestTypos(t *testing.T) {
	for _, c := range []struct {
		args string
		says string
	}{
		{"bnech", `unknown command "bnech": did you mean bench? (see selfplay --help)`},
		{"xyz", `unknown command "xyz" (see selfplay --help)`},
		{"debug trac", `unknown command "trac": did you mean trace? (see selfplay debug --help)`},
		{"locales chekc", `did you mean check?`},
		{"help locales lst", `did you mean list? (see selfplay locales --help)`},
		{"config bnech", `did you mean bench?`},
		{"config replica", `unknown command "replica"`},
		{"bench --lang en", `unknown flag: --lang: did you mean --langs? (see selfplay bench --help)`},
		{"bench --max_tokens 3", `did you mean --max-tokens?`},
		{"bench --unsought", `unknown flag: --unsought (see`},
		{"bench -x", `unknown shorthand flag: 'x' in -x (see`},
		{"bench --n 4k", `--n 4k: give a whole number, such as 100`},
		{"bench --n 99999999999999999999", `--n 99999999999999999999: the number is too large`},
		{"bench --until-ci 10%", `--until-ci 10%: give a number, such as 0.1`},
		{"bench --quiet=perhaps", `--quiet perhaps: give true or false`},
		{"bench --n", `--n needs a value: games for`},
		{"export", `selfplay: export got no arguments: write selfplay export RUN`},
		{"version now", `selfplay: version got the arguments now: write selfplay version`},
		{"locales list x y", `locales list got the arguments x y: write selfplay locales list [flags]`},
		{"completion tcsh", `tcsh: give bash, zsh or fish`},
		{"models --log-level loud", `--log-level loud: give debug, info, warn or error`},
		{"models --log-level info+2", `--log-level info+2: give`},
		{"models --log=", `--log is empty`},
		{"models --log /nowhere/x", `--log: open /nowhere/x`},
		{"models --config=", `--config is empty`},
		{"models --config /nowhere/x", `--config: open /nowhere/x`},
	} {
		r := selfplay("", strings.Fields(c.args)...)
		if r.code != 2 || !strings.Contains(r.stderr, c.says) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("selfplay %s: code %d, %swant %s", c.args, r.code, r.stderr, c.says)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"bench", "report", "debug trace", "n", "langs", "max-tokens"}
	for name, want := range map[string]string{
		"bnech": "bench", "Bench": "bench", "rep": "report", "lang": "langs", "max_token": "max-tokens", "nn": "n",
		"x": "n", "xy": "", "export": "", "": "", "slots": "",
	} {
		if got := nearest(name, known, 0); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		n    int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}} {
		if distance(c.a, c.b) != c.n || distance(c.b, c.a) != c.n {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, distance(c.a, c.b), c.n)
		}
	}
}

// TestVersion loads nothing, so that it may say less than the doctor, but the same.
func TestVersion(t *testing.T) {
	r := selfplay("", "version", "--json")
	for _, want := range []string{`"selfplay":"` + version + `"`, `"ollama":"v`, `"tokenizers":"v`, `"go-nvml":"v`, `"features":[`, `"cuda":"`, `"CGO_ENABLED":"1"`} {
		if r.code != 0 || strings.Count(r.stdout, "\n") != 1 || !strings.Contains(r.stdout, want) {
			t.Errorf("code %d, %s is missing in %s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	dir := t.TempDir() + "/lib/ollama"
	t.Setenv("OLLAMA_LIBRARY_PATH", dir)
	if text := selfplay("", "version").stdout; !strings.Contains(text, "\ncuda      no CUDA library in "+dir+"\n") {
		t.Errorf("without the library: %s", text)
	}
	library := dir + "/libggml-cuda.so"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(library, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if text := selfplay("", "version").stdout; !strings.Contains(text, "\ncuda      "+library+"\n") {
		t.Errorf("with it: %s", text)
	}
	if run([]string{"version"}, nil, closedOutput{}, io.Discard) != 1 {
		t.Error("what it says is lost, and that is no error")
	}
}

// closedOutput is an output that is closed.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) { return 0, os.ErrClosed }
