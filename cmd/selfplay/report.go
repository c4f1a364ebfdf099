package main

import (
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
