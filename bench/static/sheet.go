package static

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// A Sheet is the questions of a run: those of all its languages.
type Sheet struct {
	Benchmark *Benchmark
	Langs     []string
	Shots     int
	Limit     int // questions of a subject and language at most; 0: all
	data      map[string]*Data
	prompts   map[string]func(row int) string
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
	s := &Sheet{Benchmark: b, Langs: langs, Shots: shots, Limit: limit, data: map[string]*Data{}, prompts: map[string]func(row int) string{}, asked: map[string][]int{}}
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

// Notes say what a user should know of the files.
func (s *Sheet) Notes() (notes []string) {
	var fewer, none []string
	for _, lang := range s.Langs {
		d := s.data[lang]
		if n := len(d.Questions); n != s.Benchmark.size {
			fewer = append(fewer, fmt.Sprintf("%d in %s", n, lang))
		}
		if d.None > 0 {
			none = append(none, fmt.Sprintf("%d in %s", d.None, lang))
		}
	}
	if fewer != nil {
		notes = append(notes, fmt.Sprintf("%s has %d questions in each language, these files have %s: what is reached is not comparable", s.Benchmark.set, s.Benchmark.size, strings.Join(fewer, ", ")))
	}
	if none != nil {
		notes = append(notes, fmt.Sprintf("choices that have no value are shown as None, as the harness shows them: %s", strings.Join(none, ", ")))
	}
	return notes
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

// Missing is how many questions the folder has no answers to.
func (s *Sheet) Missing(f *Folder) int { return len(s.missing(f)) }

func (s *Sheet) missing(f *Folder) (all []Answer) {
	for _, lang := range s.Langs {
		for _, row := range s.asked[lang] {
			if _, ok := f.Answer(lang, row); !ok {
				gold := s.data[lang].Questions[row].Answer
				all = append(all, Answer{Lang: lang, Row: row, Gold: letters[gold : gold+1]})
			}
		}
	}
	return all
}

// Open encodes the questions that the folder has no answers to, with all the
// codecs at once. A question with its examples is given as many tokens as room.
// shown is told how many there are after each, by one goroutine at a time.
func (s *Sheet) Open(ctx context.Context, codecs []Codec, f *Folder, room int, shown func(n int)) (*Open, error) {
	o := &Open{keys: s.missing(f)}
	var mu sync.Mutex
	encoded := 0
	o.Texts = make([]Text, len(o.keys))
	encoding, ctx := errgroup.WithContext(ctx)
	for worker, codec := range codecs {
		encoding.Go(func() error {
			e, err := newEncoder(codec)
			if err != nil {
				return err
			}
			for i := worker; i < len(o.keys); i += len(codecs) {
				if err := ctx.Err(); err != nil {
					return err
				}
				k := &o.keys[i]
				if o.Texts[i], k.Cut, err = e.encode(s.prompts[k.Lang](k.Row), room); err != nil {
					return fmt.Errorf("question %d in %s: %w", k.Row+1, k.Lang, err)
				}
				mu.Lock()
				encoded++
				shown(encoded)
				mu.Unlock()
			}
			return nil
		})
	}
	return o, encoding.Wait()
}

// Ask has the engines score the open questions, and keeps the answers; shown is
// told how many there are after each, lost of each engine that fails while others
// go on.
func (o *Open) Ask(ctx context.Context, engines []Scorer, f *Folder, shown func(n int), lost func(engine int, err error)) error {
	n := 0
	return Score(ctx, engines, o.Texts, func(i int, choices []float64) error {
		a := o.keys[i]
		a.Scores = [4]float64(choices)
		if err := f.Keep(a); err != nil {
			return err
		}
		n++
		shown(n)
		return nil
	}, lost)
}
