package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"selfplay/inference/files"
)

func modelsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "models",
		Short: "List the models in the cache and in the local Ollama store",
		Example: `  selfplay models
  selfplay models --json`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			f, err := files.New()
			if err != nil {
				return err
			}
			found, looked := f.List()
			if asJSON {
				return printModelsJSON(c.OutOrStdout(), found, looked)
			}
			return printModels(c.OutOrStdout(), found, looked)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return c
}

func printModelsJSON(w io.Writer, found []files.Listed, looked []string) error {
	if found == nil {
		found = []files.Listed{}
	}
	return printJSON(w, struct {
		Models []files.Listed `json:"models"`
		Looked []string       `json:"looked"` // the folders
	}{found, looked})
}

func printModels(w io.Writer, found []files.Listed, looked []string) error {
	if len(found) == 0 {
		_, err := fmt.Fprintf(w, "no models in %s; --model also takes files and folders elsewhere\n", strings.Join(looked, ", "))
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "--model\tarchitecture\tparameters\tweights\tcontext\tsize")
	for _, l := range found {
		if l.Error != "" {
			fmt.Fprintf(t, "%s\t%s\n", l.Model, l.Error)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\n", l.Model, l.Architecture, amount(l.Parameters), l.Weights, l.Context, megabytes(uint64(l.Size)))
	}
	return t.Flush()
}

// amount is a number of parameters as models are called by it: 135M, 4.0B.
func amount(n uint64) string {
	switch {
	case n >= 10e9:
		return fmt.Sprintf("%.0fB", float64(n)/1e9)
	case n >= 1e9:
		return fmt.Sprintf("%.1fB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
