package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"selfplay/bench"
)

// endings are the signals that end what the program does: SIGHUP is the terminal's end.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// obeyed are those of some signals that the program was not started to ignore, as nohup
// does it.
func obeyed(some []os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(some), signal.Ignored)
}

// A stopper has a signal end whatever the program does, in one line: but for what takes
// the signals itself meanwhile, since it has something to keep.
type stopper struct {
	mu    sync.Mutex
	on    bool // false: nobody in this process is to obey
	taken int  // by how many the signals are taken
	got   chan os.Signal
}

// stops is the process's: signals are.
var stops = stopper{got: make(chan os.Signal, 1)}

// begin has the process obey.
func (s *stopper) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = true
	s.listen()
}

// listen is called where nobody has taken the signals.
func (s *stopper) listen() {
	if on := obeyed(endings); s.on && len(on) > 0 { // without any it would be all there are
		signal.Notify(s.got, on...)
	}
}

// take leaves the signals to the caller, who listens to them already, until they are
// given back.
func (s *stopper) take() (giveBack func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken++; s.taken == 1 {
		signal.Stop(s.got)
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.taken--; s.taken == 0 {
			s.listen()
		}
	})
}

// unlessStopped does what ends the program, or is ended by a signal. What is half done
// then ends with the process.
func (s *stopper) unlessStopped(do func() (*cobra.Command, error)) (*cobra.Command, error) {
	type ended struct {
		c   *cobra.Command
		err error
	}
	done := make(chan ended, 1)
	go func() {
		c, err := do()
		done <- ended{c, err}
	}()
	select {
	case e := <-done:
		return e.c, e.err
	case got := <-s.got:
		return nil, fmt.Errorf("stopped (%v)", got)
	}
}

// interruptible is a context that an interrupt ends, or SIGTERM or SIGHUP, after which
// there may be little time: its cause is bench.ErrHurry then. A second interrupt ends
// the program at once. SIGTERM may come again, since clusters send it to every process
// of a job and scripts hand it on.
func interruptible(c *cobra.Command) (context.Context, context.CancelFunc) {
	hurried, hurry := context.WithCancelCause(c.Context())
	term := make(chan os.Signal, 1)
	signal.Notify(term, append(obeyed([]os.Signal{syscall.SIGHUP}), syscall.SIGTERM)...)
	go func() {
		if _, ok := <-term; ok {
			hurry(bench.ErrHurry)
		}
	}()
	ctx, stop := signal.NotifyContext(hurried, os.Interrupt)
	giveBack := stops.take()
	context.AfterFunc(ctx, stop)
	return ctx, sync.OnceFunc(func() {
		if errors.Is(context.Cause(hurried), bench.ErrHurry) { // one more is not to kill what ends
			stop()
			return
		}
		giveBack()
		stop()
		signal.Stop(term)
		close(term)
	})
}

// unlessEnded has the model loaded, which nothing stops in the middle, unless ctx ends
// before. What is half loaded then ends with the program.
func unlessEnded(ctx context.Context, load func() error) error {
	loaded := make(chan error, 1)
	go func() { loaded <- load() }()
	select {
	case err := <-loaded:
		return err
	case <-ctx.Done():
		return fmt.Errorf("stopped (%w) before the model was loaded", ctx.Err())
	}
}
