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
)

// evalFlags are the flags of `selfplay eval` as given.
type evalFlags struct {
	model, data, run string
	langs            []string
	shots, limit     int
	json             bool
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
	f.deviceFlags.addTo(fl, false)
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
	done := waiting(c.ErrOrStderr(), "turning the questions into tokens")
	open, err := encode(ctx, who, sheet, folder)
	done()
	if err != nil || len(open.Texts) == 0 {
		return err
	}
	w := c.ErrOrStderr()
	opts := inference.Options{Cells: open.Longest(), Weights: inference.Weights(folder.Weights())}
	if opts.Weights == "" {
		opts.Weights = inference.WeightsAuto
	}
	at, err := f.choose(w, who.path, opts)
	if err != nil {
		return err
	}
	defer at.close()
	at.here(&opts)
	if isTerminal(w) {
		opts.Progress = loading(w)
	}
	m, err := inference.Open(who.path, opts)
	if err != nil {
		return err
	}
	defer m.Close()
	describe(w, who, m.Codec, m.Plan.String())
	s.Weights = string(m.Plan.Kind)
	if err := folder.Begin(s); err != nil {
		return err
	}
	return open.Ask(ctx, m, folder, showQuestions(w, sheet.Count(), len(open.Texts)))
}

// encode turns questions into tokens before the model is loaded, so that its
// slots are as long as the longest of them.
func encode(ctx context.Context, who player, sheet *static.Sheet, folder *static.Folder) (*static.Open, error) {
	trained, err := inference.TrainedContext(who.path)
	if err != nil {
		return nil, err
	}
	const each, most = 1000, 8 // a vocabulary takes a second to load, and memory
	var codecs []static.Codec
	for range min(1+sheet.Missing(folder)/each, most, runtime.GOMAXPROCS(0)) {
		codec, err := inference.OpenCodec(who.path)
		if err != nil {
			return nil, err
		}
		defer codec.Close()
		codecs = append(codecs, codec)
	}
	return sheet.Open(ctx, codecs, folder, trained)
}

// showQuestions shows how many of all questions are answered: on one line of a
// terminal, elsewhere now and then on a new one.
func showQuestions(w io.Writer, all, open int) func(n int) {
	start := time.Now()
	shown, interval, begin, end := start, 10*time.Second, "", "\n"
	if isTerminal(w) {
		interval, begin, end = 200*time.Millisecond, "\r", "\x1b[K"
	}
	return func(n int) {
		now := time.Now()
		if now.Sub(shown) < interval && n < open {
			return
		}
		shown = now
		if n == open {
			end = "\n"
		}
		perS := float64(n) / max(now.Sub(start), time.Millisecond).Seconds()
		left := time.Duration(float64(open-n) / perS * float64(time.Second))
		fmt.Fprintf(w, "%s%d of %d questions, %.3g a second, %v left%s", begin, all-open+n, all, perS, left.Round(time.Second), end)
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
