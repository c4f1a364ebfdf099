package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"selfplay/inference/files"
	"selfplay/locales"
	"selfplay/locales/wholefile"
	"selfplay/prompts"
)

// format is the version of a run folder: of run.json and of the tables in
// games.db. Raise it with every change that an older program would misread.
const format = 3

const runName = "run.json"

// An Experiment is every setting that can change what is played. Two runs with
// equal experiments may share a folder; nothing else may.
type Experiment struct {
	Games       []string   `json:"games"`
	Langs       []string   `json:"langs"`
	N           int        `json:"n"`
	Seed        int64      `json:"seed"`
	Model       Model      `json:"model"`
	Weights     string     `json:"weights,omitempty"` // the types that are computed: file or bf16
	Cache       string     `json:"cache,omitempty"`   // the type of keys and values; empty: f16
	System      string     `json:"system"`            // the system prompt
	Reasoned    []Reasoned `json:"reasoned,omitempty"`
	Opponents   []string   `json:"opponents,omitempty"` // see Plan
	UntilCI     float64    `json:"until_ci,omitempty"`  // half-width of a margin's interval at which its cell stops; 0: never
	Think       string     `json:"think,omitempty"`     // on, off, or empty: the template's default
	Temperature float64    `json:"temperature"`
	TopK        int        `json:"top_k"`
	TopP        float64    `json:"top_p"`
	MaxTokens   int        `json:"max_tokens"` // of one answer
	Context     int        `json:"context"`    // tokens that a game's prompt and answer may take
	Locales     Locales    `json:"locales"`
	Shard       Shard      `json:"shard,omitzero"` // which part of all this is played
}

// Reasoned is a label that a system prompt of its own tells what to reason in.
type Reasoned struct {
	Label  string `json:"label"` // see SplitLabel
	System string `json:"system"`
}

// A Model is known by its contents; a built-in policy has a name only.
type Model struct {
	Name   string `json:"name"`
	Size   int64  `json:"size,omitempty"` // bytes
	SHA256 string `json:"sha256,omitempty"`
}

// Locales are known by their contents, wherever they were read from.
type Locales struct {
	Source string `json:"source"` // embedded, or the folder
	SHA256 string `json:"sha256"`
}

// A Session is one invocation that wrote to the run: how it was played. It
// changes no outcome and takes no part in comparing experiments.
type Session struct {
	Started  time.Time         `json:"started"`
	Program  string            `json:"program"`            // version
	Model    string            `json:"model,omitempty"`    // as given on the command line
	Suite    string            `json:"suite,omitempty"`    // what was asked for by name, in full: see Suite
	Settings map[string]string `json:"settings,omitempty"` // slots, chunk, threads, device, ...

	Locales []locales.Confidence `json:"locales,omitempty"` // what was known of the languages' texts
}

// runFile is the contents of run.json.
type runFile struct {
	Format     int        `json:"format"`
	Created    time.Time  `json:"created"`
	Experiment Experiment `json:"experiment"`
	How        []Session  `json:"how"` // games.session counts into this list
}

// Plan is the part of the experiment that says which games are played.
func (e Experiment) Plan() Plan {
	p := Plan{Games: e.Games, Langs: e.Langs, Opponents: e.Opponents, N: e.N, Seed: e.Seed, Shard: e.Shard, ByCell: e.UntilCI > 0}
	for _, r := range e.Reasoned {
		p.Reasoned = append(p.Reasoned, r.Label)
	}
	return p
}

// Labels are what the experiment compares: its languages, then those with another
// to reason in.
func (e Experiment) Labels() []string { return e.Plan().Labels() }

// SystemOf is the system prompt of a seat with this label.
func (e Experiment) SystemOf(label string) string {
	for _, r := range e.Reasoned {
		if r.Label == label {
			return r.System
		}
	}
	return e.System
}

// ReasonsIn is the language that a seat with this label is to reason in: the one that
// its label names, else the one that the run's system prompt names, else that of its
// interface.
func (e Experiment) ReasonsIn(label string) string {
	lang, reason := SplitLabel(label)
	return cmp.Or(reason, prompts.ReasonsIn(e.System), lang)
}

// A setting is one line of an experiment, for comparing and for messages.
type setting struct{ name, value string }

