package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"selfplay/inference"
)

// The test binary is a replica's process when this is set.
const asChild = "SELFPLAY_REMOTE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) == "" {
		os.Exit(m.Run())
	}
	if err := Child("v1", func(q Request) (inference.Engine, inference.Plan, error) {
		if q.Model == "hangs" {
			fmt.Fprintln(os.Stderr, "loading")
			select {}
		}
		return &actor{}, inference.Plan{}, nil
	}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// An actor does what the token of a batch's only row says.
type actor struct{ fakeEngine }

const (
	answers1 = iota
	prints   // to the standard output that C sees
	aborts
	exits
	killsItself
	hangs
	scribbles // into the answers
)

func (a *actor) Forward(b *inference.Batch) error {
	switch b.Rows[0].Tokens[0] {
	case prints:
		syscall.Write(1, []byte("C prints \x1b[31mthis\x1b[0m\n\n"))
	case aborts:
		for i := range 9 {
			fmt.Fprintf(os.Stderr, "line %d\n", i)
		}
		fmt.Fprintf(os.Stderr, "CUDA error: an illegal memory access%s", strings.Repeat(".", 3000))
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case exits:
		os.Exit(3)
	case killsItself:
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case hangs:
		fmt.Fprintln(os.Stderr, "hanging")
		select {}
	case scribbles:
		for fd := 3; fd < 20; fd++ { // one of them has the answers
			syscall.Write(fd, []byte("\xff\xff\xff\xffnonsense"))
		}
	}
	b.Rows[0].Token = 42
	return nil
}

// lines collects what a child says; said is closed once it is what is waited for.
type lines struct {
	mu   sync.Mutex
	all  []string
	want string
	said chan struct{}
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
	if line == l.want {
		close(l.said)
	}
}

func startChild(t *testing.T, want string) (*Engine, *lines) {
	t.Helper()
	l := &lines{want: want, said: make(chan struct{})}
	e, err := Start(t.Context(), command(l), Request{Program: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, l
}

func command(l *lines) Command {
	return Command{Name: "gpu3", Path: os.Args[0], Env: []string{asChild + "=1"}, Said: l.add}
}

func do(e *Engine, what int32) error {
	b := &inference.Batch{Rows: []inference.Row{{Tokens: []int32{what}, Sample: true}}}
	err := e.Forward(b)
	if err == nil && b.Rows[0].Token != 42 {
		return fmt.Errorf("token %d", b.Rows[0].Token)
	}
	return err
}

// A process that computes, is not disturbed by what C prints or by a terminal's
// signals, and ends when it is told to.
func TestProcess(t *testing.T) {
	e, l := startChild(t, "C prints [31mthis[0m")
	p := e.child.(*process)
	for _, what := range []int32{answers1, prints, answers1} {
		if err := do(e, what); err != nil {
			t.Fatal(err)
		}
		syscall.Kill(p.cmd.Process.Pid, syscall.SIGINT)
		syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM)
	}
	<-l.said
	if group, err := syscall.Getpgid(p.cmd.Process.Pid); err != nil || group == syscall.Getpgrp() {
		t.Errorf("the child is in group %d, %v", group, err)
	}
	if err := e.Close(); err != nil || !p.state.Success() {
		t.Errorf("%v, %v", err, p.state)
	}
	if len(l.all) != 1 {
		t.Errorf("it said %q", l.all)
	}
}

// A process that dies: the error says how, and what it wrote in the end.
func TestProcessDies(t *testing.T) {
	for _, c := range []struct {
		what int32
		want []string
	}{
		{aborts, []string{"replica gpu3", "signal: killed", "it ended", "line 7 / line 8 / CUDA error: an illegal memory access..."}},
		{exits, []string{"exit status 3", "it ended"}},
		{killsItself, []string{"signal: killed"}},
		{scribbles, []string{"signal: killed", "a message of more than"}},
	} {
		e, l := startChild(t, "")
		err := do(e, c.what)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d: %q is missing in: %v", c.what, want, err)
			}
		}
		lost, ok := errors.AsType[*Lost](err)
		if !ok || len(lost.Said) > lastLines || len(err.Error()) > (lastLines+1)*lineBytes || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v", c.what, err)
		}
		if c.what == aborts && (len(l.all) != 9+3 || !slices.Equal(l.all[len(l.all)-lastLines:], lost.Said)) {
			t.Errorf("it said %q", l.all)
		}
		if again := do(e, answers1); again != err {
			t.Errorf("%d: then %v", c.what, again)
		}
		if err := e.Close(); err != nil {
			t.Errorf("%d: closing: %v", c.what, err)
		}
	}
}

// A process that hangs is ended by another goroutine, with its reason.
func TestKill(t *testing.T) {
	e, l := startChild(t, "hanging")
	xid := errors.New("GPU 3: Xid 79, it has fallen off the bus")
	go func() {
		<-l.said
		e.Kill(xid)
		e.Kill(errors.New("a second reason"))
	}()
	err := do(e, hangs)
	if !errors.Is(err, xid) || !errors.As(err, new(*Lost)) {
		t.Errorf("got %v", err)
	}
	// Between two calls, too.
	e, _ = startChild(t, "")
	e.Kill(xid)
	if err := do(e, answers1); !errors.Is(err, xid) {
		t.Errorf("got %v", err)
	}
}

// Loading is given up with ctx; a program that is none of ours, or not there, is
// an error.
func TestStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := &lines{want: "loading", said: make(chan struct{})}
	go func() {
		<-l.said
		cancel()
	}()
	if _, err := Start(ctx, command(l), Request{Program: "v1", Model: "hangs"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	l = &lines{}
	c := command(l)
	c.Path, c.Args = "/bin/sh", []string{"-c", "echo who are you >&2; exit 2"}
	if _, err := Start(t.Context(), c, Request{}); !errors.As(err, new(*Lost)) || !strings.Contains(err.Error(), "exit status 2") || !strings.Contains(err.Error(), "who are you") {
		t.Errorf("got %v", err)
	}
	c.Path = "/nowhere/selfplay"
	if _, err := Start(t.Context(), c, Request{}); err == nil || !strings.Contains(err.Error(), "replica gpu3") || !strings.Contains(err.Error(), "/nowhere/selfplay") {
		t.Errorf("got %v", err)
	}
}

// A process ends with its input, in the middle of a step too: so it does when
// the parent dies.
func TestEndOfInput(t *testing.T) {
	e, l := startChild(t, "hanging")
	p := e.child.(*process)
	ended := make(chan error)
	go func() { ended <- do(e, hangs) }()
	<-l.said
	p.stdin.Close()
	<-p.ended
	if err := <-ended; !errors.As(err, new(*Lost)) || p.state.ExitCode() != 1 {
		t.Errorf("%v, %v", err, p.state)
	}
}
