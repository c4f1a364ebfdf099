package files

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Sum gives the size of a model's file and the sha256 of its bytes. A file that
// has not changed since is not read again.
func (f *Finder) Sum(ctx context.Context, m Model) (size int64, sum string, err error) {
	s, err := f.sum(ctx, m.Path)
	if err == nil && m.digest != "" && s.SHA256 != m.digest {
		err = fmt.Errorf("%s: damaged, its bytes do not have the sum in its name: pull the model again", m.Path)
	}
	return s.Size, s.SHA256, err
}

// A sumRecord is kept for each file that was summed.
type sumRecord struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Time   int64  `json:"mtime"` // nanoseconds
	SHA256 string `json:"sha256"`
}

// settled is how long a file must have lain unchanged for its time to tell
// whether it changes: file systems count in ticks.
const settled = 2 * time.Second

func (f *Finder) sum(ctx context.Context, path string) (sumRecord, error) {
	file, _, err := Open(path)
	if err != nil {
		return sumRecord{}, err
	}
	defer file.Close()
	now, err := f.describe(file)
	if err != nil {
		return sumRecord{}, err
	}
	if old, ok := f.recall(now.Path); ok && old.Size == now.Size && old.Time == now.Time {
		return old, nil
	}
	started := time.Now()
	h := sha256.New()
	g := &gauge{ctx: ctx, w: h, total: now.Size}
	if now.Size > 1<<30 { // what takes seconds
		g.tell = f.progress("reading " + filepath.Base(path))
	}
	if _, err := io.Copy(g, file); err != nil {
		return sumRecord{}, fmt.Errorf("%s: %w", path, err)
	}
	now.SHA256 = hex.EncodeToString(h.Sum(nil))
	after, err := f.describe(file)
	if err != nil {
		return sumRecord{}, err
	}
	if after.Size != now.Size || after.Time != now.Time {
		return sumRecord{}, fmt.Errorf("%s changes while it is read: wait until it is whole", path)
	}
	if started.Sub(time.Unix(0, now.Time)) > settled {
		f.remember(now)
	}
	return now, nil
}

// describe names a file by its one true path.
func (f *Finder) describe(file *os.File) (sumRecord, error) {
	path, err := filepath.Abs(file.Name())
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return sumRecord{}, err
	}
	st, err := file.Stat()
	if err != nil {
		return sumRecord{}, err
	}
	return sumRecord{Path: path, Size: st.Size(), Time: st.ModTime().UnixNano()}, nil
}

func (f *Finder) recordOf(path string) string {
	h := sha256.Sum256([]byte(path))
	return filepath.Join(f.Cache, "sums", hex.EncodeToString(h[:12])+".json")
}

func (f *Finder) recall(path string) (s sumRecord, ok bool) {
	b, err := Read(f.recordOf(path), mostText)
	return s, err == nil && json.Unmarshal(b, &s) == nil && s.Path == path && len(s.SHA256) == 2*sha256.Size
}

// remember keeps a sum. Where it cannot, the file will only be read again.
func (f *Finder) remember(s sumRecord) {
	if b, err := json.Marshal(s); err == nil {
		writeWhole(f.recordOf(s.Path), func(w io.Writer) error {
			_, err := w.Write(b)
			return err
		})
	}
}

// converted gives the path in the cache of a file with that key, made from what
// has that name. exists is whether it is there, whatever it was made from: the
// key says all about the contents.
func (f *Finder) converted(name, key string) (path string, exists bool) {
	dir := filepath.Join(f.Cache, "converted")
	same, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*-"+key+".gguf"))
	for _, path := range same {
		if _, err := readHeader(path); err == nil {
			return path, true
		}
	}
	return filepath.Join(dir, name+"-"+key+".gguf"), false
}

func escapeGlob(path string) string {
	var out []rune
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' {
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}

// keep writes a file of the cache and remembers its sum.
func (f *Finder) keep(ctx context.Context, path, doing string, total int64, write func(w io.Writer) error) error {
	h := sha256.New()
	err := writeWhole(path, func(w io.Writer) error {
		return write(&gauge{ctx: ctx, w: io.MultiWriter(w, h), total: total, tell: f.progress(doing)})
	})
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s was interrupted", doing)
	case err != nil:
		return fmt.Errorf("%s: %w", doing, err)
	}
	file, _, err := Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	s, err := f.describe(file)
	s.SHA256 = hex.EncodeToString(h.Sum(nil))
	if err == nil {
		f.remember(s)
	}
	return err
}

// writeWhole writes a file under another name first, so that it is whole or not
// there at all. Processes that write the same file do not disturb each other:
// each has a name of its own, and the last one's stays.
func writeWhole(path string, write func(w io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%w: set XDG_CACHE_HOME to a folder that can be written", err)
	}
	sweep(dir)
	part, err := createPart(dir)
	if err != nil {
		return fmt.Errorf("%w: set XDG_CACHE_HOME to a folder that can be written", err)
	}
	defer func() {
		part.Close()
		if err != nil {
			os.Remove(part.Name())
		}
	}()
	out := bufio.NewWriterSize(part, 1<<20)
	if err = write(out); err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = part.Sync()
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("no room in %s: free some, or set XDG_CACHE_HOME to another folder: %w", dir, err)
	}
	if err != nil {
		return err
	}
	if err = os.Chmod(part.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}

const partPattern = "unfinished-*.part"

// createPart makes an empty file that is locked as long as this process writes
// it, so that others can tell it from one whose writer died.
func createPart(dir string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(dir, partPattern)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			f.Close()
			os.Remove(f.Name())
			return nil, err
		}
		if _, err := os.Lstat(f.Name()); err == nil {
			return f, nil
		}
		f.Close() // swept away between the two calls
	}
}

// sweep removes what processes left that were killed while they wrote.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(escapeGlob(dir), partPattern))
	for _, path := range left {
		f, _, err := Open(path)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.Remove(path)
		}
		f.Close()
	}
}
