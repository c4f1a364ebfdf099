package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"selfplay/bench"
)

// What --shard takes, with what the cluster's variables say.
func TestParseShard(t *testing.T) {
	array := func(id, first, last, count string) map[string]string {
		return map[string]string{"SLURM_ARRAY_TASK_ID": id, "SLURM_ARRAY_TASK_MIN": first, "SLURM_ARRAY_TASK_MAX": last, "SLURM_ARRAY_TASK_COUNT": count}
	}
	index := func(i string) map[string]string { return map[string]string{"JOB_COMPLETION_INDEX": i} }
	for _, c := range []struct {
		text string
		env  map[string]string
		want bench.Shard
		from string
		err  string
	}{
		{"", array("2", "1", "4", "4"), bench.Shard{}, "", ""}, // nothing happens because a variable is set
		{"2/4", array("3", "1", "4", "4"), bench.Shard{Number: 2, Of: 4}, "", ""},
		{"4/4", nil, bench.Shard{Number: 4, Of: 4}, "", ""},
		{"0/4", nil, bench.Shard{}, "", "--shard 0/4: give K/N, from 1/N to N/N"},
		{"5/4", nil, bench.Shard{}, "", "--shard 5/4: give K/N"},
		{"1/0", nil, bench.Shard{}, "", "give K/N"},
		{"1/-1", nil, bench.Shard{}, "", "give K/N"},
		{"2", nil, bench.Shard{}, "", "give K/N"},
		{"a/b", nil, bench.Shard{}, "", "give K/N"},
		{"1/99999999999999999999", nil, bench.Shard{}, "", "give K/N"},
		{"k8s", index("0"), bench.Shard{}, "", "give K/N"},

		{"slurm:4", array("3", "3", "3", "1"), bench.Shard{Number: 3, Of: 4}, "SLURM_ARRAY_TASK_ID 3", ""}, // begun again alone
		{"slurm:4", array("0", "0", "3", "4"), bench.Shard{}, "", "SLURM_ARRAY_TASK_ID is 0: this is for a Slurm job array with --array=1-4"},
		{"slurm:4", array("5", "1", "5", "5"), bench.Shard{}, "", "SLURM_ARRAY_TASK_ID is 5"},
		{"slurm:4", nil, bench.Shard{}, "", "SLURM_ARRAY_TASK_ID is not set"},
		{"slurm:x", array("1", "1", "4", "4"), bench.Shard{}, "", "give the number of all parts after the colon"},
		{"slurm:0", array("1", "1", "4", "4"), bench.Shard{}, "", "give the number of all parts"},
		{"slurm:", array("1", "1", "4", "4"), bench.Shard{}, "", "give the number of all parts"},

		{"slurm", array("2", "1", "4", "4"), bench.Shard{Number: 2, Of: 4}, "SLURM_ARRAY_TASK_ID 2 of 1 to 4", ""},
		{"slurm", array("0", "0", "3", "4"), bench.Shard{Number: 1, Of: 4}, "SLURM_ARRAY_TASK_ID 0 of 0 to 3", ""},
		{"slurm", array("3", "3", "3", "1"), bench.Shard{}, "", "1 tasks from 3 to 3 do not tell the number of all parts: give slurm:N"},
		{"slurm", array("1", "1", "1", "1"), bench.Shard{}, "", "do not tell"},
		{"slurm", array("3", "1", "7", "4"), bench.Shard{}, "", "4 tasks from 1 to 7 do not tell"},
		{"slurm", array("3", "2", "5", "4"), bench.Shard{}, "", "do not tell"},
		{"slurm", nil, bench.Shard{}, "", `SLURM_ARRAY_TASK_ID is ""`},

		{"k8s:4", index("0"), bench.Shard{Number: 1, Of: 4}, "JOB_COMPLETION_INDEX 0", ""},
		{"k8s:4", index("3"), bench.Shard{Number: 4, Of: 4}, "JOB_COMPLETION_INDEX 3", ""},
		{"k8s:4", index("4"), bench.Shard{}, "", "JOB_COMPLETION_INDEX is 4: this is for a Kubernetes Job with completionMode: Indexed and completions: 4"},
		{"k8s:4", nil, bench.Shard{}, "", "JOB_COMPLETION_INDEX is not set"},
		{"k8s:", index("0"), bench.Shard{}, "", "give the number of all parts"},
	} {
		got, from, err := parseShard(c.text, func(name string) string { return c.env[name] })
		if got != c.want || from != c.from || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q with %v: %v, %q, %v; want %v, %q, %q", c.text, c.env, got, from, err, c.want, c.from, c.err)
		}
	}
}

