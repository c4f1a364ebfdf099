package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"selfplay/inference"
)

// Set in a test's environment: "2 FILE" has the process of a replica end itself
// with SIGKILL where it would read its 2nd message, and FILE- only the first of them
// that comes so far, whichever is the quicker one, and makes FILE. Messages in small
// runs come in a read each.
const killReplica = "TEST_SELFPLAY_KILL_REPLICA"

// killLater has this process killed by what it reads from standard input, if the
// environment says so.
func killLater() {
	after, file, ok := strings.Cut(os.Getenv(killReplica), " ")
	if !ok {
		return
	}
	left, _ := strconv.Atoi(after)
	from := os.Stdin
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdin = r
	go func() {
		buf := make([]byte, 1<<16)
		for ; ; left-- {
			if left == 0 && isTheOne(file) {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			n, err := from.Read(buf)
			if err != nil {
				w.Close()
				return
			}
			w.Write(buf[:n])
		}
	}()
}

// isTheOne says whether a process is to die: without a file each is.
func isTheOne(file string) bool {
	if file == "" {
		return true
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL, 0o644)
	f.Close()
	return err == nil
}

// tinyArgs are a run of 48 short games on a tiny model.
func tinyArgs(dir string, more ...string) []string {
	return append([]string{"bench", "--model", "synthetic:qwen3-tiny", "--games", "Nim,TicTacToe", "--langs", "en,de", "--n", "4", "--max-tokens", "3",
		"--context", "3000", "--slots", "4", "--run", dir}, more...)
}

// playTiny plays them.
func playTiny(t *testing.T, code int, more ...string) (games string, r result) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	r = selfplay("", tinyArgs(dir, more...)...)
	if r.code != code {
		t.Fatalf("%v: exit code %d: %s", more, r.code, r.stderr)
	}
	return export(t, dir), r
}

// one is the run in this process alone, which others are to equal.
var one = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "selfplay-test")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if r := selfplay("", tinyArgs(dir, "--quiet")...); r.code != 0 {
		panic(r.stderr)
	}
	return selfplay("", "export", dir, "--format", "jsonl").stdout
})

func oneRun() string { return times.ReplaceAllString(one(), `"$1":0`) }

// Two processes play the games that one plays, and say how.
func TestReplicas(t *testing.T) {
	t.Setenv(asProgram, "1")
	trace := filepath.Join(t.TempDir(), "trace.json")
	games, r := playTiny(t, 0, "--replicas", "2", "--json", "--trace", trace, "--threads", "3")
	if games != oneRun() || strings.Count(games, "\n") != 48 {
		t.Error("two replicas play other games than one process")
	}
	if want := "synthetic:qwen3-tiny: replicas cpu0, cpu1, each: weights"; !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "1 thread\n") || strings.Contains(r.stderr, "warning: 1") {
		t.Errorf("%q is missing, or a warning is there: %s", want, r.stderr)
	}
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	var sum struct {
		Replicas     int
		ReplicasLost int `json:"replicas_lost"`
		Run          string
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &sum); err != nil || sum.Replicas != 2 || sum.ReplicasLost != 0 {
		t.Errorf("%v, %s", err, lines[len(lines)-1])
	}
	var run struct {
		How []struct{ Settings map[string]string }
	}
	data, _ := os.ReadFile(filepath.Join(sum.Run, "run.json"))
	if err := json.Unmarshal(data, &run); err != nil || run.How[0].Settings["replicas"] != "cpu0,cpu1" || run.How[0].Settings["slots"] != "4" || run.How[0].Settings["threads"] != "1" {
		t.Errorf("%v, %s", err, data)
	}
	timeline, _ := os.ReadFile(trace)
	for _, name := range []string{"replica 0", "replica 1"} {
		if !bytes.Contains(timeline, []byte(`"name":"`+name+`"`)) {
			t.Errorf("%s is not in the timeline", name)
		}
	}
}

// One of two processes is killed in the middle: the other one plays its games,
// and all is as if nothing had been.
func TestReplicaKilled(t *testing.T) {
	t.Setenv(asProgram, "1")
	for _, at := range []string{"3", "40"} {
		t.Setenv(killReplica, at+" "+filepath.Join(t.TempDir(), "killed"))
		games, r := playTiny(t, 0, "--replicas", "2", "--quiet")
		if games != oneRun() {
			t.Errorf("killed at message %s: other games than in one process", at)
		}
		for _, want := range []string{"selfplay: warning: replica cpu", "signal: killed", "begun are played again\n", "selfplay: warning: replicas lost: 1 of 2; the others played all games\n"} {
			if !strings.Contains(r.stderr, want) {
				t.Errorf("killed at message %s: %q is missing in: %s", at, want, r.stderr)
			}
		}
	}
}

