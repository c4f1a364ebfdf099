package static

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// A Sheet is the questions of a run: those of all its languages.
type Sheet struct {
	Benchmark *Benchmark
	Langs     []string
	Shots     int
	Limit     int // questions of a subject and language at most; 0: all
	data      map[string]*Data
	prompts   map[string][]string
	asked     map[string][]int // rows, in the order in which they are asked
}

// NewSheet reads the questions from the folder of the set's files.
func NewSheet(b *Benchmark, dir string, langs []string, shots, limit int) (*Sheet, error) {
	if err := b.CheckLangs(langs); err != nil {
		return nil, fmt.Errorf("--langs: %w", err)
	}
	if shots < 0 || limit < 0 {
		return nil, fmt.Errorf("--shots and --limit must not be negative")
	}
	s := &Sheet{Benchmark: b, Langs: langs, Shots: shots, Limit: limit, data: map[string]*Data{}, prompts: map[string][]string{}, asked: map[string][]int{}}
	for _, lang := range langs {
		d, err := b.Read(dir, lang, shots > 0)
		if err != nil {
			return nil, err
		}
		if s.prompts[lang], err = b.Prompts(d, shots); err != nil {
			return nil, fmt.Errorf("%s: %w", lang, err)
		}
		s.data[lang] = d
		s.asked[lang] = order(d.Questions, limit)
	}
	return s, nil
}

// order puts questions that begin with the same text next to each other.
func order(questions []Question, limit int) (rows []int) {
	count := map[string]int{}
	for i := range questions {
		if n := count[questions[i].Subject]; limit == 0 || n < limit {
			count[questions[i].Subject]++
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(questions[a].Subject, questions[b].Subject), cmp.Compare(questions[a].Passage, questions[b].Passage))
	})
	return rows
}

// Sums are the SHA-256 of the files, by language.
func (s *Sheet) Sums() map[string]string {
	sums := map[string]string{}
	for lang, d := range s.data {
		sums[lang] = d.SHA256
	}
	return sums
}

// Count is how many questions there are.
func (s *Sheet) Count() (n int) {
	for _, rows := range s.asked {
		n += len(rows)
	}
	return n
}

// Open are the questions that the folder has no answers to, as they are scored.
type Open struct {
	Texts []Text
	keys  []Answer // without scores
}

// Longest is how many tokens the longest of them takes.
func (o *Open) Longest() (n int) {
	for i := range o.Texts {
		n = max(n, o.Texts[i].cells())
	}
	return n
}

// Open encodes the questions that the folder has no answers to. A question with
// its examples is given as many tokens as room.
func (s *Sheet) Open(ctx context.Context, c Codec, f *Folder, room int) (*Open, error) {
	o := &Open{}
	for _, lang := range s.Langs {
		for _, row := range s.asked[lang] {
			if _, ok := f.Answer(lang, row); ok {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			t, cut, err := Encode(c, s.prompts[lang][row], room)
			if err != nil {
				return nil, fmt.Errorf("question %d in %s: %w", row+1, lang, err)
			}
			o.Texts = append(o.Texts, t)
			gold := s.data[lang].Questions[row].Answer
			o.keys = append(o.keys, Answer{Lang: lang, Row: row, Gold: letters[gold : gold+1], Cut: cut})
		}
	}
	return o, nil
}

// Ask scores the open questions and keeps the answers; shown is told how many
// there are after each.
func (o *Open) Ask(ctx context.Context, e Scorer, f *Folder, shown func(n int)) error {
	n := 0
	return Score(ctx, e, o.Texts, func(i int, choices []float64) error {
		a := o.keys[i]
		a.Scores = [4]float64(choices)
		if err := f.Keep(a); err != nil {
			return err
		}
		n++
		shown(n)
		return nil
	})
}
