package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// large takes far longer to make up and load than to be told not to.
const large = "synthetic:qwen3-1.7b:q4_0"

// TestStopAtBadMoments: whatever the program is at, a signal ends it in one line, and
// leaves nothing half written. Each is sent after the line that comes before what takes
// long; that may just not have begun.
func TestStopAtBadMoments(t *testing.T) {
	data := writeBelebele(t, 1, "eng_Latn")
	for name, c := range map[string]struct {
		args  []string
		after string   // a part of the line
		says  []string // any of these
		left  string   // what may be in the folder
	}{
		"bench loads":     {[]string{"bench", "--model", large, "--langs", "de", "--context", "64", "--run", "run"}, "not certified", []string{"stopped (SIGNAL)"}, ""},
		"replicas load":   {[]string{"bench", "--model", large, "--langs", "de", "--context", "64", "--run", "run", "--replicas", "2"}, "not certified", []string{"stopped (interrupted) before", "stopped (SIGNAL)"}, ""},
		"play loads":      {[]string{"play", "--model", large, "--context", "64", "--log", "-"}, "started", []string{"stopped (SIGNAL)"}, ""},
		"doctor loads":    {[]string{"doctor", "--model", large, "--log", "-"}, "started", []string{"stopped (SIGNAL)"}, ""},
		"tune loads":      {[]string{"tune", "--model", large}, "tokens/s", []string{"stopped (interrupted): nothing is stored"}, ""},
		"translate loads": {[]string{"locales", "translate", "--lang", "sw", "--model", large, "--games", "Nim", "--out", "run"}, "to be translated", []string{"stopped (interrupted): what is finished is kept in run"}, "run"},
		"eval loads":      {[]string{"eval", "belebele", "--model", large, "--data", data, "--langs", "en", "--run", "run", "--log", "-"}, "started", []string{"stopped (interrupted): what was answered", "stopped (SIGNAL)"}, "run"},
		"play asks":       {[]string{"play", "--model", "builtin:random"}, "lists commands", []string{"stopped after 0 turns"}, ""},
	} {
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(name+", "+s.String(), func(t *testing.T) {
				dir := t.TempDir()
				p := child(append(c.args, "--device", "cpu")...)
				p.Dir, p.Env = dir, append(p.Env, "TMPDIR="+dir)
				if _, err := p.StdinPipe(); err != nil { // which nobody writes to
					t.Fatal(err)
				}
				said := saidOf(t, p)
				var all strings.Builder
				sent := false
				for said.Scan() {
					all.WriteString(said.Text() + "\n")
					if !sent && strings.Contains(said.Text(), c.after) {
						sent = true
						p.Process.Signal(s)
					}
				}
				var exit *exec.ExitError
				if err := p.Wait(); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				last := all.String()[strings.LastIndex(strings.TrimSuffix(all.String(), "\n"), "\n")+1:]
				ok := false
				for _, want := range c.says {
					ok = ok || strings.Contains(last, strings.ReplaceAll(want, "SIGNAL", s.String()))
				}
				wantCode := 1
				if name == "play asks" { // a person may leave
					wantCode = 0
				}
				if code := p.ProcessState.ExitCode(); code != wantCode || !ok {
					t.Errorf("exit code %d, signal sent %v, said:\n%s", code, sent, all.String())
				}
				names, _ := filepath.Glob(filepath.Join(dir, "*"))
				for _, name := range names {
					if filepath.Base(name) != c.left {
						t.Errorf("%s is left", name)
					}
				}
			})
		}
	}
}

// saidOf starts a process and gives the lines that it writes, wherever it writes them.
func saidOf(t *testing.T, p *exec.Cmd) *bufio.Scanner {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Stdout, p.Stderr = write, write
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	t.Cleanup(func() { read.Close(); p.Process.Kill() })
	return bufio.NewScanner(read)
}

// TestTerminalCloses: the end of a terminal ends what is on it in order, and what was
// started to outlive it goes on.
func TestTerminalCloses(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // else what nohup keeps from the tests is kept from the program, too
	x := startOnTerminal(t, 80, 24, child("bench", "--model", "synthetic:qwen3-tiny", "--games", "Nim", "--langs", "en", "--n", "1000",
		"--max-tokens", "4", "--slots", "2", "--context", "2000", "--run", filepath.Join(dir, "run"), "--log", log))
	x.until("view with ended games", func(s string) bool { return endedOn(s) > 0 })
	signal.Stop(hangups)
	x.pty.Close()
	x.tty.Close()
	for range x.output {
	}
	x.cmd.Wait()
	if code := x.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("%v", x.cmd.ProcessState)
	}
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), "are kept in") {
		t.Errorf("%v: %s", err, text)
	}

	p := exec.Command("nohup", child("bench", "--model", "builtin:random", "--games", "Nim", "--langs", "en", "--n", "3000", "--run", "outlives").Args...)
	p.Dir, p.Env = dir, child().Env
	said := saidOf(t, p)
	var all strings.Builder
	for said.Scan() {
		all.WriteString(said.Text() + "\n")
		if strings.HasPrefix(said.Text(), "planned: ") {
			p.Process.Signal(syscall.SIGHUP)
		}
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v: %s", err, all.String())
	}
}