// Both are killed: what had ended is kept, and the same command plays the rest.
func TestAllReplicasKilled(t *testing.T) {
	t.Setenv(asProgram, "1")
	t.Setenv(killReplica, "40 ")
	dir := filepath.Join(t.TempDir(), "run")
	r := selfplay("", tinyArgs(dir, "--replicas", "2", "--quiet")...)
	kept := strings.Count(export(t, dir), "\n")
	if r.code != 1 || kept == 0 || kept == 48 {
		t.Fatalf("exit code %d, %d games kept: %s", r.code, kept, r.stderr)
	}
	for _, want := range []string{"no replica is left: replica cpu", "; replica cpu", strconv.Itoa(kept) + " of 48 games have ended and are kept"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("%q is missing in: %s", want, r.stderr)
		}
	}
	os.Unsetenv(killReplica)
	if r := selfplay("", tinyArgs(dir, "--replicas", "2", "--quiet")...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	if export(t, dir) != oneRun() {
		t.Error("resumed, other games than in one process")
	}
}

// What replicas can't do is told in a line.
func TestReplicaFaults(t *testing.T) {
	t.Setenv(asProgram, "1")
	dir := filepath.Join(t.TempDir(), "run")
	for name, c := range map[string]struct {
		code int
		says string
		args []string
	}{
		"negative":   {2, "--replicas -1", tinyArgs(dir, "--replicas", "-1", "--quiet")},
		"too many":   {2, "--replicas 1000000: give a number up to 64", tinyArgs(dir, "--replicas", "1000000", "--quiet")},
		"policies":   {2, "--replicas 2: builtin:random has no model", []string{"bench", "--model", "builtin:random", "--games", "Nim", "--replicas", "2", "--run", dir}},
		"no context": {1, "--context 9000: synthetic:qwen3-tiny was trained on", tinyArgs(dir, "--replicas", "2", "--context", "9000", "--quiet")},
		"no think":   {1, "--think on", tinyArgs(dir, "--replicas", "2", "--think", "on", "--quiet")},
		"no room":    {1, "does not fit into the", tinyArgs(dir, "--replicas", "2", "--slots", "1000000", "--quiet")},
	} {
		r := selfplay("", c.args...)
		if lines := strings.Count(strings.ReplaceAll(r.stderr, "warning: languages", ""), "selfplay: "); r.code != c.code || !strings.Contains(r.stderr, c.says) || lines != 1 {
			t.Errorf("%s: exit code %d, want %d and %q: %s", name, r.code, c.code, c.says, r.stderr)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the run folder was made all the same", name)
		}
	}
}

// startReplicas starts a long run with two replicas as a group of processes, and
// waits for its first game. children are the replicas' processes.
func startReplicas(t *testing.T, dir string) (group int, stderr *bytes.Buffer, wait func() int, children []int) {
	t.Helper()
	c := child(tinyArgs(dir, "--replicas", "2", "--n", "400")...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr = &bytes.Buffer{}
	c.Stderr = stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for storedGames(dir) == 0 {
		if syscall.Kill(c.Process.Pid, 0) != nil {
			t.Fatalf("it ended early: %s", stderr)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if children = childrenOf(c.Process.Pid); len(children) != 2 {
		t.Fatalf("%d child processes", len(children))
	}
	return c.Process.Pid, stderr, func() int { c.Wait(); return c.ProcessState.ExitCode() }, children
}

// childrenOf are the processes that a process has started and that live.
func childrenOf(parent int) (children []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		data, _ := os.ReadFile(stat)
		_, rest, _ := strings.Cut(string(data), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[0] != "Z" && f[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(strings.Split(stat, "/")[2])
			children = append(children, pid)
		}
	}
	return children
}

// lives says whether there is such a process that has not ended.
func lives(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(data), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}

// Ctrl-C, which a terminal sends to the whole group: the replicas finish their
// step, and the command that is printed goes on.
func TestInterruptReplicas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	group, stderr, wait, children := startReplicas(t, dir)
	syscall.Kill(-group, syscall.SIGINT)
	if code := wait(); code != 1 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"stopped (interrupted)", "resume with: "} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q is missing in: %s", want, stderr)
		}
	}
	if strings.Contains(stderr.String(), "lost") || slices.ContainsFunc(children, lives) {
		t.Errorf("a replica was lost or lives: %s", stderr)
	}
}

// Where the parent is killed, the replicas end.
func TestParentKilled(t *testing.T) {
	group, _, wait, children := startReplicas(t, filepath.Join(t.TempDir(), "run"))
	syscall.Kill(group, syscall.SIGKILL)
	wait()
	for slices.ContainsFunc(children, lives) { // or the test runs out of time
		time.Sleep(5 * time.Millisecond)
	}
}

// The threads are shared, and so is the memory.
func TestCPUReplicas(t *testing.T) {
	for _, c := range []struct{ n, threads, each int }{{2, 8, 4}, {3, 8, 2}, {8, 2, 1}} {
		all := cpuReplicas(c.n, inference.Options{Threads: c.threads, Slots: 5})
		for _, r := range all {
			if r.options.Threads != c.each || r.options.Sharing != c.n || r.options.Slots != 5 {
				t.Errorf("%+v: %+v", c, r)
			}
		}
		if len(all) != c.n || all[0].name == all[1].name {
			t.Errorf("%+v: %+v", c, all)
		}
	}
}
