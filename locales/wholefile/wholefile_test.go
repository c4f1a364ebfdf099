package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	write := func(text string, fail error) error {
		return Write(path, func(w io.Writer) error {
			io.WriteString(w, text)
			return fail
		})
	}
	if err := write("old", nil); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := write(strings.Repeat("x", 1<<17), broken); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("a failed write left %.10q", data)
	}
	if err := write("new", nil); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	names, _ := os.ReadDir(dir)
	info, err := os.Stat(path)
	if string(data) != "new" || len(names) != 1 || err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%q, %d files, %v", data, len(names), info)
	}
	for path, want := range map[string]string{dir: "is no file", filepath.Join(dir, "none", "f"): "no such file"} {
		if err := Write(path, func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// What fails on the disk is told of the file that was asked for.
func TestNamed(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), ".page.html.123"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := (named{f, "page.html"}).Write([]byte("x")); err == nil || err.Error() != "cannot write page.html: file already closed" || !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
