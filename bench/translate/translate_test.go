package translate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"selfplay/bench/asking"
	"selfplay/locales"
	"selfplay/locales/mask"
	"selfplay/locales/tier"
	"selfplay/locales/verify"
)

// TestPerfect: the program's own German passes every check, and the files say what
// it says.
func TestPerfect(t *testing.T) {
	s, texts := perfect(t)
	f := openFolder(t, t.TempDir())
	res := germanBy(t, f, s, texts)
	for _, e := range f.entries {
		if e.Text == "" && !e.Copied {
			t.Errorf("%s %s: %s", e.Game, e.Key, dump(e.Tries[len(e.Tries)-1].Faults))
		}
		if len(e.Tries) > 1 {
			t.Errorf("%s %s %s: %d tries: %s", e.Game, e.Key, e.English, len(e.Tries), dump(e.Tries[0].Faults))
		}
	}
	if r := res.Record; r.Translated != len(texts) || r.English != 0 || r.Tier != tier.E || r.Judged != 0 || len(r.Flagged) > 0 || r.Translator != "scripted" || !slices.Equal(r.Seeds, []int64{1}) {
		t.Errorf("%+v", r)
	}
	set, err := locales.Open(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, game := range append(set.Games(), locales.Common) {
		for _, lang := range []string{"en", "de"} {
			got, err := set.Strings(game, lang)
			want, _ := locales.Embedded().Strings(game, lang)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s in %s: %v\n%v\nwant\n%v", game, lang, err, got, want)
			}
		}
	}
	if common, err := os.ReadFile(filepath.Join(f.Dir, "ActionWrappers", "de.json")); err != nil || len(common) == 0 {
		t.Error(err)
	}
}

// TestKnownGood: none of our own texts is refused as a candidate.
func TestKnownGood(t *testing.T) {
	set := locales.Embedded()
	texts, err := TextsOf(set, set.Games())
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"ar", "de", "es", "fr", "he", "ms", "zh"} {
		for _, text := range texts {
			list, err := set.Strings(text.Game, lang)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(list, func(o locales.Text) bool { return o.Key == text.Key })
			if faults := newChecker(text, lang).check(list[at].Text); len(faults) > 0 {
				t.Errorf("%s %s %s: %s", lang, text.Game, text.Key, dump(faults))
			}
		}
	}
}

// TestSloppy: one that loses signs is told so, and asked again.
func TestSloppy(t *testing.T) {
	good, texts := perfect(t)
	var asked []asking.Question
	s := script(func(q asking.Question) asking.Answer {
		a := good(q)
		switch try(q) {
		case "1":
			return says(strings.NewReplacer(mask.Sentinel(1), "").Replace(a.Text))
		case "2":
			return says(strings.ReplaceAll(a.Text, mask.Sentinel(1), "{spieler}"))
		}
		return a
	})
	f := openFolder(t, t.TempDir())
	tr := &Translator{Folder: f, Lang: "de", Name: "German", Texts: only(texts, "Nim"), By: "sloppy", Seeds: MostSeeds, Ask: s.asker(&asked)}
	if err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	e, ok := f.entry("de", textOf(t, texts, "Nim", "outcome.win"))
	if !ok || e.Text == "" || len(e.Tries) != 3 || kindsOf(e.Tries[0].Faults) != "sentinel" || kindsOf(e.Tries[1].Faults) != "sentinel" {
		t.Errorf("%+v", e)
	}
	for _, q := range asked {
		if strings.HasPrefix(q.ID, "de/Nim/outcome.win/2") && !strings.Contains(q.User, "- sentinels changed: 「1」 missing") {
			t.Errorf("it is not told why: %s", q.User)
		}
	}
	if res := finished(t, f, only(texts, "Nim")); !slices.Equal(res.Record.Seeds, []int64{1, 2, 3}) || res.Record.English != 0 {
		t.Errorf("%+v", res)
	}
}

