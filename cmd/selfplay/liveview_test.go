package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// onTerminal is the program on a pseudo terminal, and what is to be seen on that.
type onTerminal struct {
	t        *testing.T
	cmd      *exec.Cmd
	pty, tty *os.File
	screen   *vt.Emulator
	before   unix.Termios
	output   chan []byte // closed once there is no more
	all      bytes.Buffer
}

// patience is far more than anything here takes; a test that waits longer has failed.
const patience = 2 * time.Minute

func startOnTerminal(t *testing.T, cols, rows uint16, c *exec.Cmd, env ...string) *onTerminal {
	t.Helper()
	x := &onTerminal{t: t, cmd: c, screen: vt.NewEmulator(int(cols), int(rows)), output: make(chan []byte)}
	var err error
	if x.pty, x.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	pty.Setsize(x.pty, &pty.Winsize{Cols: cols, Rows: rows})
	x.before = x.modes()
	c.Stdin, c.Stdout, c.Stderr = x.tty, x.tty, x.tty
	c.Env = append(append(c.Env, "TERM=xterm-256color", "NO_COLOR=", "SELFPLAY_BIDI=program"), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	go func() {
		defer close(x.output)
		for {
			chunk := make([]byte, 4096)
			n, err := x.pty.Read(chunk)
			if err != nil {
				return
			}
			x.output <- chunk[:n]
		}
	}()
	go io.Copy(x.pty, x.screen) // what a terminal answers when it is asked
	return x
}

// modes are those of the terminal: echo, line by line, and so on.
func (x *onTerminal) modes() unix.Termios {
	m, err := unix.IoctlGetTermios(int(x.tty.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return *m
}

func (x *onTerminal) press(keys string) { io.WriteString(x.pty, keys) }

// until draws what comes until the screen is as wanted, and gives it.
func (x *onTerminal) until(what string, wanted func(screen string) bool) string {
	x.t.Helper()
	for limit := time.After(patience); ; {
		if s := x.screen.String(); wanted(s) {
			return s
		}
		select {
		case chunk, ok := <-x.output:
			if !ok {
				x.t.Fatalf("it ended before there was %s:\n%s", what, x.screen.String())
			}
			x.draw(chunk)
		case <-limit:
			x.t.Fatalf("no %s:\n%s", what, x.screen.String())
		}
	}
}

func (x *onTerminal) shows(part string) string {
	x.t.Helper()
	return x.until(fmt.Sprintf("%q", part), func(s string) bool { return strings.Contains(s, part) })
}

// pause presses the key and waits until the view's own clock has gone on for two
// seconds in which no game ended and no answer came: what had ended before may still be
// on its way to the view. It gives how many games have ended.
func (x *onTerminal) pause() int {
	x.t.Helper()
	x.press(" ")
	x.shows("paused")
	last, since := "", 0
	return endedOn(x.until("a pause", func(s string) bool {
		if counts := fmt.Sprint(endedOn(s), answersGiven.FindString(s)); counts != last {
			last, since = counts, secondOn(s)
		}
		return secondOn(s) >= since+2
	}))
}

func (x *onTerminal) draw(chunk []byte) {
	x.all.Write(chunk)
	x.screen.Write(chunk)
}

// ends waits for the program's end and checks that the terminal is as it was. It
// gives the exit code and what was left on the screen.
func (x *onTerminal) ends() (code int, left string) {
	x.t.Helper()
	ended := make(chan struct{})
	go func() { x.cmd.Wait(); close(ended) }()
	for limit := time.After(patience); ended != nil; {
		select {
		case chunk := <-x.output:
			x.draw(chunk)
		case <-ended:
			ended = nil
		case <-limit:
			x.t.Fatalf("it does not end:\n%s", x.screen.String())
		}
	}
	if got := x.modes(); got != x.before {
		x.t.Errorf("the terminal's modes are %+v, and were %+v", got, x.before)
	}
	x.tty.Close()
	for chunk := range x.output {
		x.draw(chunk)
	}
	if x.screen.IsAltScreen() || x.screen.CursorHidden() {
		x.t.Errorf("another screen %v, no cursor %v", x.screen.IsAltScreen(), x.screen.CursorHidden())
	}
	return x.cmd.ProcessState.ExitCode(), x.screen.String()
}

var (
	gamesEnded   = regexp.MustCompile(`([\d,]+) of [\d,]+ games`)
	answersGiven = regexp.MustCompile(`[\d,.k]+ answers`)
	clockShown   = regexp.MustCompile(`(\d+):(\d\d):(\d\d)`)
)

// secondOn is the time on the view's clock, in seconds.
func secondOn(screen string) (seconds int) {
	if m := clockShown.FindStringSubmatch(screen); m != nil {
		for _, part := range m[1:] {
			n, _ := strconv.Atoi(part)
			seconds = 60*seconds + n
		}
	}
	return seconds
}

// endedOn is how many games have ended, by what a screen says first.
func endedOn(screen string) int {
	if m := gamesEnded.FindStringSubmatch(screen); m != nil {
		n, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		return n
	}
	return 0
}

// TestLiveView plays far more than it waits for, presses the keys of the view, and
// stops. Every game that ended meanwhile is the one that is played without a view.
func TestLiveView(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	args := func(dir string, n int) []string {
		return []string{"bench", "--model", "synthetic:qwen3-tiny", "--games", "TicTacToe,Nim", "--langs", "en,he,zh", "--n", strconv.Itoa(n),
			"--max-tokens", "4", "--slots", "6", "--context", "2000", "--run", dir}
	}
	x := startOnTerminal(t, 80, 24, child(args(dir, 1000)...))
	first := endedOn(x.until("view with ended games", func(s string) bool { return endedOn(s) > 0 && strings.Contains(s, "playing") }))
	if !x.screen.IsAltScreen() {
		t.Error("it draws over what was on the screen")
	}
	x.until("margins and moves", func(s string) bool {
		return strings.Contains(s, "TicTacToe-v0") && strings.Contains(s, "he") && strings.Contains(s, "  1 ") && strings.Contains(s, "seat 0")
	})
	x.press("\t")
	x.shows("truncated")
	x.press("\t")
	x.shows("turn ")
	x.press("\t")
	x.shows("machine")
	x.press("?")
	x.shows("any key leaves this help")
	x.press("x1") // back, and to the first view
	x.press("\x1b[C")
	x.shows("game 2 of 2")

	paused := x.pause()
	x.press("\x1b[D")
	if s := x.shows("game 1 of 2"); endedOn(s) != paused || paused < first {
		t.Errorf("%d games have ended, %d when it paused, %d before", endedOn(s), paused, first)
	}
	x.press(" ")
	x.until("more games", func(s string) bool { return endedOn(s) > paused && strings.Contains(s, "playing") })

	pty.Setsize(x.pty, &pty.Winsize{Cols: 50, Rows: 12})
	x.screen.Resize(50, 12)
	x.until("a smaller view", func(s string) bool { return strings.Contains(s, "q stop") && strings.Contains(s, "he ") })
	pty.Setsize(x.pty, &pty.Winsize{Cols: 200, Rows: 100}) // the rest is to stay on it
	x.screen.Resize(200, 100)
	x.until("a larger view", func(s string) bool { return strings.Contains(s, "machine") })

	x.press("\x03")
	code, left := x.ends()
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, part := range []string{"in this session: ", "results: ", "resume with: ", "stopped"} {
		if !strings.Contains(left, part) {
			t.Errorf("no %q is left:\n%s", part, left)
		}
	}
	sameGames(t, dir, args)
}

// sameGames plays what a run holds again, without any view.
func sameGames(t *testing.T, dir string, args func(dir string, n int) []string) {
	t.Helper()
	held := linesByID(t, dir)
	n := 0
	for _, g := range held {
		n = max(n, g.Index+1)
	}
	again := filepath.Join(t.TempDir(), "again")
	if r := selfplay("", append(args(again, n), "--quiet")...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	want := linesByID(t, again)
	for id, g := range held {
		if g.line != want[id].line {
			t.Fatalf("game %s is %s\nand without a view %s", id, g.line, want[id].line)
		}
	}
	t.Logf("%d games", len(held))
}

type exportedGame struct {
	ID    string
	Index int
	line  string
}

func linesByID(t *testing.T, dir string) map[string]exportedGame {
	t.Helper()
	games := map[string]exportedGame{}
	for line := range strings.Lines(export(t, dir)) {
		g := exportedGame{line: line}
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		games[g.ID] = g
	}
	return games
}

// What is said of a replica that is lost is seen in the view, and left behind. A run
// that fails takes the view down like any other end.
func TestLiveViewOfLostReplicas(t *testing.T) {
	for _, c := range []struct {
		name string
		die  int
		said []string
	}{
		{"one", 1, []string{"warning: replica cpu", "resume with: "}},
		{"all", 2, []string{"warning: replica cpu", "no replica is left"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := startOnTerminal(t, 100, 80, child("bench", "--model", "synthetic:qwen3-tiny", "--games", "TicTacToe", "--langs", "en", "--n", "1000",
				"--max-tokens", "4", "--slots", "4", "--context", "2000", "--replicas", "2", "--run", filepath.Join(t.TempDir(), "run")))
			x.shows("playing")
			for _, pid := range childrenNamed(replicaName, x.cmd.Process.Pid)[:c.die] {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			if c.die == 1 {
				x.shows("1 of 2 replicas lost")
				x.shows("selfplay: warning: replica cpu")
				x.press("q")
			}
			code, left := x.ends()
			if code != 1 {
				t.Errorf("exit code %d", code)
			}
			for _, part := range c.said {
				if !strings.Contains(left, part) {
					t.Errorf("no %q is left:\n%s", part, left)
				}
			}
		})
	}
}

// childrenNamed are the processes that a process has started to run that command.
func childrenNamed(command string, parent int) (named []int) {
	for _, pid := range childrenOf(parent) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if args := strings.Split(string(line), "\x00"); len(args) > 1 && args[1] == command {
			named = append(named, pid)
		}
	}
	return named
}

// A player that ends thousands of games a second is shown too, and two interrupts
// while it is paused leave the terminal as it was.
func TestLiveViewOfFastGames(t *testing.T) {
	x := startOnTerminal(t, 80, 24, child("bench", "--model", "builtin:random", "--games", "TicTacToe", "--langs", "en,ar", "--n", "100000",
		"--run", filepath.Join(t.TempDir(), "run")))
	x.until("a game", func(s string) bool {
		return endedOn(s) > 100 && strings.Contains(s, "TicTacToe-v0/") && strings.Contains(s, "turn ")
	})
	paused := x.pause()
	x.press("\t")
	if s := x.shows("length  context"); endedOn(s) != paused {
		t.Errorf("%d games have ended, %d when it paused", endedOn(s), paused)
	}
	x.press("\x03\x03")
	x.ends() // by the signal, or just before it
}

// One that is killed cannot give the terminal back, but its guard does.
func TestLiveViewKilled(t *testing.T) {
	program := child("bench", "--model", "builtin:random", "--games", "TicTacToe", "--langs", "en", "--n", "100000", "--run", filepath.Join(t.TempDir(), "run"))
	shell := exec.Command("sh", append([]string{"-c", `"$0" "$@"; echo it is gone`}, program.Args...)...)
	shell.Env = program.Env
	x := startOnTerminal(t, 80, 24, shell)
	first := endedOn(x.shows("playing"))
	x.until("a newer view", func(s string) bool { return endedOn(s) > first })
	for _, pid := range childrenNamed("bench", shell.Process.Pid) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	x.until("the screen as it was", func(string) bool { return !x.screen.IsAltScreen() })
	if code, left := x.ends(); code != 0 || !strings.Contains(left, "planned: ") {
		t.Errorf("exit code %d, left is:\n%s", code, left)
	}
}

// Where a view would be no good there are lines.
func TestNoLiveView(t *testing.T) {
	for _, c := range []struct {
		name, flag, env string
		lines           bool
	}{
		{"a terminal that can't move its cursor", "--json", "TERM=dumb", true},
		{"quiet", "--quiet", "TERM=xterm", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := startOnTerminal(t, 200, 100, child("bench", "--model", "builtin:random", "--games", "TicTacToe", "--langs", "en,de",
				"--n", "2", "--run", filepath.Join(t.TempDir(), "run"), c.flag), c.env)
			code, left := x.ends()
			if code != 0 || bytes.ContainsRune(x.all.Bytes(), '\x1b') {
				t.Errorf("exit code %d, wrote %q", code, x.all.String())
			}
			if has := strings.Contains(left, "12 of 12 games, 100%"); has != c.lines {
				t.Errorf("lines of progress %v:\n%s", has, left)
			}
		})
	}
}
