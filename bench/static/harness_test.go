package static

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"selfplay/bench"
)

// A harnessRun is what testdata/harness.py keeps of one.
type harnessRun struct {
	Shots   int
	Prompts map[string][]string // of each task
	Scores  map[string]struct {
		Acc float64
		SE  float64
	}
}

// likely is the model of testdata/harness.py.
func likelyText(text string) float64 {
	sum := sha256.Sum256([]byte("7 " + text))
	return -float64(binary.BigEndian.Uint32(sum[:4])) / (1 << 28)
}

// TestHarness: prompts to the byte, accuracies and standard errors are those of
// lm-evaluation-harness, out of files as they lie on the hub.
func TestHarness(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "harness.json"))
	if err != nil {
		t.Fatal(err)
	}
	var runs []harnessRun
	if err := json.Unmarshal(text, &runs); err != nil || len(runs) != 4 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, run := range runs {
		b, dir, langs, task := find(t, "belebele"), "belebele", []string{"en", "he"}, "belebele_"
		if _, ok := run.Scores["micro"]; ok {
			b, dir, langs, task = find(t, "global-mmlu"), "Global-MMLU", []string{"ar"}, "global_mmlu_full_"
		}
		sheet, err := NewSheet(b, filepath.Join("testdata", dir), langs, run.Shots, 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := OpenFolder(filepath.Join(t.TempDir(), "run"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Begin(Settings{Benchmark: b.Name, Shots: run.Shots, Model: bench.Model{Name: "m"}, Data: sheet.Sums()}); err != nil {
			t.Fatal(err)
		}
		for _, lang := range langs {
			seen := map[string]int{}
			for row := range sheet.data[lang].Questions {
				q, prompt := &sheet.data[lang].Questions[row], sheet.prompts[lang](row)
				of := task + b.langs[lang]
				if q.Subject != "" {
					of += "_" + q.Subject
				}
				if n := seen[of]; n >= len(run.Prompts[of]) || prompt != run.Prompts[of][n] {
					t.Errorf("%d shots, %s, row %d: %q, the harness has %q", run.Shots, lang, row, prompt, run.Prompts[of])
				}
				seen[of]++
				a := Answer{Lang: lang, Row: row, Gold: letters[q.Answer : q.Answer+1]}
				for i, letter := range letters {
					a.Scores[i] = likelyText(prompt + " " + string(letter))
				}
				if err := f.Keep(a); err != nil {
					t.Fatal(err)
				}
			}
			for of, n := range seen {
				if n != len(run.Prompts[of]) {
					t.Errorf("%s: %d prompts, the harness has %d", of, n, len(run.Prompts[of]))
				}
			}
		}
		r, err := sheet.Result(f)
		if err != nil {
			t.Fatal(err)
		}
		compare := func(what string, accuracy float64, se *float64) {
			want, ok := run.Scores[what]
			if !ok || se == nil || math.Abs(accuracy-want.Acc) > 1e-15 || math.Abs(*se-want.SE) > 1e-15 {
				t.Errorf("%d shots, %s: %v, standard error %v; the harness has %+v", run.Shots, what, accuracy, *se, want)
			}
			delete(run.Scores, what)
		}
		for lang, whole := range r.Langs {
			if r.Subjects == nil {
				compare(task+b.langs[lang], whole.Accuracy, whole.SE)
				continue
			}
			compare("micro", whole.Accuracy, whole.SE)
			compare("macro", r.Macro[lang].Accuracy, r.Macro[lang].SE)
			for subject, of := range r.Subjects[lang] {
				compare(task+b.langs[lang]+"_"+subject, of.Accuracy, of.SE)
			}
		}
		if len(run.Scores) > 0 {
			t.Errorf("%d shots: no scores for %v", run.Shots, run.Scores)
		}
	}
}

// TestNotes: a choice without a value, and files of less than the set, are told.
func TestNotes(t *testing.T) {
	sheet, err := NewSheet(find(t, "global-mmlu"), filepath.Join("testdata", "Global-MMLU"), []string{"ar"}, 5, 0)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(sheet.Notes(), "\n")
	for _, want := range []string{"CohereLabs/Global-MMLU has 14042 questions in each language, these files have 7 in ar", "shown as None, as the harness shows them: 1 in ar"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is missing in %s", want, notes)
		}
	}
}

// TestPyarrow: what else pyarrow has in its files reads the same.
func TestPyarrow(t *testing.T) {
	b := find(t, "global-mmlu")
	want, err := b.Read(filepath.Join("testdata", "Global-MMLU"), "ar", false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Read(filepath.Join("testdata", "Global-MMLU"), "fr", false)
	if err != nil || !reflect.DeepEqual(got.Questions, want.Questions) || got.None != 1 {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}
