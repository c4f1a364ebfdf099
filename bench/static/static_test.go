package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"selfplay/bench"
	"selfplay/inference"
)

func find(t *testing.T, name string) *Benchmark {
	t.Helper()
	b, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// write writes records of a set into a file of a folder.
func write(t *testing.T, path string, records ...map[string]any) {
	t.Helper()
	var text strings.Builder
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s\n", line)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text.String()), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func belebele(passage, question string, right any, choices ...string) map[string]any {
	r := map[string]any{"link": "http://x", "question_number": 1, "flores_passage": passage, "question": question, "correct_answer_num": right, "dialect": "x"}
	for i, c := range choices {
		r[fmt.Sprintf("mc_answer%d", i+1)] = c
	}
	return r
}

func mmlu(subject, question, right string, choices ...string) map[string]any {
	r := map[string]any{"sample_id": "x", "subject": subject, "question": question, "answer": right}
	for i, c := range choices {
		r["option_"+string("abcd"[i])] = c
	}
	return r
}

// TestBelebelePrompt: the text is the harness's to the byte.
func TestBelebelePrompt(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "data", "eng_Latn.jsonl"), belebele("A bear sleeps.", " Who sleeps? ", "2", "A dog", "A bear", "A cat ", "Nobody"))
	write(t, filepath.Join(dir, "data", "arb_Arab.jsonl"), belebele("الدب نائم.", "من النائم؟", 4, "كلب", "قط", "لا أحد", "الدب"), belebele("P", "Q", 1, "a", "b", "c", "d"))
	b := find(t, "belebele")
	for _, c := range []struct {
		lang   string
		shots  int
		answer int
		want   string
	}{
		{"en", 0, 1, "P: A bear sleeps.\nQ: Who sleeps?\nA: A dog\nB: A bear\nC: A cat \nD: Nobody\nAnswer:"},
		{"ar", 0, 3, "P: الدب نائم.\nQ: من النائم؟\nA: كلب\nB: قط\nC: لا أحد\nD: الدب\nAnswer:"},
		{"ar", 1, 3, "P: P\nQ: Q\nA: a\nB: b\nC: c\nD: d\nAnswer: A\n\nP: الدب نائم.\nQ: من النائم؟\nA: كلب\nB: قط\nC: لا أحد\nD: الدب\nAnswer:"},
	} {
		d, err := b.Read(dir, c.lang, true)
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.Prompts(d, c.shots)
		if err != nil || p(0) != c.want || d.Questions[0].Answer != c.answer {
			t.Errorf("%s: %q, %v; want %q", c.lang, p(0), err, c.want)
		}
	}
	d, _ := b.Read(dir, "en", true)
	if _, err := b.Prompts(d, 1); err == nil || !strings.Contains(err.Error(), "fewer --shots") {
		t.Error(err)
	}
}

