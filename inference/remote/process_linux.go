package remote

import "syscall"

// attributes of a child's process: a group of its own, which the terminal's
// Ctrl-C does not reach, and the end with its parent.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
