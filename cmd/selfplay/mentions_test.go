package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pages are all that a reader is led to.
var pages = append([]string{"README.md", "bench/PERFORMANCE.md", "bench/gpu/README.md"}, guides...)

var (
	fence      = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	inline     = regexp.MustCompile("`([^`]+)`")
	ownCommand = regexp.MustCompile(`^(?:bin/)?selfplay |^make |^go |^docker |^kubectl |^--\w`)
)

// mentioned are the commands and flags that a page names: within its lines, and in
// blocks that are not run as a whole, which TestGuides sees to.
func mentioned(page string) (all []string) {
	take := func(text string) {
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, `\|`, "|")), " ")
		name, _, more := strings.Cut(text, " ")
		if ownCommand.MatchString(text) || more && subcommand(rootCommand(), name) != nil {
			all = append(all, strings.TrimPrefix(text, "bin/"))
		}
	}
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[2]) {
			if line, _, _ = strings.Cut(line, " #"); block[1] != "sh" && !strings.HasPrefix(line, "-") {
				take(line)
			}
		}
	}
	for _, span := range inline.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		take(span[1])
	}
	return all
}

// TestMentions: whatever a page names of this program, of the Makefile and of Go is
// there, by that name.
func TestMentions(t *testing.T) {
	makefile := readPage(t, "Makefile")
	checked := map[string]int{}
	for _, page := range pages {
		for _, text := range mentioned(readPage(t, page)) {
			kind, err := checkMention(t, text, makefile)
			if err != nil {
				t.Errorf("%s: %s: %v", page, text, err)
			}
			checked[kind]++
		}
	}
	for kind, least := range map[string]int{"selfplay": 40, "--": 70, "make": 12, "go": 7} {
		if checked[kind] < least {
			t.Errorf("%d mentions of %s were found: %v", checked[kind], kind, checked)
		}
	}
	for _, wrong := range []string{
		"selfplay bnech", "selfplay bench --lang en", "selfplay locales lst", "selfplay locales list|chekc", "selfplay export RUN --format jsonl|xml",
		"selfplay slurm RUN --shards N -- --modl M", "merge --outt DIR RUN...", "--until", "make nothing", "make cuda CUDDA=pip", "make bench-peers PEER=DIR PEERZ=DIR",
		"go test ./bench -run Nowhere", "go test ./nowhere", "go doc selfplay/nowhere", "docker build -f bench/Dockerfile -t selfplay .",
	} {
		if _, err := checkMention(t, wrong, makefile); err == nil {
			t.Errorf("%s passes", wrong)
		}
	}
}

// ofOthers are flags of scripts, which have them by this spelling.
var ofOthers = map[string]string{"--cpu": "bench/gpu/check.py"}

func checkMention(t *testing.T, text, makefile string) (kind string, err error) {
	words := strings.Fields(text)
	switch {
	case words[0] == "make":
		return "make", checkMake(words[1:], makefile)
	case words[0] == "go":
		return "go", checkGo(words[1:])
	case words[0] == "docker", words[0] == "kubectl":
		return words[0], checkFiles(words)
	case words[0] == "selfplay":
		words = words[1:]
	case strings.HasPrefix(text, "--"):
		for _, word := range words {
			flag, _, _ := strings.Cut(word, "=")
			if file := ofOthers[flag]; file != "" && strings.Contains(readPage(t, file), flag) {
				continue
			}
			if strings.HasPrefix(flag, "--") && !someHas(strings.TrimPrefix(flag, "--")) {
				err = fmt.Errorf("no command has %s", flag)
			}
		}
		return "--", err
	}
	for _, args := range alternatives(words) {
		if err := checkNamed(t, args); err != nil {
			return "selfplay", err
		}
	}
	return "selfplay", nil
}

// checkNamed takes a name alone as such, and else a whole command line.
func checkNamed(t *testing.T, args []string) error {
	args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--help" })
	c, rest, err := rootCommand().Find(args)
	if err != nil || len(rest) == 0 {
		return err
	}
	if c.HasSubCommands() && !strings.HasPrefix(rest[0], "-") {
		return fmt.Errorf("%s is no command of %s", rest[0], c.CommandPath())
	}
	if i := slices.Index(args, "--"); i >= 0 && args[i+1] != "FLAGS" {
		return parses(t, args)
	}
	_, err = checkCall(args)
	return err
}

// alternatives are the command lines that a|b and [c] stand for, with values in the
// place of those that are the reader's.
func alternatives(words []string) [][]string {
	all := [][]string{nil}
	values := map[string]string{"N": "1", "LANG": "en", "COMMAND": "bench"}
	for _, word := range words {
		var next [][]string
		for _, args := range all {
			for one := range strings.SplitSeq(strings.Trim(word, "[]"), "|") {
				if value, ok := values[one]; ok {
					one = value
				}
				next = append(next, append(slices.Clone(args), one))
			}
		}
		all = next
	}
	return all
}

func someHas(flag string) (found bool) {
	walk(rootCommand(), func(c *cobra.Command) {
		eachFlag(c, func(f *pflag.Flag) { found = found || f.Name == flag })
	})
	return found || flag == "help" || flag == "version"
}

func checkMake(words []string, makefile string) error {
	for i, word := range words {
		name, _, variable := strings.Cut(word, "=")
		switch {
		case variable && !strings.Contains(makefile, "$("+name+")"):
			return fmt.Errorf("the Makefile has no variable %s", name)
		case !variable && i == 0 && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`:`).MatchString(makefile):
			return fmt.Errorf("the Makefile has no target %s", name)
		}
	}
	return nil
}

func checkGo(words []string) error {
	dir := ""
	for i, word := range words {
		switch path, ok := strings.CutPrefix(strings.Replace(word, "selfplay/", "./", 1), "./"); {
		case ok:
			dir = filepath.Join("../..", path)
			if found, _ := filepath.Glob(filepath.Join(dir, "*.go")); len(found) == 0 {
				return fmt.Errorf("%s is no package", path)
			}
		case word == "-run":
			files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
			found := slices.ContainsFunc(files, func(file string) bool {
				text, _ := os.ReadFile(file)
				return regexp.MustCompile(`(?m)^func Test\w*` + words[i+1]).Match(text)
			})
			if !found {
				return fmt.Errorf("%s has no test of that name", dir)
			}
		}
	}
	return nil
}

// checkFiles has each file behind -f be there.
func checkFiles(words []string) error {
	for i, word := range words[1:] {
		if words[i] == "-f" {
			if _, err := os.Stat(filepath.Join("../..", word)); err != nil {
				return err
			}
		}
	}
	return nil
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestQueries: the questions to a database in the pages have answers.
func TestQueries(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	if r := selfplay("", "bench", "--model", "builtin:random", "--games", "Nim", "--langs", "en,de", "--n", "2", "--run", run); r.code != 0 {
		t.Fatal(r.stderr)
	}
	db, err := sql.Open("sqlite", filepath.Join(run, "games.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	asked := 0
	for _, page := range pages {
		for _, m := range regexp.MustCompile(`sqlite3 \S*games\.db "(SELECT [^"]+)"`).FindAllStringSubmatch(readPage(t, page), -1) {
			asked++
			rows, err := db.Query(m[1])
			if err != nil {
				t.Errorf("%s: %s: %v", page, m[1], err)
				continue
			}
			if !rows.Next() {
				t.Errorf("%s: %s: no rows, %v", page, m[1], rows.Err())
			}
			rows.Close()
		}
	}
	if asked < 2 {
		t.Errorf("%d questions", asked)
	}
}