// TestGlobalMMLUPrompt: the first examples of the subject, in order, then the
// question; out of Parquet and JSON lines alike.
func TestGlobalMMLUPrompt(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ar", "dev.jsonl"),
		mmlu("anatomy", "س1", "C", "1", "2", "3", "4"), mmlu("virology", "x", "A", "1", "2", "3", "4"),
		mmlu("anatomy", "س2", "A", "5", "6", "7", "8"), mmlu("anatomy", "س3", "B", "5", "6", "7", "8"))
	type row struct {
		Subject  string `parquet:"subject,dict"`
		Question string `parquet:"question,optional,plain"`
		Extra    []int  `parquet:"extra,list"`
		A        string `parquet:"option_a,plain"`
		B        string `parquet:"option_b,plain"`
		C        string `parquet:"option_c,plain"`
		D        string `parquet:"option_d,plain"`
		Answer   string `parquet:"answer,dict"`
	}
	rows := []row{{"anatomy", "\u00a0كم عظمة؟\n", []int{1, 2}, "100", "206", "300", "7", "B"}}
	if err := parquet.WriteFile(filepath.Join(dir, "ar", "test-00000-of-00001.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	b := find(t, "global-mmlu")
	d, err := b.Read(dir, "ar", true)
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Prompts(d, 2)
	want := "س1\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer: C\n\n" + "س2\nA. 5\nB. 6\nC. 7\nD. 8\nAnswer: A\n\n" + "كم عظمة؟\nA. 100\nB. 206\nC. 300\nD. 7\nAnswer:"
	if err != nil || p(0) != want || d.Questions[0].Answer != 1 {
		t.Errorf("%q, %v; want %q", p(0), err, want)
	}
	if _, err := b.Prompts(d, 4); err == nil || !strings.Contains(err.Error(), "4 examples of anatomy are wanted, and "+d.examplesFrom+" has 3") {
		t.Error(err)
	}
	rows[0].Answer = "E"
	if err := parquet.WriteFile(filepath.Join(dir, "ar", "test-00000-of-00001.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(dir, "ar", true); err == nil || !strings.HasSuffix(err.Error(), `test-00000-of-00001.parquet: row 1: column answer is "E": one of A, B, C, D is expected`) {
		t.Error(err)
	}
}

func TestReadRefuses(t *testing.T) {
	good, _ := json.Marshal(belebele("p", "q", "2", "a", "b", "c", "d"))
	for name, c := range map[string]struct{ text, want string }{
		"no object":      {string(good) + "\n[1]\n", "line 2: no JSON object"},
		"cut off":        {string(good[:20]), "line 1: no JSON object"},
		"missing":        {`{"flores_passage":"p"}`, "line 1: column question is missing"},
		"null":           {strings.Replace(string(good), `"p"`, "null", 1), "line 1: column flores_passage has no value"},
		"list":           {strings.Replace(string(good), `"p"`, "[1]", 1), `line 1: column flores_passage is "[1]": a text is expected`},
		"a pointer":      {"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"},
		"number":         {strings.Replace(string(good), `"2"`, "5", 1), `line 1: column correct_answer_num is "5": one of 1, 2, 3, 4`},
		"empty question": {strings.Replace(string(good), `"q"`, `" "`, 1), "line 1: column question is empty"},
		"not UTF-8":      {"\xff\n", "line 1: not UTF-8"},
		"nothing":        {"\n\n", "holds no questions"},
		"long":           {strings.Repeat(" ", mostLine+1), "line 1 is longer than 4 MB"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "eng_Latn.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := find(t, "belebele").Read(dir, "en", false)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// spelled makes a token of each character, and one more for a beginning.
type spelled struct{}

func (spelled) Document(text string) ([]int32, error) {
	ids := []int32{1}
	for _, r := range text {
		ids = append(ids, int32(r))
	}
	return ids, nil
}

func TestEncode(t *testing.T) {
	e, err := newEncoder(spelled{})
	if err != nil {
		t.Fatal(err)
	}
	text, cut, err := e.encode("Q:", 100)
	if fmt.Sprint(text) != "{[1 81 58] [[32 65] [32 66] [32 67] [32 68]]}" || cut != 0 || err != nil {
		t.Errorf("%v, %d, %v", text, cut, err)
	}
	text, cut, err = e.encode("Q:", 3)
	if fmt.Sprint(text.Context) != "[81 58]" || cut != 1 || err != nil {
		t.Errorf("%v, %d, %v", text, cut, err)
	}
	if _, _, err = e.encode("Q:", 1); err == nil {
		t.Error("a question without room is scored")
	}
	// Behind a longer text the letters may be other tokens.
	if text, _, err = (&encoder{spelled{}, [][]int32{{7}, {8}, {9}, {6}}}).encode("Q:", 100); fmt.Sprint(text.Choices) != "[[32 65] [32 66] [32 67] [32 68]]" || err != nil {
		t.Errorf("%v, %v", text, err)
	}
}

// TestRealLetters: of a real vocabulary each letter is one token.
func TestRealLetters(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	c, err := inference.OpenCodec(filepath.Join(cache, "selfplay", "models", "SmolLM2-135M-Instruct.Q4_1.gguf"))
	if err != nil {
		t.Fatalf("%v: run make model", err)
	}
	defer c.Close()
	e, err := newEncoder(c)
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := e.encode("1 + 1?\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:", 100)
	if err != nil || fmt.Sprint(text.Choices) != "[[330] [389] [340] [422]]" {
		t.Errorf("%v, %v", text, err)
	}
}

// TestResult: two subjects, one answered 1 of 2, the other 3 of 4.
func TestResult(t *testing.T) {
	dir, data := filepath.Join(t.TempDir(), "run"), t.TempDir()
	write(t, filepath.Join(data, "en", "test.jsonl"),
		mmlu("a", "1", "A", "", "", "", ""), mmlu("b", "2", "B", "", "", "", ""), mmlu("a", "3", "C", "", "", "", ""),
		mmlu("b", "4", "D", "", "", "", ""), mmlu("b", "5", "A", "", "", "", ""), mmlu("b", "6", "B", "", "", "", ""))
	sheet, err := NewSheet(find(t, "global-mmlu"), data, []string{"en"}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{Benchmark: "global-mmlu", Model: bench.Model{Name: "m"}, Weights: "file", Data: sheet.Sums(), Devices: []string{"cpu", "cpu"}}
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Begin(s); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(dir); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
	for row, scores := range [][4]float64{{-1, -2, -3, -4}, {-2, -1, -3, -3}, {-1, -1, -1, -1}, {-3, -3, -3, -1}, {-2, -1, -2, -2}, {-5, -1, -5, -1}} {
		if err := f.Keep(Answer{Lang: "en", Row: row, Gold: string("ABCDAB"[row]), Scores: scores}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	// A line that was cut off is given up; the others are there.
	path := filepath.Join(dir, answersName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	if f, err = OpenFolder(dir); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.Devices = []string{"NVIDIA H200"}
	if err := f.Begin(s); err != nil {
		t.Fatal(err)
	}
	if kept, err := readSettings(dir); err != nil || !slices.Equal(kept.Devices, []string{"NVIDIA H200", "cpu"}) {
		t.Errorf("%+v, %v", kept, err)
	}
	shown := 0
	open, err := sheet.Open(t.Context(), []Codec{spelled{}, spelled{}}, f, 1000, func(n int) { shown = n })
	if err != nil || shown != 1 || len(open.Texts) != 1 || open.keys[0].Row != 5 {
		t.Fatalf("%+v, %v", open, err)
	}
	if err := f.Keep(Answer{Lang: "en", Row: 5, Gold: "B", Scores: [4]float64{-5, -1, -5, -1}}); err != nil {
		t.Fatal(err)
	}
	r, err := sheet.Result(f)
	if err != nil {
		t.Fatal(err)
	}
	en := r.Langs["en"]
	// Of variances 1/2 (2 questions) and 1/4 (4): (1*1/2 + 3*1/4) / (6-2) / 6.
	if want := math.Sqrt(1.25 / 4 / 6); en.N != 6 || en.Correct != 4 || en.Accuracy != 4.0/6 || math.Abs(*en.SE-want) > 1e-15 {
		t.Errorf("%+v %v, want %v", en, *en.SE, want)
	}
	if b := r.Subjects["en"]["b"]; b.Accuracy != 0.75 || math.Abs(*b.SE-0.25) > 1e-15 {
		t.Errorf("%+v", b)
	}
	for _, c := range []struct {
		change func(*Settings)
		want   string
	}{
		{func(s *Settings) { s.Shots = 5 }, "shots is 0 there, 5 here"},
		{func(s *Settings) { s.Model.SHA256 = "1" }, "model is m there, 1m here"},
		{func(s *Settings) { s.Data = map[string]string{"en": "x"} }, "the files of --data have changed"},
	} {
		other := s
		if c.change(&other); f.Use(other) == nil || !strings.Contains(f.Use(other).Error(), c.want) {
			t.Errorf("%v; want %s", f.Use(other), c.want)
		}
	}
}
