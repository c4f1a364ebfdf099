package locales

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const someRecord = `{"_comment": "a note", "kk": {"name": "Kazakh", "tier": "CERTIFIED_FLAGGED", "post_repair_fidelity_pct": 99.5,
	"target_coverage_pct": 100, "english_fallback_leaves": 2, "flagged_games": ["Nim", "Chess"], "method": "x"},
	"yo": {"tier": "CERTIFIED"}, "nus": {"tier": "EXPERIMENTAL", "flagged_games": []}}`

func recorded(record string) *Set {
	return setOf(map[string]string{"common/_trackb_confidence.json": record, "Nim/en.json": "{}", "Nim/kk.json": "{}",
		"Nim/nus.json": "{}", "Nim/yo.json": "{}", "Nim/de.json": "{}", "Chess/en.json": "{}"})
}

func TestDoubts(t *testing.T) {
	for _, test := range []struct {
		set   *Set
		langs []string
		want  string
	}{
		{Embedded(), []string{"en"}, ""},
		{Embedded(), []string{"en", "ar", "de"}, "ar, de: built in, reviewed by no native speaker"},
		{recorded(someRecord), []string{"yo", "en"}, ""},
		{recorded(someRecord), []string{"kk", "nus", "de", "de", "yo"}, "kk (faults known in Nim): CERTIFIED_FLAGGED; nus: EXPERIMENTAL; de: no record of their quality"},
		{setOf(nil), []string{"fr", "en"}, "fr: no record of their quality"},
	} {
		if got, err := test.set.Doubts([]string{"Nim", "TicTacToe"}, test.langs); got != test.want || err != nil {
			t.Errorf("%v: %q, %v, want %q", test.langs, got, err, test.want)
		}
	}
}

func TestBadRecord(t *testing.T) {
	for record, want := range map[string]string{
		"":                       "not a JSON object",
		"[]":                     "not a JSON object",
		`{"kk": 1}`:              `language "kk": not an entry with a tier`,
		`{"kk": {"name": "x"}}`:  `language "kk": not an entry with a tier`,
		`{"kk": {"tier": ["x"]}`: "not a JSON object",
	} {
		_, err := recorded(record).List()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "common/_trackb_confidence.json") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want %q", record, err, want)
		}
	}
}

func TestList(t *testing.T) {
	list, err := recorded(someRecord).List()
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(list)
	want := `{"source":"made up","languages":[` +
		`{"lang":"de","tier":"unrecorded","games":["Nim"]},` +
		`{"lang":"en","tier":"source","games":["Chess","Nim"]},` +
		`{"lang":"kk","name":"Kazakh","tier":"CERTIFIED_FLAGGED","fidelity_pct":99.5,"coverage_pct":100,"english_texts":2,"flagged_games":["Nim","Chess"],"games":["Nim"]},` +
		`{"lang":"nus","tier":"EXPERIMENTAL","games":["Nim"]},` +
		`{"lang":"yo","tier":"CERTIFIED","games":["Nim"]}],` +
		`"games":[{"game":"Chess","languages":["en"]},{"game":"Nim","languages":["de","en","kk","nus","yo"]}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The record is packed with the languages, and is none of them.
func TestPackKeepsTheRecord(t *testing.T) {
	set := recorded(someRecord)
	name, _ := pack(t, set)
	packed, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	known, err := packed.Confidence([]string{"kk"})
	if err != nil || known[0].Name != "Kazakh" {
		t.Errorf("%+v, %v", known, err)
	}
	if langs := packed.fileLangs(Common); !slices.Equal(langs, []string{"de", "en", "kk", "nus", "yo"}) {
		t.Errorf("languages %v", langs)
	}
}
