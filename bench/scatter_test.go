package bench

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScatter(t *testing.T) {
	rep := &Report{Experiment: Experiment{Langs: []string{"en", "ar", "de", "zh"}, Model: Model{Name: "m"}},
		MuMean: map[string]float64{"en": 1, "ar": 3, "de": 2, "zh+fr": 9}}
	s := rep.Scatter("accuracy", map[string]float64{"en": 1, "ar": 2, "de": 3, "zh": 4, "zh+fr": 5})
	if len(s.Points) != 3 || s.Points[1] != (ScatterPoint{"ar", 2, 3}) || s.Model != "m" || s.X != "accuracy" {
		t.Errorf("%+v", s)
	}
	if s.Fit == nil || !near(s.Fit.R, 0.5) { // the three points of TestFitLine
		t.Errorf("%+v", s.Fit)
	}
	if s := rep.Scatter("x", map[string]float64{"en": 1}); len(s.Points) != 1 || s.Fit != nil {
		t.Errorf("%+v", s)
	}
}

func TestMarginScale(t *testing.T) {
	a := &Report{Margins: map[string]map[string]map[string]float64{"g": {"en": {"ar": -0.31}}}}
	b := &Report{Mu: map[string]map[string]float64{"g": {"en": 0.4}}}
	for want, reports := range map[float64][]*Report{0.1: nil, 0.4: {a}} {
		if got := MarginScale(reports...); !near(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := MarginScale(a, b); !near(got, 0.4) {
		t.Errorf("%v", got)
	}
}

func TestReadPerLang(t *testing.T) {
	accuracy, words := ReadAccuracy, ReadWords
	for _, c := range []struct {
		text string
		read func(string) (PerLang, error)
		want float64 // of en
		err  string
	}{
		{"lang,accuracy\nen,0.5\nar,0.25\n", accuracy, 0.5, ""},
		{"\ufeffn,accuracy,lang\n9, 0.5 ,en\n", accuracy, 0.5, ""},
		{`{"benchmark":"belebele","model":{"name":"m"},"langs":{"en":{"accuracy":0.5,"se":0.1,"n":9}}}`, accuracy, 0.5, ""},
		{"lang,words\nen,1e12\n", words, 12, ""},
		{"lang,accuracy\nen,50\n", accuracy, 0, "accuracy 50 of en is not from 0 to 1"},
		{"lang,accuracy\nen,NaN\n", accuracy, 0, `line 2: "NaN" is no number`},
		{"lang,accuracy\nen,0.5\nen,0.6\n", accuracy, 0, "line 3: language en is given twice"},
		{"lang,accuracy\n,0.5\n", accuracy, 0, "line 2 names no language"},
		{"en,0.5\nar,0.5\n", accuracy, 0, "does not name the columns lang and accuracy"},
		{"lang,accuracy\n", accuracy, 0, "no lines"},
		{"lang,accuracy\nen\n", accuracy, 0, "wrong number of fields"},
		{`{"langs":{"en":{}}}`, accuracy, 0, "langs.en has no accuracy"},
		{`{"model":{"name":"m"}}`, accuracy, 0, "no langs"},
		{`{`, accuracy, 0, "unexpected end"},
		{"", words, 0, "no lines"},
		{"lang,words\nen,0\n", words, 0, "0 words of en"},
		{"lang,words\nen,-5\n", words, 0, "-5 words of en"},
		{strings.Repeat("x", maxPerLang+1), words, 0, "more than"},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := c.read(path)
		switch {
		case c.err == "" && (err != nil || !near(got.Values["en"], c.want)):
			t.Errorf("%.40q: %v, %+v", c.text, err, got)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), path)):
			t.Errorf("%.40q: %v, want ...%s", c.text, err, c.err)
		}
	}
	if _, err := ReadWords(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Error(err)
	}
}

// Any file gives finite numbers in range, or an error.
func FuzzPerLang(f *testing.F) {
	f.Add([]byte("lang,accuracy\nen,0.5\n"))
	f.Add([]byte(`{"langs":{"en":{"accuracy":1}}}`))
	f.Add([]byte("\"lang\",words\n\"a\nb\",1e400\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := ReadAccuracy(path)
		for lang, v := range p.Values {
			if !(v >= 0 && v <= 1) || err != nil {
				t.Errorf("%q: %v, %v", lang, v, err)
			}
		}
		if p, err := ReadWords(path); err == nil {
			for lang, v := range p.Values {
				if !(v >= 0) || math.IsInf(v, 0) {
					t.Errorf("%q: %v", lang, v)
				}
			}
		}
	})
}
