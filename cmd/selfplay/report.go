package main

import (
	"bufio"
	"encoding/json"

	"github.com/spf13/cobra"

	"selfplay/bench"
)

func reportCommand() *cobra.Command {
	var asJSON bool
	var files reportFiles
	c := &cobra.Command{
		Use:   "report RUN...",
		Short: "Print the margins of runs, also while they are being played; write a page and figures",
		Args:  asUsage(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := files.check(); err != nil {
				return err
			}
			var runs []*bench.Run
			var reports []*bench.Report
			for _, dir := range args {
				r, err := bench.Open(dir)
				if err != nil {
					return err
				}
				defer r.Close()
				rep, err := r.Report()
				if err != nil {
					return err
				}
				runs, reports = append(runs, r), append(reports, rep)
			}
			for i, rep := range reports {
				var err error
				if asJSON {
					err = json.NewEncoder(c.OutOrStdout()).Encode(rep)
				} else {
					err = rep.WriteText(c.OutOrStdout(), args[i])
				}
				if err != nil {
					return err
				}
			}
			return files.write(c.ErrOrStderr(), runs, reports)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object for each run")
	files.flags(c)
	return c
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
