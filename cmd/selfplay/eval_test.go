package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"selfplay/bench/static"
)

// TestEval: a run that goes on asks only what is missing, and ends with what an
// uninterrupted one has.
func TestEval(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	for _, lang := range []string{"eng_Latn", "arb_Arab"} {
		var lines strings.Builder
		for i := range 6 {
			fmt.Fprintf(&lines, `{"flores_passage": "passage %d", "question": "which?", "mc_answer1": "a", "mc_answer2": "b", "mc_answer3": "c", "mc_answer4": "%s", "correct_answer_num": "%d"}`+"\n", i/2, lang, 1+i%4)
		}
		if err := os.WriteFile(filepath.Join(data, lang+".jsonl"), []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	eval := func(run string, more ...string) (static.Result, string) {
		r := selfplay("", append([]string{"eval", "belebele", "--model", tunable, "--data", data, "--device", "cpu", "--run", run, "--json"}, more...)...)
		var out static.Result
		if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.code != 0 {
			t.Fatalf("code %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
		}
		return out, r.stderr
	}
	answers := func(run string) map[string]bool {
		text, err := os.ReadFile(filepath.Join(run, "answers.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			if all[line] {
				t.Errorf("%s is there twice", line)
			}
			all[line] = true
		}
		return all
	}
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	whole, _ := eval(one, "--langs", "en,ar")
	if whole.Langs["en"].N != 6 || whole.Langs["ar"].N != 6 || whole.Settings.Weights == "" {
		t.Errorf("%+v", whole)
	}
	if part, _ := eval(two, "--langs", "ar", "--limit", "2"); part.Langs["ar"].N != 2 || len(part.Langs) != 1 {
		t.Errorf("%+v", part)
	}
	resumed, said := eval(two, "--langs", "en,ar")
	if fmt.Sprint(answers(one)) != fmt.Sprint(answers(two)) || resumed.Langs["ar"].Accuracy != whole.Langs["ar"].Accuracy || len(answers(two)) != 12 {
		t.Errorf("%v\nin parts: %v", answers(one), answers(two))
	}
	if !strings.Contains(said, "12 of 12 questions") {
		t.Error(said)
	}
	if _, said := eval(two, "--langs", "en,ar"); strings.Contains(said, "weights") {
		t.Errorf("a model is loaded for nothing: %s", said)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nothing"}, "there is no benchmark"},
		{[]string{"belebele", "--model", tunable}, "--data is missing"},
		{[]string{"belebele", "--model", "builtin:random", "--data", data}, "no probabilities"},
		{[]string{"belebele", "--model", tunable, "--data", data, "--langs", "en,xx"}, `--langs: "xx" is none of`},
		{[]string{"belebele", "--model", tunable, "--data", data, "--langs", "de"}, "deu_Latn.jsonl"},
		{[]string{"belebele", "--model", tunable, "--data", filepath.Join(data, "no"), "--langs", "de"}, "is no folder"},
		{[]string{"belebele", "--model", tunable, "--data", data, "--langs", "en", "--shots", "6"}, "fewer --shots"},
		{[]string{"belebele", "--model", tunable, "--data", data, "--langs", "en", "--limit", "-1"}, "must not be negative"},
	} {
		if r := selfplay("", append([]string{"eval"}, c.args...)...); r.code != 2 || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%v: code %d: %s", c.args, r.code, r.stderr)
		}
	}
	if r := selfplay("", "eval", "belebele", "--model", tunable, "--data", data, "--langs", "en", "--shots", "1", "--run", two); r.code != 1 || !strings.Contains(r.stderr, "shots is 0 there, 1 here") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}
