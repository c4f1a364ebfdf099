package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// A guard gives a terminal back that this program had when it was killed, or died in
// C, where nothing is left of it that could: it is another process, which sees that
// its input ends.
type guard struct {
	cmd  *exec.Cmd
	word io.WriteCloser
}

const guardName = "terminal-guard"

// What a guard is told.
const (
	terminalTaken = 't'
	terminalGiven = 'g'
)

// startGuard starts one for a terminal whose modes nobody has changed yet.
func startGuard(terminal *os.File) (*guard, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &guard{cmd: exec.Command(program, guardName)}
	g.cmd.ExtraFiles = []*os.File{terminal}
	ready, err := g.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if g.word, err = g.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
		g.close()
		return nil, fmt.Errorf("the process that guards the terminal is not there: %w", err)
	}
	return g, nil
}

// taken and given say that the terminal has the view's modes, or no longer. A guard
// that is gone is none, and no reason to stop.
func (g *guard) taken() { g.tell(terminalTaken) }
func (g *guard) given() { g.tell(terminalGiven) }

func (g *guard) tell(word byte) {
	if g != nil {
		g.word.Write([]byte{word})
	}
}

func (g *guard) close() {
	if g != nil {
		g.word.Close()
		g.cmd.Wait()
	}
}

// guardCommand is what the process runs.
func guardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    guardName,
		Short:  "Give the terminal back that another selfplay process had",
		Hidden: true,
		Args:   asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			// It is to outlive what ends the other one, and what the terminal stops.
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
			return guardTerminal(c.InOrStdin(), c.OutOrStdout(), os.NewFile(3, "terminal"))
		},
	}
}

// guardTerminal gives the terminal back when the words end while it is taken: unless
// its modes are others by then, which a shell may have set.
func guardTerminal(words io.Reader, ready io.Writer, terminal *os.File) error {
	before, err := term.GetState(terminal.Fd())
	if err != nil {
		return usagef("%s is for selfplay itself, which gives it a terminal: %w", guardName, err)
	}
	if _, err := ready.Write([]byte{terminalGiven}); err != nil {
		return err
	}
	var taken *term.State // the modes that it has then
	word := make([]byte, 1)
	for {
		if _, err := words.Read(word); err != nil {
			break
		}
		taken = nil
		if word[0] == terminalTaken {
			taken, _ = term.GetState(terminal.Fd())
		}
	}
	if taken == nil {
		return nil
	}
	if now, err := term.GetState(terminal.Fd()); err == nil && *now == *taken {
		term.Restore(terminal.Fd(), before)
	}
	_, err = io.WriteString(terminal, ansi.ResetModeSynchronizedOutput+ansi.ResetStyle+ansi.ResetModifyOtherKeys+ansi.PopKittyKeyboard(1)+
		ansi.ResetModeAltScreenSaveCursor+ansi.SetModeTextCursorEnable)
	return err
}
