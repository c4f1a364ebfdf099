package bench

import (
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Every fault of a run folder is one line that names the file and what to do.
func TestFolderFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, dir string) string // of a folder with one game; returns the folder to open
		want  []string
	}{
		{"a file", func(t *testing.T, dir string) string { return filepath.Join(dir, runName) }, []string{"run.json is a file", "--run"}},
		{"below a file", func(t *testing.T, dir string) string { return filepath.Join(dir, runName, "x") }, []string{"run.json/x cannot be made", "not a directory", "--run"}},
		{"foreign content", func(t *testing.T, dir string) string {
			other := t.TempDir()
			write(t, filepath.Join(other, "thesis.tex"), "x")
			return other
		}, []string{"holds other files (thesis.tex)", "--run"}},
		{"run.json cut", func(t *testing.T, dir string) string { return cut(t, dir, runName) }, []string{"run.json is damaged", "--run"}},
		{"run.json empty", func(t *testing.T, dir string) string { write(t, filepath.Join(dir, runName), ""); return dir }, []string{"run.json is damaged", "--run"}},
		{"run.json of something else", func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, runName), `{"name": "x"}`)
			return dir
		}, []string{"run.json names no format", "--run"}},
		{"newer run.json", func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, runName), `{"format": 99}`)
			return dir
		}, []string{"run.json has format 99", "up to 3"}},
		{"older run.json", func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, runName), `{"format": 2}`)
			return dir
		}, []string{"run.json has format 2", "reads 3 only", "--run"}},
		{"run.json gone", func(t *testing.T, dir string) string { os.Remove(filepath.Join(dir, runName)); return dir }, []string{"holds 1 game but no run.json", "--run"}},
		{"games.db gone", func(t *testing.T, dir string) string { os.Remove(filepath.Join(dir, dbName)); return dir }, []string{"games.db is missing", "run folder"}},
		{"games.db cut", func(t *testing.T, dir string) string { return cut(t, dir, dbName) }, []string{"games.db", "damaged"}},
		{"games.db empty", func(t *testing.T, dir string) string { write(t, filepath.Join(dir, dbName), ""); return dir }, []string{"games.db holds no games of a run"}},
		{"games.db of noise", func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, dbName), strings.Repeat("noise", 5000))
			return dir
		}, []string{"games.db", "damaged"}},
		{"newer games.db", func(t *testing.T, dir string) string { execDB(t, dir, `PRAGMA user_version = 7`); return dir }, []string{"games.db has format 7", "up to 3"}},
		{"older games.db", func(t *testing.T, dir string) string { execDB(t, dir, `PRAGMA user_version = 2`); return dir }, []string{"games.db has format 2", "reads 3 only"}},
		{"games of another plan", func(t *testing.T, dir string) string {
			execDB(t, dir, `UPDATE games SET seed = 5`)
			return dir
		}, []string{"games.db", "run.json", "do not belong together", "TicTacToe-v0/en-en/0", "not of this run's plan"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := mustCreate(t, dir, testExperiment())
			if err := s.Append(played(remaining(t, s)[0])); err != nil {
				t.Fatal(err)
			}
			s.Close()
			_, err := Play(t.Context(), Options{Dir: c.spoil(t, dir), Experiment: testExperiment(), Player: fakePlayer})
			checkLine(t, err, c.want)
		})
	}
}