// Whatever is given and whatever the variables say, a part is one of those there are.
func FuzzParseShard(f *testing.F) {
	for _, text := range []string{"2/4", "slurm", "slurm:4", "k8s:4", "9223372036854775807/9223372036854775807", "k8s:9223372036854775807", "/", ":"} {
		f.Add(text, "3", "1", "4", "4")
		f.Add(text, "9223372036854775807", "1", "9223372036854775807", "-1")
	}
	f.Fuzz(func(t *testing.T, text, id, first, last, count string) {
		got, _, err := parseShard(text, func(name string) string {
			return map[string]string{"SLURM_ARRAY_TASK_MIN": first, "SLURM_ARRAY_TASK_MAX": last, "SLURM_ARRAY_TASK_COUNT": count}[name] + map[bool]string{true: id}[strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "INDEX")]
		})
		whole := got == bench.Shard{}
		if err != nil && !whole || err == nil && whole != (text == "") || !whole && (got.Number < 1 || got.Number > got.Of) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// Shards of a run on a model, joined, are the run of one process. Each says which it
// is, and those that are not there are told of.
func TestShards(t *testing.T) {
	dir := t.TempDir()
	run, out := filepath.Join(dir, "run"), filepath.Join(dir, "joined")
	t.Setenv("SLURM_ARRAY_TASK_ID", "2")
	t.Setenv("JOB_COMPLETION_INDEX", "2")
	for _, c := range []struct{ shard, want string }{
		{"1/3", "planned: 16 games: shard 1 of 3 of 48 games: "},
		{"slurm:3", "; shard by SLURM_ARRAY_TASK_ID 2\n"},
	} {
		r := selfplay("", tinyArgs(run, "--shard", c.shard)...)
		if r.code != 0 || !strings.Contains(r.stderr, c.want) || !strings.Contains(r.stdout, "a part of the experiment") {
			t.Fatalf("%s: code %d, %q is missing: %s%s", c.shard, r.code, c.want, r.stderr, r.stdout)
		}
	}
	r := selfplay("", "merge", "--out", filepath.Join(dir, "part"), run)
	if r.code != 0 || !strings.Contains(r.stdout, "32 of 48 games from 2 runs joined\n") || !strings.Contains(r.stderr, "warning: shard 3 of 3 is missing; bench --run "+filepath.Join(dir, "part")+" plays") {
		t.Errorf("code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	if r := selfplay("", tinyArgs(run, "--shard", "k8s:3", "--quiet")...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	r = selfplay("", "merge", "--out", out, run)
	if r.code != 0 || r.stderr != "" || !strings.HasSuffix(r.stdout, "48 of 48 games from 3 runs joined\n") {
		t.Errorf("code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	if export(t, out) != oneRun() {
		t.Error("the shards, joined, hold other games than the run of one process")
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "--shard 4/3: give K/N", tinyArgs(run, "--shard", "4/3")},
		{2, "the plan has 24 deals, so at most as many shards", tinyArgs(run, "--shard", "1/25")},
		{2, "the plan has 6 pairs of languages of a game, which until-ci keeps whole", tinyArgs(run, "--shard", "1/7", "--until-ci", "0.5")},
		{1, "holds an experiment in 3 shards, not in 2", tinyArgs(run, "--shard", "1/2")},
		{1, "holds shards of another experiment: seed is 1 there, 9 here", tinyArgs(run, "--shard", "1/3", "--seed", "9")},
		{1, "holds an experiment in shards: say which with --shard", tinyArgs(run)},
		{1, "holds shards (3 by now) and no run", []string{"report", run}},
	} {
		if r := selfplay("", c.args...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: code %d, want %d with %q: %s", c.args, r.code, c.code, c.want, r.stderr)
		}
	}
}

// SIGTERM, however often, ends a shard with a code that has a cluster begin it again,
// keeps its ended games, prints no tables, and says how to go on by hand.
func TestTerminated(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	c := child(tinyArgs(run, "--shard", "slurm:2", "--slots", "2")...)
	c.Env = append(c.Env, "SLURM_ARRAY_TASK_ID=1")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	shard := filepath.Join(run, "shard-0001-of-0002")
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	if err := waitForGames(ended, shard, 1); err != errAlive {
		t.Fatalf("it ended early: %v, %s", err, stderr.String())
	}
	for done := false; !done; time.Sleep(time.Millisecond) { // again and again, as Slurm and scripts together may
		select {
		case <-ended:
			done = true
		default:
			c.Process.Signal(syscall.SIGTERM)
		}
	}
	if code := c.ProcessState.ExitCode(); code != 1 || stdout.Len() > 0 {
		t.Fatalf("exit code %d, %s%s", code, stderr.String(), stdout.String())
	}
	kept := storedGames(shard)
	told := regexp.MustCompile(`stopped \(.*\): (\d+) of 24 games have ended and are kept in `).FindStringSubmatch(stderr.String())
	if told == nil || told[1] != strconv.Itoa(kept) || kept == 0 || kept == 24 {
		t.Fatalf("%d games are kept: %s", kept, stderr.String())
	}
	_, rest, _ := strings.Cut(stderr.String(), "resume with: ")
	command, _, _ := strings.Cut(rest, "\n")
	if !strings.HasSuffix(command, " --shard 1/2") {
		t.Errorf("resume with: %s", command)
	}
	args := append(slices.Clone(strings.Fields(command)[1:]), "--quiet")
	if r := selfplay("", args...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	if r := selfplay("", tinyArgs(run, "--shard", "2/2", "--quiet")...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	out := filepath.Join(run, "merged")
	if r := selfplay("", "merge", "--out", out, run); r.code != 0 {
		t.Fatal(r.stderr)
	}
	if export(t, out) != oneRun() {
		t.Error("other games than in one process that nothing stopped")
	}
}

// The scripts are written, name the flags as given, and what is said of them is what
// to do. What bench would refuse is refused here.
func TestSlurm(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	flags := []string{"--model", "builtin:random", "--games", "Nim", "--langs", "en,fr", "--n", "8"}
	r := selfplay("", append([]string{"slurm", run, "--shards", "4", "--partition", "a", "--sbatch=--account=b", "--"}, flags...)...)
	script, err := os.ReadFile(filepath.Join(run, "shards.sbatch"))
	if r.code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s", r.code, err, r.stderr)
	}
	for _, want := range []string{"#SBATCH --array=1-4\n", "#SBATCH --partition=a\n", "#SBATCH --account=b\n", " bench " + strings.Join(flags, " ") + " \\\n\t--run " + run + " --shard slurm:4 &\n"} {
		if !strings.Contains(string(script), want) {
			t.Errorf("%q is missing in\n%s", want, script)
		}
	}
	for _, want := range []string{"planned: 48 games: ", "4 shards of about 12 games", "\njob=$(sbatch --parsable " + run + "/shards.sbatch)\nsbatch --dependency=afterok:$job " + run + "/merge.sbatch\n"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, r.stdout)
		}
	}
	if !strings.Contains(r.stderr, "without --cpus-per-task") {
		t.Errorf("nothing is said of CPUs: %s", r.stderr)
	}
	if _, err := os.Stat(filepath.Join(run, "logs")); err != nil {
		t.Error("Slurm would lose what the jobs print: ", err)
	}
	// A shard finds its folder among the scripts, and from then on they are of that experiment.
	if r := selfplay("", append(append([]string{"bench"}, flags...), "--run", run, "--shard", "3/4", "--quiet")...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "give one RUN, the folder for the shards, and bench's flags after --", []string{run, "--shards", "4"}},
		{2, "give one RUN", []string{"--shards", "4", "--", "--model", "builtin:random"}},
		{2, "--shards: give the number", append([]string{run, "--"}, flags...)},
		{2, "after --: --run is not for all shards", append([]string{run, "--shards", "4", "--", "--run", "x"}, flags...)},
		{2, "after --: --shard is not for all shards", append([]string{run, "--shards", "4", "--", "--shard", "1/4"}, flags...)},
		{2, "after --: --trace is not for all shards", append([]string{run, "--shards", "4", "--", "--trace", "x"}, flags...)},
		{2, "after --: unknown flag: --modl", []string{run, "--shards", "4", "--", "--modl", "x"}},
		{2, `after --: "bench" is no flag of bench`, append([]string{run, "--shards", "4", "--", "bench"}, flags...)},
		{2, "--model is missing", []string{run, "--shards", "4", "--"}},
		{2, "the plan has 24 deals, so at most as many shards", append([]string{run, "--shards", "25", "--"}, flags...)},
		{2, "is no option of sbatch", append([]string{run, "--shards", "4", "--sbatch", "account=b", "--"}, flags...)},
		{2, "no line breaks", append([]string{run, "--shards", "4", "--time", "1\n", "--"}, flags...)},
		{1, "holds an experiment in 4 shards, not in 3", append([]string{run, "--shards", "3", "--"}, flags...)},
		{1, "another experiment: seed is 1 there, 2 here", append(append([]string{run, "--shards", "4", "--"}, flags...), "--seed", "2")},
	} {
		if r := selfplay("", append([]string{"slurm"}, c.args...)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: code %d, want %d with %q: %s", c.args, r.code, c.code, c.want, r.stderr)
		}
	}
}
