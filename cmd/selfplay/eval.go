package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"selfplay/bench/static"
	"selfplay/inference"
	"selfplay/inference/gpus"
)

// evalFlags are the flags of `selfplay eval` as given.
type evalFlags struct {
	model, data, run string
	langs            []string
	shots, limit     int
	json             bool

	weights               string
	slots, chunk, threads int
	deviceFlags
}

func evalCommand() *cobra.Command {
	f := &evalFlags{}
	var names []string
	for _, b := range static.Benchmarks {
		names = append(names, b.Name)
	}
	c := &cobra.Command{
		Use:   "eval " + strings.Join(names, "|") + " --model M --data DIR",
		Short: "Ask the questions of a published set in several languages, and count the right answers",
		Example: `  selfplay eval belebele --model model.gguf --data belebele/
  # 20 questions of each subject, in two languages
  selfplay eval global-mmlu --model m.gguf --data mmlu/ --langs en,de --limit 20
  # for figure 4 of selfplay report
  selfplay eval belebele --model m.gguf --data belebele/ --json > accuracy.json`,
		Args: asUsage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return runEval(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.model, "model", "", fileFlag)
	fl.StringVar(&f.data, "data", "", "folder with the set's files as published: JSON lines or Parquet")
	fl.StringSliceVar(&f.langs, "langs", paperLangs, "languages")
	fl.IntVar(&f.shots, "shots", 0, "solved examples in front of each question (default: 5 for global-mmlu, none for belebele)")
	fl.IntVar(&f.limit, "limit", 0, "questions of each language, and of each subject where there are some, at most; 0: all")
	fl.StringVar(&f.run, "run", "", "folder that keeps the answers; what is answered there is not asked again (default: runs/eval-NAME-MODEL-HASH)")
	fl.StringVar(&f.weights, "weights", "auto", "types that the weights are computed in: file, bf16 (expands types that are slow for many rows), or auto: as the answers in --run have them, as tuned, or what is faster as a rule")
	fl.IntVar(&f.slots, "slots", 0, "questions at once (default: as tuned, or what memory allows, at most 64)")
	fl.IntVar(&f.chunk, "chunk", 0, "tokens computed in one step (default: as tuned, or 512)")
	fl.IntVar(&f.threads, "threads", 0, "CPU threads (default: as tuned, or one for every core)")
	f.deviceFlags.addTo(fl, true)
	fl.BoolVar(&f.json, "json", false, "one JSON object on standard output; the tables go to standard error")
	return c
}

func runEval(c *cobra.Command, f *evalFlags, name string) error {
	b, err := static.Lookup(name)
	if err != nil {
		return usageError{err}
	}
	if f.data == "" {
		return usagef("--data is missing: give the folder that holds the set's files")
	}
	if !c.Flags().Changed("shots") {
		f.shots = b.Shots
	}
	who, err := choosePlayer(c, f.model, false)
	if err != nil {
		return err
	}
	if who.policy != nil {
		return usagef("--model %s: it has no probabilities that could be compared", f.model)
	}
	if f.slots < 0 || f.chunk < 0 || f.threads < 0 {
		return usagef("--slots, --chunk and --threads must not be negative")
	}
	if w := inference.Weights(f.weights); w != inference.WeightsAuto && w != inference.WeightsFile && w != inference.WeightsBF16 {
		return usagef("--weights %s: give auto, file or bf16", f.weights)
	}
	if err := f.deviceFlags.check(); err != nil {
		return err
	}
	sheet, err := static.NewSheet(b, f.data, f.langs, f.shots, f.limit)
	if err != nil {
		return usageError{err}
	}
	for _, note := range sheet.Notes() {
		fmt.Fprintln(c.ErrOrStderr(), note)
	}
	s := static.Settings{Benchmark: b.Name, Asked: b.Asked, Shots: f.shots, Model: who.id}
	if f.weights != string(inference.WeightsAuto) {
		s.Weights = f.weights
	}
	if f.run == "" {
		f.run = filepath.Join("runs", "eval-"+b.Name+"-"+folderName(who.id.Name, s))
	}
	s.Data = sheet.Sums()
	folder, err := static.OpenFolder(f.run)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Use(s); err != nil {
		return err
	}
	ctx, stop := interruptible(c)
	defer stop()
	if err := answerOpen(ctx, c, f, who, sheet, folder, s); err != nil {
		if ctx.Err() != nil {
			fmt.Fprintf(c.ErrOrStderr(), "resume with: %s\n", commandLine(c, f.run))
			return fmt.Errorf("stopped (%w): what was answered is kept in %s", ctx.Err(), f.run)
		}
		return err
	}
	return printResult(c, f, sheet, folder)
}

// answerOpen asks what the folder has no answers to.
func answerOpen(ctx context.Context, c *cobra.Command, f *evalFlags, who player, sheet *static.Sheet, folder *static.Folder, s static.Settings) error {
	if sheet.Missing(folder) == 0 {
		return nil
	}
	stderr := shared(c)
	opts := inference.Options{Slots: f.slots, Cells: defaultContext, Tokens: f.chunk, Threads: f.threads, Weights: inference.Weights(f.weights), Plain: true}
	if kept := folder.Weights(); kept != "" {
		opts.Weights = inference.Weights(kept)
	}
	at, err := f.choose(stderr, who.path, opts) // before what takes long
	if err != nil {
		return err
	}
	defer at.close()
	open, err := encode(ctx, stderr, who, sheet, folder)
	if err != nil {
		return err
	}
	opts.Cells = open.Longest()
	m, err := openScorers(ctx, c, who, at, opts)
	if err != nil {
		return err
	}
	defer m.close()
	describe(stderr, who, m.codec, m.plans...)
	s.Weights, s.Devices = string(m.weights), m.devices
	if err := folder.Begin(s); err != nil {
		return err
	}
	shown := showCount(stderr, "", sheet.Count()-len(open.Texts), sheet.Count())
	return open.Ask(ctx, m.engines, folder, shown, func(_ int, err error) {
		tell(stderr, fmt.Sprintf("selfplay: warning: %v; the questions that it had begun are asked again", err))
	})
}

// encode turns questions into tokens before the model is loaded, so that its
// slots are as long as the longest of them.
func encode(ctx context.Context, w io.Writer, who player, sheet *static.Sheet, folder *static.Folder) (*static.Open, error) {
	trained, err := inference.TrainedContext(who.path)
	if err != nil {
		return nil, err
	}
	const each, most = 1000, 8 // a vocabulary takes a second to load, and memory
	var codecs []static.Codec
	missing := sheet.Missing(folder)
	for range min(1+missing/each, most, runtime.GOMAXPROCS(0)) {
		codec, err := inference.OpenCodec(who.path)
		if err != nil {
			return nil, err
		}
		defer codec.Close()
		codecs = append(codecs, codec)
	}
	return sheet.Open(ctx, codecs, folder, trained, showCount(w, "encoding: ", 0, missing))
}

// scorers are what a model is loaded into: this process, or replicas.
type scorers struct {
	engines []static.Scorer
	codec   *inference.Codec
	plans   []string
	devices []string // one for each engine
	weights inference.Weights
	close   func()
}

// openScorers loads the model where it is to be computed.
func openScorers(ctx context.Context, c *cobra.Command, who player, at *site, opts inference.Options) (*scorers, error) {
	if movesCursor(c.ErrOrStderr()) {
		opts.Progress = loading(c.ErrOrStderr())
	}
	if at.processes() {
		inference.HideGPUs() // they are the replicas'
		return openThere(c, who, at, opts)
	}
	return openHere(ctx, c, who, at, opts)
}

// openHere loads the model into this process.
func openHere(ctx context.Context, c *cobra.Command, who player, at *site, opts inference.Options) (*scorers, error) {
	model, err := loadHere(ctx, c, who, at, defaultContext, opts)
	if err != nil {
		return nil, err
	}
	return &scorers{
		engines: []static.Scorer{model}, codec: model.Codec, plans: []string{model.Plan.String()}, weights: model.Plan.Kind, devices: []string{settings(model.Plan)["device"]},
		close: func() { model.Close() },
	}, nil
}

// openThere loads the model into processes of their own, and has their GPUs
// watched.
func openThere(c *cobra.Command, who player, at *site, opts inference.Options) (*scorers, error) {
	r, err := loadReplicas(c, who, at, defaultContext, opts)
	if err != nil {
		return nil, err
	}
	m := &scorers{codec: r.codecs[0], plans: r.plans(), weights: r.engines[0].Plan.Kind, close: r.close}
	for _, e := range r.engines {
		m.engines, m.devices = append(m.engines, e), append(m.devices, settings(e.Plan)["device"])
	}
	if at.lib != nil {
		watch := at.watch(r, gpus.Clock{})
		watch.Start(nil)
		m.close = func() { watch.Stop(); r.close() }
	}
	return m, nil
}

// showCount shows how many of all questions are done: on one line of a terminal,
// elsewhere now and then on a new one. The function that it gives is told how many
// of those that were open are.
func showCount(w io.Writer, doing string, before, all int) func(n int) {
	start := time.Now()
	shown, interval, terminal := start, 10*time.Second, movesCursor(w)
	if terminal {
		interval = 200 * time.Millisecond
	}
	return func(n int) {
		now := time.Now()
		if now.Sub(shown) < interval && n < all-before {
			return
		}
		shown = now
		perS := float64(n) / max(now.Sub(start), time.Millisecond).Seconds()
		left := time.Duration(float64(all-before-n) / perS * float64(time.Second))
		line := fmt.Sprintf("%s%d of %d questions, %.3g a second, %v left", doing, before+n, all, perS, left.Round(time.Second))
		if terminal && n < all-before {
			writeOver(w, line)
		} else {
			tell(w, line)
		}
	}
}

func printResult(c *cobra.Command, f *evalFlags, sheet *static.Sheet, folder *static.Folder) error {
	r, err := sheet.Result(folder)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	if f.json {
		w = c.ErrOrStderr()
	}
	if err := r.WriteText(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nanswers: %s\n", folder.Dir)
	if !f.json {
		return nil
	}
	return printJSON(c.OutOrStdout(), r)
}
