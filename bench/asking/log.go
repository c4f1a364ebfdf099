package asking

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"selfplay/inference/files"
	"selfplay/locales/wholefile"
)

// A Log is a file of JSON lines that only grows, for one process at a time. What
// is added is there once Add returns, however the process ends.
type Log[T any] struct {
	file *os.File
}

// mostLine bounds a line, in bytes.
const mostLine = 8 << 20

// OpenLog opens a log, new if it is not there, and gives what it holds. check
// refuses what this program does not write. A last line without an end was cut
// off while it was written, and is given up.
func OpenLog[T any](path string, check func(T) error) (l *Log[T], lines []T, err error) {
	file, _, err := files.OpenAs(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW)
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be written (%w): choose another folder", path, wholefile.Cause(err))
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) // ends with the process, however that ends
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil, fmt.Errorf("%s is being written by another process: wait for it, or choose another folder", path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be locked (%w): choose a folder on another file system", path, wholefile.Cause(err))
	}
	l = &Log[T]{file}
	lines, err = l.read(check)
	return l, lines, err
}

func (l *Log[T]) read(check func(T) error) ([]T, error) {
	lines, end, err := readLines(l.file, l.file.Name(), check)
	if err != nil {
		return nil, err
	}
	if err := l.file.Truncate(end); err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", l.file.Name(), wholefile.Cause(err))
	}
	_, err = l.file.Seek(end, io.SeekStart)
	return lines, err
}

// ReadLog gives what a log holds, also while another process adds to it; nothing if it is
// not there.
func ReadLog[T any](path string, check func(T) error) ([]T, error) {
	f, _, err := files.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, wholefile.Cause(err))
	}
	defer f.Close()
	lines, _, err := readLines(f, path, check)
	return lines, err
}

// readLines reads up to the end of the last whole line, which is at end.
func readLines[T any](r io.Reader, name string, check func(T) error) (lines []T, end int64, err error) {
	in := bufio.NewReaderSize(r, mostLine)
	for n := 1; ; n++ {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return lines, end, nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, 0, fmt.Errorf("%s is damaged: line %d has more than %d bytes: restore it, or remove the lines from there on", name, n, mostLine)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("cannot read %s: %w", name, wholefile.Cause(err))
		}
		var line T
		if err = json.Unmarshal(text, &line); err == nil {
			err = check(line)
		} else {
			err = errors.New("no such JSON object as this program writes")
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%s is damaged in line %d (%w): restore it, or remove the lines from there on", name, n, err)
		}
		lines = append(lines, line)
		end += int64(len(text))
	}
}

// Add writes one line down.
func (l *Log[T]) Add(line T) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		return err
	}
	if b.Len() > mostLine {
		return fmt.Errorf("%s: a line of %d bytes is too long: at most %d can be read again", l.file.Name(), b.Len(), mostLine)
	}
	if _, err := l.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("cannot write %s: %w", l.file.Name(), wholefile.Cause(err))
	}
	return nil
}

// Close makes all of it durable and lets other processes write.
func (l *Log[T]) Close() error { return errors.Join(l.file.Sync(), l.file.Close()) }
