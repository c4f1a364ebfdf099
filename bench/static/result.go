package static

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"selfplay/bench"
)

// A Tally counts right answers.
type Tally struct {
	Accuracy float64  `json:"accuracy"`
	SE       *float64 `json:"se"` // its standard error; nil of too few questions
	N        int      `json:"n"`
	Correct  int      `json:"correct"`
	Cut      int      `json:"cut,omitempty"` // questions whose beginning was cut off
}

// A Mean is of accuracies.
type Mean struct {
	Accuracy float64  `json:"accuracy"`
	SE       *float64 `json:"se"` // nil if a subject's is
}

// A Result is what a model reached, by language.
type Result struct {
	Benchmark string                      `json:"benchmark"`
	Model     bench.Model                 `json:"model"`
	Settings  ResultSettings              `json:"settings"`
	Langs     map[string]Tally            `json:"langs"`
	Macro     map[string]Mean             `json:"macro,omitempty"`    // by language: subjects count alike, whatever their size
	Subjects  map[string]map[string]Tally `json:"subjects,omitempty"` // by language; of sets that have subjects

	order []string // of languages
}

// ResultSettings are how it was reached.
type ResultSettings struct {
	Asked   string            `json:"asked"`
	Shots   int               `json:"shots"`
	Limit   int               `json:"limit,omitempty"` // questions of a subject and language; 0: all
	Weights string            `json:"weights"`
	Data    map[string]string `json:"data"` // language -> SHA-256 of its files
}

// Result counts the answers to the sheet's questions, all of which must be there.
func (s *Sheet) Result(f *Folder) (*Result, error) {
	r := &Result{Benchmark: s.Benchmark.Name, Langs: map[string]Tally{}, order: s.Langs}
	if f.settings != nil {
		r.Model = f.settings.Model
		r.Settings = ResultSettings{Asked: s.Benchmark.Asked, Shots: s.Shots, Limit: s.Limit, Weights: f.settings.Weights, Data: s.Sums()}
	}
	for _, lang := range s.Langs {
		subjects := map[string]Tally{}
		for _, row := range s.asked[lang] {
			a, ok := f.Answer(lang, row)
			q := &s.data[lang].Questions[row]
			if !ok || a.Gold != letters[q.Answer:q.Answer+1] {
				return nil, fmt.Errorf("%s and the questions do not belong together in %s, row %d: choose another --run folder", f.Dir, lang, row)
			}
			t := subjects[q.Subject]
			t.N++
			if a.Choice() == q.Answer {
				t.Correct++
			}
			if a.Cut > 0 {
				t.Cut++
			}
			subjects[q.Subject] = t
		}
		r.Langs[lang] = pooled(subjects)
		if _, none := subjects[""]; none {
			continue
		}
		for subject, t := range subjects {
			subjects[subject] = pooled(map[string]Tally{"": t})
		}
		if r.Subjects == nil {
			r.Subjects, r.Macro = map[string]map[string]Tally{}, map[string]Mean{}
		}
		r.Subjects[lang], r.Macro[lang] = subjects, mean(subjects)
	}
	return r, nil
}

// pooled is the mean over all questions, with the standard error that comes of
// the variances within the subjects.
func pooled(subjects map[string]Tally) Tally {
	var t Tally
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(subjects)) { // sums of floats come out the same each time
		s := subjects[name]
		t.N, t.Correct, t.Cut = t.N+s.N, t.Correct+s.Correct, t.Cut+s.Cut
		sum += float64(s.Correct*(s.N-s.Correct)) / float64(s.N)
	}
	t.Accuracy = float64(t.Correct) / float64(t.N)
	if free := t.N - len(subjects); free > 0 {
		se := math.Sqrt(sum / float64(free) / float64(t.N))
		t.SE = &se
	}
	return t
}

// mean is over the subjects, with the standard error that their own give it.
func mean(subjects map[string]Tally) Mean {
	var m Mean
	n, squares, known := float64(len(subjects)), 0.0, true
	for _, name := range slices.Sorted(maps.Keys(subjects)) {
		t := subjects[name]
		m.Accuracy += t.Accuracy / n
		if known = known && t.SE != nil; known {
			squares += *t.SE * *t.SE
		}
	}
	if known {
		se := math.Sqrt(squares) / n
		m.SE = &se
	}
	return m
}

// WriteText writes the tables for a terminal: with eight languages they fit in 80
// columns, but for the longest names of subjects.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, %d shots: right answers in %%\n", r.Benchmark, r.Model.Name, r.Settings.Shots)
	line := func(name string, format func(Tally) string, of func(lang string) (Tally, bool)) {
		fmt.Fprintf(&b, "%-20s", name)
		for _, lang := range r.order {
			text := "."
			if t, ok := of(lang); ok {
				text = format(t)
			}
			fmt.Fprintf(&b, "%7s", text)
		}
		b.WriteByte('\n')
	}
	all := func(lang string) (Tally, bool) { t, ok := r.Langs[lang]; return t, ok }
	fmt.Fprintf(&b, "%-20s", "")
	for _, lang := range r.order {
		fmt.Fprintf(&b, "%7s", lang)
	}
	b.WriteByte('\n')
	line("accuracy", percent, all)
	line("standard error", standardError, all)
	if r.Macro != nil {
		macro := func(lang string) (Tally, bool) {
			m, ok := r.Macro[lang]
			return Tally{Accuracy: m.Accuracy, SE: m.SE}, ok
		}
		line("mean of subjects", percent, macro)
		line("standard error", standardError, macro)
	}
	line("questions", func(t Tally) string { return fmt.Sprint(t.N) }, all)
	cut := func(t Tally) bool { return t.Cut > 0 }
	if slices.ContainsFunc(slices.Collect(maps.Values(r.Langs)), cut) {
		line("cut off", func(t Tally) string { return fmt.Sprint(t.Cut) }, all)
	}
	if len(r.Subjects) > 0 {
		b.WriteByte('\n')
	}
	for _, subject := range r.subjects() {
		name := subject
		if len(name) > 20 { // a line of its own
			fmt.Fprintln(&b, name)
			name = ""
		}
		line(name, percent, func(lang string) (Tally, bool) { t, ok := r.Subjects[lang][subject]; return t, ok })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func percent(t Tally) string { return fmt.Sprintf("%.1f", 100*t.Accuracy) }

func standardError(t Tally) string {
	if t.SE == nil {
		return "."
	}
	return fmt.Sprintf("%.2f", 100**t.SE)
}

// subjects are those of all languages.
func (r *Result) subjects() []string {
	all := map[string]bool{}
	for _, of := range r.Subjects {
		for s := range of {
			all[s] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
