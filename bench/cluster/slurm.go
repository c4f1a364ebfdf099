// Package cluster has what runs the shards of an experiment on a cluster: the batch
// scripts of Slurm, and beside it the manifests of Kubernetes.
package cluster

import (
	"bytes"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"
)

// Slurm is an experiment as a job array, a task a shard, and a job that joins them.
// Paths are absolute.
type Slurm struct {
	Program string   // selfplay, where all nodes find it
	Run     string   // the run folder, which all nodes share
	Work    string   // where the paths in Bench begin
	Bench   []string // flags of selfplay bench, but for --run and --shard
	Shards  int

	// Of each shard; zero or empty: as the cluster has it.
	CPUs   int
	GPUs   string // a number, or a type and a number: h100:4
	Memory string // as --mem
	Time   string // as --time

	Options []string // more of sbatch's, for both jobs: --account=physics
}

// ShardsPath is where the script of the job array belongs.
func (s Slurm) ShardsPath() string { return filepath.Join(s.Run, "shards.sbatch") }

// MergePath is where the script of the job that joins the shards belongs.
func (s Slurm) MergePath() string { return filepath.Join(s.Run, "merge.sbatch") }

// Merged is the run folder that the shards are joined into.
func (s Slurm) Merged() string { return filepath.Join(s.Run, "merged") }

// Logs is the folder for what the jobs print.
func (s Slurm) Logs() string { return filepath.Join(s.Run, "logs") }

// Check refuses what would not stay on one line of a script's head.
func (s Slurm) Check() error {
	for _, text := range append([]string{s.Run, s.Work, s.GPUs, s.Memory, s.Time}, s.Options...) {
		if strings.ContainsAny(text, "\n\r\"") {
			return fmt.Errorf("%q: no line breaks and no double quotes can stand in the head of a batch script", text)
		}
	}
	for _, o := range s.Options {
		if !strings.HasPrefix(o, "-") {
			return fmt.Errorf("%q is no option of sbatch: give it with its dashes, as --account=physics", o)
		}
	}
	return nil
}

// Resources are the options that give each shard its part of a node.
func (s Slurm) Resources() (options []string) {
	if s.CPUs > 0 {
		options = append(options, fmt.Sprintf("--cpus-per-task=%d", s.CPUs))
	}
	for _, o := range [][2]string{{"--gres=gpu:", s.GPUs}, {"--mem=", s.Memory}, {"--time=", s.Time}} {
		if o[1] != "" {
			options = append(options, o[0]+option(o[1]))
		}
	}
	return options
}

// Log is a file for what a job prints, in whose name %a is the task's number.
func (s Slurm) Log(name string) string {
	return option(strings.ReplaceAll(s.Logs(), "%", "%%") + "/" + name + ".log")
}

var (
	//go:embed shards.sbatch.tmpl
	shardsText string
	//go:embed merge.sbatch.tmpl
	mergeText string

	funcs  = template.FuncMap{"quote": Quote, "option": option}
	shards = template.Must(template.New("shards").Funcs(funcs).Parse(shardsText))
	merge  = template.Must(template.New("merge").Funcs(funcs).Parse(mergeText))
)

// ShardsScript is the job array.
func (s Slurm) ShardsScript() []byte { return s.fill(shards) }

// MergeScript is the job that joins the shards.
func (s Slurm) MergeScript() []byte { return s.fill(merge) }

func (s Slurm) fill(t *template.Template) []byte {
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		panic(err) // it names a field that is not there
	}
	return b.Bytes()
}

// Quote is an argument as a shell takes it.
func Quote(arg string) string {
	if arg == "" || strings.ContainsAny(arg, " \t\r\n'\"\\$&|;<>*?()[]{}!`#~") {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}

// option is a value in the head of a batch script, which is no shell's.
func option(value string) string {
	if strings.ContainsAny(value, " \t#'") {
		return `"` + value + `"`
	}
	return value
}
