package cluster

import (
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the scripts in testdata")

// plain is a job as most have it; odd one that quotes all it can.
var (
	plain = Slurm{
		Program: "/opt/selfplay/bin/selfplay", Run: "/scratch/runs/paper", Work: "/home/user", Shards: 8,
		Bench: []string{"--suite", "paper", "--model", "models/Qwen3-8B"},
		CPUs:  16, GPUs: "h100:4", Memory: "64G", Time: "12:00:00", Options: []string{"--account=physics", "--partition=gpu"},
	}
	odd = Slurm{
		Program: "/opt/self play/bin/selfplay", Run: "/scratch/runs/it's $HOME 100%", Work: "/home/user #1", Shards: 1,
		Bench: []string{"--model", "a b.gguf", "--langs", ""},
	}
)

// The scripts as they are written, to be read. Write them anew with -update.
func TestScripts(t *testing.T) {
	for name, script := range map[string][]byte{
		"shards.sbatch": plain.ShardsScript(), "merge.sbatch": plain.MergeScript(), "odd-shards.sbatch": odd.ShardsScript(), "odd-merge.sbatch": odd.MergeScript(),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, script, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(script) != string(want) {
			t.Errorf("%v: %s is now\n%s", err, path, script)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		spoil func(*Slurm)
		want  string
	}{
		{func(s *Slurm) {}, ""},
		{func(s *Slurm) { s.Time = "1:00\n#SBATCH --uid=0" }, "no line breaks"},
		{func(s *Slurm) { s.Run = "/a\"b" }, "no double quotes"},
		{func(s *Slurm) { s.Options = []string{"account=physics"} }, "no option of sbatch"},
		{func(s *Slurm) { s.Options = []string{"--a\r"} }, "no line breaks"},
	} {
		s := plain
		c.spoil(&s)
		if err := s.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A shell takes each argument as it was.
func TestQuote(t *testing.T) {
	for _, arg := range []string{"", "plain", "a b", "it's", `"`, "$HOME", "`id`", "a\\b", "a\nb", "*", "~", "#x", "!x", "--model=x", "é", "a=b;c"} {
		out, err := exec.Command("bash", "-c", "printf %s "+Quote(arg)).Output()
		if err != nil || string(out) != arg {
			t.Errorf("%q became %q: %v", arg, out, err)
		}
	}
}

// This binary is also a shard's program that says what it is given and what becomes of
// it: its exit code is in $CODE, and it waits for $WAIT signals before. (A shell that
// has a trap for them may miss one.)
func TestMain(m *testing.M) {
	out := os.Getenv("SHARD_OUT")
	if out == "" {
		os.Exit(m.Run())
	}
	say := func(file, text string) {
		if err := os.WriteFile(filepath.Join(out, file), []byte(text), 0o644); err != nil {
			panic(err)
		}
	}
	terms := make(chan os.Signal, 8)
	signal.Notify(terms, syscall.SIGTERM)
	say("args", strings.Join(os.Args[1:], "|"))
	say("threads", os.Getenv("GOMAXPROCS"))
	wait, _ := strconv.Atoi(os.Getenv("WAIT"))
	for got := range wait {
		say("ready", strconv.Itoa(got))
		<-terms
	}
	code, err := strconv.Atoi(os.Getenv("CODE"))
	if err != nil {
		panic(err)
	}
	os.Exit(code)
}

// The script of the shards, on a machine without Slurm: what it hands to the
// program, and what it does with signals and exit codes.
func TestShardsScriptRuns(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals []os.Signal // that the program waits for before it ends
		code    string      // of the program
		restart string
		want    int
		requeue bool
	}{
		{"it ends well", nil, "0", "0", 0, false},
		{"it fails", nil, "1", "0", 1, false},
		{"wrong usage", nil, "2", "0", 2, false},
		{"time is up", []os.Signal{syscall.SIGUSR1}, "1", "3", 1, true},
		{"time is up as it ends", []os.Signal{syscall.SIGUSR1}, "0", "0", 0, false},
		{"time is up for the hundredth time", []os.Signal{syscall.SIGUSR1}, "1", "100", 1, false},
		{"requeued or cancelled", []os.Signal{syscall.SIGTERM}, "1", "0", 1, false},
		{"requeued, and it takes its time", []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, "1", "0", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := odd
			s.Program, s.Run, s.CPUs = filepath.Join(dir, "the program"), filepath.Join(dir, "it's $HOME"), 3
			path := filepath.Join(dir, "shards.sbatch")
			this, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(this, s.Program); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{path: string(s.ShardsScript()), filepath.Join(dir, "scontrol"): "#!/bin/bash\necho \"$@\" > \"$SHARD_OUT/requeued\"\n"} {
				if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			script := exec.Command("bash", path)
			script.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SHARD_OUT="+dir, "WAIT="+strconv.Itoa(len(c.signals)), "CODE="+c.code,
				"SLURM_CPUS_PER_TASK=3", "SLURM_RESTART_COUNT="+c.restart, "SLURM_ARRAY_JOB_ID=17", "SLURM_ARRAY_TASK_ID=1")
			if err := script.Start(); err != nil {
				t.Fatal(err)
			}
			for i, signal := range c.signals {
				for { // until the program waits for the next one, or the test runs out of time
					if got, _ := os.ReadFile(filepath.Join(dir, "ready")); string(got) == strconv.Itoa(i) {
						break
					}
					time.Sleep(time.Millisecond)
				}
				if err := script.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
			}
			script.Wait()
			if code := script.ProcessState.ExitCode(); code != c.want {
				t.Errorf("exit code %d, want %d", code, c.want)
			}
			args, _ := os.ReadFile(filepath.Join(dir, "args"))
			if want := "bench|--model|a b.gguf|--langs||--run|" + s.Run + "|--shard|slurm:1"; string(args) != want {
				t.Errorf("the program was given %q, want %q", args, want)
			}
			if threads, _ := os.ReadFile(filepath.Join(dir, "threads")); string(threads) != "3" {
				t.Errorf("GOMAXPROCS is %q", threads)
			}
			requeued, _ := os.ReadFile(filepath.Join(dir, "requeued"))
			if c.requeue != (string(requeued) == "requeue 17_1\n") || !c.requeue && exists(dir, "requeued") {
				t.Errorf("scontrol was given %q", requeued)
			}
		})
	}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