// A page of games.db overwritten in the middle is found before the run goes on.
func TestFolderDamagedInside(t *testing.T) {
	dir := t.TempDir()
	e := testExperiment()
	e.N = 50
	mustFill(t, dir, e).Close()
	f, err := os.OpenFile(filepath.Join(dir, dbName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := f.Stat()
	if _, err := f.WriteAt([]byte(strings.Repeat("\xff", 3*4096)), info.Size()/2/4096*4096); err != nil {
		t.Fatal(err)
	}
	f.Close()
	_, err = Create(dir, e, Session{})
	checkLine(t, err, []string{"games.db", "damaged", "--run"})
}

func TestOpenFaults(t *testing.T) {
	empty := t.TempDir()
	_, err := Open(empty)
	checkLine(t, err, []string{empty, "no run folder", "run.json"})
	write(t, filepath.Join(empty, "file"), "")
	_, err = Open(filepath.Join(empty, "file"))
	checkLine(t, err, []string{"no run folder"})
	_, err = Open(filepath.Join(empty, "missing"))
	checkLine(t, err, []string{"no run folder"})
	if _, err := os.Stat(filepath.Join(empty, "missing")); err == nil {
		t.Error("opening a run for reading made a folder")
	}
}

// Each setting of an experiment, when changed, is named with both values.
func TestOtherExperiment(t *testing.T) {
	dir := t.TempDir()
	mustCreate(t, dir, testExperiment()).Close()
	for want, change := range map[string]func(*Experiment){
		"model is aa there, cc here":                         func(e *Experiment) { e.Model.SHA256 = "cc"; e.N = 9 },
		"games is TicTacToe-v0,Nim-v0 there, Nim-v0 here":    func(e *Experiment) { e.Games = e.Games[1:] },
		"langs is en,ar there, en,ar,zh here":                func(e *Experiment) { e.Langs = append(e.Langs, "zh") },
		"n is 3 there, 400 here":                             func(e *Experiment) { e.N = 400 },
		"seed is 1 there, 2 here":                            func(e *Experiment) { e.Seed = 2 },
		"max-tokens is 100 there, 50 here":                   func(e *Experiment) { e.MaxTokens = 50 },
		"context is 1000 there, 2000 here":                   func(e *Experiment) { e.Context = 2000 },
		`system prompt is "Play." there, "Win.\n" here`:      func(e *Experiment) { e.System = "Win.\n" },
		`reason-in is none there, ar+fr ("In French.") here`: func(e *Experiment) { e.Reasoned = []Reasoned{{"ar+fr", "In French."}} },
		"opponent is none there, builtin:random here":        func(e *Experiment) { e.Opponents = []string{"builtin:random"} },
		"until-ci is 0 there, 0.25 here":                     func(e *Experiment) { e.UntilCI = 0.25 },
		"think is default there, off here":                   func(e *Experiment) { e.Think = "off" },
		"temperature is 1 there, 0.7 here":                   func(e *Experiment) { e.Temperature = 0.7 },
		"top-k is 64 there, 0 here":                          func(e *Experiment) { e.TopK = 0 },
		"top-p is 0.95 there, 1 here":                        func(e *Experiment) { e.TopP = 1 },
		"locales is bb there, dd here":                       func(e *Experiment) { e.Locales.SHA256 = "dd" },
		"model is aa there, builtin:random here":             func(e *Experiment) { e.Model = Model{Name: "builtin:random"} },
		"model size is 10 there, 11 here":                    func(e *Experiment) { e.Model.Size = 11 },
	} {
		e := testExperiment()
		change(&e)
		_, err := Create(dir, e, Session{})
		checkLine(t, err, []string{dir + " holds another experiment: " + want, "choose another --run folder"})
	}
	// The same contents under other names are the same experiment.
	e := testExperiment()
	e.Model.Name, e.Locales.Source = "renamed.gguf", "a/folder"
	mustCreate(t, dir, e)
}

// A field that settings forgets would let two experiments share a folder.
func TestSettingsAreComplete(t *testing.T) {
	var leaves func(t reflect.Type) int
	leaves = func(t reflect.Type) int {
		if t.Kind() != reflect.Struct {
			return 1
		}
		n := 0
		for f := range t.Fields() {
			n += leaves(f.Type)
		}
		return n
	}
	// Two fields are names of contents that a hash stands for, and a shard's two are one.
	if got, want := len(Experiment{}.settings()), leaves(reflect.TypeFor[Experiment]())-3; got != want {
		t.Errorf("%d settings for %d fields", got, want)
	}
}

func TestSecondWriterIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := mustCreate(t, dir, testExperiment())
	_, err := Create(dir, testExperiment(), Session{})
	checkLine(t, err, []string{dir + " is being written by another process", "--run"})
	s.Close()
	mustCreate(t, dir, testExperiment())
}

// The database itself finds the disk full: the batch is not kept, all before is.
func TestDiskFull(t *testing.T) {
	s := mustCreate(t, t.TempDir(), testExperiment())
	jobs := remaining(t, s)
	if _, err := s.writer.conn.ExecContext(t.Context(), `PRAGMA max_page_count = 60`); err != nil {
		t.Fatal(err)
	}
	kept := 0
	var err error
	for _, j := range jobs {
		rec := played(j)
		rec.Turns[1].Completion = noise(10_000)
		if err = s.Append(rec); err != nil {
			break
		}
		kept++
	}
	checkLine(t, err, []string{"games.db: the disk is full", "ended games are kept"})
	if n, err := s.Games(); n != kept || kept == 0 || err != nil {
		t.Errorf("%d games of %d, %v", n, kept, err)
	}
}

func TestCreateChecksThePlan(t *testing.T) {
	e := testExperiment()
	e.N = 0
	dir := filepath.Join(t.TempDir(), "run")
	_, err := Create(dir, e, Session{})
	checkLine(t, err, []string{"n is 0"})
	if _, err := os.Stat(dir); err == nil {
		t.Error("a wrong plan left a folder")
	}
}

func checkLine(t *testing.T, err error, want []string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %q", want)
		return
	}
	missing := slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(err.Error(), w) })
	if missing || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %q, want one line with %q", err, want)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cut halves a file of the folder.
func cut(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	return dir
}

func execDB(t *testing.T, dir, query string) {
	t.Helper()
	db, err := connect(filepath.Join(dir, dbName), url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}
