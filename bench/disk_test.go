package bench

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"selfplay/scheduler"
)

// ownNamespace, if set, says that this process is the test binary started again where it
// may mount file systems, if it ever may.
const ownNamespace = "SELFPLAY_BENCH_TEST_NAMESPACE"

// onOwnDisk runs a test in a folder that is a file system of its own, in memory: change
// makes it larger, or read-only. Who may not mount one does so in a process with names
// for users and mounts of its own; false where the system allows neither.
func onOwnDisk(t *testing.T, size string, test func(dir string, change func(flags uintptr, options string))) bool {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size)
	if err == nil {
		defer syscall.Unmount(dir, syscall.MNT_DETACH)
		test(dir, func(flags uintptr, options string) {
			if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT|flags, options); err != nil {
				t.Fatal(err)
			}
		})
		return true
	}
	if os.Getenv(ownNamespace) != "" {
		t.Fatal(err)
	}
	root := func(id int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: id, Size: 1}} }
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), ownNamespace+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: root(os.Getuid()), GidMappings: root(os.Getgid())}
	out := &strings.Builder{}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Logf("no file system of its own: %v", err)
		return false
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v in a process that may mount: %s", err, out)
	}
	return true
}

// A disk that fills up stops the run with one line; with room again, it goes on to the
// same end. Where there can be no such disk, TestDiskFull alone shows what happens.
func TestFullDisk(t *testing.T) {
	long := func(ctx context.Context, d Deal, sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		return fakePlayer(ctx, d, func(r scheduler.Record) error {
			r.Turns[1].Completion = strings.Repeat(r.Job.ID+noise(20), 1000)
			return sink(r)
		}, progress)
	}
	onOwnDisk(t, "1m", func(dir string, change func(uintptr, string)) {
		o := Options{Dir: filepath.Join(dir, "run"), Experiment: killExperiment(), Player: long}
		_, err := Play(t.Context(), o)
		checkLine(t, err, []string{"games.db: the disk is full", "ended games are kept"})
		seen := map[string]bool{}
		checkWhole(t, o.Dir, seen)
		change(0, "size=200m")
		kept := len(seen)
		sum, err := Play(t.Context(), o)
		if err != nil || kept == 0 || sum.Games != 4800-kept || sum.WholeRun.Games != 4800 {
			t.Errorf("%v: %d games after %d, %d in all", err, sum.Games, kept, sum.WholeRun.Games)
		}
		checkWhole(t, o.Dir, seen)
	})
}

// Tables that do not fit any more leave those that were there.
func TestCSVOnFullDisk(t *testing.T) {
	all := SideBySide([]*Report{fortyGames(t)})
	onOwnDisk(t, "1m", func(dir string, _ func(uintptr, string)) {
		read := func() map[string]string {
			files := map[string]string{}
			paths, _ := filepath.Glob(filepath.Join(dir, "csv", "*")) // hidden ones too
			for _, path := range paths {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				files[path] = string(b)
			}
			return files
		}
		if err := all.WriteCSV(filepath.Join(dir, "csv")); err != nil {
			t.Fatal(err)
		}
		before := read()
		if err := os.WriteFile(filepath.Join(dir, "rest"), make([]byte, 2<<20), 0o600); err == nil {
			t.Fatal("the disk is not full")
		}
		err := all.WriteCSV(filepath.Join(dir, "csv"))
		checkLine(t, err, []string{"cannot write " + filepath.Join(dir, "csv", "games.csv") + ": no space left on device"})
		if after := read(); len(before) < 10 || !maps.Equal(before, after) {
			t.Errorf("%d files, then %d others", len(before), len(after))
		}
	})
}

// A run whose writer was killed has games in its log alone. On a disk that is read-only
// they are read, or it is said what they need: they are never left out in silence.
func TestReadOnlyAfterKill(t *testing.T) {
	from := t.TempDir()
	s := mustCreate(t, from, testExperiment())
	jobs := remaining(t, s)
	wal, shm := dbName+"-wal", dbName+"-shm"
	old := map[string]string{} // as after one game
	whole := map[string]string{}
	for i, j := range jobs[:3] {
		if err := s.Append(played(j)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{runName, dbName, wal, shm} {
			b, err := os.ReadFile(filepath.Join(from, name))
			if err != nil {
				t.Fatal(err)
			}
			whole[name] = string(b)
			if i == 0 {
				old[name] = string(b)
			}
		}
	}
	check := func(what string, files map[string]string, games int, want ...string) {
		onOwnDisk(t, "4m", func(dir string, change func(uintptr, string)) {
			for name, text := range files {
				write(t, filepath.Join(dir, name), text)
			}
			change(syscall.MS_RDONLY, "")
			defer change(0, "")
			r, err := Open(dir)
			if len(want) > 0 {
				checkLine(t, err, append(want, dir))
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			defer r.Close()
			if n, err := r.Games(); n != games || err != nil {
				t.Errorf("%s: %d games of %d, %v", what, n, games, err)
			}
			if m, err := Merge(filepath.Join(t.TempDir(), "joined"), []string{dir}); m.Games != games || err != nil {
				t.Errorf("%s: %d games of %d are joined, %v", what, m.Games, games, err)
			}
		})
	}
	with := func(name, text string) map[string]string {
		files := maps.Clone(whole)
		if files[name] = text; text == "" {
			delete(files, name)
		}
		return files
	}
	check("all files", whole, 3)
	check("the index of an earlier moment", with(shm, old[shm]), 3)
	check("an index that is damaged", with(shm, noise(len(whole[shm]))), 3)
	check("no index", with(shm, ""), 0, "was not closed by its writer", wal, "copy the folder")
	check("no log", with(wal, ""), 0, "holds no games")
}

// A run that cannot be written can still be read, and is not gone on with: on a disk that
// is read-only for everybody, and in a folder that the user may not write to.
func TestReadOnlyFolder(t *testing.T) {
	check := func(dir string, lock, unlock func()) {
		t.Helper()
		s := mustCreate(t, dir, testExperiment())
		if err := s.Append(played(remaining(t, s)[0])); err != nil {
			t.Fatal(err)
		}
		s.Close()
		lock()
		defer unlock()
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if n, err := r.Games(); n != 1 || err != nil {
			t.Errorf("%d games, %v", n, err)
		}
		if rep, err := r.Report(); err != nil || rep.Games != 1 {
			t.Errorf("report: %v", err)
		}
		_, err = Create(dir, testExperiment(), Session{})
		checkLine(t, err, []string{dir, "writ"}) // cannot be written, or must be writable
		_, err = Create(filepath.Join(dir, "new"), testExperiment(), Session{})
		checkLine(t, err, []string{"cannot be made", "--run"})
	}
	made := onOwnDisk(t, "1m", func(dir string, change func(uintptr, string)) {
		check(filepath.Join(dir, "run"), func() { change(syscall.MS_RDONLY, "") }, func() { change(0, "") })
	})
	if os.Getuid() == 0 { // whom no folder keeps from writing
		if !made {
			t.Log("nothing can be read-only here: run this test as another user")
		}
		return
	}
	dir := t.TempDir()
	check(dir, func() { os.Chmod(dir, 0o555) }, func() { os.Chmod(dir, 0o755) })
}