// TestLying: one that writes well and says something else passes all checks. Judges that
// can read find it, and one that calls everything faithful does not save it.
func TestLying(t *testing.T) {
	good, texts := perfect(t)
	texts = only(texts, "Nim")
	lie := strings.NewReplacer("gewinnt", "verliert", "gewonnen", "verloren")
	f := openFolder(t, t.TempDir())
	germanBy(t, f, func(q asking.Question) asking.Answer { return says(lie.Replace(good(q).Text)) }, texts)
	lies := 0
	for _, e := range f.entries {
		if strings.Contains(e.Text, "verliert") || strings.Contains(e.Text, "verloren") {
			lies++
		}
	}
	judgedBy(t, f, texts, judgeOne, always(yes))
	judgedBy(t, f, texts, judgeTwo, func(q asking.Question) asking.Answer {
		if strings.Contains(q.User, "verliert") || strings.Contains(q.User, "verloren") {
			return says(no)
		}
		return says(yes)
	})
	if res := finished(t, f, texts); lies == 0 || res.Doubted != lies || res.Record.English != lies || res.Refused != 0 {
		t.Errorf("%d lies, %+v", lies, res)
	}
}

func textOf(t *testing.T, texts []Text, game, key string) Text {
	t.Helper()
	i := slices.IndexFunc(texts, func(o Text) bool { return o.Game == game && o.Key == key })
	if i < 0 {
		t.Fatalf("no %s %s", game, key)
	}
	return texts[i]
}

// TestFailing: one that never gives a translation leaves all in English, after the
// tries that it has, and the reasons are counted.
func TestFailing(t *testing.T) {
	_, texts := perfect(t)
	texts = only(texts, "Nim")
	var asked []asking.Question
	s := script(func(q asking.Question) asking.Answer {
		if strings.Contains(q.ID, "/outcome") {
			return asking.Answer{Text: "Nichts", Cut: "the answer was cut off after 5 tokens"}
		}
		return says("")
	})
	f := openFolder(t, t.TempDir())
	tr := &Translator{Folder: f, Lang: "de", Name: "German", Texts: texts, By: "failing", Seeds: 2, Ask: s.asker(&asked)}
	if err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	res := finished(t, f, texts)
	r := res.Record
	if r.English != len(texts) || r.Translated != 0 || r.Tier != tier.E || res.Reasons["cut"] != 1 || res.Reasons["empty"] != len(texts)-1 || res.Unnamed != res.Terms {
		t.Errorf("%+v", res)
	}
	if want := 2 * (len(texts) + res.Terms); len(asked) != want {
		t.Errorf("%d questions, want %d", len(asked), want)
	}
	set, _ := locales.Open(f.Dir)
	if got, _ := set.Strings("Nim", "de"); got[0].Text != texts[0].English {
		t.Errorf("%q", got[0].Text)
	}
}

// TestStubborn: a text that the checks refuse, the last time too, stays in English,
// though its signs are whole.
func TestStubborn(t *testing.T) {
	good, texts := perfect(t)
	texts = only(texts, "Nim")
	f := openFolder(t, t.TempDir())
	res := germanBy(t, f, func(q asking.Question) asking.Answer {
		return says(strings.Replace(good(q).Text, closeMark, " 77 хорошо"+closeMark, 1))
	}, texts)
	for _, e := range f.entries {
		if e.Text != "" || len(e.Tries) != MostSeeds {
			t.Errorf("%s %s is %q after %d tries", e.Key, e.English, e.Text, len(e.Tries))
		}
	}
	if r := res.Record; r.English != len(texts) || r.Translated != 0 || res.Reasons["number"] != len(texts) || res.Reasons["script"] != len(texts) {
		t.Errorf("%+v", res)
	}
}

func TestCheckTerm(t *testing.T) {
	for called, want := range map[string]string{
		"Kommandant Alpha": "", "Commander Alpha": "",
		"": "empty", "Kommandant. Alpha": "form", "ein Wort zu viel für so einen Namen": "form", "Командир": "script",
	} {
		if got := kindsOf(checkTerm(verify.Of("de"), "Commander Alpha", called)); got != want {
			t.Errorf("%q: %q, want %q", called, got, want)
		}
	}
}

