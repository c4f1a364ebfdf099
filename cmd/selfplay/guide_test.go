package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guides are the pages whose commands a reader is to type: what stands in their
// blocks of sh is run, in an empty folder, in the order of the page.
var guides = []string{
	"bench/REPRODUCE.md", "bench/STORE.md", "bench/TRUST.md", "bench/cluster/README.md",
	"games/NEW_GAME.md", "inference/NEW_MODEL.md", "locales/NEW_LANGUAGE.md",
}

const asGuide = "TEST_SELFPLAY_AS_GUIDE"

var shBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestGuides runs the commands of the guides, with a small model in the place of
// the reader's and few games.
func TestGuides(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range guides {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(root, page))
			if err != nil {
				t.Fatal(err)
			}
			var script strings.Builder
			for _, block := range shBlock.FindAllStringSubmatch(string(text), -1) {
				script.WriteString(block[1])
			}
			if calls := strings.Count(script.String(), "selfplay "); calls < 2 {
				t.Fatalf("%d calls of the program", calls)
			}
			dir := t.TempDir()
			readersFiles(t, root, dir)
			bin := t.TempDir()
			writeProgram(t, bin, "selfplay", `exec "`+program+`" "$@"`)
			writeProgram(t, bin, "sqlite3", `[ -f "$1" ] || { echo "no $1" >&2; exit 1; }`) // TestQueries asks
			c := exec.Command("bash", "-euo", "pipefail", "-c", script.String())
			c.Dir = dir
			c.Env = append(os.Environ(), asProgram+"=1", asGuide+"=1", "PATH="+bin+":"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s\n%s", err, script.String(), out)
			}
		})
	}
}

// readersFiles are what a page takes for granted: the strings of a checkout, and
// published questions.
func readersFiles(t *testing.T, root, dir string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(root, "locales"), filepath.Join(dir, "locales")); err != nil {
		t.Fatal(err)
	}
	writeQuestions(t, dir)
	words := "lang,words\nen,1000000\nde,200000\nar,30000\n"
	if err := os.WriteFile(filepath.Join(dir, "words.csv"), []byte(words), 0o644); err != nil {
		t.Fatal(err)
	}
}

func writeProgram(t *testing.T, dir, name, body string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// asInGuide puts a small model in the place of the one that a guide names: random
// moves where they do, else random weights of two layers. Fewer games are played,
// and fewer questions asked.
func asInGuide(args []string) []string {
	args = slices.Clone(args)
	small := "synthetic:qwen3-tiny"
	plays := (args[0] == "bench" || args[0] == "slurm") && !slices.Contains(args, "--reason-in")
	if plays {
		small = "builtin:random"
	}
	for i, arg := range args {
		if i > 0 && args[i-1] == "--model" && (strings.HasPrefix(arg, "ollama:") || strings.HasPrefix(arg, "models/")) {
			args[i] = small
			if slices.Contains(args[:i-1], "--model") { // a second judge
				args[i] = "synthetic:llama-tiny"
			}
		}
	}
	if i := slices.Index(args, "--accuracy"); i >= 0 { // the reader's model is the same in both
		text, _ := os.ReadFile(args[i+1])
		os.WriteFile(args[i+1], []byte(strings.ReplaceAll(string(text), "synthetic:qwen3-tiny", "builtin:random")), 0o644)
	}
	switch {
	case plays:
		args = append(args, "--n", "1")
	case args[0] == "bench":
		args = append(args, "--n", "1", "--max-tokens", "2", "--threads", "1")
	case args[0] == "eval":
		args = append(args, "--limit", "1", "--shots", "0")
	case args[0] == "locales" && slices.Contains([]string{"translate", "judge", "calibrate"}, args[1]):
		args = append(args, "--max-tokens", "2", "--threads", "1")
		if args[1] == "calibrate" {
			args = append(args, "--n", "1")
		}
	}
	return args
}

// TestGuidesAreListed: the README leads to every guide, and every link of a page
// to a file leads somewhere.
func TestGuidesAreListed(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range guides {
		if !strings.Contains(string(readme), "]("+page) {
			t.Errorf("README.md has no link to %s", page)
		}
	}
	link := regexp.MustCompile(`\]\(([^):#]*)(?:#([^)]*))?\)`)
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(readPage(t, page), -1) {
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(filepath.Join("../..", to)); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if m[2] != "" && !slices.Contains(anchors(readPage(t, to)), m[2]) {
				t.Errorf("%s: %s has no heading #%s", page, to, m[2])
			}
		}
	}
}

// anchors are what links call the headings of a page.
func anchors(page string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// TestTrustNamesTests: the tests that the page on trust names are there.
func TestTrustNamesTests(t *testing.T) {
	page, err := os.ReadFile("../../bench/TRUST.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, cell := range regexp.MustCompile("`([\\w/]+)`: ((?:`\\w+`(?:, )?)+)").FindAllStringSubmatch(string(page), -1) {
		files, _ := filepath.Glob(filepath.Join("../..", cell[1], "*_test.go"))
		var all strings.Builder
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		for _, name := range regexp.MustCompile(`\w+`).FindAllString(cell[2], -1) {
			named++
			if !strings.Contains(all.String(), "\nfunc "+name+"(") {
				t.Errorf("%s has no %s", cell[1], name)
			}
		}
	}
	if named < 40 {
		t.Errorf("%d tests are named", named)
	}
}

// writeQuestions are a published set of one question in each of two languages, twice.
func writeQuestions(t *testing.T, dir string) {
	t.Helper()
	sets := map[string]string{
		"belebele/data/%s.jsonl":    `{"flores_passage": "The sea is deep.", "question": "What is deep?", "mc_answer1": "the sea", "mc_answer2": "a hill", "mc_answer3": "a tree", "mc_answer4": "a house", "correct_answer_num": "1"}`,
		"Global-MMLU/%s/test.jsonl": `{"sample_id": "astronomy/test/0", "subject": "astronomy", "question": "What is round?", "option_a": "the moon", "option_b": "a stair", "option_c": "a door", "option_d": "a fork", "answer": "A"}`,
	}
	langs := map[string][]string{"belebele/data/%s.jsonl": {"eng_Latn", "deu_Latn"}, "Global-MMLU/%s/test.jsonl": {"en", "de"}}
	for name, line := range sets {
		for _, lang := range langs[name] {
			path := filepath.Join(dir, strings.ReplaceAll(name, "%s", lang))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(line+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
