package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/bench/cluster"
	"selfplay/inference"
	"selfplay/locales/wholefile"
)

// slurmFlags are the flags of `selfplay slurm` as given.
type slurmFlags struct {
	shards, cpus     int
	gpus, mem, limit string
	partition        string
	options          []string
}

func slurmCommand() *cobra.Command {
	f := &slurmFlags{}
	c := &cobra.Command{
		Use:   "slurm RUN --shards N [flags] -- BENCH-FLAGS",
		Short: "Write the batch scripts that play an experiment as a Slurm job array, and join its shards",
		Example: "  selfplay slurm runs/paper --shards 8 --gpus-per-task 4 --cpus-per-task 16 --time 12:00:00 \\\n" +
			"    -- --suite paper --model models/Qwen3-8B",
		Args: asUsage(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, args []string) error { return runSlurm(c, f, args) },
	}
	fl := c.Flags()
	fl.IntVar(&f.shards, "shards", 0, "parts of the experiment, each a task of the array, on one node")
	fl.IntVar(&f.cpus, "cpus-per-task", 0, "CPUs for each shard")
	fl.StringVar(&f.gpus, "gpus-per-task", "", "GPUs for each shard: a number, or a type and a number, such as h100:4")
	fl.StringVar(&f.mem, "mem", "", "memory for each shard, as sbatch takes it, such as 64G")
	fl.StringVar(&f.limit, "time", "", "time for each shard, as sbatch takes it; one that needs more queues again and goes on")
	fl.StringVar(&f.partition, "partition", "", "partition for all jobs")
	fl.StringArrayVar(&f.options, "sbatch", nil, "another option of sbatch for all jobs, such as --sbatch=--account=physics; may be repeated")
	return c
}

func runSlurm(c *cobra.Command, f *slurmFlags, args []string) error {
	switch {
	case c.ArgsLenAtDash() != 1:
		return usagef("give one RUN, the folder for the shards, and bench's flags after --")
	case f.shards < 1:
		return usagef("--shards: give the number of parts, 1 or more")
	case f.cpus < 0:
		return usagef("--cpus-per-task must not be negative")
	}
	flags := args[1:]
	e, prompt, err := plannedShards(c, args[0], flags, f.shards)
	if err != nil {
		return err
	}
	job, err := f.job(args[0], flags)
	if err != nil {
		return err
	}
	if err := writeScripts(job); err != nil {
		return err
	}
	if f.cpus == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "selfplay: warning: without --cpus-per-task most clusters give each shard one CPU")
	}
	return describeJob(c.OutOrStdout(), job, e, prompt)
}

// plannedShards has the flags of bench checked as bench does it, so that what is
// wrong is told now and not by each task of the array. It gives the last shard.
func plannedShards(c *cobra.Command, run string, flags []string, shards int) (e bench.Experiment, prompt string, err error) {
	f := &benchFlags{}
	b := benchCommandOf(f)
	b.SetContext(c.Context())
	b.SetErr(c.ErrOrStderr())
	if err := b.ParseFlags(flags); err != nil {
		return e, "", usagef("after --: %w", err)
	}
	if rest := b.Flags().Args(); len(rest) > 0 {
		return e, "", usagef("after --: %q is no flag of bench", rest[0])
	}
	for _, name := range []string{"run", "shard", "trace"} {
		if b.Flags().Changed(name) {
			return e, "", usagef("after --: --%s is not for all shards: leave it out", name)
		}
	}
	f.run, f.shard = run, fmt.Sprintf("%d/%d", shards, shards)
	_, _, who, e, err := f.asked(b)
	if err != nil {
		return e, "", err
	}
	if w := keptWeights(f, e); who.policy == nil && w != string(inference.WeightsAuto) {
		e.Weights = w
	}
	return e, promptName(f, e), bench.CheckShards(run, e)
}

// job is what the scripts are made of.
func (f *slurmFlags) job(run string, flags []string) (job cluster.Slurm, err error) {
	job = cluster.Slurm{Bench: flags, Shards: f.shards, CPUs: f.cpus, GPUs: f.gpus, Memory: f.mem, Time: f.limit, Options: slices.Clone(f.options)}
	if f.partition != "" {
		job.Options = append(job.Options, "--partition="+f.partition)
	}
	if job.Program, err = os.Executable(); err != nil {
		return job, err
	}
	if job.Work, err = os.Getwd(); err != nil {
		return job, err
	}
	if job.Run, err = filepath.Abs(run); err != nil {
		return job, err
	}
	if err := job.Check(); err != nil {
		return job, usageError{err}
	}
	return job, nil
}

func writeScripts(job cluster.Slurm) error {
	// Slurm makes no folders for what jobs print.
	if err := os.MkdirAll(job.Logs(), 0o755); err != nil {
		return fmt.Errorf("run folder %s: %w", job.Run, err)
	}
	for path, script := range map[string][]byte{job.ShardsPath(): job.ShardsScript(), job.MergePath(): job.MergeScript()} {
		if err := wholefile.Bytes(path, script); err != nil {
			return err
		}
	}
	return nil
}

// describeJob says what was written and what to do with it.
func describeJob(w io.Writer, job cluster.Slurm, e bench.Experiment, prompt string) error {
	shards, merge := cluster.Quote(job.ShardsPath()), cluster.Quote(job.MergePath())
	_, err := fmt.Fprintf(w, `%s
%s: %d shards of about %d games; they print to %s
%s: joins them into %s

job=$(sbatch --parsable %s)
sbatch --dependency=afterok:$job %s
`, e.Whole().Describe(prompt), job.ShardsPath(), job.Shards, e.Whole().Plan().Len()/job.Shards, job.Logs(),
		job.MergePath(), job.Merged(), shards, merge)
	return err
}
