package static

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"selfplay/bench"
)

// seedFiles adds files of testdata to what a fuzz target begins with.
func seedFiles(f *testing.F, pattern string) {
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || paths == nil {
		f.Fatalf("%s: no files, %v", pattern, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// allocated is how many bytes do takes, those that it gives back among them.
func allocated(do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// oneLine says whether an error is a line that names the file or folder.
func oneLine(err error, path string) bool {
	return err == nil || strings.Contains(err.Error(), path) && !strings.ContainsAny(err.Error(), "\n\r\x1b")
}

// FuzzParquet: no file brings the program down, or takes memory out of proportion.
func FuzzParquet(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x.parquet")
	for _, option := range []parquet.WriterOption{parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Gzip), parquet.DataPageVersion(1)} {
		if err := parquet.WriteFile(path, []struct {
			Subject string  `parquet:"subject,dict"`
			Choice  *string `parquet:"option_a,optional,plain"`
			Answer  int64   `parquet:"answer"`
		}{{"x", new("a"), 1}, {"y", nil, 2}, {"y", new(""), 3}}, option); err != nil {
			f.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(whole)
		f.Add(whole[:len(whole)/2])
	}
	f.Add([]byte("PAR1PAR1"))
	seedFiles(f, "Global-MMLU/*/*.parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		var err error
		rows := 0
		n := allocated(func() {
			err = readParquet(path, []string{"subject", "option_a", "answer"}, func(string, []value) error { rows++; return nil })
		})
		if !oneLine(err, path) {
			t.Errorf("%q", err)
		}
		if n > 64<<20+1000*(len(data)+rows) {
			t.Errorf("%d bytes with %d rows take %d MB: %v", len(data), rows, n>>20, err)
		}
	})
}

// FuzzJSONL: a file is questions, or an error that names the line.
func FuzzJSONL(f *testing.F) {
	seedFiles(f, "belebele/data/*.jsonl")
	f.Add([]byte(`{"flores_passage":"p","question":"q","mc_answer1":1,"mc_answer2":null,"mc_answer3":"\ud800","mc_answer4":"","correct_answer_num":4}`))
	f.Add([]byte("\xef\xbb\xbf{}\n\n[]\r\n"))
	b, err := Lookup("belebele")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "eng_Latn.jsonl")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		var d *Data
		var err error
		if n := allocated(func() { d, err = b.Read(dir, "en", true) }); n > 8<<20+200*len(data) {
			t.Errorf("%d bytes take %d MB", len(data), n>>20)
		}
		if !oneLine(err, path) {
			t.Errorf("%q", err)
		}
		if err != nil {
			return
		}
		for i, q := range d.Questions {
			if q.Answer < 0 || q.Answer > 3 || strip(q.Text) == "" {
				t.Errorf("question %d: %+v", i, q)
			}
		}
		if prompt, err := b.Prompts(d, 1); err == nil {
			prompt(len(d.Questions) - 1)
		}
	})
}

// FuzzFolder: a folder with these two files is refused, or goes on: what is kept
// in it is there when it is opened again, beside what was.
func FuzzFolder(f *testing.F) {
	settings := `{"format": 1, "benchmark": "b", "shots": 5, "model": {"name": "m"}, "weights": "file", "data": {"en": "1"}}`
	answer := `{"lang":"en","row":3,"gold":"A","scores":[-1,-2,-3,-4]}` + "\n"
	f.Add([]byte(settings), []byte(answer+answer[:20]))
	f.Add([]byte(`{"format": 1, "data": null}`), []byte(""))
	f.Add([]byte(settings), []byte(`{"lang":"en","row":3,"scores":[1]}`+"\n"))
	f.Add([]byte("{"), []byte(answer))
	f.Add([]byte{}, []byte(answer))
	f.Fuzz(func(t *testing.T, settings, answers []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{settingsName: settings, answersName: answers} {
			if len(data) == 0 {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		folder, err := OpenFolder(dir)
		if !oneLine(err, dir) {
			t.Errorf("%q", err)
		}
		if err != nil {
			return
		}
		s := Settings{Data: map[string]string{"xx": "2"}}
		if folder.settings != nil {
			s = *folder.settings
			s.Data = map[string]string{"xx": "2"}
		}
		a := Answer{Lang: "xx", Row: 7, Gold: "B", Scores: [4]float64{-1, -2, -3, -0.5}}
		if err := folder.Begin(s); err != nil {
			folder.Close()
			if !oneLine(err, dir) {
				t.Errorf("%q", err)
			}
			return
		}
		if err := folder.Keep(a); err != nil {
			t.Fatal(err)
		}
		had := folder.answers
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if !reflect.DeepEqual(again.answers, had) || again.settings.Data["xx"] != "2" {
			t.Errorf("%v became %v, %+v", had, again.answers, again.settings)
		}
		for k, a := range had {
			if k.lang == "" || k.row < 0 || !strings.Contains(letters, a.Gold) || len(a.Gold) != 1 {
				t.Errorf("%v: %+v", k, a)
			}
		}
		if err := again.Use(Settings{Model: bench.Model{Name: "another"}}); err == nil && again.settings.Model.Name != "another" {
			t.Error(fmt.Sprintf("%+v", again.settings))
		}
	})
}
