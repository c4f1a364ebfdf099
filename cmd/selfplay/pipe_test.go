package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file that the user names may be a pipe, as <(command) gives one: it is read, and
// as long as nothing comes, Ctrl-C ends the program.
func TestInputsFromPipes(t *testing.T) {
	dir := t.TempDir()
	played := filepath.Join(dir, "run")
	if r := selfplay("", "bench", "--model", "builtin:random", "--games", "Nim", "--langs", "en,ar", "--n", "1", "--run", played, "--quiet"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	report := []string{"report", played, "--figures", filepath.Join(dir, "figures")}
	for name, c := range map[string]struct {
		text string
		args []string
		env  string
	}{
		"--config":        {"n = 3\n", []string{"config", "--config", pipe}, ""},
		"SELFPLAY_CONFIG": {"n = 3\n", []string{"config"}, "SELFPLAY_CONFIG=" + pipe},
		"--accuracy":      {"lang,accuracy\nen,0.5\nar,0.4\n", append(report, "--accuracy", pipe), ""},
		"--words":         {"lang,words\nen,1e12\nar,1e11\n", append(report, "--words", pipe), ""},
		"--candidates": {`{"game": "Nim", "key": "x", "lang": "sw", "text": "x"}` + "\n",
			[]string{"locales", "translate", "--lang", "sw", "--games", "Nim", "--candidates", pipe, "--out", filepath.Join(dir, "sw")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			start := func() (*exec.Cmd, *os.File) {
				p := child(c.args...)
				p.Stderr = &said
				p.Env = append(p.Env, c.env)
				if err := p.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { p.Process.Kill() })
				w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns once the program opens it
				if err != nil {
					t.Fatal(err)
				}
				return p, w
			}
			p, w := start()
			if err := p.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			p.Wait()
			if p.ProcessState.ExitCode() != 1 || said.String() != "selfplay: stopped (interrupt)\n" {
				t.Errorf("%v: %s", p.ProcessState, said.String())
			}
			w.Close()
			p, w = start()
			if _, err := w.WriteString(c.text); err != nil {
				t.Fatal(err)
			}
			w.Close()
			if err := p.Wait(); err != nil {
				t.Errorf("%v", err)
			}
		})
	}
}
