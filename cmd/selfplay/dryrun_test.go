package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"selfplay/bench/asking"
	"selfplay/bench/translate"
	"selfplay/inference"
	"selfplay/locales"
	"selfplay/locales/mask"
)

// TestDryRunEstimate: what --dry-run says beforehand is near to what a translator needs
// that gives the program's own texts, all good at once.
func TestDryRunEstimate(t *testing.T) {
	model := modelPath(t)
	codec, err := inference.OpenCodec(model)
	if err != nil {
		t.Fatal(err)
	}
	defer codec.Close()
	set := locales.Embedded()
	texts, err := translate.TextsOf(set, set.Games())
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"de", "ar", "zh"} {
		r := selfplay("", "locales", "translate", "--lang", lang, "--model", model, "--out", t.TempDir(), "--dry-run", "--device", "cpu")
		var read, written int
		_, second, _ := strings.Cut(r.stdout, "\n")
		if _, err := fmt.Sscanf(second, "about %d tokens to read and %d to write", &read, &written); err != nil {
			t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
		}
		needed, wrote := needs(t, codec, set, texts, lang)
		t.Logf("%s: %d tokens of %d read, %d of %d written", lang, needed, read, wrote, written)
		for what, ratio := range map[string]float64{"read": float64(needed) / float64(read), "written": float64(wrote) / float64(written)} {
			if ratio < 1/1.5 || ratio > 1.5 {
				t.Errorf("%s: %.2f times the tokens are %s", lang, ratio, what)
			}
		}
	}
}

// needs counts the tokens of all questions and answers.
func needs(t *testing.T, codec *inference.Codec, set *locales.Set, texts []translate.Text, lang string) (read, written int) {
	t.Helper()
	answers := make(map[string]string)
	for _, text := range texts {
		list, err := set.Strings(text.Game, lang)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(list, func(o locales.Text) bool { return o.Key == text.Key })
		m, answer := mask.Mask(text.English), list[at].Text
		for i, s := range m.Slots {
			answer = strings.Replace(answer, s.Text, mask.Sentinel(i+1), strings.Count(m.Text, mask.Sentinel(i+1)))
		}
		answers[text.Game+"/"+text.Key] = answer
	}
	f, err := translate.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ask := func(_ context.Context, questions []asking.Question, each asking.Each) error {
		for _, q := range questions {
			name := strings.TrimSuffix(strings.TrimPrefix(q.ID, lang+"/"), "/1")
			answer, ok := answers[name]
			if !ok {
				_, answer, _ = strings.Cut(name, "/term ")
			}
			answer = "<translation>" + answer + "</translation>"
			ids, _, err := codec.Prompt(q.System, q.User)
			if err != nil {
				return err
			}
			said, err := codec.Encode(answer)
			if err != nil {
				return err
			}
			read, written = read+len(ids), written+len(said)
			if _, err := each(q, asking.Answer{Text: answer}); err != nil {
				return err
			}
		}
		return nil
	}
	tr := &translate.Translator{Folder: f, Lang: lang, Name: "x", Texts: texts, By: "scripted", Seeds: 1, Ask: ask}
	if err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return read, written
}
