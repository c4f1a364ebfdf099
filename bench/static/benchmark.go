package static

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Benchmark is a published set of questions with four choices each, and the
// way in which a model is asked them.
type Benchmark struct {
	Name  string
	Shots int    // solved examples in front of a question, unless told otherwise
	Asked string // the way, in words, for a report

	set      string            // its name on Hugging Face
	size     int               // questions that it has in each language
	langs    map[string]string // this program's languages -> the set's
	columns  []string          // that are read, as question takes them: two texts, the choices, the answer
	question func(values []string) (Question, error)
	prompt   func(*Question) string // up to where the answer begins
	tests    []string               // where the questions lie below the data folder; %s is the set's language
	examples []string               // where examples lie; nil: among the questions
}

// A Question and what is known of it. Choices are shown as A, B, C and D.
type Question struct {
	Subject string // what it is about; "" where the set has no subjects
	Passage string // that it is about; "" where there is none
	Text    string
	Choices [4]string
	Answer  int // which of them is right
}

const letters = "ABCD"

// isChoice says whether a column, by its place among those that are read, holds a choice.
func isChoice(column int) bool { return 2 <= column && column < 6 }

// Benchmarks are those that there are.
var Benchmarks = []*Benchmark{
	{
		Name: "belebele", Shots: 0, set: "facebook/belebele", size: 900,
		Asked: "the authors' template P, Q, A to D, Answer; the likeliest letter; lm-evaluation-harness 0.4.13, belebele_LANG",
		langs: map[string]string{
			"en": "eng_Latn", "ar": "arb_Arab", "de": "deu_Latn", "es": "spa_Latn",
			"fr": "fra_Latn", "he": "heb_Hebr", "ms": "zsm_Latn", "zh": "zho_Hans",
		},
		columns:  []string{"flores_passage", "question", "mc_answer1", "mc_answer2", "mc_answer3", "mc_answer4", "correct_answer_num"},
		question: belebeleQuestion,
		prompt:   belebelePrompt,
		tests:    []string{"%s.jsonl", "%s.parquet", "%s/test.jsonl", "%s/test*.parquet", "%s/test/*.parquet"},
	},
	{
		Name: "global-mmlu", Shots: 5, set: "CohereLabs/Global-MMLU", size: 14042,
		Asked: "question, A to D, Answer; the likeliest letter; lm-evaluation-harness 0.4.13, global_mmlu_full_LANG",
		langs: map[string]string{
			"en": "en", "ar": "ar", "de": "de", "es": "es",
			"fr": "fr", "he": "he", "ms": "ms", "zh": "zh",
		},
		columns:  []string{"subject", "question", "option_a", "option_b", "option_c", "option_d", "answer"},
		question: globalMMLUQuestion,
		prompt:   globalMMLUPrompt,
		tests:    []string{"%s/test.jsonl", "%s/test*.parquet", "%s/test/*.parquet"},
		examples: []string{"%s/dev.jsonl", "%s/dev*.parquet", "%s/dev/*.parquet"},
	},
}

// Lookup finds a benchmark by its name.
func Lookup(name string) (*Benchmark, error) {
	var names []string
	for _, b := range Benchmarks {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return nil, fmt.Errorf("there is no benchmark %q: choose from %s", name, strings.Join(names, ", "))
}

// CheckLangs refuses languages that the program has no name in the set for, and
// one that is given twice.
func (b *Benchmark) CheckLangs(langs []string) error {
	if len(langs) == 0 {
		return fmt.Errorf("no language is given")
	}
	for i, lang := range langs {
		if b.langs[lang] == "" {
			var have []string
			for l := range b.langs {
				have = append(have, l)
			}
			slices.Sort(have)
			return fmt.Errorf("%q is none of %s's languages here: choose from %s", lang, b.Name, strings.Join(have, ", "))
		}
		if slices.Contains(langs[:i], lang) {
			return fmt.Errorf("%s is given twice", lang)
		}
	}
	return nil
}

func belebeleQuestion(v []string) (Question, error) {
	q := Question{Passage: v[0], Text: v[1], Choices: [4]string(v[2:6])}
	var err error
	q.Answer, err = oneOf("correct_answer_num", v[6], "1234")
	return q, err
}

func belebelePrompt(q *Question) string {
	c := &q.Choices
	return "P: " + q.Passage + "\nQ: " + strip(q.Text) + "\nA: " + c[0] + "\nB: " + c[1] + "\nC: " + c[2] + "\nD: " + c[3] + "\nAnswer:"
}

func globalMMLUQuestion(v []string) (Question, error) {
	q := Question{Subject: v[0], Text: v[1], Choices: [4]string(v[2:6])}
	if q.Subject == "" {
		return q, fmt.Errorf("column subject is empty")
	}
	var err error
	q.Answer, err = oneOf("answer", v[6], letters)
	return q, err
}

func globalMMLUPrompt(q *Question) string {
	c := &q.Choices
	return strip(q.Text) + "\nA. " + c[0] + "\nB. " + c[1] + "\nC. " + c[2] + "\nD. " + c[3] + "\nAnswer:"
}

// oneOf reads which of the right answer's names a column holds.
func oneOf(column, value, names string) (int, error) {
	if i := strings.Index(names, value); i >= 0 && len(value) == 1 {
		return i, nil
	}
	return 0, fmt.Errorf("column %s is %.20q: one of %s is expected", column, value, strings.Join(strings.Split(names, ""), ", "))
}

// strip is Python's str.strip, which the harness calls.
func strip(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f })
}
