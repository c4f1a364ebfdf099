package translate

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"selfplay/bench"
	"selfplay/bench/asking"
	"selfplay/locales"
	"selfplay/locales/tier"
)

func always(text string) script { return func(asking.Question) asking.Answer { return says(text) } }

// judgedFolder is a folder with Nim in German.
func judgedFolder(t *testing.T) (*Folder, []Text) {
	t.Helper()
	good, texts := perfect(t)
	texts = only(texts, "Nim")
	f := openFolder(t, t.TempDir())
	germanBy(t, f, good, texts)
	return f, texts
}

// keen is a judge that finds one text bad.
func keen(q asking.Question) asking.Answer {
	if strings.Contains(q.User, "Nichts ist mehr übrig") {
		return says("reason: the winner differs\nfaithful: no")
	}
	return says(yes)
}

func TestJudges(t *testing.T) {
	for _, test := range []struct {
		name     string
		two      script
		faithful int // of all; -1: all
		tier     tier.Tier
	}{
		{"both agree", always(yes), -1, tier.B},
		{"one doubts", keen, -2, tier.C},
		{"one always doubts", always(no), 0, tier.E},
		{"one babbles", always("Yes, it is a faithful translation."), 0, tier.E},
	} {
		f, texts := judgedFolder(t)
		n := len(f.unjudged("de", texts, judgeOne))
		judgedBy(t, f, texts, judgeOne, always(yes))
		if res := finished(t, f, texts); res.Record.Judged != 0 || res.Unjudged != n || res.Record.Tier != tier.E {
			t.Errorf("%s: one judge is enough: %+v", test.name, res)
		}
		judgedBy(t, f, texts, judgeTwo, test.two)
		res := finished(t, f, texts)
		want := test.faithful
		if want < 0 {
			want += n + 1
		}
		r := res.Record
		if r.Judged != n || r.Faithful != want || r.English != n-want || r.Tier != test.tier || !slices.Equal(r.Judges, []string{"one", "two"}) || res.Reasons[KindJudged] != n-want {
			t.Errorf("%s: %+v, want %d of %d", test.name, res, want, n)
		}
		set, err := locales.Open(f.Dir)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := set.Strings("Nim", "de")
		win := got[slices.IndexFunc(got, func(o locales.Text) bool { return o.Key == "outcome.win" })].Text
		if english := strings.HasPrefix(win, "Nothing is left"); english != (test.faithful != -1) {
			t.Errorf("%s: %q", test.name, win)
		}
		known, err := set.Confidence([]string{"de"})
		if err != nil || known[0].Tier != string(test.tier) || math.Abs(*known[0].Fidelity-100*float64(want)/float64(n)) > 1e-9 {
			t.Errorf("%s: %v %+v", test.name, err, known)
		}
	}
}

// TestJudgesResume: a verdict is not asked for again, and one for other texts does
// not count.
func TestJudgesResume(t *testing.T) {
	f, texts := judgedFolder(t)
	judgedBy(t, f, texts, judgeOne, keen)
	f.Close()
	f = openFolder(t, f.Dir)
	var asked []asking.Question
	if err := f.Judge(t.Context(), "de", "German", texts, judgeOne, always(no).asker(&asked)); err != nil || len(asked) != 0 {
		t.Errorf("%v, asked for %d again", err, len(asked))
	}
	// A further game makes the verdicts incomplete, but what was doubted stays English.
	judgedBy(t, f, texts, judgeTwo, always(yes))
	good, all := perfect(t)
	more := only(all, "Nim", "TicTacToe")
	res := germanBy(t, f, good, more)
	if res.Record.Judged != 0 || res.Unjudged == 0 || res.Doubted != 1 || res.Record.Tier != tier.E {
		t.Errorf("%+v", res)
	}
}

// TestEqualPairs: a text that stands in two places is judged once, for both.
func TestEqualPairs(t *testing.T) {
	f := openFolder(t, t.TempDir())
	texts := []Text{{"Chess", "a", "You win."}, {"Chess", "b", "You win."}, {"Chess", "c", "You lose."}}
	given := []Candidate{{"Chess", "a", "de", "Du gewinnst."}, {"Chess", "b", "de", "Du gewinnst."}, {"Chess", "c", "de", "Du verlierst."}}
	tr := &Translator{Folder: f, Lang: "de", Name: "German", Texts: texts, By: "x"}
	if _, _, err := tr.Take(given); err != nil {
		t.Fatal(err)
	}
	var asked []asking.Question
	if err := f.Judge(t.Context(), "de", "German", texts, judgeOne, always(no).asker(&asked)); err != nil || len(asked) != 2 || len(f.verdicts) != 3 {
		t.Errorf("%v: %d questions, %d verdicts", err, len(asked), len(f.verdicts))
	}
}

