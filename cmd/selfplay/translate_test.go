package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"selfplay/bench"
	"selfplay/bench/translate"
)

// twoTexts is a folder with a game of one text, and one that all games share.
func twoTexts(t *testing.T) string {
	return localeFolder(t, map[string]string{
		"common/en.json": `{"next": "What do you do next?"}`,
		"Chess/en.json":  `{"outcome": {"win": "Player {player_id} wins the game."}}`,
	})
}

const swahili = `{"game": "Chess", "key": "outcome.win", "lang": "sw", "text": "Mchezaji {player_id} ameshinda mchezo."}
{"game": "common", "key": "next", "lang": "sw", "text": "Utafanya nini sasa?"}
`

// record is what a folder says of a language.
func record(t *testing.T, dir, lang string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "common", "_confidence.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all[lang]
}

// TestTranslateForReal: a small model, of whose Swahili nothing is to be hoped for,
// through the whole command; then as a judge of somebody else's, beside another
// small one.
func TestTranslateForReal(t *testing.T) {
	model, src, out := modelPath(t), twoTexts(t), filepath.Join(t.TempDir(), "sw")
	args := []string{"locales", "translate", "--locales", src, "--lang", "sw", "--model", model, "--out", out,
		"--seeds", "2", "--max-tokens", "24", "--device", "cpu", "--context", "512", "--slots", "4"}
	r := selfplay("", append(args, "--dry-run")...)
	if r.code != 0 || !strings.HasPrefix(r.stdout, "Swahili: 2 texts: 0 finished, 0 without words, 2 to be translated, after 0 terms\nabout ") || exists(out) {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	r = selfplay("", args...)
	if r.code != 0 || !strings.Contains(r.stdout, "tier E\n") || !strings.Contains(r.stdout, "why texts stay in English") {
		t.Fatalf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	log, err := os.ReadFile(filepath.Join(out, translate.LogName))
	if err != nil || strings.Count(string(log), "\n") != 2 || !strings.Contains(string(log), `"faults":[{"kind":`) {
		t.Errorf("%v: %s", err, log)
	}
	if got := record(t, out, "sw"); got["tier"] != "E" || got["texts"] != 2.0 || got["english"] == 0.0 || got["translator"] != "SmolLM2-135M-Instruct.Q4_1.gguf" {
		t.Errorf("%v", got)
	}
	if r := selfplay("", args...); r.code != 0 || strings.Contains(r.stderr, "weights") {
		t.Errorf("code %d, what is finished is asked again: %s", r.code, r.stderr)
	}
	if r := selfplay("", append(args, "--dry-run")...); !strings.Contains(r.stdout, ": 2 finished,") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	if r := selfplay("", "locales", "list", "--locales", out); r.code != 0 || !strings.Contains(r.stdout, "sw        Swahili  E ") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	if r := selfplay("", "locales", "check", out); r.code != 0 {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// TestCandidatesAndJudges: texts from elsewhere, judged by two models that have
// nothing to say, end in English again.
func TestCandidatesAndJudges(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	src, out := twoTexts(t), filepath.Join(t.TempDir(), "sw")
	file := filepath.Join(t.TempDir(), "sw.jsonl")
	if err := os.WriteFile(file, []byte(swahili+`{"game": "Go", "key": "a", "lang": "sw", "text": "b"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	r := selfplay("", "locales", "translate", "--locales", src, "--lang", "sw", "--candidates", file, "--out", out)
	if r.code != 0 || !strings.HasPrefix(r.stdout, "Swahili in "+out+": 2 of 2 texts in the language (0 of them without words), 0 in English; tier E\n") || !strings.Contains(r.stderr, "1 texts are of other games") {
		t.Fatalf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	other := filepath.Join(t.TempDir(), "other.jsonl")
	if err := os.WriteFile(other, []byte(strings.Replace(swahili, "ameshinda", "alishinda", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	r = selfplay("", "locales", "translate", "--locales", src, "--lang", "sw", "--candidates", other, "--out", out)
	if want := "selfplay: warning: " + other + ": texts that have another translation in " + out + ", which stays: 1; choose a new --out for these\n"; r.code != 0 || r.stderr != want {
		t.Errorf("code %d: %s, want %s", r.code, r.stderr, want)
	}
	judge := []string{"locales", "judge", out, "--model", "synthetic:qwen3-tiny", "--model", "synthetic:llama-tiny", "--max-tokens", "8", "--slots", "4", "--back", "--device", "cpu"}
	r = selfplay("", append(judge, "--dry-run")...)
	if r.code != 0 || !strings.HasPrefix(r.stdout, "synthetic:qwen3-tiny: 4 questions, about ") || !strings.Contains(r.stdout, "\nsynthetic:llama-tiny: 2 questions, about ") ||
		strings.Contains(r.stderr, "weights") || record(t, out, "sw")["judged"] != 0.0 {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	r = selfplay("", judge...)
	want := fmt.Sprintf("synthetic:%s: 0 of 2 translations faithful, 2 answers unclear\n", "llama-tiny")
	if r.code != 0 || !strings.Contains(r.stdout, want) || !strings.Contains(r.stdout, "fidelity 0.0%\n") || !strings.Contains(r.stdout, "translated back, not faithful: 2 texts") ||
		!strings.Contains(r.stdout, "       2 judged\n") || strings.Count(r.stderr, "was never calibrated: see selfplay locales calibrate") != 2 {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if got := record(t, out, "sw"); got["judged"] != 2.0 || got["faithful"] != 0.0 || got["english"] != 2.0 || len(got["judges"].([]any)) != 2 {
		t.Errorf("%v", got)
	}
	r = selfplay("", append(judge, "--json")...)
	var res struct{ Languages []translate.Result }
	if err := json.Unmarshal([]byte(r.stdout), &res); err != nil || len(res.Languages) != 1 || res.Languages[0].Doubted != 2 || strings.Contains(r.stderr, "weights") {
		t.Errorf("%v: %s%s", err, r.stdout, r.stderr)
	}
}

// TestJudgeKeepsHand: what somebody wrote since into the files is not lost, and no
// judge is asked.
func TestJudgeKeepsHand(t *testing.T) {
	src, out := twoTexts(t), filepath.Join(t.TempDir(), "sw")
	file := filepath.Join(t.TempDir(), "sw.jsonl")
	if err := os.WriteFile(file, []byte(swahili), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := selfplay("", "locales", "translate", "--locales", src, "--lang", "sw", "--candidates", file, "--out", out); r.code != 0 {
		t.Fatal(r.stderr)
	}
	text := filepath.Join(out, "Chess", "sw.json")
	data, err := os.ReadFile(text)
	if err == nil {
		err = os.WriteFile(text, []byte(strings.Replace(string(data), "ameshinda", "alishinda", 1)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := selfplay("", "locales", "judge", out, "--model", "synthetic:qwen3-tiny", "--model", "synthetic:llama-tiny", "--max-tokens", "4", "--device", "cpu")
	if r.code != 1 || !strings.Contains(r.stderr, "Chess/sw.json was written by hand (outcome.win)") || strings.Contains(r.stderr, "questions") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
	if again, _ := os.ReadFile(text); !strings.Contains(string(again), "alishinda") {
		t.Errorf("it became %s", again)
	}
	if r := selfplay("", "locales", "list", "--locales", out); !strings.Contains(r.stdout, "sw        Swahili  changed ") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

func TestCalibrateCommand(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	args := []string{"locales", "calibrate", "--model", "synthetic:qwen3-tiny", "--langs", "de", "--n", "1", "--max-tokens", "4", "--slots", "4", "--device", "cpu"}
	for range 2 { // the first one leaves nothing behind
		if r := selfplay("", append(args, "--dry-run")...); r.code != 0 || !strings.HasPrefix(r.stdout, "synthetic:qwen3-tiny: 7 questions, about ") || strings.Count(r.stdout, "\n") != 1 {
			t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
		}
	}
	r := selfplay("", args...)
	if r.code != 0 || !strings.Contains(r.stdout, "synthetic:qwen3-tiny, in de\n") || !strings.Contains(r.stdout, "7 of 7") || !strings.Contains(r.stdout, "this judge is not known to be better than a guess") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	var sights map[string]struct{ Sensitivity bench.Share }
	r = selfplay("", append(args, "--json")...)
	if err := json.Unmarshal([]byte(r.stdout), &sights); err != nil || sights["synthetic:qwen3-tiny"].Sensitivity.Of != 6 || strings.Contains(r.stderr, "weights") {
		t.Errorf("%v: %s%s", err, r.stdout, r.stderr)
	}
}

func TestTranslateMistakes(t *testing.T) {
	src, out := twoTexts(t), filepath.Join(t.TempDir(), "out")
	file := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(file, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(t.TempDir(), "good.jsonl")
	if err := os.WriteFile(good, []byte(swahili), 0o644); err != nil {
		t.Fatal(err)
	}
	arena := localeFolder(t, map[string]string{"textarena/envs/Nim/locales/en.json": "{}", "textarena/utils/locales/en.json": "{}"})
	tiny := "synthetic:qwen3-tiny"
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"translate --model " + tiny, 2, "--lang is missing"},
		{"translate --lang sw", 2, "give either --model or --candidates"},
		{"translate --lang en --model " + tiny, 2, "--lang en: give the code of another language"},
		{"translate --lang ../x --model " + tiny, 2, "--lang ../x: give the code"},
		{"translate --lang qqq --model " + tiny, 2, "--lang: no English name is known for \"qqq\""},
		{"translate --lang sw --seeds 5 --model " + tiny, 2, "--seeds 5: give 1 to 4"},
		{"translate --lang sw --games Go --model " + tiny, 2, "--games Go: embedded locales has no such game"},
		{"translate --lang sw --model builtin:random", 2, "--model builtin:random: it writes no text"},
		{"translate --lang sw --max-tokens -1 --model " + tiny, 2, "must not be negative"},
		{"translate --lang sw --candidates " + file + ".no", 2, "--candidates: open"},
		{"translate --lang sw --candidates " + file + " --out " + out, 1, "line 1: game, key and lang are needed"},
		{"translate --lang sw --candidates " + os.DevNull + " --out " + out, 1, "--candidates " + os.DevNull + " has no text in sw"},
		{"translate --lang fr --candidates " + good + " --out " + out, 1, "has no text in fr: give another file or --lang"},
		{"translate --lang sw --candidates " + good + " --out " + arena, 1, arena + " is a TextArena checkout"},
		{"translate --lang sw --dry-run --candidates " + file, 2, "--dry-run: candidates take no tokens"},
		{"translate --lang sw --locales " + file + " --model " + tiny, 2, "--locales: "},
		{"judge " + src + " --model " + tiny + " --model synthetic:llama-tiny", 2, "has no translated.jsonl"},
		{"judge " + src + " --model " + tiny, 2, "--model is given 1 times: 2 are needed"},
		{"judge " + src + " --model " + tiny + " --model " + tiny, 2, "it is the same model as"},
		{"calibrate --n 0 --model " + tiny, 2, "--n 0: give at least 1"},
		{"calibrate --langs en --model " + tiny, 2, "--langs en: give other languages"},
		{"calibrate --langs sw --model " + tiny, 2, "--langs: embedded locales has no strings in sw"},
		{"calibrate", 2, "--model is given 0 times: 1 are needed"},
	} {
		r := selfplay("", append([]string{"locales"}, strings.Fields(test.args)...)...)
		if r.code != test.code || !strings.Contains(r.stderr, test.want) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: code %d: %s", test.args, r.code, r.stderr)
		}
	}
	if exists(out) || exists(filepath.Join(arena, translate.LogName)) {
		t.Errorf("%s was made for nothing", out)
	}
}