func TestTerms(t *testing.T) {
	set := locales.Embedded()
	for game, want := range map[string][]string{
		"ColonelBlotto": {"Commander Alpha", "Commander Beta", "Colonel Blotto"},
		"Nim":           {"Player"},
		"KuhnPoker":     {"Player"},
	} {
		texts, err := TextsOf(set, []string{game})
		if err != nil {
			t.Fatal(err)
		}
		if got := termsOf(slices.DeleteFunc(texts, func(o Text) bool { return o.Game != game })); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", game, got, want)
		}
	}
	// As TextArena's other games write them: no words that a sentence begins with, no part
	// of a longer name, no possessive.
	others := []Text{
		{"x", "a", "Player {p}, Invalid move. You lose, You know."}, {"x", "b", "Invalid. Since You asked, Player {p} draws."},
		{"x", "c", "Three of a Kind"}, {"x", "d", "Four of a Kind"}, {"x", "e", "It is White's turn, says White to {p}."},
		{"x", "f", "You are playing Texas Hold'em with {p}."}, {"x", "g", "The best of Texas Hold'em, White!"}, {"x", "h", "the Player"},
	}
	if got, want := termsOf(others), []string{"Player", "Texas Hold'em", "White"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, test := range []struct {
		called, text string
		want         bool
	}{
		{"Spieler", "des Spielers 1", true}, {"mchezaji", "wachezaji wote", true}, {"玩家", "玩家 1", true},
		{"Spieler", "die Figur", false}, {"لاعب", "اللاعب 1", true}, {"Kommandant Alpha", "Alphas Zug", true}, {"K", "k", true},
	} {
		if got := (Term{"x", test.called}).isCalled(test.text); got != test.want {
			t.Errorf("%s in %s: %v", test.called, test.text, got)
		}
	}
}

// TestGlossaryIsTold: what a term is called stands in the prompts of its game, and
// the model is held to it.
func TestGlossaryIsTold(t *testing.T) {
	good, texts := perfect(t)
	texts = only(texts, "Nim")
	told := 0
	s := script(func(q asking.Question) asking.Answer {
		if strings.Contains(q.ID, "/term Player/") {
			return says("Mitspieler")
		}
		if strings.Contains(q.User, "- Player: Mitspieler\n") {
			told++
		}
		return good(q)
	})
	f := openFolder(t, t.TempDir())
	res := germanBy(t, f, s, texts)
	if told == 0 || res.Record.English != 0 { // Spieler is near enough
		t.Errorf("told %d times, %+v", told, res)
	}
}

// TestPrompt: a model is told the game, the glossary, what the text is for, what each
// sign stands for, and why an earlier answer was refused; and of the text, what is not
// hidden.
func TestPrompt(t *testing.T) {
	c := newChecker(Text{"KuhnPoker", "outcome.win", "Player {player_id} wins with '[bet]' and K.\n+---+\nSay `x`."}, "sw")
	c.glossary = Glossary{{"Player", "Mchezaji"}}
	want := `The game is called KuhnPoker.
Always call these the same, with the endings that the sentence wants:
- Player: Mchezaji
The text is how the game or a round of it ended.
The signs in it:
- 「1」 is a value: player id
- 「2」 is "[bet]", which a player writes in an answer
- 「3」 is "K", a card, piece or field
- 「4」 is a drawing
- 「5」 is "` + "`x`" + `", which a player writes in an answer
An earlier translation was refused:
Mchezaji 「1」.
- 「2」 is missing
Translate anew, without these faults.
The English text:
Player 「1」 wins with '「2」' and 「3」.
「4」
Say 「5」.`
	if got := c.prompt(&Try{Answer: "Mchezaji 「1」.", Faults: []Fault{{"token", "[bet] is missing"}}}); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := system("Serbian", "Cyrillic"); !strings.Contains(got, " into Serbian, in the Cyrillic script. ") || !strings.Contains(got, "「1」") {
		t.Error(got)
	}
}