// TestUnclear: the answers that are no verdict are kept and counted.
func TestUnclear(t *testing.T) {
	f, texts := judgedFolder(t)
	judgedBy(t, f, texts, judgeOne, func(asking.Question) asking.Answer { return asking.Answer{Text: yes, Cut: "the context was full"} })
	judgedBy(t, f, texts, judgeTwo, always("faithful: yes"))
	res := finished(t, f, texts)
	for _, j := range res.Judges {
		if j.Unclear != j.Of || j.Faithful != 0 || j.Of == 0 {
			t.Errorf("%+v", j)
		}
	}
	for _, v := range f.verdicts {
		if v.Unclear == "" || v.Answer == "" {
			t.Errorf("%+v", v)
		}
	}
}

func TestVerdictOf(t *testing.T) {
	for text, want := range map[string]string{
		yes: "yes", no: "no",
		"Reason: a\n\nFaithful: YES.":            "yes",
		"**reason:** a\n**faithful:** no":        "no",
		"reason: one\nand two\nfaithful: yes":    "yes",
		"faithful: yes\nreason: a":               "unclear",
		"faithful: yes":                          "unclear",
		"reason:\nfaithful: yes":                 "unclear",
		"reason: a\nfaithful: yes or no":         "unclear",
		"reason: a\nfaithful: perhaps":           "unclear",
		"reason: a\nfaithful: no\nfaithful: yes": "unclear",
		"yes":                                    "unclear", "": "unclear",
		"reason: a\nfaithful: yes\nBut it is wrong.": "unclear",
	} {
		faithful, reason, unclear := verdictOf(says(text))
		got := map[bool]string{true: "yes", false: "no"}[faithful]
		if unclear != "" {
			got = "unclear"
		}
		if got != want || (unclear == "") != (reason != "") {
			t.Errorf("%q: %s (%q, %q), want %s", text, got, reason, unclear, want)
		}
	}
}

// TestBack: texts translated back are kept and told, and decide nothing.
func TestBack(t *testing.T) {
	f, texts := judgedFolder(t)
	for range 2 { // the second time nothing is asked
		var asked []asking.Question
		if err := f.TranslateBack(t.Context(), "de", "German", texts, judgeOne, always(openMark+"Nothing is left"+closeMark).asker(&asked)); err != nil {
			t.Fatal(err)
		}
		if f.NotBack("de", texts, judgeOne) != 0 {
			t.Error("some are open")
		}
	}
	judgedBy(t, f, texts, judgeOne, always(yes))
	judgedBy(t, f, texts, judgeTwo, keen)
	res := finished(t, f, texts)
	if m := res.Back["faithful"]; m.N != res.Record.Faithful || res.Back["not faithful"].N != 1 || res.Record.Tier != tier.C {
		t.Errorf("%+v", res)
	}
	if got := overlap("Nothing is left.", "nothing is right"); math.Abs(got-2.0/3) > 1e-9 {
		t.Error(got)
	}
}

// TestFlagged: a fault that remains, since it is in English too, is told by its game,
// and keeps a language from tier B.
func TestFlagged(t *testing.T) {
	good, texts := perfect(t)
	texts = only(texts, "Nim")
	for i := range texts {
		if texts[i].Key == "outcome.win" {
			texts[i].English += " '[9 9]'" // no move
		}
	}
	f := openFolder(t, t.TempDir())
	germanBy(t, f, good, texts)
	judgedBy(t, f, texts, judgeOne, always(yes))
	judgedBy(t, f, texts, judgeTwo, always(yes))
	if r := finished(t, f, texts).Record; !slices.Equal(r.Flagged, []string{"Nim"}) || r.English != 1 || r.Tier != tier.C {
		t.Errorf("%+v", r)
	}
}

// TestReview: a native speaker's review stays as long as the texts do.
func TestReview(t *testing.T) {
	f, texts := judgedFolder(t)
	file := filepath.Join(f.Dir, locales.Common, locales.RecordFile+".json")
	records, err := readRecords(file)
	if err != nil {
		t.Fatal(err)
	}
	r := records["de"]
	r.Review = &tier.Review{Who: "a reader", When: "in May"}
	writeRecords(t, file, map[string]tier.Record{"de": r})
	if res := finished(t, f, texts); res.Record.Tier != tier.A {
		t.Errorf("%+v", res)
	}
	judgedBy(t, f, texts, judgeOne, keen)
	if res := finished(t, f, texts); res.Record.Tier != tier.E || !strings.Contains(res.Review, "a reader") {
		t.Errorf("%+v", res)
	}
}

