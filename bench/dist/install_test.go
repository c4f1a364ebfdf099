package dist

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// installable is a folder in which make install finds a program, which tells where
// it lies, and a library with a link that leads nowhere, as those to CUDA's may.
func installable(t *testing.T) string {
	dir := t.TempDir()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	lay(t, dir, map[string]string{
		"Makefile": string(makefile), "bin/selfplay": "#!/bin/sh\nreadlink -f \"$0\"\n", "lib/ollama/libggml-cuda.so": "",
	})
	if err := os.Symlink("/nowhere/libcublas.so.13", filepath.Join(dir, "lib/ollama/libcublas.so.13")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lay puts files, which may be programs, below a folder.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func makeIn(dir string, args ...string) (string, error) {
	c := exec.Command("make", append([]string{"-C", dir}, args...)...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestInstall: the program and its libraries go where PREFIX and DESTDIR say, also
// in place of an older release; it runs through the link, wherever the whole is
// moved to; and it goes again without a trace but for folders that others may use.
func TestInstall(t *testing.T) {
	dir := installable(t)
	want := []string{"bin/selfplay", "lib/selfplay/bin/selfplay", "lib/selfplay/lib/ollama/libcublas.so.13", "lib/selfplay/lib/ollama/libggml-cuda.so"}
	for _, c := range []struct{ prefix, destdir string }{
		{filepath.Join(t.TempDir(), "my programs"), ""},
		{"/usr", filepath.Join(t.TempDir(), "a stage")},
	} {
		root, args := c.destdir+c.prefix, []string{"PREFIX=" + c.prefix, "DESTDIR=" + c.destdir}
		lay(t, root, map[string]string{"lib/selfplay/lib/ollama/libggml-cpu-old.so": "", "lib/ollama/libggml-base.so": "", "bin/ollama": ""})
		if out, err := makeIn(dir, append(args, "install")...); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		others := []string{"bin/ollama", "lib/ollama/libggml-base.so"}
		if got, all := filesBelow(t, root), slices.Sorted(slices.Values(append(want, others...))); !slices.Equal(got, all) {
			t.Errorf("%q: installed %q, want %q", args, got, all)
		}
		moved := root + " moved"
		if err := os.Rename(root, moved); err != nil {
			t.Fatal(err)
		}
		run := exec.Command(filepath.Join(moved, "bin", "selfplay"))
		run.Dir = t.TempDir()
		if out, err := run.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != filepath.Join(moved, "lib/selfplay/bin/selfplay") {
			t.Errorf("%q: %v: %s", args, err, out)
		}
		if err := os.Rename(moved, root); err != nil {
			t.Fatal(err)
		}
		if out, err := makeIn(dir, append(args, "uninstall")...); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := filesBelow(t, root); !slices.Equal(got, others) {
			t.Errorf("%q: left %q, want %q", args, got, others)
		}
	}
}

// TestInstallNothing: without a program nothing is touched.
func TestInstallNothing(t *testing.T) {
	dir, root := installable(t), t.TempDir()
	if err := os.Remove(filepath.Join(dir, "bin", "selfplay")); err != nil {
		t.Fatal(err)
	}
	out, err := makeIn(dir, "PREFIX="+root, "install")
	if got := filesBelow(t, root); err == nil || !strings.Contains(out, "make: there is no bin/selfplay yet: run make build first") || len(got) > 0 {
		t.Errorf("%v: %s%q", err, out, got)
	}
}

// filesBelow are all but folders, in order.
func filesBelow(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(root, path)
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
