package translate

import (
	"slices"
	"strings"
	"testing"

	"selfplay/locales/mask"
)

func TestCandidates(t *testing.T) {
	signed, texts := embeddedTexts(t, "de")
	texts = only(texts, "Nim")
	var given []Candidate
	for _, text := range texts {
		m := mask.Mask(text.English)
		given = append(given, Candidate{text.Game, text.Key, "de", unhidden(m, signed[text.Game+"/"+text.Key])})
	}
	bad, missing := given[1], given[2]
	given[1].Text = "Haufen:"
	given = append(slices.Delete(given, 2, 3), Candidate{"Nim", "no.such", "de", "x"}, Candidate{"Nim", "outcome.win", "fr", "y"})
	f := openFolder(t, t.TempDir())
	tr := &Translator{Folder: f, Lang: "de", Name: "German", Texts: texts, By: "de.jsonl"}
	unknown, late, err := tr.Take(given)
	if err != nil || unknown != 1 || late != 0 {
		t.Errorf("%v, %d unknown, %d late", err, unknown, late)
	}
	res := finished(t, f, texts)
	if res.Record.English != 2 || res.Reasons["missing"] != 1 || res.Reasons["placeholder"] != 1 || len(res.Record.Seeds) > 0 || res.Record.Translator != "de.jsonl" {
		t.Errorf("%+v", res)
	}
	// What was refused before is not looked at again.
	if _, _, err := tr.Take(given); err != nil {
		t.Error(err)
	}
	if e, _ := f.entry("de", texts[1]); len(e.Tries) != 1 {
		t.Errorf("%+v", e.Tries)
	}
	// A model is asked for what there is no candidate for, and for that alone.
	if _, open := tr.open(); !slices.Equal(open, texts[2:3]) {
		t.Errorf("a model is asked for %v", open)
	}
	// Better ones for those that are English are taken, others are not looked at, and told.
	unknown, late, err = tr.Take([]Candidate{bad, missing, given[2], {texts[0].Game, texts[0].Key, "de", "Anderes."}})
	if res := finished(t, f, texts); err != nil || unknown != 0 || late != 1 || res.Record.English != 0 {
		t.Errorf("%v %d %d %+v", err, unknown, late, res)
	}
	if e, _ := f.entry("de", texts[0]); e.Text == "Anderes." {
		t.Error("a finished text was replaced")
	}
}

func TestReadCandidates(t *testing.T) {
	const good = `{"game": "Nim", "key": "a.b", "lang": "de", "text": "x"}`
	if all, err := ReadCandidates(strings.NewReader(good + "\n\n" + strings.Replace(good, "a.b", "c", 1))); err != nil || len(all) != 2 {
		t.Errorf("%v %v", all, err)
	}
	for text, want := range map[string]string{
		good + "\n" + good:                "line 2: a.b of Nim has one in line 1 already",
		"x":                               "line 1: not an object",
		good + good:                       "line 1: not an object",
		`{"game": "Nim", "word": 1}`:      "line 1: not an object",
		`{"game": "Nim"}`:                 "line 1: game, key and lang are needed",
		"\xff":                            "line 1: not UTF-8",
		"\n" + strings.Repeat("x", 2<<20): "line 2 is longer",
	} {
		if _, err := ReadCandidates(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}
