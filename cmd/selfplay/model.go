package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"selfplay/bench"
	"selfplay/inference"
	"selfplay/scheduler"
)

const modelFlag = "a GGUF file, or builtin:random"

// A player is what --model names: a policy, or a model file.
type player struct {
	policy scheduler.Policy // nil: a model file
	id     bench.Model
	path   string
}

// choosePlayer reads --model; it does not load anything yet.
func choosePlayer(name string) (player, error) {
	switch {
	case name == "":
		return player{}, usagef("--model is missing: give %s", modelFlag)
	case name == "builtin:random":
		return player{policy: scheduler.Random{}, id: bench.Model{Name: name}}, nil
	case strings.HasPrefix(name, "builtin:"):
		return player{}, usagef("--model %s: there is no such player; builtin:random is one", name)
	}
	id, err := fileID(name)
	if err != nil {
		return player{}, fmt.Errorf("--model: %w", err)
	}
	return player{id: id, path: name}, nil
}

// fileID is a model by the contents of its file.
func fileID(path string) (bench.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return bench.Model{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return bench.Model{}, err
	}
	if !st.Mode().IsRegular() {
		return bench.Model{}, fmt.Errorf("%s is not a file: give %s", path, modelFlag)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return bench.Model{}, err
	}
	return bench.Model{Name: filepath.Base(path), Size: st.Size(), SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// openModel loads the model of a debug command, which needs one slot.
func openModel(name string, o inference.Options) (*inference.Model, error) {
	if name == "" {
		return nil, usagef("--model is missing: give a GGUF file")
	}
	return inference.Open(name, o)
}
