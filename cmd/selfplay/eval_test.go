package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"selfplay/bench"
	"selfplay/bench/static"
	"selfplay/inference"
)

// writeBelebele makes a folder of some questions.
func writeBelebele(t *testing.T, questions int, langs ...string) (data string) {
	t.Helper()
	data = t.TempDir()
	for _, lang := range langs {
		var lines strings.Builder
		for i := range questions {
			fmt.Fprintf(&lines, `{"flores_passage": "passage %d", "question": "which?", "mc_answer1": "a", "mc_answer2": "b", "mc_answer3": "c", "mc_answer4": "%s", "correct_answer_num": "%d"}`+"\n", i/2, lang, 1+i%4)
		}
		if err := os.WriteFile(filepath.Join(data, lang+".jsonl"), []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// keptAnswers are the lines of a run's answers, each of which is there once.
func keptAnswers(t *testing.T, run string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(run, "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Sorted(strings.Lines(string(text)))
	if n := len(lines); len(slices.Compact(lines)) != n {
		t.Errorf("%s has answers twice: %s", run, text)
	}
	return strings.Join(lines, "")
}

// TestEvalReplicas: slots, steps and processes change no score, nor does the loss
// of a process.
func TestEvalReplicas(t *testing.T) {
	t.Setenv(asProgram, "1")
	data, dir := writeBelebele(t, 40, "eng_Latn"), t.TempDir()
	eval := func(name string, more ...string) (answers, said string) {
		run := filepath.Join(dir, name)
		r := selfplay("", append([]string{"eval", "belebele", "--model", tunable, "--data", data, "--langs", "en", "--device", "cpu", "--run", run}, more...)...)
		if r.code != 0 {
			t.Fatalf("%s: code %d: %s", name, r.code, r.stderr)
		}
		return keptAnswers(t, run), r.stderr
	}
	want, _ := eval("one", "--slots", "1", "--weights", "bf16")
	if got, said := eval("here", "--weights", "bf16", "--chunk", "100", "--threads", "1"); got != want || strings.Count(got, "\n") != 40 || !strings.Contains(said, "100 tokens a step, 1 thread\n") {
		t.Errorf("in other steps %s, want %s: %s", got, want, said)
	}
	got, said := eval("two", "--weights", "bf16", "--replicas", "2", "--slots", "3")
	if got != want || !strings.Contains(said, "replicas cpu0, cpu1, each: weights") || !strings.Contains(said, "for 3 slots") {
		t.Errorf("of two processes %s, want %s: %s", got, want, said)
	}
	t.Setenv(killReplica, "3 "+filepath.Join(dir, "who is killed"))
	got, said = eval("killed", "--weights", "bf16", "--replicas", "2", "--slots", "2", "--chunk", "64")
	if got != want || strings.Count(said, "the questions that it had begun are asked again\n") != 1 {
		t.Errorf("one is killed: %s, want %s: %s", got, want, said)
	}
	t.Setenv(killReplica, "3 ")
	run := filepath.Join(dir, "all")
	all := []string{"eval", "belebele", "--model", tunable, "--data", data, "--langs", "en", "--device", "cpu", "--run", run, "--weights", "bf16", "--replicas", "2", "--slots", "2", "--chunk", "64"}
	if r := selfplay("", all...); r.code != 1 || !strings.Contains(r.stderr, "no replica is left: ") || strings.Count(keptAnswers(t, run), "\n") >= 40 {
		t.Errorf("both are killed: code %d: %s", r.code, r.stderr)
	}
	t.Setenv(killReplica, "")
	if r := selfplay("", all...); r.code != 0 || keptAnswers(t, run) != want {
		t.Errorf("gone on with: code %d: %s", r.code, r.stderr)
	}
}

// TestEvalTuned: what was tuned is used, but for the weights of the answers that
// there are.
func TestEvalTuned(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	data, run := writeBelebele(t, 2, "eng_Latn", "deu_Latn"), filepath.Join(t.TempDir(), "run")
	eval := func(more ...string) string {
		r := selfplay("", append([]string{"eval", "belebele", "--model", tunable, "--data", data, "--device", "cpu", "--run", run}, more...)...)
		if r.code != 0 {
			t.Fatalf("code %d: %s", r.code, r.stderr)
		}
		return r.stderr
	}
	if said := eval("--langs", "en", "--weights", "file"); strings.Contains(said, "tuned") {
		t.Error(said)
	}
	key := tunedKey(bench.Model{}, defaultContext, &site{})
	var err error
	if key.Model.Size, key.Model.SHA256, err = inference.SyntheticID(tunable); err != nil {
		t.Fatal(err)
	}
	tuned := bench.NewTuned(key, nil, time.Unix(0, 0), "v")
	for _, weights := range []string{"bf16", "file"} {
		tuned.Choices = append(tuned.Choices, bench.Choice{Weights: weights, Slots: 5, Chunk: 77, Threads: 1})
	}
	if _, err := tuned.Write(filepath.Join(cache, "selfplay", "tuned")); err != nil {
		t.Fatal(err)
	}
	if said := eval("--langs", "en,de"); !strings.Contains(said, "tuned on 1970-01-01: ") || !strings.Contains(said, "for 5 slots") || strings.Contains(said, "bf16") {
		t.Error(said)
	}
}

// TestEval: a run that goes on asks only what is missing, and ends with what an
// uninterrupted one has.
func TestEval(t *testing.T) {
	data, dir := writeBelebele(t, 6, "eng_Latn", "arb_Arab"), t.TempDir()
	eval := func(run string, more ...string) (static.Result, string) {
		r := selfplay("", append([]string{"eval", "belebele", "--model", tunable, "--data", data, "--device", "cpu", "--run", run, "--json"}, more...)...)
		var out static.Result
		if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.code != 0 {
			t.Fatalf("code %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
		}
		return out, r.stderr
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
	if keptAnswers(t, one) != keptAnswers(t, two) || resumed.Langs["ar"].Accuracy != whole.Langs["ar"].Accuracy || strings.Count(keptAnswers(t, two), "\n") != 12 {
		t.Errorf("%v\nin parts: %v", keptAnswers(t, one), keptAnswers(t, two))
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
		{[]string{"belebele", "--model", tunable, "--data", data, "--langs", "en", "--slots", "-1"}, "must not be negative"},
		{[]string{"belebele", "--model", tunable, "--data", data, "--langs", "en", "--weights", "q4"}, "give auto, file or bf16"},
		{[]string{"belebele", "--model", tunable, "--data", data, "--langs", "en", "--device", "cpu", "--gpus", "0"}, "computes on no GPU"},
	} {
		if r := selfplay("", append([]string{"eval"}, c.args...)...); r.code != 2 || !strings.Contains(r.stderr, c.want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%v: code %d: %s", c.args, r.code, r.stderr)
		}
	}
	other := map[string]string{"file": "bf16", "bf16": "file"}[whole.Settings.Weights]
	if r := selfplay("", "eval", "belebele", "--model", tunable, "--data", data, "--langs", "en", "--weights", other, "--run", two); r.code != 1 || !strings.Contains(r.stderr, "other answers: weights is "+whole.Settings.Weights+" there, "+other+" here") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if r := selfplay("", "eval", "belebele", "--model", tunable, "--data", data, "--langs", "en", "--shots", "1", "--run", two); r.code != 1 || !strings.Contains(r.stderr, "shots is 0 there, 1 here") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}
