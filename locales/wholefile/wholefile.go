// Package wholefile writes files that are whole or not there.
package wholefile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes a file of what write writes, or leaves what was there: the file appears
// under its name when all of it is on the disk. Errors of the disk name the file, also
// where write gives them; others of write are given as they are.
func Write(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("cannot write %s: it is there and is no file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, Cause(err))
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(named{f, path}, 1<<16)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err != nil {
		f.Close()
		return err
	}
	err = errors.Join(f.Chmod(0o644), f.Sync())
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, Cause(err))
	}
	return nil
}

// A named file is one whose errors tell another path than the one that it has until it
// is whole.
type named struct {
	f    io.Writer
	path string
}

func (n named) Write(p []byte) (int, error) {
	written, err := n.f.Write(p)
	if err != nil {
		err = fmt.Errorf("cannot write %s: %w", n.path, Cause(err))
	}
	return written, err
}

// Bytes makes a file of these, as Write does.
func Bytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Cause drops the operation and path that the os package puts in front of an error, for
// messages that name the path themselves, or another one.
func Cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
