package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"selfplay/inference/files"
	"selfplay/locales/wholefile"
)

// tunedFormat is the version of the files of tuned settings. Raise it with every
// change after which what an older program measured does not hold.
const tunedFormat = 1

// A TunedKey says what tuned settings hold for. The model's name takes no part.
type TunedKey struct {
	Model   Model  `json:"model"`
	Device  Device `json:"device"`
	Context int    `json:"context"` // as --context gives it
}

// A Device is what a model is computed on.
type Device struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	GPU   string `json:"gpu,omitempty"` // "": the CPU computes
}

// Tuned is what a Tuner found, as it is stored.
type Tuned struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	Program string    `json:"program"` // version
	TunedKey
	Choices []Choice `json:"choices"` // one for each type of weights, the best first
	Points  []Point  `json:"points"`
}

// NewTuned draws the conclusion from the points.
func NewTuned(key TunedKey, points []Point, created time.Time, program string) Tuned {
	return Tuned{Format: tunedFormat, Created: created, Program: program, TunedKey: key, Choices: choose(points), Points: points}
}

// For gives the choice for a type of weights; for auto the best.
func (t Tuned) For(weights string) (Choice, bool) {
	for _, c := range t.Choices {
		if c.Weights == weights || weights == "auto" {
			return c, true
		}
	}
	return Choice{}, false
}

// Path is where in the folder the settings for the key lie.
func (k TunedKey) Path(dir string) string {
	k.Model.Name = ""
	data, _ := json.Marshal(k) // plain strings and numbers cannot fail
	sum := sha256.Sum256(data)
	return filepath.Join(dir, hex.EncodeToString(sum[:8])+".json")
}

// CanStore makes the folder, and finds out whether settings can be written there.
func CanStore(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".try-*"); err == nil {
			f.Close()
			return os.Remove(f.Name())
		}
	}
	return fmt.Errorf("settings cannot be stored in %s (%w): set XDG_CACHE_HOME to a folder that can be written", dir, wholefile.Cause(err))
}

// Write stores the settings in the folder, in place of older ones for the same.
func (t Tuned) Write(dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path = t.Path(dir)
	return path, replaceFile(path, fmt.Sprintf("%s.%d.tmp", path, os.Getpid()), t)
}

// ReadTuned gives the settings that the folder has for the key, and whether it
// has any. A file that is not what this program wrote for the key is an error.
func ReadTuned(dir string, key TunedKey) (t Tuned, found bool, err error) {
	path := key.Path(dir)
	data, err := files.Read(path, mostTuned)
	if errors.Is(err, fs.ErrNotExist) {
		return Tuned{}, false, nil
	}
	if err == nil {
		t, err = parseTuned(data, key)
	}
	if err != nil {
		return Tuned{}, false, fmt.Errorf("the tuned settings in %s cannot be used (%w): delete the file, or run selfplay tune again", path, wholefile.Cause(err))
	}
	return t, true, nil
}

const mostTuned = 1 << 20 // bytes; a few thousand are usual

// parseTuned reads and checks settings for the key.
func parseTuned(data []byte, key TunedKey) (Tuned, error) {
	var t Tuned
	if err := json.Unmarshal(bytes.TrimSpace(data), &t); err != nil {
		return t, err
	}
	return t, t.check(key)
}

// check says what is wrong with settings that were read.
func (t Tuned) check(key TunedKey) error {
	if t.Format != tunedFormat {
		return fmt.Errorf("format %d, this program reads %d only", t.Format, tunedFormat)
	}
	t.Model.Name, key.Model.Name = "", ""
	if t.TunedKey != key {
		return errors.New("they are for another model, device or context")
	}
	if len(t.Choices) == 0 {
		return errors.New("they choose nothing")
	}
	const most = 1 << 20 // slots, or tokens a step
	for _, c := range t.Choices {
		switch {
		case c.Slots < 1 || c.Slots > most:
			return fmt.Errorf("%d slots", c.Slots)
		case c.Chunk < 1 || c.Chunk > most:
			return fmt.Errorf("%d tokens a step", c.Chunk)
		case c.Threads < 1 || c.Threads > key.Device.Cores:
			return fmt.Errorf("%d threads on %d cores", c.Threads, key.Device.Cores)
		case c.Weights != "file" && c.Weights != "bf16":
			return fmt.Errorf("weights %q", c.Weights)
		}
	}
	return nil
}
