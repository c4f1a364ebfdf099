package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"selfplay/bench"
	"selfplay/bench/live"
	"selfplay/bench/screen"
)

const (
	viewAfter   = 300 * time.Millisecond // a run that is over sooner is not worth a screen
	viewEvery   = 250 * time.Millisecond // how often the view is made anew, but for keys
	viewFrames  = 20                     // a second at most, where keys are pressed
	patientFor  = 3 * time.Second        // with a terminal that takes nothing
	resumeAfter = 500 * time.Millisecond // where nobody stops a program that wants to be
)

// playInView plays, and shows the run while it is played if there is a terminal for
// that. Elsewhere lines of progress do.
func playInView(ctx context.Context, c *cobra.Command, quiet bool, o bench.Options) (bench.Summary, error) {
	if quiet {
		return bench.Play(ctx, o)
	}
	stderr := shared(c)
	out, in, ok := terminalFor(stderr, c.InOrStdin())
	if !ok {
		return bench.Play(ctx, o)
	}
	begun := time.Now()
	clock := func() time.Duration { return time.Since(begun) }
	gate := live.NewGate(clock)
	v := &liveView{
		Collector: live.NewCollector(o.Experiment, clock, gate, loadOf(o.Watch)),
		gate:      gate, stderr: stderr, in: in, out: out,
		over: make(chan struct{}), gone: make(chan struct{}),
	}
	o.Viewer, o.Hold, o.Progress, o.Doing = v, gate.Hold, v, v.Doing
	v.start()
	defer v.close() // also if it panics: what that says is to be read
	return bench.Play(ctx, o)
}

// A liveView is the screen that a run is shown on. It is also where the lines of
// progress go: they are held back while the screen is up.
type liveView struct {
	*live.Collector
	gate    *live.Gate
	stderr  *sharedWriter
	in, out *os.File

	guard *guard // nil: none could be started

	over chan struct{} // closed when there is nothing more to show
	gone chan struct{} // closed when the screen is gone

	mu       sync.Mutex
	program  *tea.Program // nil before the screen is up
	up       bool
	killed   bool     // by a second signal
	released bool     // up, but the terminal is the shell's, see suspension
	said     []string // what was written to standard error while the screen was up
	progress string   // the last line of progress meanwhile
}

// start shows the view, soon.
func (v *liveView) start() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, append(obeyed([]os.Signal{syscall.SIGHUP}), os.Interrupt, syscall.SIGTERM)...)
	go v.obey(signals)
	go func() {
		defer close(v.gone)
		defer signal.Stop(signals)
		select {
		case <-v.over:
			return
		case <-time.After(viewAfter):
		}
		var err error
		if v.guard, err = startGuard(v.in); err != nil {
			fmt.Fprintf(v.stderr, "selfplay: warning: %v: should this program be killed, reset gives the terminal back\n", err)
		}
		defer v.guard.close()
		v.show()
		v.guard.given()
	}()
}

// show has the terminal until the run is over.
func (v *liveView) show() {
	options := []tea.ProgramOption{tea.WithInput(v.in), tea.WithOutput(v.out), tea.WithFPS(viewFrames), tea.WithoutSignalHandler()}
	if os.Getenv("NO_COLOR") != "" { // whatever it says
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	program := tea.NewProgram(terminalModel{v: v, Model: live.NewModel(screen.Turns(os.Getenv)).See(v.Snapshot())}, options...)
	v.mu.Lock()
	v.program, v.up = program, true
	v.mu.Unlock()
	v.stderr.divert(v.take)
	_, err := program.Run()
	v.mu.Lock()
	v.up = false
	killed := v.killed
	v.mu.Unlock()
	v.give()
	if err != nil && !killed {
		fmt.Fprintf(v.stderr, "selfplay: warning: the view of the run was lost (%v); lines of progress follow\n", err)
	}
}

// close takes the screen down, and leaves the last state on the terminal.
func (v *liveView) close() {
	close(v.over)
	v.mu.Lock()
	program, released := v.program, v.released
	v.mu.Unlock()
	if program != nil && !released {
		go program.Quit()
	}
	select {
	case <-v.gone:
	case <-v.patience(released):
		if program != nil && !released {
			go program.Kill()
			select { // what follows would be lost with the screen
			case <-v.gone:
			case <-time.After(patientFor):
			}
		}
	}
	v.mu.Lock()
	line := v.progress
	v.up, v.progress = false, ""
	v.mu.Unlock()
	v.give()
	if line == "" {
		return
	}
	io.WriteString(v.stderr, line)
	if last := live.Last(v.Snapshot()); last != "" {
		fmt.Fprintln(v.stderr, last)
	}
}

// release says that the terminal is the shell's for a while, or the view's again.
func (v *liveView) release(released bool) {
	v.mu.Lock()
	v.released = released
	v.mu.Unlock()
	if released {
		v.guard.given()
		v.give()
	} else {
		v.stderr.divert(v.take)
	}
}

// give writes what was held back of standard error, which is nobody's again.
func (v *liveView) give() {
	v.stderr.divert(nil)
	v.mu.Lock()
	said := v.said
	v.said = nil
	v.mu.Unlock()
	for _, text := range said {
		io.WriteString(v.stderr, text)
	}
}

// patience ends when the screen is not waited for any more.
func (v *liveView) patience(released bool) <-chan time.Time {
	if released { // it waits for the shell to give the terminal back
		return time.After(0)
	}
	return time.After(patientFor)
}

// Write takes a line of progress.
func (v *liveView) Write(b []byte) (int, error) {
	v.mu.Lock()
	up := v.up && !v.released
	if up {
		v.progress = string(b)
	}
	v.mu.Unlock()
	if up {
		return len(b), nil
	}
	return v.stderr.Write(b)
}

// take keeps what is written to standard error while the screen is up.
func (v *liveView) take(text string) {
	v.mu.Lock()
	v.said = append(v.said, text)
	v.mu.Unlock()
	for line := range strings.Lines(text) {
		v.Note(strings.TrimSpace(line))
	}
}

// obey has the run stop at the first signal, as that does without a view. The
// second one ends the program, as that does too, with the terminal as it was.
func (v *liveView) obey(signals <-chan os.Signal) {
	for first := true; ; first = false {
		var s os.Signal
		select {
		case s = <-signals:
		case <-v.gone:
			return
		}
		if first {
			v.Stop()
			continue
		}
		v.mu.Lock()
		program := v.program
		v.killed = true
		v.mu.Unlock()
		done := make(chan struct{})
		go func() {
			defer close(done)
			if program != nil {
				program.Kill()
			}
		}()
		select {
		case <-done:
		case <-time.After(patientFor):
		}
		signal.Reset(s)
		syscall.Kill(os.Getpid(), s.(syscall.Signal))
	}
}
