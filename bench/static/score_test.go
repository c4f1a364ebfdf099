package static

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"selfplay/inference"
)

// A scripted engine knows how likely a token is behind any tokens, and keeps what
// its cells were given, so that a step which reads another text's cells shows.
type scripted struct {
	limits   inference.Limits
	pool     []int32
	held     map[int]int // positions that each slot holds
	computed int         // tokens
	steps    int
	fail     int             // at this step; 0: never
	failing  *sync.WaitGroup // who does not fail waits for those that do
}

func newScripted(l inference.Limits) *scripted {
	return &scripted{limits: l, pool: make([]int32, l.Pool), held: map[int]int{}}
}

func (s *scripted) Limits() inference.Limits { return s.limits }

func (s *scripted) Copy(c inference.Copy) error {
	if c.Cells > s.held[c.Src] || c.Dst == c.Src {
		return fmt.Errorf("%+v: slot %d holds %d", c, c.Src, s.held[c.Src])
	}
	copy(s.pool[c.To.First:c.To.First+c.Cells], s.pool[c.From.First:])
	s.held[c.Dst] = c.Cells
	return nil
}

func (s *scripted) Score(b *inference.Batch, wanted [][]int32) ([][]float64, error) {
	if s.steps++; s.steps == s.fail {
		s.failing.Done()
		return nil, fmt.Errorf("step %d fails", s.steps)
	}
	if s.fail == 0 && s.failing != nil {
		s.failing.Wait()
	}
	if len(b.Rows) > s.limits.Rows || b.Tokens() > s.limits.Tokens {
		return nil, fmt.Errorf("%d rows of %d tokens", len(b.Rows), b.Tokens())
	}
	s.computed += b.Tokens()
	seen := map[int]bool{}
	scores := make([][]float64, len(b.Rows))
	for i, r := range b.Rows {
		if seen[r.Slot] || r.Slot >= s.limits.Slots || r.Pos > s.held[r.Slot] || r.Pos+len(r.Tokens) > r.Block.Cells || len(r.Tokens) == 0 {
			return nil, fmt.Errorf("row %+v: slot holds %d", r, s.held[r.Slot])
		}
		seen[r.Slot] = true
		cells := s.pool[r.Block.First : r.Block.First+r.Block.Cells]
		copy(cells[r.Pos:], r.Tokens)
		s.held[r.Slot] = r.Pos + len(r.Tokens)
		if r.Sample {
			for _, token := range wanted[i] {
				scores[i] = append(scores[i], likely(cells[:s.held[r.Slot]], token))
			}
		}
	}
	return scores, nil
}

// likely is some number that depends on all of the tokens.
func likely(before []int32, token int32) float64 {
	h := uint64(token) + 7
	for _, b := range before {
		h = h*6364136223846793005 + uint64(b) + 1
	}
	return -float64(h>>40) / 1e6
}

// slowly is what Score is to give, worked out choice by choice.
func slowly(t Text) (sums []float64) {
	for _, c := range t.Choices {
		sum := 0.0
		for k, token := range c {
			sum += likely(append(append([]int32{}, t.Context...), c[:k]...), token)
		}
		sums = append(sums, sum)
	}
	return sums
}

// manyTexts are of some subjects with beginnings of their own, which are short or
// long, and choices of one token or more.
func manyTexts(n int) (texts []Text) {
	r := rand.New(rand.NewPCG(1, 2))
	tokens := func(n int) []int32 {
		t := make([]int32, n)
		for i := range t {
			t[i] = r.Int32N(500)
		}
		return t
	}
	var beginning []int32
	for i := range n {
		if i%7 == 0 {
			beginning = tokens([]int{0, 5, 40, 90}[i/7%4])
		}
		t := Text{Context: append(append([]int32{}, beginning...), tokens(1+r.IntN(60))...)}
		t.Choices = [][]int32{{1}, {2}, {3}, {4}}
		if i%3 == 1 {
			t.Choices = [][]int32{{9, 1}, {9, 2}, {3}, {9, 1, 4}}
		}
		texts = append(texts, t)
	}
	return texts
}

func TestScore(t *testing.T) {
	texts := manyTexts(120)
	for _, l := range []inference.Limits{
		{Rows: 1, Tokens: 1, Slots: 1, Cells: 160, Pool: 160, Least: 160},
		{Rows: 2, Tokens: 7, Slots: 2, Cells: 160, Pool: 320, Least: 160},
		{Rows: 3, Tokens: 64, Slots: 5, Cells: 160, Pool: 480, Least: 160},
		{Rows: 200, Tokens: 4096, Slots: 400, Cells: 200, Pool: 400 * 200, Least: 200},
	} {
		e := newScripted(l)
		got := map[int][]float64{}
		err := Score(t.Context(), []Scorer{e}, texts, func(i int, choices []float64) error {
			if got[i] != nil {
				t.Errorf("text %d ended twice", i)
			}
			got[i] = choices
			return nil
		}, nil)
		if err != nil || len(got) != len(texts) {
			t.Fatalf("%+v: %d of %d texts: %v", l, len(got), len(texts), err)
		}
		most := 0
		for i := range texts {
			most += texts[i].cells()
			if !reflect.DeepEqual(got[i], slowly(texts[i])) {
				t.Errorf("%+v: text %d has %v, want %v", l, i, got[i], slowly(texts[i]))
			}
		}
		if l.Slots > 1 && e.computed > most*8/10 {
			t.Errorf("%+v: %d tokens of %d were computed: beginnings are not shared", l, e.computed, most)
		}
	}
}

