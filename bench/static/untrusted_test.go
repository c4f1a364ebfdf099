package static

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What a folder holds under a name that is read may be a pipe or lead to a device:
// nobody waits for it.
func TestNoFiles(t *testing.T) {
	for kind, change := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		for _, name := range []string{"eng_Latn.jsonl", settingsName, answersName} {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			var err error
			if name == "eng_Latn.jsonl" {
				_, err = find(t, "belebele").Read(dir, "en", false)
			} else {
				_, err = OpenFolder(dir)
			}
			if err == nil || !oneLine(err, dir) {
				t.Errorf("%s %s: %v", kind, name, err)
			}
		}
	}
}

// A link under the name of the answers leads nowhere: what it leads to would be cut off
// behind its last line.
func TestLinkedAnswers(t *testing.T) {
	dir, other := begun(t), filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(other, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, answersName)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(dir); err == nil || !oneLine(err, dir) {
		t.Errorf("%v", err)
	}
	if text, _ := os.ReadFile(other); string(text) != "precious" {
		t.Errorf("the file holds %q", text)
	}
}

// A file with holes takes no room on the disk: a line of it must not take memory.
func TestEndlessAnswer(t *testing.T) {
	dir := begun(t)
	path := filepath.Join(dir, answersName)
	if err := os.WriteFile(path, []byte(`{"lang":"en","row":3,"gold":"A","scores":[-1,-2,-3,-4]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<30); err != nil {
		t.Fatal(err)
	}
	var err error
	n := allocated(func() { _, err = OpenFolder(dir) })
	if err == nil || !strings.Contains(err.Error(), path+" is damaged: line 2 has more than") || n > 9<<20 {
		t.Errorf("%d bytes of memory: %v", n, err)
	}
}

// begun is a folder with settings, and no file of answers yet.
func begun(t *testing.T) string {
	dir := t.TempDir()
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Begin(Settings{Benchmark: "belebele"}), f.Close(), os.Remove(filepath.Join(dir, answersName))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Answers that no settings belong to are somebody's, of whatever, and stay as they are.
func TestForeignAnswers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, answersName)
	if err := os.WriteFile(path, []byte("mine, without an end"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(dir); err == nil || !strings.Contains(err.Error(), "holds other files ("+answersName+")") {
		t.Error(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "mine, without an end" {
		t.Errorf("the file holds %q", text)
	}
}
