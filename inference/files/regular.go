package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Open opens for reading what must be a regular file, and gives its size in bytes.
// What a name in a folder from elsewhere leads to may have no end, as a device, or
// never begin, as a pipe: both are refused, and not waited for.
func Open(path string) (*os.File, int64, error) { return OpenAs(path, os.O_RDONLY) }

// OpenAs is Open with flags of os.OpenFile. A file that they make is for all to read.
func OpenAs(path string, flags int) (*os.File, int64, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a file")}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// Read gives the content of a regular file of at most so many bytes. A size is soon
// claimed: a file with holes takes no room.
func Read(path string, most int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has %d bytes, and no such file more than %d", size, most)}
	}
	b := make([]byte, size)
	n, err := io.ReadFull(f, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // it has become shorter; its reader says what is missing
	}
	return b[:n], err
}
