package locales

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"selfplay/locales/verify"
)

// setOf is a set laid out like ours, with these files and an empty common one
// for each of their languages.
func setOf(files map[string]string) *Set {
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
		_, file, _ := strings.Cut(name, "/")
		if common := Common + "/" + file; files[common] == "" && file[0] != '_' {
			tree[common] = &fstest.MapFile{Data: []byte("{}")}
		}
	}
	return &Set{name: "made up", files: tree, layout: ourLayout}
}

func TestFileFaults(t *testing.T) {
	const en = `{"a": "one", "b": {"c": "two", "d": "three"}}`
	for text, want := range map[string][]string{
		`{"a": "eins", "b": {"c": "zwei", "d": "drei"}}`:                    nil,
		`{"_note": {"n": 1}, "a": "eins", "b": {"c": "zwei", "d": "drei"}}`: nil,
		`{"a": "eins", "b": {"c": "zwei"}}`:                                 {"b.d: key: missing"},
		`{"a": "eins", "b": {"c": "zwei", "d": "drei", "e": "x"}}`:          {"b.e: key: not in the English file"},
		`{"a": 1, "b": {"c": "zwei", "d": ["drei", {}]}}`:                   {"a: key: not a string", "b.d: key: not a string", "a: key: missing", "b.d: key: missing"},
		`{"a": "eins", "b": null}`:                                          {"b: key: not a string", "b.c: key: missing", "b.d: key: missing"},
		`{"a": "eins", "a": "eins", "b": {"c": "zwei", "d": "drei"}}`:       {"a: key: stands twice"},
		`{"a": "eins", "b": {"c": "zwei"}, "b": {"d": "drei"}}`:             {"b: key: stands twice"},
		`{"a": "eins"`: {"file: not a JSON object"},
		`["a"]`:        {"file: not a JSON object"},
		``:             {"file: not a JSON object"},
		`{"a": "eins", "b": {"c": "zwei", "d": "drei"}} {}`: {"file: not a JSON object of strings: more text"},
		"\ufeff" + en:       {"file: not a JSON object"},
		"{\"a\": \"\xff\"}": {"file: not UTF-8"},
		strings.Repeat(`{"a":`, 100) + `"x"` + strings.Repeat("}", 100):                   {"file: not a JSON object of strings: objects stand 17 deep"},
		strings.Repeat(" ", maxFile+1):                                                    {"file: is not a file of at most"},
		`{"a": "eins", "b": {"c": "zwei", "d": "drei"}, "x\u001b[2J\ny": "z\u001b[2J\n"}`: {"x [2J y: key: not in", "x [2J y: invisible"},
	} {
		rep := Checker{Set: setOf(map[string]string{"G/en.json": en, "G/de.json": text, "common/de.json": "{}"})}.Run()
		for _, w := range want {
			if !slices.ContainsFunc(rep.Findings, func(f Finding) bool { return strings.HasPrefix(f.String(), "G/de.json: "+w) }) {
				t.Errorf("%.80q: found %v, want %q", text, rep.Findings, w)
			}
		}
		if len(rep.Findings) != len(want) || rep.Files != 4 || rep.Games != 1 || rep.Langs != 2 {
			t.Errorf("%.80q: report %+v", text, rep)
		}
	}
}

// What a translator would have hidden is looked for in files that are finished, too.
func TestCheckFindsWhatIsHidden(t *testing.T) {
	rep := Checker{Set: setOf(map[string]string{
		"G/en.json": `{"a": "Say 'up', 'down' or 'left'.", "b": "You are 'P'."}`, "G/sw.json": `{"a": "Sema 'juu', 'down' au 'left'.", "b": "Wewe ni \u201cP\u201d."}`})}.Run()
	if len(rep.Findings) != 1 || !strings.HasPrefix(rep.Findings[0].String(), `G/sw.json: a: token: "up" is missing`) || rep.Errors != 1 {
		t.Errorf("%v", rep.Findings)
	}
}

// Without English nothing is compared, but what is wrong alone is found.
func TestCheckWithoutEnglish(t *testing.T) {
	rep := Checker{Set: setOf(map[string]string{"G/de.json": `{"a": "{x} [y] \u00ad"}`})}.Run()
	if len(rep.Findings) != 1 || rep.Findings[0].Kind != verify.Invisible || rep.Errors != 1 || rep.Counts[verify.Invisible] != 1 {
		t.Errorf("%+v", rep)
	}
}

// The examples come from elsewhere; texts that no game can be started with are
// told if nothing else is.
func TestCheckPlays(t *testing.T) {
	set := setOf(map[string]string{"G/en.json": `{"a": "one"}`, "G/de.json": `{"a": "eins"}`, "G/fr.json": `{}`})
	rep := Checker{Set: set, Play: func(_ *Set, game, lang string, texts map[string]string) ([]Finding, error) {
		switch {
		case game != "G":
			return nil, nil
		case lang == "en":
			return []Finding{{Key: "a", Kind: KindExample, Severity: Error, What: texts["a"]}}, nil
		}
		return nil, fmt.Errorf("no start")
	}}.Run()
	var got []string
	for _, f := range rep.Findings {
		got = append(got, f.String())
	}
	want := []string{"G/de.json: file: no start", "G/en.json: a: example: one", "G/fr.json: a: key: missing; add it as the English file has it"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// Whatever files hold, a check ends with findings on one line each, the same
// ones every time.
func FuzzCheck(f *testing.F) {
	f.Add(`{"k": "Player {id}, say [check]", "l": {"m": "K beats Q"}}`, `{"k": "{id}: sage [bet] \u200b", "l": {"m": "x"}}`, "de")
	f.Add(`{"a": {"b": [{}]}, "a": 1}`, `{"_": `, "x")
	f.Fuzz(func(t *testing.T, en, text, lang string) {
		if !isName(lang) || lang[0] == '_' {
			return
		}
		check := func() *Report {
			return Checker{Set: setOf(map[string]string{"G/en.json": en, "G/" + lang + ".json": text})}.Run()
		}
		rep := check()
		for _, f := range rep.Findings {
			if s := f.String(); strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) || f.What == "" {
				t.Errorf("%q", s)
			}
		}
		if again := check(); !slices.Equal(again.Findings, rep.Findings) || rep.Errors+rep.Warnings != len(rep.Findings) {
			t.Errorf("%v, and then %v", rep, again)
		}
	})
}
