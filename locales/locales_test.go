package locales

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var languages = []string{"ar", "de", "en", "es", "fr", "he", "ms", "zh"}

// Some messages to ask for; the games ask for all of theirs.
const (
	intro = iota
	wrongFormat
	outOfRange
)

var someMessages = []Message{
	intro:       {Key: "player_prompt.intro", Args: []string{"player_id", "symbol", "opponent_symbol"}},
	wrongFormat: {Key: "invalid_move.wrong_format"},
	outOfRange:  {Key: "invalid_move.out_of_range", Args: []string{"cell"}},
}

func TestEveryGameHasEveryLanguage(t *testing.T) {
	set := Embedded()
	for _, game := range append(set.Games(), Common) {
		if got := set.Langs(game); !slices.Equal(got, languages) {
			t.Errorf("%s: languages %v, want %v", game, got, languages)
		}
	}
}

// Every folder of strings is built in, and nothing but folders of games is
// taken for a game.
func TestNothingIsForgotten(t *testing.T) {
	folder, err := Open(".")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Embedded().Games(), folder.Games(); !slices.Equal(got, want) {
		t.Errorf("built in are %v, in the folder are %v", got, want)
	}
	for _, alias := range aliases {
		if data, err := os.ReadFile(filepath.Join(alias, "zh.json")); err != nil || !strings.Contains(string(data), "LLMObservationWrappers") {
			t.Errorf("%s: %v; it has to be a link to common", alias, err)
		}
	}
}

// A native speaker finds nothing wrong: here is what a machine can see of it.
func TestTextsAreClean(t *testing.T) {
	for _, game := range append(Embedded().Games(), Common) {
		for _, lang := range languages {
			texts, err := Embedded().Strings(game, lang)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range texts {
				text, where := l.Text, game+"/"+lang+": "+l.Key
				for _, r := range text {
					if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && r != '\n' {
						t.Errorf("%s: the invisible character %U", where, r)
					}
				}
				// The reason of an invalid move stands in the middle of a message.
				if game != Common && strings.HasPrefix(l.Key, "invalid_move.") && !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "。") {
					t.Errorf("%s: no full stop", where)
				}
				if strings.Contains(text, "  ") || strings.Contains(text, " \n") {
					t.Errorf("%s: stray blanks", where)
				}
				if lang == "zh" && strings.Contains(text, "。 ") {
					t.Errorf("%s: a blank after a full stop", where)
				}
				if lang == "fr" && regexp.MustCompile(`\pL'\pL`).MatchString(text) {
					t.Errorf("%s: a straight apostrophe", where)
				}
			}
		}
	}
}

