package locales

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
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

// checkPair gives what is found in a text against its English original, each
// finding as "severity kind: what".
func checkPair(lang, english, text string) (found []string) {
	l := leaf{"k", text}
	for _, f := range newOriginal(leaf{"k", english}).check(text, newTongue(lang, []leaf{l})) {
		found = append(found, fmt.Sprintf("%s %s: %s", f.Severity, f.Kind, f.What))
	}
	return found
}

// Each row is one finding; its text must contain want. An empty want means that
// nothing is found.
var textFaults = []struct{ lang, english, text, want string }{
	// Placeholders.
	{"de", "Player {id}, {n}", "{n} von Spieler {id}", ""},
	{"de", "Player {id}", "Spieler", "error placeholder: {id} is missing"},
	{"de", "Player {id}", "Spieler {id} {name}", "error placeholder: {name} is not in the English text"},
	{"de", "{id} takes {id}", "{id} nimmt", "warning placeholder: {id} stands less often"},
	{"de", "{id} takes", "{id}: {id} nimmt", "warning placeholder: {id} stands more often"},
	{"fr", "{id!r}", "{id!r}", ""},
	// Braces.
	{"de", "in \\boxed{{}} now", "in \\boxed{{}} jetzt", ""},
	{"de", "in \\boxed{{}} now", "in \\boxed{} jetzt", "error brace: 0 doubled braces, the English text has 2"},
	{"de", "Fields: {f}", "Felder }}: {f}", "error brace: 1 doubled braces, the English text has 0"},
	{"de", "Player {id}", "Spieler {id", "error brace: a single '{'"},
	{"de", "Player {id}", "Spieler {{id}", "error brace: a single '}'"},
	{"de", "a set: {1, 2", "eine Menge: {1, 2", ""}, // never formatted
	{"zh", "Player {id}", "玩家 {id}｛｝", "error brace: a wide brace"},
	// Tokens.
	{"de", "Say '[check]' or '[bet]'.", "Sage '[bet]' oder '[check]'.", ""},
	{"de", "Say '[check]'.", "Sage '[schieben]'.", "error token: [check] is missing"},
	{"zh", "Say '[4]'.", "回答【4】。", "error token: [4] is missing"},
	{"de", "[a] or [a]", "[a]", "warning token: [a] stands less often"},
	{"de", "Say so.", "Sage [so].", "warning token: [so] is not in the English text; write it as there, or without the brackets"},
	{"ru", "Answer [row col], such as [1 2].", "Ответ [ряд столбец], например [1 2].", ""},
	{"ru", "Answer [row col].", "Ответ.", "warning token: [row col] is missing"},
	{"ru", "Answer [bet X].", "Ответ [bet ставка].", ""},
	{"ru", "Answer [bet X].", "Ответ [ставка X].", "error token: [bet X] is missing"},
	{"ru", "Answer [X 4].", "Ответ [Х 4].", "error token: [X 4] is missing"},
	{"de", "[{r}, {c}]", "[{r}; {c}]", ""},
	{"de", "Write `a` or `[1 b]`.", "Schreib `[1 b]`.", "error token: `a` is missing"},
	{"de", "Write `[1 a]` or `[1 b]`.", "Schreib `[1 a]` oder `[1 b]`.", ""},
	{"de", "inside \\boxed", "im Kasten", "error token: \\boxed is missing"},
	{"de", "a\nb", `a\nb`, `warning token: \nb is not in the English text; write it as there, or without the backslash`},
	// Cards.
	{"de", "K beats Q, and Q beats J.", "K schlägt Q und Q schlägt J.", ""},
	{"tr", "K beats Q.", "K'yi Q yener.", ""},
	{"ky", "K beats Q.", "Kны Q утат.", ""},
	{"de", "K beats Q.", "König schlägt Q.", "error token: the card K is missing"},
	{"sr", "K beats Q.", "К јаче од Q.", "error look-alike: the card K is written К (U+041A, Cyrillic)"},
	// Invisible characters.
	{"de", "a\n\tb", "a\n\tb", ""},
	{"de", "a b", "a\tb", "error invisible: U+0009, a control character"},
	{"de", "a b", "a\u00a0b", ""},
	{"de", "a b", "a\u200bb", "error invisible: U+200B, a space without width"},
	{"de", "a b", "\ufeffa b", "error invisible: U+FEFF, a byte order mark"},
	{"de", "a b", "a\u00adb", "error invisible: U+00AD, a soft hyphen"},
	{"de", "a b", "a\ue000b", "error invisible: U+E000, a private character"},
	{"de", "a b", "a\u0008b", "error invisible: U+0008, a control character"},
	{"de", "a b", "a\u2028b", "error invisible: U+2028, a line separator"},
	{"de", "a b", "a\ufffdb", "error invisible: U+FFFD, the mark of a character that was lost"},
	{"or", "a b", "\u0b15\u0df7", "error invisible: U+0DF7, no character at all"},
	{"he", "a b", "א\u200fב", "warning invisible: U+200F, a mark of the writing direction"},
	{"ar", "a b", "ا\u202eب", "error invisible: U+202E, a mark of the writing direction"},
	{"de", "a b", "a\u200cb", "error invisible: U+200C, a joiner where nothing joins"},
	{"fa", "a b", "می\u200cشود", ""},
	{"si", "a b", "ක්\u200dර", ""},
	{"km", "a b", "ក\u200bខ", ""},
	{"de", "a 👨\u200d👩 b", "a 👨\u200d👩 b", ""},
	{"ar", "a b", "\u06dd", ""},
	// Scripts within a word.
	{"ru", "take", "бepи", "error look-alike: \"бepи\" mixes two scripts: "},
	{"tr", "take", "аl", "error look-alike: \"аl\" mixes two scripts: а is Cyrillic (U+0430)"},
	{"aka", "take", "sε sε", "error look-alike: \"sε\" (and 1 more) mixes two scripts: ε is Greek (U+03B5)"},
	{"kk", "Play Nim.", "Nimді ойна.", ""},
	{"kk", "Miners!", "Minerлер!", ""},
	{"kk", "Play.", "Nimді ойна.", "error look-alike"},
	{"ja", "Play Nim.", "Nimを遊ぶ。", ""},
	// Scripts of a language.
	{"ja", "a b", "漢字とカタカナー", ""},
	{"de", "a b", "gut хорошо ясно", "warning script: \"хорошо\" (and 1 more) is not written as the language is: х is Cyrillic; write it in Latin"},
	{"uig", "a b", "ياخشىлا", "warning script: \"ياخشىлا\" is not written as the language is: л is Cyrillic; write it in Arabic"},
	{"ru", "a b", "Nim, TicTacToe и 三", "warning script: \"三\""},
	{"kas", "a b", "अख", ""}, // either script, but one of them
	{"kas", "a b", "ترٛے अख ؤنہ", "warning script: \"अख\""},
	{"tlh", "a b", "三", ""}, // nobody knows
	{"de", "The sign 三", "Das Zeichen 三", ""},
	{"pt-BR", "a b", "não", ""},
	// Left in English.
	{"de", "You have to take the last one", "Du musst: take the last one, you", ""},
	{"de", "You have to take the last one", "Hallo! You have to take the last one", "warning english: \"you have to take the last one\""},
	{"it", "You play in Quantum Tic Tac Toe.", "Giochi in Quantum Tic Tac Toe.", ""},
	{"de", "'move w t1', 'move t1 f2' to you", "'move w t1', 'move t1 f2' für dich", ""},
	{"en", "You have to take the last one", "You have to take the last one", ""},
	// Nothing there.
	{"de", "You win", " \n", "error key: empty"},
	{"de", "", "", ""},
}

