package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"selfplay/locales"
	"selfplay/locales/tier"
)

// localeFolder is a small folder of locale files.
func localeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var someLocales = map[string]string{
	"common/en.json": `{}`, "common/kk.json": `{}`, "common/yo.json": `{}`,
	"common/_trackb_confidence.json": `{"kk": {"name": "Kazakh", "tier": "CERTIFIED_FLAGGED", "post_repair_fidelity_pct": 84.96, "flagged_games": ["Chess"]}}`,
	"Chess/en.json":                  `{"a": "Say '[e2e4]'."}`, "Chess/kk.json": `{"a": "'[e2e4]' деп жазыңыз."}`, "Chess/yo.json": `{"a": "[e2]"}`,
	"Nim/en.json": `{"a": "Take."}`,
}

func TestLocalesList(t *testing.T) {
	dir := localeFolder(t, someLocales)
	r := selfplay("", "locales", "list", "--locales", dir)
	want := dir + `: 3 languages, 2 games

language  name    tier               games  right  in English  games with known faults
en        -       source             2      -      -           -
kk        Kazakh  CERTIFIED_FLAGGED  1      84.9%  -           Chess
yo        -       unrecorded         1      -      -           -

game   played here  languages  which
Chess  no           3          all
Nim    yes          1          en
`
	if r.code != 0 || r.stdout != want {
		t.Errorf("code %d, %s\ngot:\n%s\nwant:\n%s", r.code, r.stderr, r.stdout, want)
	}
	if r := selfplay("", "locales", "list"); r.code != 0 || !strings.HasSuffix(r.stdout, "\nunreviewed: built in, and reviewed by no native speaker.\n") {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	var list struct{ Games, Languages []any }
	if r := selfplay("", "locales", "list", "--json"); json.Unmarshal([]byte(r.stdout), &list) != nil || len(list.Games) != 6 || len(list.Languages) != 8 {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

func TestLocalesCheck(t *testing.T) {
	if r := selfplay("", "locales", "check"); r.code != 0 || r.stdout != "embedded locales: 56 files, 6 games, 8 languages: 0 errors, 0 warnings\n" {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	dir := localeFolder(t, someLocales)
	r := selfplay("", "locales", "check", dir)
	want := `Chess/yo.json: a: token: [e2e4] is missing; it must stand as in the English text
Chess/yo.json: a: token: [e2] is not in the English text; write it as there, or without the brackets
Nim/en.json: file: locales: ` + dir + `/Nim/en.json: key player_prompt.intro: missing; add it as the English file has it
` + dir + `: 7 files, 2 games, 3 languages: 2 errors, 1 warning
       1 file
       2 token
`
	if r.code != 1 || r.stdout != want || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("code %d, %s\ngot:\n%s\nwant:\n%s", r.code, r.stderr, r.stdout, want)
	}
	var rep struct {
		Errors   int
		Counts   map[string]int
		Findings []struct{ File, Kind, Severity string }
	}
	r = selfplay("", "locales", "check", dir, "--json")
	if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil || rep.Errors != 2 || rep.Counts["token"] != 2 || len(rep.Findings) != 3 || rep.Findings[0].Severity != "error" {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

func TestLocalesImport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "all.zip")
	r := selfplay("", "locales", "import", filepath.Join("..", "..", "locales"), "-o", file)
	if r.code != 0 || !strings.HasPrefix(r.stdout, file+": 56 files, 6 games, 8 languages, ") {
		t.Fatalf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	const game = `{"env": "Nim-v0", "seed": 1, "langs": ["de", "he"], "steps": [{"action": "[0 1]"}, {"action": "?"}]}`
	packed, builtIn := selfplay(game, "debug", "trace", "--locales", file), selfplay(game, "debug", "trace")
	if packed.code != 0 || packed.stdout != builtIn.stdout {
		t.Errorf("code %d: %s%s", packed.code, packed.stdout, packed.stderr)
	}
	for _, args := range [][]string{{"import"}, {"import", "none"}, {"check", "a", "b"}, {"check", "none"}, {"list", "--locales", "none"}, {"list", "x"}, {"list", "--x"}} {
		if r := selfplay("", append([]string{"locales"}, args...)...); r.code != 2 || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%v: code %d: %s", args, r.code, r.stderr)
		}
	}
	if r := selfplay("", "locales", "check", "none"); strings.Contains(r.stderr, "--locales") { // a flag that it does not have
		t.Error(r.stderr)
	}
}

// A run says on one line which of its languages nobody has certified.
func TestBenchWarnsOfLocales(t *testing.T) {
	for langs, want := range map[string]string{
		"en":    "",
		"en,de": "warning: languages that are not certified: de: built in, reviewed by no native speaker\n",
	} {
		r := selfplay("", "bench", "--model", "builtin:random", "--games", "Nim", "--langs", langs, "--n", "2", "--quiet", "--run", filepath.Join(t.TempDir(), "run"))
		if r.code != 0 || r.stderr != want {
			t.Errorf("%s: code %d, %q, want %q", langs, r.code, r.stderr, want)
		}
	}
}

// What is known of the languages is stored with the session, and is no part of
// the experiment: a run goes on when a record has changed.
func TestBenchStoresConfidence(t *testing.T) {
	files := make(map[string]string)
	for _, name := range []string{"Nim/en.json", "Nim/de.json", "common/en.json", "common/de.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "locales", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	dir, run := localeFolder(t, files), filepath.Join(t.TempDir(), "run")
	set, err := locales.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := set.HashOf("de")
	if err != nil {
		t.Fatal(err)
	}
	record := tier.Record{Texts: 20, Translated: 19, English: 1, Judged: 20, Faithful: 18, Translator: "m", Judges: []string{"a", "b"}, Date: "2026-11-30", SHA256: sum}
	name := filepath.Join(dir, "common", locales.RecordFile+".json")
	write := func() {
		t.Helper()
		data, err := tier.Format(map[string]tier.Record{"de": record})
		if err == nil {
			err = os.WriteFile(name, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	bench := func(n string) string {
		t.Helper()
		r := selfplay("", "bench", "--model", "builtin:random", "--games", "Nim", "--langs", "en,de", "--n", n, "--quiet", "--locales", dir, "--run", run)
		if r.code != 0 {
			t.Fatalf("code %d, %s", r.code, r.stderr)
		}
		return r.stderr
	}
	write()
	if got, want := bench("2"), "warning: languages that are not certified: de (90% judged right, 5% left in English): tier C, translated and judged by machines, reviewed by no native speaker\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	record.Review = &tier.Review{Who: "a speaker", When: "in May"}
	write()
	if got := bench("2"); got != "" {
		t.Errorf("a reviewed language: %q", got)
	}
	var stored struct {
		How []struct{ Locales []locales.Confidence }
	}
	data, err := os.ReadFile(filepath.Join(run, "run.json"))
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	if err != nil || len(stored.How) != 2 || stored.How[0].Locales[1].Tier != "C" || stored.How[1].Locales[1].Record.Review.Who != "a speaker" {
		t.Errorf("%v: %s", err, data)
	}
}
