package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"selfplay/bench"
	"selfplay/bench/live"
)

// terminalFor gives the terminal that a view can be shown on, and where its keys come
// from; false if there is none, if it can't move its cursor, or if it is another
// program's by now, as for one started in the background.
func terminalFor(stderr *sharedWriter, stdin io.Reader) (out, in *os.File, ok bool) {
	out, isFile := fileOf(stderr)
	if !isFile || !movesCursor(out) {
		return nil, nil, false
	}
	if in, isFile = stdin.(*os.File); !isFile || !isForeground(in) {
		var err error
		if in, err = os.Open("/dev/tty"); err != nil {
			return nil, nil, false
		}
	}
	return out, in, isForeground(out) && isForeground(in)
}

// isForeground says whether f is a terminal whose keys go to this program.
func isForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// loadOf tells how busy the watched GPUs are, or without any the cores.
func loadOf(w bench.Watch) func() live.Load {
	if w == nil {
		read := func(path string) string { text, _ := os.ReadFile(path); return string(text) }
		cores := live.NewCores(func() string { return read("/proc/stat") }, read("/proc/self/status"))
		return func() live.Load { return live.Load{Cores: cores.Load()} }
	}
	devices := w.Devices()
	return func() (l live.Load) {
		for _, s := range w.Latest() {
			g := live.GPU{Util: s.Util, Power: s.Power, Used: s.Used, Temperature: s.Temperature}
			if s.GPU < len(devices) {
				g.Name = devices[s.GPU].Name
			}
			l.GPUs = append(l.GPUs, g)
		}
		return l
	}
}

// terminalModel is the view as bubbletea drives it.
type terminalModel struct {
	live.Model
	v *liveView
}

type tick struct{}

func nextTick() tea.Cmd { return tea.Tick(viewEvery, func(time.Time) tea.Msg { return tick{} }) }

func (m terminalModel) Init() tea.Cmd { return nextTick() }

func (m terminalModel) View() tea.View {
	return tea.View{Content: live.View(m.Model), AltScreen: true, DisableBracketedPasteMode: true}
}

func (m terminalModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tick:
		m.v.guard.taken() // it is drawn by now
		m.Model = m.See(m.v.Snapshot())
		return m, nextTick()
	case tea.WindowSizeMsg:
		m.Model = m.Resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		var action live.Action
		m.Model, action = m.Press(msg.String())
		cmd := m.do(action)
		m.Model = m.See(m.v.Snapshot())
		return m, cmd
	}
	return m, nil
}

// do does what a key asks for.
func (m terminalModel) do(a live.Action) tea.Cmd {
	switch a {
	case live.Pause:
		m.v.gate.Toggle()
	case live.Stop:
		syscall.Kill(os.Getpid(), syscall.SIGINT)
	case live.NextGame:
		m.v.Another(1)
	case live.PreviousGame:
		m.v.Another(-1)
	case live.Redraw:
		return tea.ClearScreen
	case live.Suspend:
		return tea.Exec(&suspension{m.v}, func(error) tea.Msg { return nil })
	}
	return nil
}

// A suspension is what bubbletea gives the terminal away for: the program stops, as
// any does at ctrl-z, until the shell has it go on.
type suspension struct{ v *liveView }

func (s *suspension) SetStdin(io.Reader)  {}
func (s *suspension) SetStdout(io.Writer) {}
func (s *suspension) SetStderr(io.Writer) {}

// Run returns once the terminal is this program's again. In the background the run
// goes on without it.
func (s *suspension) Run() error {
	s.v.release(true)
	from := time.Now()
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	syscall.Kill(0, syscall.SIGTSTP) // and what is in a pipe with it
	select {
	case <-goesOn:
	case <-time.After(resumeAfter): // no shell looks after it, then it was not stopped
	}
	s.v.gate.Skip(time.Since(from))
	for !isForeground(s.v.in) {
		select {
		case <-s.v.over:
			select {} // it must not touch the terminal any more, and the program is about to end
		case <-time.After(resumeAfter):
		}
	}
	s.v.release(false)
	return nil
}
