package remote

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Child is what a replica's process does: Serve on its standard input and output.
// What else would write to standard output, as C may, goes to standard error. The
// parent decides when the process ends: signals to all of a terminal's or a job's
// processes are ignored, and with the parent the process ends at once.
func Child(program string, open Open) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.Dup2(2, 1)
	}
	if err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	runtime.LockOSThread() // engines call C, see bench.OnEngine
	defer runtime.UnlockOSThread()
	return Serve(input{os.Stdin}, os.NewFile(uintptr(fd), "answers"), program, open)
}

// input is standard input, with which the process ends, also in the middle of a
// step or of loading.
type input struct{ *os.File }

func (in input) Read(b []byte) (int, error) {
	n, err := in.File.Read(b)
	if err != nil {
		fmt.Fprintln(os.Stderr, "replica: the end of input: the process that asked is gone")
		os.Exit(1)
	}
	return n, nil
}
