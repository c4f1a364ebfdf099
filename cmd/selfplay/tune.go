package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/inference"
	"selfplay/inference/files"
)

// tuneFlags are the flags of `selfplay tune` as given.
type tuneFlags struct {
	model          string
	context, slots int
	json           bool
	deviceFlags
}

const defaultContext = 2048

func tuneCommand() *cobra.Command {
	f := &tuneFlags{}
	c := &cobra.Command{
		Use:   "tune --model M",
		Short: "Measure which slots, tokens a step, threads and weights are worth it, for bench to use",
		Example: `  # once for a model and machine; bench then uses what is stored
  selfplay tune --model model.gguf
  # for long answers, on the GPU
  selfplay tune --model ollama:qwen3:4b --context 8192 --device gpu
  # a model of that shape, before it is fetched
  selfplay tune --model synthetic:qwen3-4b:q4_0 --json`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return runTune(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.model, "model", "", fileFlag)
	fl.IntVar(&f.context, "context", defaultContext, "tokens of a turn's prompt and answer together, as for bench")
	fl.IntVar(&f.slots, "slots", 0, "the most games at once that are tried (default: what memory allows, at most 64)")
	f.deviceFlags.addTo(fl, false)
	fl.BoolVar(&f.json, "json", false, "one JSON object on standard output; the table goes to standard error")
	return c
}

func runTune(c *cobra.Command, f *tuneFlags) error {
	if f.context < 0 || f.slots < 0 {
		return usagef("--context and --slots must not be negative")
	}
	who, err := choosePlayer(c, f.model, false)
	if err != nil {
		return err
	}
	if who.policy != nil {
		return usagef("--model %s: it computes nothing that could be tuned", f.model)
	}
	dir, err := tunedFolder()
	if err != nil {
		return err
	}
	if err := bench.CanStore(dir); err != nil { // before it is measured for minutes
		return err
	}
	w := c.OutOrStdout()
	if f.json {
		w = c.ErrOrStderr()
	}
	at, err := f.choose(c.ErrOrStderr(), who.path, inference.Options{Cells: f.context})
	if err != nil {
		return err
	}
	defer at.close()
	tuned, err := measure(c, w, f, who, at)
	if err != nil {
		return err
	}
	path, err := tuned.Write(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%sstored in %s: bench uses it for this model, machine and --context %d\n", tuned.Text(), path, f.context)
	if !f.json {
		return nil
	}
	return printJSON(c.OutOrStdout(), struct {
		bench.Tuned
		File string `json:"file"`
	}{tuned, path})
}

// measure prints the curves while it measures them.
func measure(c *cobra.Command, w io.Writer, f *tuneFlags, who player, at *site) (bench.Tuned, error) {
	opts := inference.Options{Slots: f.slots, Cells: f.context, Tokens: max(bench.TuneTokens, f.slots)}
	at.here(&opts)
	key := tunedKey(who.id, f.context, at)
	ctx, stop := interruptible(c)
	defer stop()
	kinds := []string{string(inference.WeightsFile)}
	expands, err := inference.Expands(who.path)
	if err != nil {
		return bench.Tuned{}, err
	}
	if expands && !at.gpu() { // GPUs have kernels for all types
		kinds = append(kinds, string(inference.WeightsBF16))
	}
	start := time.Now()
	t := bench.Tuner{
		Weights: kinds, Threads: key.Device.Cores, GPU: at.gpu(),
		Now:  func() time.Duration { return time.Since(start) },
		Show: func(p bench.Point) { fmt.Fprintln(w, p) },
		Note: func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) },
		Open: func(weights string, threads int) (inference.Engine, error) {
			o := opts
			o.Threads, o.Weights = threads, inference.Weights(weights)
			if movesCursor(c.ErrOrStderr()) {
				o.Progress = loading(c.ErrOrStderr())
			}
			var m *inference.Model
			if err := unlessEnded(ctx, func() (err error) {
				m, err = inference.Open(who.path, o)
				return err
			}); err != nil {
				return nil, err // not m, which would be no nil Engine
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", who.id.Name, m.Plan)
			return m, nil
		},
	}
	fmt.Fprintln(w, bench.TuneHeader)
	points, err := t.Run(ctx)
	if ctx.Err() != nil {
		return bench.Tuned{}, fmt.Errorf("stopped (%w): nothing is stored", ctx.Err())
	}
	return bench.NewTuned(key, points, start.UTC(), version), err
}

// tunedFolder is where tuned settings lie.
func tunedFolder() (string, error) {
	f, err := files.New()
	if err != nil {
		return "", err
	}
	return filepath.Join(f.Cache, "tuned"), nil
}

// tunedKey says what settings for the model on this machine are found by.
func tunedKey(model bench.Model, context int, at *site) bench.TunedKey {
	m := inference.Inspect()
	return bench.TunedKey{Model: model, Device: bench.Device{CPU: m.CPU, Cores: m.Cores, GPU: at.name()}, Context: context}
}

// openTuned has open load the model for a run, and says how. What the command
// line leaves open is as it was tuned for contexts of that size, if it was, and the
// plan's choice otherwise.
func openTuned(c *cobra.Command, who player, at *site, context int, o inference.Options, open func(inference.Options) error) error {
	tuned, note, err := withTuned(who.id, at, context, o)
	if err != nil {
		return err
	}
	err = open(tuned)
	if noRoom := (inference.NoRoom{}); errors.As(err, &noRoom) && (tuned.Slots != o.Slots || tuned.Weights != o.Weights) {
		note = fmt.Sprintf("the tuned settings are not used, run selfplay tune again: %v", err)
		err = open(o)
	}
	if err != nil {
		return err
	}
	for _, text := range kernelWarnings(inference.Inspect()) {
		fmt.Fprintf(c.ErrOrStderr(), "selfplay: warning: %s\n", text)
	}
	if note != "" {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", who.id.Name, note)
	}
	return nil
}

// withTuned fills in what the options leave open, and gives a note of that.
func withTuned(model bench.Model, at *site, context int, o inference.Options) (_ inference.Options, note string, err error) {
	if o.Slots > 0 && o.Tokens > 0 && o.Threads > 0 && o.Weights != inference.WeightsAuto {
		return o, "", nil
	}
	dir, err := tunedFolder()
	if err != nil {
		return o, "", err
	}
	t, found, err := bench.ReadTuned(dir, tunedKey(model, context, at))
	if err != nil || !found {
		return o, "", err
	}
	choice, ok := t.For(string(o.Weights))
	if !ok {
		return o, fmt.Sprintf("the tuned settings are not used: they are not for --weights %s", o.Weights), nil
	}
	var taken []string
	take := func(flag string, to *int, tuned int) {
		if *to == 0 {
			*to = tuned
			taken = append(taken, fmt.Sprintf("%s %d", flag, tuned))
		}
	}
	take("--slots", &o.Slots, choice.Slots)
	take("--chunk", &o.Tokens, choice.ChunkFor(o.Slots))
	take("--threads", &o.Threads, choice.Threads)
	if o.Weights == inference.WeightsAuto {
		o.Weights = inference.Weights(choice.Weights)
		taken = append(taken, "--weights "+choice.Weights)
	}
	return o, fmt.Sprintf("tuned on %s: %s", t.Created.Format(time.DateOnly), strings.Join(taken, " ")), nil
}

// keptWeights are those of the run that is resumed where --weights leaves them
// open: what was tuned since then must not part a run from its own folder.
func keptWeights(f *benchFlags, e bench.Experiment) string {
	if f.weights != string(inference.WeightsAuto) {
		return f.weights
	}
	dirs := []string{f.run}
	if f.run == "" {
		dirs = nil
		for _, w := range []inference.Weights{inference.WeightsFile, inference.WeightsBF16} {
			e.Weights = string(w)
			dirs = append(dirs, defaultRun(e))
		}
	}
	var kept []string
	for _, dir := range dirs {
		if w := bench.WeightsOf(dir); w != "" {
			kept = append(kept, w)
		}
	}
	if len(kept) == 1 { // not where both were played
		return kept[0]
	}
	return f.weights
}