// TestResume: whatever is stopped goes on, and nothing is asked twice; a line that
// was cut off is asked again.
func TestResume(t *testing.T) {
	good, texts := perfect(t)
	texts = only(texts, "Nim", "KuhnPoker")
	dir := t.TempDir()
	var asked []asking.Question
	ctx, stop := context.WithCancel(t.Context())
	s := script(func(q asking.Question) asking.Answer {
		if len(asked) == 10 {
			stop()
		}
		return good(q)
	})
	f := openFolder(t, dir)
	tr := &Translator{Folder: f, Lang: "de", Name: "German", Texts: texts, By: "scripted", Seeds: 4, Ask: s.asker(&asked)}
	if err := tr.Run(ctx); err != context.Canceled || len(asked) != 10 {
		t.Fatalf("%v after %d questions", err, len(asked))
	}
	if err := f.Write("de", texts); err == nil || !strings.Contains(err.Error(), "is not finished") {
		t.Errorf("%v", err)
	}
	f.Close()
	log := filepath.Join(dir, translatedName)
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, data[:len(data)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	first := len(asked)
	f = openFolder(t, dir)
	tr.Folder, tr.Ask = f, good.asker(&asked)
	terms, rest := tr.Rest()
	if err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(asked) - first; n != len(terms)+len(rest) {
		t.Errorf("%d questions, %d and %d were open", n, len(terms), len(rest))
	}
	times := make(map[string]int)
	for _, q := range asked {
		times[q.ID]++
	}
	for id, n := range times {
		if n > 1 && id != asked[first-1].ID {
			t.Errorf("%s was asked for %d times", id, n)
		}
	}
	if times[asked[first-1].ID] != 2 {
		t.Errorf("%s was cut off and not asked for again", asked[first-1].ID)
	}
	before := len(asked)
	res := germanBy(t, f, good, texts)
	if len(asked) != before || res.Record.English != 0 {
		t.Errorf("%+v", res)
	}
	// An English text that changed is another one.
	texts[0].English += " Now."
	tr.Texts = texts
	if _, rest := tr.Rest(); len(rest) != 1 {
		t.Errorf("%d open", len(rest))
	}
}

// TestFolderInUse: a folder that another process has, or with a log that is damaged, is
// refused in one line, and another process may have it after that.
func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	f := openFolder(t, dir)
	if _, err := OpenFolder(dir); err == nil || !strings.Contains(err.Error(), translatedName+" is being written by another process") {
		t.Errorf("opened twice: %v", err)
	}
	f.Close()
	for _, name := range []string{translatedName, judgedName, backName} {
		log := filepath.Join(dir, name)
		if err := os.WriteFile(log, []byte("{}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFolder(dir); err == nil || !strings.Contains(err.Error(), log+" is damaged in line 1") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Truncate(log, 0); err != nil {
			t.Fatal(err)
		}
	}
	openFolder(t, dir)
}

// TestSourceStays: in the place where the English files lie already, they are not
// written anew.
func TestSourceStays(t *testing.T) {
	good, texts := perfect(t)
	texts = only(texts, "Nim")
	f := openFolder(t, t.TempDir())
	file := filepath.Join(f.Dir, "Nim", "en.json")
	source, err := os.ReadFile("../../locales/Nim/en.json")
	source = []byte(strings.Replace(string(source), "{", `{ "_note": "mine",`, 1))
	for _, err := range []error{err, os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, source, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	germanBy(t, f, good, texts)
	if got, err := os.ReadFile(file); err != nil || string(got) != string(source) {
		t.Errorf("%v: it became %s", err, got)
	}
}

// TestHand: what somebody wrote is not lost, and other English is not mixed in.
func TestHand(t *testing.T) {
	good, texts := perfect(t)
	texts = only(texts, "Nim")
	f := openFolder(t, t.TempDir())
	germanBy(t, f, good, texts)
	if err := f.Check("de", texts); err != nil {
		t.Error(err)
	}
	file := filepath.Join(f.Dir, "Nim", "de.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "Nichts ist", "Gar nichts ist", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.Check("de", texts); err == nil || !strings.Contains(err.Error(), "was written by hand (outcome.win)") {
		t.Errorf("%v", err)
	}
	if _, err := f.Finish("de", "German", day); err == nil || !strings.Contains(err.Error(), "was written by hand") {
		t.Errorf("%v", err)
	}
	other := slices.Clone(texts)
	other[0].English = "Other."
	if err := f.Check("de", other); err == nil || !strings.Contains(err.Error(), "other English texts of Nim") {
		t.Errorf("%v", err)
	}
}

func TestNameOf(t *testing.T) {
	for code, want := range map[string]string{"sw": "Swahili", "pt-BR": "Portuguese (BR)", "zh-Hant": "Chinese (traditional)", "sr-Latn": "Serbian (Latn)"} {
		if got, err := NameOf(code); got != want || err != nil {
			t.Errorf("%s: %q, %v", code, got, err)
		}
	}
	if _, err := NameOf("qqq"); err == nil {
		t.Error("qqq has a name")
	}
}
