package main

import (
	"bufio"
	"encoding/json"
	"fmt"
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
		Args:  asUsage(cobra.MinimumNArgs(1)),
		RunE:  func(c *cobra.Command, runs []string) error { return runReport(c, f, runs) },
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
	if err := f.files.check(); err != nil {
		return err
	}
	var reports []*bench.Report
	for i, dir := range runs {
		if slices.Contains(runs[:i], dir) {
			return usagef("run %s is given twice", dir)
		}
		rep, err := readReport(dir)
		if err != nil {
			return err
		}
		if f.paper {
			name := f.paperModel
			if name == "" {
				name = rep.Experiment.Model.Name
			}
			model, err := bench.PaperModel(name)
			if err != nil {
				return usagef("--paper-model: %w", err)
			}
			rep.Compare(model)
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
			return json.NewEncoder(out).Encode(reports[0])
		}
		return reports[0].WriteText(out, runs[0])
	} else if f.json {
		return json.NewEncoder(out).Encode(all)
	}
	return all.WriteText(c.OutOrStdout())
}

func readReport(dir string) (*bench.Report, error) {
	r, err := bench.Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Report()
}

func exportCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "export RUN",
		Short: "Write every ended game with its turns, in the order of the plan",
		Args:  asUsage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "jsonl" {
				return usagef("--format %s: jsonl is the only one", format)
			}
			r, err := bench.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			w := bufio.NewWriterSize(c.OutOrStdout(), 1<<16)
			if err := r.ExportJSONL(w); err != nil {
				return err
			}
			return w.Flush()
		},
	}
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl: one game a line")
	return c
}
