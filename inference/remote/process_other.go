//go:build !linux

package remote

import "syscall"

// attributes of a child's process: a group of its own, which the terminal's
// Ctrl-C does not reach.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
