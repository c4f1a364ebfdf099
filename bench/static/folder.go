package static

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"selfplay/bench"
	"selfplay/bench/asking"
	"selfplay/inference/files"
	"selfplay/locales/wholefile"
)

const (
	settingsName = "eval.json"
	answersName  = "answers.jsonl"
	format       = 1 // of both: raise it with every change that an older program would misread
)

// Settings are all that answers depend on. Answers to equal ones may share a
// folder; nothing else may. More languages and questions may come later.
type Settings struct {
	Benchmark string            `json:"benchmark"`
	Asked     string            `json:"asked"`
	Shots     int               `json:"shots"`
	Model     bench.Model       `json:"model"`
	Weights   string            `json:"weights"` // the types that are computed: file or bf16
	Data      map[string]string `json:"data"`    // language -> SHA-256 of its files

	Devices []string `json:"devices,omitempty"` // what has computed them, which changes no more than last digits
}

// An Answer is one line of answers.jsonl.
type Answer struct {
	Lang   string `json:"lang"`
	Row    int    `json:"row"` // of the question in its language's files, counted from 0
	Gold   string `json:"gold"`
	Scores scores `json:"scores"`        // log-probabilities of the letters
	Cut    int    `json:"cut,omitempty"` // tokens cut off at the beginning
}

// Choice is the likeliest letter, the first one of equals.
func (a *Answer) Choice() int {
	best := 0
	for i, s := range a.Scores {
		if s > a.Scores[best] {
			best = i
		}
	}
	return best
}

type scores [4]float64

// UnmarshalJSON refuses lists of another length, which would be read as one of four.
func (s *scores) UnmarshalJSON(text []byte) error {
	var list []float64
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	if len(list) != len(s) {
		return fmt.Errorf("%d scores", len(list))
	}
	copy(s[:], list)
	return nil
}

func (a Answer) check() error {
	switch {
	case a.Lang == "" || a.Row < 0:
		return errors.New("it names no question")
	case len(a.Gold) != 1 || !strings.Contains(letters, a.Gold):
		return errors.New("it has no right letter")
	}
	return nil
}

// A key names a question.
type key struct {
	lang string
	row  int
}

// A Folder keeps answers as they come, for one process at a time.
type Folder struct {
	Dir      string
	settings *Settings // nil: nothing was answered yet
	log      *asking.Log[Answer]
	answers  map[key]Answer
}

// OpenFolder makes the folder, or reads the answers that are in it.
func OpenFolder(dir string) (f *Folder, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("--run %s cannot be made: %w", dir, wholefile.Cause(err))
	}
	f = &Folder{Dir: dir, answers: map[key]Answer{}}
	if f.settings, err = readSettings(dir); err != nil {
		return nil, err
	}
	if f.settings == nil {
		if err := checkEmpty(dir); err != nil {
			return nil, err
		}
	}
	log, answers, err := asking.OpenLog(filepath.Join(dir, answersName), Answer.check)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	f.log = log
	for _, a := range answers {
		f.answers[key{a.Lang, a.Row}] = a
	}
	return f, nil
}

func readSettings(dir string) (*Settings, error) {
	path := filepath.Join(dir, settingsName)
	data, err := files.Read(path, mostLine)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, wholefile.Cause(err))
	}
	var s struct {
		Format int `json:"format"`
		Settings
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w): restore it or choose another --run folder", path, err)
	}
	if s.Format != format {
		return nil, fmt.Errorf("%s has format %d, this program reads %d only: choose another --run folder", path, s.Format, format)
	}
	return &s.Settings, nil
}

// checkEmpty refuses a folder of other things. A run that ended before its first
// answer may have left the file for them, without any, and a part of its settings.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot read --run %s: %w", dir, wholefile.Cause(err))
	}
	for _, e := range entries {
		info, err := e.Info()
		if e.Name() == answersName && err == nil && info.Size() == 0 || strings.HasPrefix(e.Name(), "."+settingsName+".") { // as wholefile.Write begins a file
			continue
		}
		return fmt.Errorf("%s holds other files (%s) and no %s, which says what was asked: --run needs a new or empty folder", dir, e.Name(), settingsName)
	}
	return nil
}

// Weights are the types that the answers were computed with; "" if there are none.
func (f *Folder) Weights() string {
	if f.settings == nil {
		return ""
	}
	return f.settings.Weights
}

// Use checks that the folder's answers belong to the settings, but for weights
// where these are left open.
func (f *Folder) Use(s Settings) error {
	if f.settings == nil {
		return nil
	}
	for _, d := range []struct{ name, there, here string }{
		{"benchmark", f.settings.Benchmark, s.Benchmark},
		{"asked", f.settings.Asked, s.Asked},
		{"model", f.settings.Model.SHA256 + f.settings.Model.Name, s.Model.SHA256 + s.Model.Name},
		{"shots", fmt.Sprint(f.settings.Shots), fmt.Sprint(s.Shots)},
		{"weights", f.settings.Weights, cmp.Or(s.Weights, f.settings.Weights)},
	} {
		if d.there != d.here {
			return fmt.Errorf("%s holds other answers: %s is %s there, %s here: choose another --run folder", f.Dir, d.name, d.there, d.here)
		}
	}
	for lang, sum := range s.Data {
		if there := f.settings.Data[lang]; there != "" && there != sum {
			return fmt.Errorf("%s holds answers to other questions in %s: the files of --data have changed; choose another --run folder", f.Dir, lang)
		}
	}
	return nil
}

// Begin makes the folder's settings these, which come before the first answer
// to them.
func (f *Folder) Begin(s Settings) error {
	if err := f.Use(s); err != nil {
		return err
	}
	devices := slices.Clone(s.Devices)
	if f.settings != nil {
		data := map[string]string{}
		maps.Copy(data, f.settings.Data)
		maps.Copy(data, s.Data)
		s.Data = data
		devices = append(devices, f.settings.Devices...)
	}
	slices.Sort(devices)
	s.Devices = slices.Compact(devices)
	text, err := json.MarshalIndent(struct {
		Format int `json:"format"`
		Settings
	}{format, s}, "", "  ")
	if err != nil {
		return err
	}
	if err := wholefile.Bytes(filepath.Join(f.Dir, settingsName), append(text, '\n')); err != nil {
		return err
	}
	f.settings = &s
	return nil
}

// Keep writes answers down.
func (f *Folder) Keep(a Answer) error {
	for _, s := range a.Scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return fmt.Errorf("the answer to row %d in %s is no number", a.Row, a.Lang)
		}
	}
	if err := f.log.Add(a); err != nil {
		return err
	}
	f.answers[key{a.Lang, a.Row}] = a
	return nil
}

// Answer gives what is known of a question.
func (f *Folder) Answer(lang string, row int) (Answer, bool) {
	a, ok := f.answers[key{lang, row}]
	return a, ok
}

// Close makes the answers durable and lets other processes write.
func (f *Folder) Close() error { return f.log.Close() }