func writeRecords(t *testing.T, file string, records map[string]tier.Record) {
	t.Helper()
	data, err := tier.Format(records)
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRecordsOfOthers: the record of another language stays, and a file that cannot be
// read is not replaced.
func TestRecordsOfOthers(t *testing.T) {
	f, texts := judgedFolder(t)
	file := filepath.Join(f.Dir, locales.Common, locales.RecordFile+".json")
	other := tier.Record{Tier: tier.A, Date: day, SHA256: strings.Repeat("0a", 32), Review: &tier.Review{Who: "a reader", When: "in May"}}
	writeRecords(t, file, map[string]tier.Record{"sw": other})
	finished(t, f, texts)
	if records, err := readRecords(file); err != nil || len(records) != 2 || !reflect.DeepEqual(records["sw"], other) {
		t.Errorf("%+v, %v", records, err)
	}
	for name, damage := range map[string]func() error{
		"broken": func() error { return os.WriteFile(file, []byte("{"), 0o644) },
		"large":  func() error { return os.Truncate(file, 1<<40) },
		"device": func() error { return errors.Join(os.Remove(file), os.Symlink("/dev/zero", file)) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(file)
		if _, err := f.Finish("de", "German", day); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.Lstat(file); err != nil || after.Size() != before.Size() || after.Mode() != before.Mode() {
			t.Errorf("%s: it became %v, %v", name, after, err)
		}
		os.Remove(file)
		writeRecords(t, file, nil)
	}
}

// What lies in the folder under a name that is read may be a pipe: it is not waited for.
func TestPipesInFolder(t *testing.T) {
	f, texts := judgedFolder(t)
	for _, path := range []string{filepath.Join(f.Dir, locales.Common, locales.RecordFile+".json"), filepath.Join(f.Dir, "Nim", "de.json")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Finish("de", "German", "2026-01-02"); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		finished(t, f, texts)
	}
}

// TestCases: every kind of fault is put into every language of ours, and changes
// the text.
func TestCases(t *testing.T) {
	langs := []string{"ar", "de", "es", "fr", "he", "ms", "zh"}
	cases, err := CasesOf(locales.Embedded(), langs, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := CasesOf(locales.Embedded(), langs, 4, 1)
	if !slices.Equal(cases, again) {
		t.Error("the same seed gives other cases")
	}
	count := make(map[string]int)
	known := make(map[string]bool)
	for _, c := range cases {
		if c.Kind == "" {
			known[c.Lang+c.Text] = true
		}
	}
	for _, c := range cases {
		count[c.Lang+" "+c.Kind]++
		if c.Kind != "" && known[c.Lang+c.Text] {
			t.Errorf("%s %s is as it was: %q", c.Lang, c.Kind, c.Text)
		}
		if strings.Contains(c.Text, "「") {
			t.Errorf("%s %s has a sign: %q", c.Lang, c.Kind, c.Text)
		}
	}
	for _, lang := range langs {
		for _, kind := range append([]string{""}, Kinds...) {
			if n := count[lang+" "+kind]; n == 0 || n > 4 || n < 4 && kind != "negation" && kind != "quantifier" {
				t.Errorf("%s: %d cases of %q", lang, n, kind)
			}
		}
	}
}

// TestFaultsArePut: what each kind of fault does to a text.
func TestFaultsArePut(t *testing.T) {
	g := good{Text: Text{"Nim", "a", "Take 3. You win with 4 of [5]."}, fellow: []string{"Das Brett ist leer."},
		in: map[string]string{"de": "Nimm 3 Steine. Mit mindestens 4 von [5] gewinnt {wer}.", "fr": "Prenez 3.", "ar": "خذ"}}
	rng := newRNG()
	for kind, want := range map[string][]string{
		"":           {"Nimm 3 Steine. Mit mindestens 4 von [5] gewinnt {wer}."},
		"number":     {"Nimm 4 Steine. Mit mindestens 4 von [5] gewinnt {wer}.", "Nimm 3 Steine. Mit mindestens 5 von [5] gewinnt {wer}."},
		"negation":   {"Nimm 3 Steine. Mit mindestens 4 von [5] verliert {wer}."},
		"quantifier": {"Nimm 3 Steine. Mit höchstens 4 von [5] gewinnt {wer}."},
		"sentence":   {"Nimm 3 Steine. ", "Mit mindestens 4 von [5] gewinnt {wer}."},
		"language":   {"Prenez 3."},
	} {
		if got, ok := withFault(g, "de", kind, rng); !slices.Contains(want, got) || !ok {
			t.Errorf("%s: %q", kind, got)
		}
	}
	if got, ok := withFault(g, "de", "term", rng); !ok || !strings.Contains(got, "Brett") && !strings.Contains(got, "leer") {
		t.Errorf("%q", got)
	}
	g.in["de"] = "Nichts ist mehr übrig." // of time, not of an amount
	if got, ok := withFault(g, "de", "quantifier", rng); ok {
		t.Errorf("%q", got)
	}
	g.in = map[string]string{"sw": "Nimm."}
	for _, kind := range Kinds {
		if got, ok := withFault(g, "sw", kind, rng); ok && kind != "term" {
			t.Errorf("%s has a place in %q: %q", kind, g.in["sw"], got)
		}
	}
}

// TestCalibrate: what is measured of a judge that sees all, one that lies, one that
// doubts all, and one that babbles.
func TestCalibrate(t *testing.T) {
	cases, err := CasesOf(locales.Embedded(), []string{"de", "zh"}, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	right := make(map[string]bool)
	for _, c := range cases {
		right[c.question().ID] = c.Kind == ""
	}
	seeing := script(func(q asking.Question) asking.Answer {
		if right[q.ID] {
			return says(yes)
		}
		return says(no)
	})
	for _, test := range []struct {
		name       string
		judge      script
		sens, spec float64
		unclear    float64
		doubt      string
	}{
		{"sees all", seeing, 1, 1, 0, ""},
		{"lies", always(yes), 0, 1, 0, "is not known to be better than a guess"},
		{"doubts all", always(no), 1, 0, 0, "is not known to be better than a guess"},
		{"babbles", always("Well."), 1, 0, 1, "is not known to be better than a guess"},
	} {
		dir := t.TempDir()
		if s, err := ReadSight(dir, judgeOne, "de"); err != nil || s.Doubt() != "was never calibrated" {
			t.Errorf("%s: %v %+v", test.name, err, s)
		}
		var asked []asking.Question
		for range 2 {
			c, err := OpenCalibration(dir, judgeOne)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Run(t.Context(), cases, test.judge.asker(&asked)); err != nil {
				t.Fatal(err)
			}
			c.Close()
		}
		if len(asked) != len(right) {
			t.Errorf("%s: asked %d times for %d pairs", test.name, len(asked), len(right))
		}
		s, err := ReadSight(dir, judgeOne, "sw")
		if err != nil {
			t.Fatal(err)
		}
		sens, _ := s.Sensitivity.Value()
		spec, _ := s.Specificity.Value()
		unclear, _ := s.Unclear.Value()
		if sens != test.sens || spec != test.spec || unclear != test.unclear || s.Doubt() != test.doubt || !slices.Equal(s.Langs, []string{"de", "zh"}) || len(s.Kinds) != len(Kinds) {
			t.Errorf("%s: %+v: %s", test.name, s, s.Doubt())
		}
		if s, _ := ReadSight(dir, judgeOne, "zh"); !slices.Equal(s.Langs, []string{"zh"}) {
			t.Errorf("%v", s.Langs)
		}
	}
}

// TestDoubt: a judge is doubted for what its intervals leave open, by hand: 5 of 10 is
// [24, 76] %, 9 of 10 is [60, 98] %, 40 of 40 is [91, 100] %, 20 of 40 is [35, 65] %.
func TestDoubt(t *testing.T) {
	for _, test := range []struct {
		sens, spec bench.Share
		want       string
	}{
		{bench.Share{}, bench.Share{Count: 40, Of: 40}, "was never calibrated"},
		{bench.Share{Count: 9, Of: 10}, bench.Share{}, "was never calibrated"},
		{bench.Share{Count: 9, Of: 10}, bench.Share{Count: 40, Of: 40}, ""},
		{bench.Share{Count: 5, Of: 10}, bench.Share{Count: 40, Of: 40}, "may miss every other fault"},
		{bench.Share{Count: 9, Of: 10}, bench.Share{Count: 20, Of: 40}, "is not known to be better than a guess"},
	} {
		if got := (Sight{Sensitivity: test.sens, Specificity: test.spec}).Doubt(); got != test.want {
			t.Errorf("%+v: %q, want %q", test, got, test.want)
		}
	}
}

// TestOtherForm: what a judge said to a question of another form is not counted.
func TestOtherForm(t *testing.T) {
	lines := []Seen{{Form: form, Lang: "de", English: "a", Text: "b", Faithful: true}, {Form: form + 1, Lang: "de", English: "a", Text: "c"}}
	if s := newCalibration(nil, lines).SightIn(nil); s.Specificity != (bench.Share{Count: 1, Of: 1}) {
		t.Errorf("%+v", s)
	}
}