func TestTextFaults(t *testing.T) {
	for _, test := range textFaults {
		found := checkPair(test.lang, test.english, test.text)
		// A token that was changed is both missing and new.
		found = slices.DeleteFunc(found, func(f string) bool {
			return strings.HasPrefix(f, "warning token") && strings.HasPrefix(test.want, "error token")
		})
		switch {
		case test.want == "" && len(found) > 0, len(found) > 1:
			t.Errorf("%s %q: found %q", test.lang, test.text, found)
		case test.want != "" && (len(found) == 0 || !strings.Contains(found[0], test.want)):
			t.Errorf("%s %q: found %q, want %q", test.lang, test.text, found, test.want)
		}
	}
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

// Without English nothing is compared, but what is wrong alone is found.
func TestCheckWithoutEnglish(t *testing.T) {
	rep := Checker{Set: setOf(map[string]string{"G/de.json": `{"a": "{x} [y] \u00ad"}`})}.Run()
	if len(rep.Findings) != 1 || rep.Findings[0].Kind != KindInvisible || rep.Errors != 1 || rep.Counts[KindInvisible] != 1 {
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
	for _, test := range textFaults {
		en, _ := json.Marshal(map[string]string{"k": test.english})
		text, _ := json.Marshal(map[string]string{"k": test.text})
		f.Add(string(en), string(text), test.lang)
	}
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