// settings lists the experiment in the order in which differences are named.
func (e Experiment) settings() []setting {
	return []setting{
		{"model", cmp.Or(e.Model.SHA256, e.Model.Name)},
		{"model size", strconv.FormatInt(e.Model.Size, 10)},
		{"weights", cmp.Or(e.Weights, "none")},
		{"cache", cmp.Or(e.Cache, "f16")},
		{"games", strings.Join(e.Games, ",")},
		{"langs", strings.Join(e.Langs, ",")},
		{"n", strconv.Itoa(e.N)},
		{"seed", strconv.FormatInt(e.Seed, 10)},
		{"max-tokens", strconv.Itoa(e.MaxTokens)},
		{"context", strconv.Itoa(e.Context)},
		{"system prompt", strconv.Quote(e.System)},
		{"reason-in", joinReasoned(e.Reasoned)},
		{"opponent", cmp.Or(strings.Join(e.Opponents, ","), "none")},
		{"until-ci", strconv.FormatFloat(e.UntilCI, 'g', -1, 64)},
		{"think", cmp.Or(e.Think, "default")},
		{"temperature", strconv.FormatFloat(e.Temperature, 'g', -1, 64)},
		{"top-k", strconv.Itoa(e.TopK)},
		{"top-p", strconv.FormatFloat(e.TopP, 'g', -1, 64)},
		{"locales", cmp.Or(e.Locales.SHA256, e.Locales.Source)},
		{"shard", e.Shard.String()},
	}
}

// difference names the first setting in which want differs from e, or nil.
func (e Experiment) difference(want Experiment) error {
	there, here := e.settings(), want.settings()
	for i := range there {
		if there[i].value != here[i].value {
			return fmt.Errorf("%s is %s there, %s here", there[i].name, there[i].value, here[i].value)
		}
	}
	return nil
}

func joinReasoned(all []Reasoned) string {
	var parts []string
	for _, r := range all {
		parts = append(parts, fmt.Sprintf("%s (%q)", r.Label, r.System))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// olderFormat refuses a file that lacks some of what is counted today.
func olderFormat(path string, version int) error {
	return fmt.Errorf("%s has format %d, this program reads %d only: use the program that wrote it, or choose another --run folder", path, version, format)
}

// readRunFile reads run.json of a folder; fs.ErrNotExist if it holds none.
func readRunFile(dir string) (runFile, error) {
	var f runFile
	path := filepath.Join(dir, runName)
	data, err := readJSON(path)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("%s is damaged (%w): restore it or choose another --run folder", path, err)
	}
	switch {
	case f.Format > format:
		return f, fmt.Errorf("%s has format %d, this program knows up to %d: use the program that wrote it", path, f.Format, format)
	case f.Format < 1:
		return f, fmt.Errorf("%s names no format: it was not written by this program; choose another --run folder", path)
	case f.Format < format:
		return f, olderFormat(path, f.Format)
	}
	if err := f.Experiment.Plan().Validate(); err != nil {
		return f, fmt.Errorf("%s is damaged (%w): restore it or choose another --run folder", path, err)
	}
	return f, nil
}

// WeightsOf gives the types of weights that the run in a folder is played with, or
// the shards in it; "" if it holds none that can be read.
func WeightsOf(dir string) string {
	if f, err := readRunFile(dir); err == nil {
		return f.Experiment.Weights
	}
	if f, err := readShardsFile(dir); err == nil {
		return f.Experiment.Weights
	}
	return "" // Play says what is wrong with it
}

// mostJSON is far beyond a run.json of thousands of sessions.
const mostJSON = 64 << 20

// readJSON reads a file of a run folder, which may be anyone's.
func readJSON(path string) ([]byte, error) {
	data, err := files.Read(path, mostJSON)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s cannot be read (%w): restore it or choose another run folder", path, wholefile.Cause(err))
	}
	return data, err
}

// writeRunFile replaces run.json.
func writeRunFile(dir string, f runFile) error {
	path := filepath.Join(dir, runName)
	return replaceFile(path, path+".tmp", f)
}

// replaceFile replaces a file by value as JSON in one step: a reader, or a crash
// at any time, finds the old contents or the new, never a part.
func replaceFile(path, temp string, value any) (err error) {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp)
			err = fmt.Errorf("cannot write %s: %w", path, wholefile.Cause(err))
		}
	}()
	if err := writeSynced(temp, append(data, '\n')); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func writeSynced(path string, data []byte) error {
	// A link under this name in a folder from elsewhere must not lead out of it.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncFolder makes the names in a folder durable, not only the files.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