// copyEmbedded writes our own files to a folder in the given layout.
func copyEmbedded(t *testing.T, game, common string) string {
	t.Helper()
	dir := t.TempDir()
	err := fs.WalkDir(embedded, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		folder, file := filepath.Split(name)
		to := strings.ReplaceAll(game, "%s", filepath.Clean(folder))
		if filepath.Clean(folder) == Common {
			to = common
		}
		data, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(dir, to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, to, file), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOpenTakesBothLayouts(t *testing.T) {
	ours := copyEmbedded(t, "%s", "common")
	arena := copyEmbedded(t, "textarena/envs/%s/locales", "textarena/utils/locales")
	for _, dir := range []string{ours, arena, filepath.Join(arena, "textarena")} {
		set, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Games(); !slices.Equal(got, Embedded().Games()) {
			t.Errorf("%s: games %v", dir, got)
		}
		if got := set.Langs("TicTacToe"); !slices.Equal(got, languages) {
			t.Errorf("%s: languages %v", dir, got)
		}
		texts, err := set.Texts("TicTacToe", "de", someMessages)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := Embedded().Texts("TicTacToe", "de", someMessages)
		if got := texts.String(outOfRange, "9"); got != want.String(outOfRange, "9") {
			t.Errorf("%s: %q", dir, got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		filepath.Join(t.TempDir(), "none"): "name a folder that exists",
		file:                               "no set packed by",
		t.TempDir():                        "neither <Game>/<lang>.json",
	} {
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", dir, err, want)
		}
	}
}

// A file that a game could stumble over is refused when the game is made.
func TestBadFiles(t *testing.T) {
	swap := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				panic("nothing to swap: " + old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	whole := func(s string) func(string) string { return func(string) string { return s } }
	for _, test := range []struct {
		name  string
		spoil func(string) string
		want  []string
	}{
		{"cut off", whole(`{"player_prompt": {`), []string{"not a JSON object"}},
		{"a list", whole(`["a"]`), []string{"not a JSON object"}},
		{"empty", whole(``), []string{"not a JSON object"}},
		{"not UTF-8", whole("{\"a\": \"\xff\"}"), []string{"not UTF-8"}},
		{"too large", whole(strings.Repeat(" ", maxFile+1)), []string{"at most"}},
		{"key missing", swap("wrong_format", "wrong_form"), []string{"invalid_move.wrong_format", "missing"}},
		{"branch missing", swap("invalid_move", "invalid"), []string{"invalid_move.wrong_format", "missing"}},
		{"text for branch", whole(`{"player_prompt": "x"}`), []string{"player_prompt.intro", "missing"}},
		{"number", swap(`"There is no number in square brackets."`, "4"), []string{"invalid_move.wrong_format", "not a string"}},
		{"null", swap(`"There is no number in square brackets."`, "null"), []string{"invalid_move.wrong_format", "not a string"}},
		{"list of lines", swap(`"There is no number in square brackets."`, `["a", "b"]`), []string{"invalid_move.wrong_format", "not a string"}},
		{"unknown placeholder", swap("square {cell}", "square {place}"), []string{"invalid_move.out_of_range", "{place}", "{cell}"}},
		{"placeholder without values", swap("There is no number", "There is no {cell}"), []string{"invalid_move.wrong_format", "{cell}"}},
		{"numbered placeholder", swap("square {cell}", "square {0}"), []string{"invalid_move.out_of_range", "{0}"}},
		{"empty placeholder", swap("square {cell}", "square {}"), []string{"invalid_move.out_of_range", "{}"}},
		{"conversion", swap("square {cell}", "square {cell!r}"), []string{"invalid_move.out_of_range", "{cell!r}"}},
		{"attribute", swap("square {cell}", "square {cell.__class__}"), []string{"invalid_move.out_of_range", "{cell.__class__}"}},
		{"open brace", swap("square {cell}", "square {cell"), []string{"invalid_move.out_of_range", "single '{'"}},
		{"close brace", swap("square {cell}", "square cell}"), []string{"invalid_move.out_of_range", "single '}'"}},
		{"brace in brace", swap("square {cell}", "square {{cell}"), []string{"invalid_move.out_of_range", "single '}'"}},
		{"nested", swap("square {cell}", "square {ce{ll}}"), []string{"invalid_move.out_of_range", "single '{'"}},
		{"brace without values", swap("There is no number", "There is { no number"), []string{"invalid_move.wrong_format", "single '{'"}},
	} {
		dir := copyEmbedded(t, "%s", "common")
		file := filepath.Join(dir, "TicTacToe", "en.json")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(test.spoil(string(data))), 0o644); err != nil {
			t.Fatal(err)
		}
		set, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = set.Texts("TicTacToe", "en", someMessages)
		if err == nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		for _, want := range append(test.want, file) {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %q, want one line with %q", test.name, err, want)
			}
		}
	}
}

func TestMissingLanguage(t *testing.T) {
	for _, lang := range []string{"xx", "../TicTacToe/en", "", "e n", "EN"} {
		_, err := Embedded().Texts("TicTacToe", lang, someMessages)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v", lang, err)
		}
	}
	_, err := Embedded().Texts("TicTacToe", "xx", someMessages)
	if want := "choose one of: ar, de, en"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
