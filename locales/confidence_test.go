package locales

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"selfplay/locales/tier"
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

// withRecord is a set with a record of our own of Kazakh, beside TextArena's.
func withRecord(t *testing.T, change func(*tier.Record)) *Set {
	t.Helper()
	set := recorded(someRecord)
	sum, err := set.HashOf("kk")
	if err != nil {
		t.Fatal(err)
	}
	r := tier.Record{Name: "Kazakh", Texts: 50, Translated: 48, English: 2, Judged: 50, Faithful: 48, Translator: "m", Judges: []string{"a", "b"},
		Flagged: []string{"Nim"}, Date: "2026-11-30", SHA256: sum}
	change(&r)
	data, err := tier.Format(map[string]tier.Record{"kk": r})
	if err != nil {
		t.Fatal(err)
	}
	set.files.(fstest.MapFS)["common/"+RecordFile+".json"] = &fstest.MapFile{Data: data}
	return set
}

func TestOurRecord(t *testing.T) {
	set := withRecord(t, func(*tier.Record) {})
	known, err := set.Confidence([]string{"kk", "yo"})
	if err != nil || known[0].Tier != "C" || *known[0].Fidelity != 96 || *known[0].Fallback != 4 || known[0].Record.Translator != "m" || known[1].Tier != Certified {
		t.Errorf("%+v, %v", known, err)
	}
	for _, test := range []struct {
		change func(*tier.Record)
		want   string
	}{
		{func(*tier.Record) {}, "kk (96% judged right, 4% left in English) (faults known in Nim): tier C, translated and judged by machines, reviewed by no native speaker"},
		{func(r *tier.Record) { r.English, r.Flagged = 0, nil }, "kk (96% judged right, 0% left in English): tier B, translated and judged by machines, reviewed by no native speaker"},
		{func(r *tier.Record) { r.Faithful, r.Flagged = 42, nil }, "kk (84% judged right, 4% left in English): tier E, translated and judged by machines, reviewed by no native speaker"},
		{func(r *tier.Record) { r.Judged, r.Faithful, r.Flagged = 0, 0, nil }, "kk (4% left in English): tier E, translated by machines, judged by nobody"},
		{func(r *tier.Record) { r.Review = &tier.Review{Who: "a speaker", When: "May"} }, ""},
		{func(r *tier.Record) { r.Flagged, r.SHA256 = nil, strings.Repeat("0", 64) }, "kk (96% judged right, 4% left in English): changed since their record was written"},
	} {
		if got, err := withRecord(t, test.change).Doubts([]string{"Nim"}, []string{"kk", "en"}); got != test.want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, test.want)
		}
	}
	// A text that was changed later, by whomever, or an English one that it is of.
	for _, name := range []string{"Nim/kk.json", "Nim/en.json", "common/en.json"} {
		set := withRecord(t, func(r *tier.Record) { r.Review = &tier.Review{Who: "a speaker", When: "May"} })
		set.files.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(`{"a": "x"}`)}
		if known, err := set.Confidence([]string{"kk"}); err != nil || known[0].Tier != Changed {
			t.Errorf("%s: %+v, %v", name, known, err)
		}
	}
	set.files.(fstest.MapFS)["common/_confidence.json"] = &fstest.MapFile{Data: []byte(`{"kk": {"tier": "A"}}`)}
	if _, err := set.Doubts(nil, []string{"kk"}); err == nil || !strings.Contains(err.Error(), `made up/common/_confidence.json: language "kk": `) {
		t.Errorf("error %v", err)
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
	for i, lang := range list.Langs {
		if sum, _ := recorded(someRecord).HashOf(lang.Lang); lang.SHA256 != sum {
			t.Errorf("%s: %s, want %s", lang.Lang, lang.SHA256, sum)
		}
		list.Langs[i].SHA256 = ""
	}
	got, _ := json.Marshal(list)
	want := `{"source":"made up","languages":[` +
		`{"lang":"de","tier":"unrecorded","games":["Nim"],"sha256":""},` +
		`{"lang":"en","tier":"source","games":["Chess","Nim"],"sha256":""},` +
		`{"lang":"kk","name":"Kazakh","tier":"CERTIFIED_FLAGGED","fidelity_pct":99.5,"coverage_pct":100,"english_texts":2,"flagged_games":["Nim","Chess"],"games":["Nim"],"sha256":""},` +
		`{"lang":"nus","tier":"EXPERIMENTAL","games":["Nim"],"sha256":""},` +
		`{"lang":"yo","tier":"CERTIFIED","games":["Nim"],"sha256":""}],` +
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

func TestPackKeepsOurRecord(t *testing.T) {
	name, _ := pack(t, withRecord(t, func(*tier.Record) {}))
	packed, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if known, err := packed.Confidence([]string{"kk"}); err != nil || known[0].Tier != "C" {
		t.Errorf("%+v, %v", known, err)
	}
}
