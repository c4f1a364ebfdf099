package remote

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode"
)

// A Command starts a replica's process, which is to call Child.
type Command struct {
	Name string // of the replica, for messages
	Path string
	Args []string
	Env  []string // beside this process's
	// Said, if not nil, is told each line that the process writes to its standard
	// output and error, cleaned of control characters, by a goroutine of its own.
	Said func(line string)
}

const (
	patience  = 10 * time.Second // that a process has to end once it is to
	lastLines = 5                // that are kept of what it wrote
	lineBytes = 1 << 10          // longer lines are told in parts
)

// A process is a running child.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	ended  chan struct{}
	state  *os.ProcessState // once it has ended
	heard  chan struct{}    // closed at the end of what it writes

	mu   sync.Mutex
	said []string // the last lines
}

func start(c Command) (*process, error) {
	p := &process{cmd: exec.Command(c.Path, c.Args...), ended: make(chan struct{}), heard: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.SysProcAttr = attributes()
	var stderr io.ReadCloser
	var errs [3]error
	p.stdin, errs[0] = p.cmd.StdinPipe()
	p.stdout, errs[1] = p.cmd.StdoutPipe()
	stderr, errs[2] = p.cmd.StderrPipe()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	started := make(chan error)
	go func() {
		// A child that dies with its parent does so with the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.state, _ = p.cmd.Process.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	go p.hear(stderr, c.Said)
	return p, nil
}

// hear reads what the process writes.
func (p *process) hear(r io.ReadCloser, said func(string)) {
	defer close(p.heard)
	defer r.Close()
	lines := bufio.NewReaderSize(r, lineBytes)
	for {
		line, err := lines.ReadSlice('\n')
		if text := plain(string(line)); text != "" {
			p.mu.Lock()
			p.said = append(p.said[max(0, len(p.said)+1-lastLines):], text)
			p.mu.Unlock()
			if said != nil {
				said(text)
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// plain is text on one line, without what could change a terminal.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.C, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.TrimSpace(text)
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.stdout.Close() // a process that hangs in a driver may not end
	p.stdin.Close()
}

func (p *process) exit() (how string, said []string) {
	if !within(patience, p.ended) {
		p.kill()
		how = "killed, since it did not end by itself"
		if !within(patience, p.ended) {
			how = "it can't be killed"
		}
	}
	within(patience, p.heard)
	p.stdout.Close()
	p.stdin.Close()
	select {
	case <-p.ended:
		if how == "" {
			how = fmt.Sprintf("process %d, %s", p.cmd.Process.Pid, p.state)
		}
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return how, p.said
}

// within says whether done is closed in that time.
func within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
