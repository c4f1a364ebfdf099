package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/locales/wholefile"
)

func exportCommand() *cobra.Command {
	var format, table, out string
	c := &cobra.Command{
		Use:   "export RUN",
		Short: "Write every ended game with its turns, in the order of the plan",
		Example: `  selfplay export runs/qwen3-4b > games.jsonl
  # a row an answer with all its texts, for DuckDB or pandas
  selfplay export runs/qwen3-4b --format parquet --table turns --out turns.parquet
  selfplay export runs/qwen3-4b --format csv --out games.csv`,
		Args: asUsage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkExport(c, format, table); err != nil {
				return err
			}
			r, err := bench.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			ctx, stop := interruptible(c)
			defer stop()
			r.Until(ctx)
			write := func(w io.Writer) error {
				count := &counter{w: w}
				if out != "" || !isTerminal(c.OutOrStdout()) { // what is written is not seen
					defer waitingWith(c.ErrOrStderr(), "exporting "+args[0], count.String)()
				}
				return r.Export(count, format, table)
			}
			if out != "" {
				if err := canBeFile("--out", out); err != nil {
					return err
				}
				return writeFile(out, write)
			}
			if format == bench.FormatParquet && isTerminal(c.OutOrStdout()) {
				return usagef("--format parquet: no text for a terminal: name a file with --out")
			}
			to := stdout(c)
			if isTerminal(to) { // where it is text to look at
				to = c.OutOrStdout()
			}
			w := bufio.NewWriterSize(to, 1<<16)
			if err := write(w); err != nil {
				return err
			}
			return w.Flush()
		},
	}
	c.Flags().StringVar(&format, "format", bench.FormatJSONL, "jsonl: one game a line, its turns inside; csv or parquet: a --table")
	c.Flags().StringVar(&table, "table", bench.TableGames, "of csv and parquet: games, one row a game, or turns, one row an answer with all its texts")
	c.Flags().StringVar(&out, "out", "", "file, replaced once all is written (default: standard output)")
	return c
}

func checkExport(c *cobra.Command, format, table string) error {
	switch format {
	case bench.FormatJSONL:
		if from, _ := originOf(c, "table"); from == onCommandLine {
			return usagef("--table %s: --format jsonl has games and turns in one: leave --table out, or choose csv or parquet", table)
		}
	case bench.FormatCSV, bench.FormatParquet:
	default:
		return usagef("--format %s: give jsonl, csv or parquet", format)
	}
	if table != bench.TableGames && table != bench.TableTurns {
		return usagef("--table %s: give games or turns", table)
	}
	return nil
}

// writeFile has write make a file, which appears once all of it is written: what
// stood there before stays until then.
func writeFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("%s is a folder: name a file", path)
		}
		return writeDevice(path, write)
	}
	return wholefile.Write(path, write)
}

// writeDevice writes to what is no file on a disk, such as /dev/stdout or a pipe.
func writeDevice(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	err = write(w)
	return errors.Join(err, w.Flush(), f.Close())
}