// TestScoreShared: several engines score each text once, the same as one does, also
// when some of them fail in the middle; when all have, that is an error.
func TestScoreShared(t *testing.T) {
	texts := manyTexts(400)
	l := inference.Limits{Rows: 3, Tokens: 64, Slots: 5, Cells: 160, Pool: 800, Least: 160}
	one := l
	one.Slots, one.Pool = 1, 160
	for _, fail := range [][3]int{{}, {5, 0, 0}, {0, 40, 1}, {7, 7, 7}} { // at which step of each engine
		var engines []Scorer
		failing := &sync.WaitGroup{}
		for i, at := range fail {
			e := newScripted([]inference.Limits{l, one, l}[i])
			e.fail, e.failing = at, failing
			failing.Add(min(at, 1))
			engines = append(engines, e)
		}
		got := map[int][]float64{}
		var lost []int
		err := Score(t.Context(), engines, texts, func(i int, choices []float64) error {
			if got[i] != nil {
				t.Errorf("text %d ended twice", i)
			}
			got[i] = choices
			return nil
		}, func(i int, _ error) { lost = append(lost, i) })
		if fail == [3]int{7, 7, 7} {
			if err == nil || !strings.Contains(err.Error(), "no replica is left: step 7") || len(lost) != 3 {
				t.Errorf("%v, lost %v", err, lost)
			}
			continue
		}
		if err != nil || len(got) != len(texts) {
			t.Fatalf("%v: %d of %d texts: %v", fail, len(got), len(texts), err)
		}
		for i := range texts {
			if !reflect.DeepEqual(got[i], slowly(texts[i])) {
				t.Errorf("%v: text %d has %v, want %v", fail, i, got[i], slowly(texts[i]))
			}
		}
		for i, at := range fail {
			if e := engines[i].(*scripted); at > 0 && e.steps != at || slices.Contains(lost, i) != (at > 0) {
				t.Errorf("%v: engine %d took %d steps, lost %v", fail, i, e.steps, lost)
			}
		}
	}
}

func TestScoreStops(t *testing.T) {
	l := inference.Limits{Rows: 2, Tokens: 100, Slots: 2, Cells: 160, Pool: 320, Least: 160}
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	err := Score(ctx, []Scorer{newScripted(l)}, manyTexts(50), func(int, []float64) error { n++; stop(); return nil }, nil)
	if !errors.Is(err, context.Canceled) || n == 0 || n > 2 {
		t.Errorf("%d texts ended, %v", n, err)
	}
	full := errors.New("the disk is full")
	two := []Scorer{newScripted(l), newScripted(l)}
	if err := Score(t.Context(), two, manyTexts(50), func(int, []float64) error { return full }, nil); !errors.Is(err, full) {
		t.Error(err)
	}
	for _, bad := range []Text{{}, {Context: []int32{1}}, {Context: []int32{1}, Choices: [][]int32{{}}}, {Context: make([]int32, 161), Choices: [][]int32{{1}}}} {
		if err := Score(t.Context(), []Scorer{newScripted(l)}, []Text{bad}, nil, nil); err == nil {
			t.Errorf("%v is scored", bad)
		}
	}
}

// TestScoreModel: a model's scores are the same bits in any batch as they are
// alone, and those of its logits.
func TestScoreModel(t *testing.T) {
	for _, name := range []string{"synthetic:qwen3-tiny", "synthetic:gemma4-tiny"} {
		m, err := inference.Open(name, inference.Options{Slots: 4, Cells: 192, Tokens: 100, Threads: 1, Weights: inference.WeightsFile})
		if err != nil {
			t.Fatal(err)
		}
		texts := manyTexts(24)
		for i := range texts {
			for k, token := range texts[i].Context { // that every vocabulary has
				texts[i].Context[k] = token % 100
			}
		}
		score := func(texts ...Text) [][]float64 {
			got := make([][]float64, len(texts))
			if err := Score(t.Context(), []Scorer{m}, texts, func(i int, choices []float64) error { got[i] = choices; return nil }, nil); err != nil {
				t.Fatal(err)
			}
			return got
		}
		together := score(texts...)
		for i, text := range texts[:12] {
			if alone := score(text)[0]; !reflect.DeepEqual(alone, together[i]) {
				t.Errorf("%s: text %d has %v alone, %v among others", name, i, alone, together[i])
			}
			for c, choice := range text.Choices {
				sum := 0.0
				for k, token := range choice {
					before := append(append([]int32{}, text.Context...), choice[:k]...)
					logits, err := m.Logits(&inference.Batch{Rows: []inference.Row{{Block: inference.Block{Cells: m.Limits().BlockFor(192)}, Tokens: before, Sample: true}}})
					if err != nil {
						t.Fatal(err)
					}
					total := 0.0
					for _, x := range logits[0] {
						total += math.Exp(float64(x))
					}
					sum += float64(logits[0][token]) - math.Log(total)
				}
				if off := math.Abs(sum - together[i][c]); !(off < 1e-9) {
					t.Errorf("%s: text %d, choice %d: %v, and %v by its logits", name, i, c, together[i][c], sum)
				}
			}
		}
		m.Close()
	}
}
