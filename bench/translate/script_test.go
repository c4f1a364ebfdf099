package translate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"selfplay/bench"
	"selfplay/bench/asking"
	"selfplay/locales"
	"selfplay/locales/mask"
)

// The scripted models. A script answers a question; it is asked by one that goes
// through them in order, further ones last.

type script func(q asking.Question) asking.Answer

func (s script) asker(asked *[]asking.Question) asking.Asker {
	return func(ctx context.Context, questions []asking.Question, each asking.Each) error {
		for len(questions) > 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			q := questions[0]
			questions = questions[1:]
			if asked != nil {
				*asked = append(*asked, q)
			}
			further, err := each(q, s(q))
			if err != nil {
				return err
			}
			if further != nil {
				questions = append(questions, *further)
			}
		}
		return ctx.Err()
	}
}

func says(text string) asking.Answer { return asking.Answer{Text: text} }

// embeddedTexts are our texts in a language by game and key, with the signs that a
// translator sees, and the English ones.
func embeddedTexts(t *testing.T, lang string) (signed map[string]string, texts []Text) {
	t.Helper()
	set := locales.Embedded()
	texts, err := TextsOf(set, set.Games())
	if err != nil {
		t.Fatal(err)
	}
	translated := make(map[string]string)
	for _, game := range append(set.Games(), locales.Common) {
		list, err := set.Strings(game, lang)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			translated[game+"/"+s.Key] = s.Text
		}
	}
	signed = make(map[string]string)
	for _, text := range texts {
		id := text.Game + "/" + text.Key
		signed[id] = withSigns(mask.Mask(text.English), translated[id])
	}
	return signed, texts
}

// withSigns puts signs for what a translation has of the pieces that are hidden,
// the longest ones first.
func withSigns(m mask.Masked, text string) string {
	order := make([]int, len(m.Slots))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(len(m.Slots[b].Text), len(m.Slots[a].Text)) })
	for _, i := range order {
		n := strings.Count(m.Text, mask.Sentinel(i+1))
		text = strings.Replace(text, m.Slots[i].Text, mask.Sentinel(i+1), n)
	}
	return text
}

var germanTerms = map[string]string{
	"Player": "Spieler", "Commander Alpha": "Kommandant Alpha", "Commander Beta": "Kommandant Beta",
}

// perfect answers with the German texts that come with the program.
func perfect(t *testing.T) (script, []Text) {
	signed, texts := embeddedTexts(t, "de")
	return func(q asking.Question) asking.Answer {
		id := strings.TrimPrefix(q.ID, "de/")
		id = id[:strings.LastIndexByte(id, '/')]
		if _, term, ok := strings.Cut(id, "/term "); ok {
			return says(openMark + cmp.Or(germanTerms[term], term) + closeMark)
		}
		return says(openMark + signed[id] + closeMark)
	}, texts
}

// try is the number that a question's ID ends with.
func try(q asking.Question) string { return q.ID[strings.LastIndexByte(q.ID, '/')+1:] }

func openFolder(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// germanBy has a script translate into German, and gives what came of it.
func germanBy(t *testing.T, f *Folder, s script, texts []Text) Result {
	t.Helper()
	tr := &Translator{Folder: f, Lang: "de", Name: "German", Texts: texts, By: "scripted", Seeds: MostSeeds, Ask: s.asker(nil)}
	if err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return finished(t, f, texts)
}

const day = "2026-01-02"

func finished(t *testing.T, f *Folder, texts []Text) Result {
	t.Helper()
	if err := f.Write("de", texts); err != nil {
		t.Fatal(err)
	}
	res, err := f.Finish("de", "German", day)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

var (
	judgeOne = bench.Model{Name: "one", SHA256: strings.Repeat("1", 64)}
	judgeTwo = bench.Model{Name: "two", SHA256: strings.Repeat("2", 64)}
)

const (
	yes = "reason: all is there\nfaithful: yes"
	no  = "reason: a fault\nfaithful: no"
)

// judgedBy has a script judge the German texts.
func judgedBy(t *testing.T, f *Folder, texts []Text, judge bench.Model, s script) {
	t.Helper()
	if err := f.Judge(t.Context(), "de", "German", texts, judge, s.asker(nil)); err != nil {
		t.Fatal(err)
	}
}

func kindsOf(faults []Fault) string {
	var kinds []string
	for _, f := range faults {
		if !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	return strings.Join(kinds, " ")
}

func only(texts []Text, games ...string) []Text {
	return slices.DeleteFunc(slices.Clone(texts), func(t Text) bool { return t.Game != locales.Common && !slices.Contains(games, t.Game) })
}

func dump(faults []Fault) string { return fmt.Sprintf("%+v", faults) }
