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
	"selfplay/games"
	"selfplay/inference"
	"selfplay/scheduler"
)

const modelFlag = "a GGUF file, builtin:random, builtin:optimal, or synthetic:ARCH-SIZE[:TYPE]"

// builtins are the players that need no model.
var builtins = map[string]scheduler.Policy{
	"builtin:random":  scheduler.Random{},
	"builtin:optimal": scheduler.Optimal{}, // only games that are solved, see canPlay
}

// A player is what --model names: a policy, or a model file.
type player struct {
	policy scheduler.Policy // nil: a model file
	id     bench.Model
	path   string
}

// choosePlayer reads --model; it does not load anything yet.
func choosePlayer(name string) (player, error) {
	if name == "" {
		return player{}, usagef("--model is missing: give %s", modelFlag)
	}
	if policy, ok := builtins[name]; ok {
		return player{policy: policy, id: bench.Model{Name: name}}, nil
	}
	if strings.HasPrefix(name, "builtin:") {
		return player{}, usagef("--model %s: there is no such player; builtin:random and builtin:optimal are", name)
	}
	if inference.IsSynthetic(name) {
		size, sha, err := inference.SyntheticID(name)
		if err != nil {
			return player{}, usagef("--model %w", err)
		}
		return player{id: bench.Model{Name: name, Size: size, SHA256: sha}, path: name}, nil
	}
	id, err := fileID(name)
	if err != nil {
		return player{}, fmt.Errorf("--model: %w", err)
	}
	return player{id: id, path: name}, nil
}

// canPlay refuses games that the player does not know how to play.
func (p player) canPlay(specs []games.Spec) error {
	if _, perfect := p.policy.(scheduler.Optimal); !perfect {
		return nil
	}
	var solved, unsolved []string
	for _, s := range specs {
		if s.Solved {
			solved = append(solved, s.ID)
		} else {
			unsolved = append(unsolved, s.ID)
		}
	}
	if len(unsolved) == 0 {
		return nil
	}
	hint := "choose other --games"
	if len(solved) > 0 {
		hint = "give --games " + strings.Join(solved, ",")
	}
	return usagef("--model %s: no perfect play is known for %s: %s", p.id.Name, strings.Join(unsolved, ", "), hint)
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

// needFile refuses a debug command without the model file that it looks into.
func needFile(model string) error {
	if model == "" {
		return usagef("--model is missing: give a GGUF file")
	}
	return nil
}
