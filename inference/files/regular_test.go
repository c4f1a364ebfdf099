package files

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("file"), []byte("text"), 0o600), os.Symlink("file", at("link")), syscall.Mkfifo(at("pipe"), 0o600),
		os.Symlink("pipe", at("to a pipe")), os.Symlink("/dev/zero", at("device")), os.Mkdir(at("folder"), 0o700),
		os.WriteFile(at("holes"), nil, 0o600), os.Truncate(at("holes"), 1<<40),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"pipe": "not a file", "to a pipe": "not a file", "device": "not a file", "folder": "not a file", "none": "no such file", "holes": "it has 1099511627776 bytes, and no such file more than 4"} {
		_, err := Read(at(name), 4)
		checkError(t, name, err, at(name), want)
	}
	for _, name := range []string{"file", "link"} {
		if b, err := Read(at(name), 4); string(b) != "text" || err != nil {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for name, want := range map[string]string{"link": "too many levels of symbolic links", "pipe": "not a file"} {
		_, _, err := OpenAs(at(name), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW)
		checkError(t, name, err, at(name), want)
	}
}
