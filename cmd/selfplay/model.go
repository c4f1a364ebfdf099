package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/inference/files"
	"selfplay/scheduler"
)

const (
	fileFlag  = files.Accepted + ", or synthetic:ARCH-SIZE[:TYPE]" // where a model must be one
	modelFlag = files.Accepted + ", builtin:random, builtin:optimal, or synthetic:ARCH-SIZE[:TYPE]"
)

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

// choosePlayer reads --model; it does not load anything yet. What must be
// converted to be loaded is.
func choosePlayer(c *cobra.Command, name string, quiet bool) (player, error) {
	if name == "" {
		return player{}, usagef("--model is missing: give %s", c.Flags().Lookup("model").Usage)
	}
	if policy, ok := builtins[name]; ok {
		return player{policy: policy, id: bench.Model{Name: name}}, nil
	}
	if strings.HasPrefix(name, "builtin:") {
		return player{}, usagef("--model %s: there is no such player; builtin:random and builtin:optimal are", name)
	}
	if inference.IsSynthetic(name) {
		if err := inference.CheckSynthetic(name); err != nil {
			return player{}, usagef("--model %w", err)
		}
		size, sha, err := inference.SyntheticID(name)
		if err != nil {
			return player{}, fmt.Errorf("--model %w", err)
		}
		return player{id: bench.Model{Name: name, Size: size, SHA256: sha}, path: name}, nil
	}
	var p player
	err := withFinder(c, quiet, func(ctx context.Context, f *files.Finder) error {
		m, err := f.Find(ctx, name)
		if err != nil {
			return err
		}
		p.path, p.id.Name = m.Path, m.Name
		p.id.Size, p.id.SHA256, err = f.Sum(ctx, m)
		return err
	})
	return p, err
}

// canPlay refuses games that the player does not know how to play.
func (p player) canPlay(flag string, specs []games.Spec) error {
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
	return usagef("%s %s: no perfect play is known for %s: %s", flag, p.id.Name, strings.Join(unsolved, ", "), hint)
}

// findModel gives the file that a debug command looks into.
func findModel(c *cobra.Command, name string) (path string, err error) {
	if name == "" {
		return "", usagef("--model is missing: give %s", fileFlag)
	}
	if inference.IsSynthetic(name) {
		if err := inference.CheckSynthetic(name); err != nil {
			return "", usagef("--model %w", err)
		}
		return name, nil
	}
	err = withFinder(c, false, func(ctx context.Context, f *files.Finder) error {
		m, err := f.Find(ctx, name)
		path = m.Path
		return err
	})
	return path, err
}

// withFinder calls do with a finder of models that an interrupt stops.
func withFinder(c *cobra.Command, quiet bool, do func(context.Context, *files.Finder) error) error {
	f, err := files.New()
	if err != nil {
		return err
	}
	if !quiet {
		f.Progress = showProgress(c.ErrOrStderr())
	}
	ctx, stop := interruptible(c)
	defer stop()
	if err := do(ctx, f); err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	return nil
}

// showProgress shows how much is done of what takes long: on one line of a
// terminal, elsewhere only what it is.
func showProgress(w io.Writer) func(doing string, share float64) {
	terminal := movesCursor(w)
	was, percent := "", 0
	return func(doing string, share float64) {
		if !terminal && doing != was {
			fmt.Fprintln(w, doing)
		}
		if now := int(100 * share); terminal && (doing != was || now != percent) {
			writeOver(w, fmt.Sprintf("%s: %d%%", doing, now))
			percent = now
		}
		was = doing
	}
}
