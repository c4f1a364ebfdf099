package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"selfplay/bench"
)

// reportFlags are what `selfplay report` takes.
type reportFlags struct {
	json       bool
	csv        string
	paper      bool
	paperModel string
	files      reportFiles
}

func reportCommand() *cobra.Command {
	f := &reportFlags{}
	c := &cobra.Command{
		Use:   "report RUN...",
		Short: "Print what a run measured, also while it is being played; several runs side by side",
		Example: `  selfplay report runs/qwen3-4b
  # three models side by side, as one page and as figures
  selfplay report runs/a runs/b runs/c --html page.html --figures figures/
  # beside the paper's numbers
  selfplay report runs/qwen3-4b --paper --paper-model Qwen3-4B
  # for a script
  selfplay report runs/qwen3-4b --json`,
		Args: asUsage(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, runs []string) error { return runReport(c, f, runs) },
	}
	fl := c.Flags()
	fl.BoolVar(&f.json, "json", false, "one JSON object; of several runs, with the report of each in \"runs\"")
	fl.StringVar(&f.csv, "csv", "", "folder that gets a CSV file for each table; files of these names are replaced")
	fl.BoolVar(&f.paper, "paper", false, "the paper's numbers beside the run's, with differences and whether they lie in its interval")
	fl.StringVar(&f.paperModel, "paper-model", "", "which model of the paper to compare with (default: as the run's model is named)")
	f.files.flags(c)
	return c
}

func runReport(c *cobra.Command, f *reportFlags, runs []string) error {
	if f.paperModel != "" && !f.paper {
		return usagef("--paper-model is for --paper: give both")
	}
	if f.paperModel != "" && len(runs) > 1 {
		return usagef("--paper-model names the model of one run: give one RUN")
	}
	if err := f.files.check(); err != nil {
		return err
	}
	if err := canBeFolder("--csv", f.csv); err != nil {
		return err
	}
	var reports []*bench.Report
	for i, dir := range runs {
		if slices.ContainsFunc(runs[:i], func(other string) bool { return filepath.Clean(other) == filepath.Clean(dir) }) {
			return usagef("run %s is given twice", dir)
		}
		done := waiting(c.ErrOrStderr(), "computing the tables of "+dir)
		rep, err := readReport(dir, f)
		done()
		if err != nil {
			return err
		}
		reports = append(reports, rep)
	}
	all := bench.SideBySide(reports)
	if f.csv != "" {
		if err := all.WriteCSV(f.csv); err != nil {
			return fmt.Errorf("--csv: %w", err)
		}
	}
	if err := f.files.write(c.ErrOrStderr(), runs, reports); err != nil {
		return err
	}
	if out := c.OutOrStdout(); len(reports) == 1 {
		if f.json {
			return printJSON(out, reports[0])
		}
		return reports[0].WriteText(out, runs[0])
	} else if f.json {
		return printJSON(out, all)
	}
	return all.WriteText(c.OutOrStdout())
}

// paperModel is the paper's model that the user names, or that a run's model is.
func paperModel(given, played string) (string, error) {
	if given != "" {
		model, err := bench.PaperModel(given)
		if err != nil {
			return "", usagef("--paper-model: %w", err)
		}
		return model, nil
	}
	model, err := bench.PaperModel(played)
	if err != nil {
		return "", usagef("--paper: %w, by --paper-model", err)
	}
	return model, nil
}

func readReport(dir string, f *reportFlags) (*bench.Report, error) {
	r, err := bench.Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if !f.paper {
		return r.Report()
	}
	model, err := paperModel(f.paperModel, r.Experiment.Model.Name) // before the games are read, which takes long
	if err != nil {
		return nil, err
	}
	rep, err := r.Report()
	if err == nil {
		rep.Compare(model)
	}
	return rep, err
}
