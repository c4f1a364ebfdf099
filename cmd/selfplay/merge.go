package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/bench/screen"
)

func mergeCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "merge --out DIR RUN...",
		Short: "Join runs of one experiment that played different games of it; of a folder of shards, all of them",
		Example: `  # the parts of one experiment, played on two machines
  selfplay merge --out runs/whole runs/part1 runs/part2
  selfplay report runs/whole`,
		Args: asUsage(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out: name the folder of the joined run")
			}
			args = bench.ShardFolders(args)
			done := waiting(c.ErrOrStderr(), "joining the runs")
			m, err := bench.Merge(out, args)
			done()
			if err != nil {
				return err
			}
			if m.Missing != "" {
				fmt.Fprintf(c.ErrOrStderr(), "selfplay: warning: %s; bench --run %s plays what is missing\n", m.Missing, out)
			}
			did := "joined"
			if m.Already {
				did = "had been joined already"
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %d of %d games from %s %s\n", out, m.Games, m.Planned, screen.Counted(len(args), "run", "runs"), did)
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "run folder to make; must be new or empty")
	return c
}
