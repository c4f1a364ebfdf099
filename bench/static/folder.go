package static

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"selfplay/bench"
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
	Lang   string     `json:"lang"`
	Row    int        `json:"row"` // of the question in its language's files, counted from 0
	Gold   string     `json:"gold"`
	Scores [4]float64 `json:"scores"`        // log-probabilities of the letters
	Cut    int        `json:"cut,omitempty"` // tokens cut off at the beginning
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

// A key names a question.
type key struct {
	lang string
	row  int
}

// A Folder keeps answers as they come, for one process at a time.
type Folder struct {
	Dir      string
	settings *Settings // nil: nothing was answered yet
	file     *os.File  // of answers
	answers  map[key]Answer
}

// OpenFolder makes the folder, or reads the answers that are in it.
func OpenFolder(dir string) (f *Folder, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("--run %s cannot be made: %w", dir, cause(err))
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
	path := filepath.Join(dir, answersName)
	file, _, err := files.OpenAs(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW)
	if err != nil {
		return nil, fmt.Errorf("--run %s cannot be written (%w): choose another folder", dir, cause(err))
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	f.file = file
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) // ends with the process, however that ends
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s is being written by another process: wait for it or choose another --run folder", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be locked (%w): choose a --run folder on another file system", path, err)
	}
	return f, f.read()
}

func readSettings(dir string) (*Settings, error) {
	path := filepath.Join(dir, settingsName)
	data, err := files.Read(path, mostLine)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, cause(err))
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

// checkEmpty refuses a folder of other things. Answers without settings are
// those of a run that ended before its first one.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot read --run %s: %w", dir, cause(err))
	}
	for _, e := range entries {
		if e.Name() != answersName && !strings.HasPrefix(e.Name(), "."+settingsName+".") { // as wholefile.Write begins a file
			return fmt.Errorf("%s holds other files (%s) and no answers: --run needs a new or empty folder", dir, e.Name())
		}
	}
	return nil
}

// mostAnswer is some hundred times the length of a line of answers, in bytes.
const mostAnswer = 1 << 16

// read reads the answers. A last line without an end was cut off while it was
// written, and is given up.
func (f *Folder) read() error {
	lines := bufio.NewReaderSize(f.file, mostAnswer)
	end := int64(0)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("%s is damaged: line %d has more than %d bytes: restore it, or remove the lines from there on", f.file.Name(), n, mostAnswer)
		}
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", f.file.Name(), cause(err))
		}
		a, err := readAnswer(line)
		if err != nil {
			return fmt.Errorf("%s is damaged in line %d (%w): restore it, or remove the lines from there on", f.file.Name(), n, err)
		}
		f.answers[key{a.Lang, a.Row}] = a
		end += int64(len(line))
	}
	if f.settings == nil && len(f.answers) > 0 {
		return fmt.Errorf("%s has answers, but no %s says what was asked: choose another --run folder", f.Dir, settingsName)
	}
	if err := f.file.Truncate(end); err != nil {
		return fmt.Errorf("cannot write %s: %w", f.file.Name(), cause(err))
	}
	_, err := f.file.Seek(end, io.SeekStart)
	return err
}

// readAnswer reads one line as Keep writes them.
func readAnswer(line []byte) (a Answer, err error) {
	var s struct { // a list of another length would be read as one of four
		Scores []float64 `json:"scores"`
	}
	if err := errors.Join(json.Unmarshal(line, &a), json.Unmarshal(line, &s)); err != nil {
		return a, errors.New("no answer as JSON")
	}
	switch {
	case a.Lang == "" || a.Row < 0:
		return a, errors.New("it names no question")
	case len(a.Gold) != 1 || !strings.Contains(letters, a.Gold):
		return a, errors.New("it has no right letter")
	case len(s.Scores) != len(a.Scores):
		return a, fmt.Errorf("it has %d scores", len(s.Scores))
	}
	return a, nil
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
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if _, err := f.file.Write(append(bytes.TrimSpace(line), '\n')); err != nil {
		return fmt.Errorf("cannot write %s: %w", f.file.Name(), cause(err))
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
func (f *Folder) Close() error { return errors.Join(f.file.Sync(), f.file.Close()) }
