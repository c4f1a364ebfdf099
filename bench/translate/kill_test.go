package translate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"selfplay/bench/asking"
	"selfplay/locales"
)

// Set in the environment of a test's process: the folder in which it translates and
// judges, telling on standard output each question that it asks.
const killedFolder = "TEST_TRANSLATE_FOLDER"

// TestKilledChild is the process that TestKill starts, and nothing by itself.
func TestKilledChild(t *testing.T) {
	dir := os.Getenv(killedFolder)
	if dir == "" {
		return
	}
	good, texts := perfect(t)
	f := openFolder(t, dir)
	ready := bufio.NewReader(os.Stdin)
	tell := func(how, what string) { // and wait for a line back
		fmt.Println(how, what)
		ready.ReadString('\n')
	}
	telling := func(by string, s script) asking.Asker {
		ask := s.asker(nil)
		return func(ctx context.Context, questions []asking.Question, each asking.Each) error {
			return ask(ctx, questions, func(q asking.Question, a asking.Answer) (*asking.Question, error) {
				what := by + " " + q.ID
				if by == "translator" {
					what = strings.TrimSuffix(what, "/"+try(q))
				}
				tell("asked", what)
				further, err := each(q, a)
				if further == nil && err == nil {
					tell("finished", what)
				}
				return further, err
			})
		}
	}
	tr := &Translator{Folder: f, Lang: "de", Name: "German", Texts: texts, By: "scripted", Seeds: MostSeeds, Ask: telling("translator", sloppyOnce(good))}
	if err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	finished(t, f, texts)
	if err := f.Judge(t.Context(), "de", "German", texts, judgeOne, telling("one", always(yes))); err != nil {
		t.Fatal(err)
	}
	if err := f.Judge(t.Context(), "de", "German", texts, judgeTwo, telling("two", keen)); err != nil {
		t.Fatal(err)
	}
	finished(t, f, texts)
}

// sloppyOnce loses the signs of some texts at the first try.
func sloppyOnce(good script) script {
	return func(q asking.Question) asking.Answer {
		a := good(q)
		if try(q) == "1" && strings.Contains(q.ID, "/Nim/") {
			return says(strings.ReplaceAll(a.Text, "「", ""))
		}
		return a
	}
}

// TestKill: killed ten times while it translates or judges, at any question, a process
// goes on each time. No text or pair that was finished is asked for again, and in the
// end all files are as if nothing had been.
func TestKill(t *testing.T) {
	if os.Getenv(killedFolder) != "" {
		return
	}
	alone := filepath.Join(t.TempDir(), "alone")
	whole := make(map[string]bool)
	lines := checkTold(t, runKilled(t, alone, -1), whole)
	dir, rng := filepath.Join(t.TempDir(), "killed"), rand.New(rand.NewPCG(5, 6))
	done := make(map[string]bool)
	for range 10 {
		checkTold(t, runKilled(t, dir, 1+rng.IntN(lines/6)), done)
	}
	if n := len(done); n == 0 || n == len(whole) {
		t.Errorf("%d of %d were finished before the last kill", n, len(whole))
	}
	checkTold(t, runKilled(t, dir, -1), done)
	if n := len(whole) - len(done); n < 0 || n > 10 { // some that were killed had no time to tell
		t.Errorf("%d were finished, want %d", len(done), len(whole))
	}
	sameFolders(t, dir, alone)
}

// checkTold sees that nothing is asked for that is done, and adds what now is.
func checkTold(t *testing.T, told []string, done map[string]bool) (lines int) {
	t.Helper()
	for _, line := range told {
		how, what, _ := strings.Cut(line, " ")
		if done[what] {
			t.Errorf("%s is %s again", what, how)
		}
		done[what] = how == "finished"
		if !done[what] {
			delete(done, what)
		}
	}
	return len(told)
}

// runKilled runs the child, kills it once it has told so many lines, every other time
// while it goes on, and gives what it told.
func runKilled(t *testing.T, dir string, after int) (told []string) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
	c.Env = append(os.Environ(), killedFolder+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	goOn, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "asked ") && !strings.HasPrefix(line, "finished ") {
			continue
		}
		told = append(told, line)
		if len(told) != after || after%2 == 0 {
			io.WriteString(goOn, "\n")
		}
		if len(told) == after {
			c.Process.Signal(syscall.SIGKILL)
		}
	}
	if err := c.Wait(); (err != nil) != (after >= 0) {
		t.Fatalf("%v after %d lines: %v", err, len(told), told)
	}
	return told
}

// sameFolders compares two folders: locale files and record byte by byte, the logs by
// their lines.
func sameFolders(t *testing.T, got, want string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(want, "*", "*.json"))
	logs, _ := filepath.Glob(filepath.Join(want, "*.jsonl"))
	if err != nil || len(files) < 14 || len(logs) != 3 || !slices.Contains(files, filepath.Join(want, locales.Common, locales.RecordFile+".json")) {
		t.Fatal(err, files, logs)
	}
	for _, file := range append(files, logs...) {
		rel, _ := filepath.Rel(want, file)
		a, errA := os.ReadFile(file)
		b, errB := os.ReadFile(filepath.Join(got, rel))
		x, y := strings.SplitAfter(string(a), "\n"), strings.SplitAfter(string(b), "\n")
		if filepath.Ext(file) == ".jsonl" {
			slices.Sort(x)
			slices.Sort(y)
		}
		if errA != nil || errB != nil || !slices.Equal(x, y) {
			t.Errorf("%s differs: %v %v", rel, errA, errB)
		}
	}
}
