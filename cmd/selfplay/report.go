package main

import (
	"bufio"
	"encoding/json"

	"github.com/spf13/cobra"

	"selfplay/bench"
)

func reportCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Print the margins of a run, also while it is being played",
		Args:  asUsage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := bench.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			rep, err := r.Report()
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(rep)
			}
			return rep.WriteText(c.OutOrStdout(), args[0])
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
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
