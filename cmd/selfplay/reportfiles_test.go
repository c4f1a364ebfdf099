package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// report writes the page and the figures of two runs, and its tables as ever.
func TestReportFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, seed := range []string{"1", "2"} {
		r := selfplay("", "bench", "--model", "builtin:random", "--games", "TicTacToe,Nim", "--langs", "en,ar,he", "--n", "2", "--seed", seed, "--run", path("run"+seed), "--quiet")
		if r.code != 0 {
			t.Fatal(r.stderr)
		}
	}
	for name, text := range map[string]string{
		"a.csv": "lang,accuracy\nen,0.9\nar,0.4\nhe,0.5\n", "w.csv": "lang,words\nen,1e12\nar,1e10\nhe,1e9\n",
		"other.json": `{"benchmark":"belebele","model":{"name":"other"},"langs":{"en":{"accuracy":0.5}}}`, "zh.csv": "lang,accuracy\nzh,0.9\n",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := selfplay("", "report", path("run1"), path("run2"), "--html", path("page.html"), "--figures", path("figures"), "--accuracy", path("a.csv"), "--words", path("w.csv"))
	if r.code != 0 || !strings.Contains(r.stdout, "TicTacToe-v0") {
		t.Fatalf("%d %s\n%s", r.code, r.stderr, r.stdout)
	}
	page, err := os.ReadFile(path("page.html"))
	if err != nil || !strings.Contains(string(page), "builtin:random (run2)") || !strings.Contains(string(page), "log10 of web words") {
		t.Errorf("%v, %d bytes", err, len(page))
	}
	files, _ := filepath.Glob(path("figures/*"))
	if len(files) != 16 || strings.Count(r.stderr, "figure: ") != 16 { // for two runs: 2, F.1 and two panels of 4, each twice
		t.Errorf("%q\n%s", files, r.stderr)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--words", path("w.csv")}, 2, "--accuracy and --words are for --html and --figures"},
		{[]string{"--html", path("p"), "--accuracy", path("other.json")}, 1, `is of model "other"`},
		{[]string{"--html", path("p"), "--accuracy", path("zh.csv")}, 1, "compare the file's languages"},
		{[]string{"--html", path("p"), "--words", path("a.csv")}, 1, "does not name the columns lang and words"},
		{[]string{"--html", path("none/p")}, 1, "there is no folder"},
		{[]string{"--figures", path("a.csv")}, 1, "is a file: name a folder"},
		{[]string{"--html", path("p"), "--words", path("none.csv")}, 1, "--words: "},
	} {
		r := selfplay("", append([]string{"report", path("run1")}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%q: %d %s", c.args, r.code, r.stderr)
		}
	}
	if left, _ := filepath.Glob(path("*p*")); len(left) != 1 { // page.html
		t.Errorf("%q", left)
	}
}
