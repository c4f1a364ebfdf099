package main

import (
	"fmt"
	"strconv"
	"strings"

	"selfplay/bench"
)

const shardFlag = "play one part of N, for a run on several machines, and keep it in a folder of its own within --run: K/N, from 1/N to N/N; in a Slurm job array slurm (the array's tasks are all the parts) or slurm:N (tasks are numbered from 1, some may be missing); in a Kubernetes Indexed Job k8s:N. selfplay merge joins the parts"

// parseShard reads --shard, and of the environment what it names. from says where
// the number of the part comes from.
func parseShard(text string, env func(string) string) (_ bench.Shard, from string, err error) {
	kind, of, counted := strings.Cut(text, ":")
	switch {
	case text == "":
		return bench.Shard{}, "", nil
	case kind == "slurm" && !counted:
		return wholeArray(env)
	case kind == "slurm":
		return taskOf(text, of, env, "SLURM_ARRAY_TASK_ID", 0, "a Slurm job array with --array=1-"+of)
	case kind == "k8s" && counted:
		return taskOf(text, of, env, "JOB_COMPLETION_INDEX", 1, "a Kubernetes Job with completionMode: Indexed and completions: "+of)
	}
	k, n, ok := strings.Cut(text, "/")
	number, errK := strconv.Atoi(k)
	parts, errN := strconv.Atoi(n)
	if !ok || errK != nil || errN != nil || parts < 1 || number < 1 || number > parts {
		return bench.Shard{}, "", usagef("--shard %s: give K/N, from 1/N to N/N, or slurm, slurm:N or k8s:N", text)
	}
	return bench.Shard{Number: number, Of: parts}, "", nil
}

// taskOf is the part of the process that a cluster's variable numbers, once more is
// added, where the number of all parts is given.
func taskOf(text, of string, env func(string) string, variable string, more int, in string) (bench.Shard, string, error) {
	parts, err := strconv.Atoi(of)
	if err != nil || parts < 1 {
		return bench.Shard{}, "", usagef("--shard %s: give the number of all parts after the colon", text)
	}
	value := env(variable)
	if value == "" {
		return bench.Shard{}, "", usagef("--shard %s: %s is not set: this is for %s", text, variable, in)
	}
	at, err := strconv.Atoi(value)
	if err != nil || at+more < 1 || at+more > parts {
		return bench.Shard{}, "", usagef("--shard %s: %s is %s: this is for %s", text, variable, value, in)
	}
	return bench.Shard{Number: at + more, Of: parts}, fmt.Sprintf("%s %s", variable, value), nil
}

// wholeArray is the part of a task of a Slurm array whose tasks are all the parts.
// An array with gaps, or of one task, may be a part of another one that is begun
// again, whose size no variable tells.
func wholeArray(env func(string) string) (bench.Shard, string, error) {
	var values [4]int
	for i, name := range []string{"ID", "MIN", "MAX", "COUNT"} {
		name = "SLURM_ARRAY_TASK_" + name
		value := env(name)
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return bench.Shard{}, "", usagef("--shard slurm: %s is %q: this is for a Slurm job array", name, value)
		}
		values[i] = n
	}
	id, first, last, count := values[0], values[1], values[2], values[3]
	if first > 1 || last-first+1 != count || count == 1 || id < first || id > last {
		return bench.Shard{}, "", usagef("--shard slurm: %d tasks from %d to %d do not tell the number of all parts: give slurm:N, with tasks numbered from 1 to N", count, first, last)
	}
	return bench.Shard{Number: id - first + 1, Of: count}, fmt.Sprintf("SLURM_ARRAY_TASK_ID %d of %d to %d", id, first, last), nil
}
