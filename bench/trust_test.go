package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"selfplay/scheduler"
)

// A games.db whose tables are not ours is not read, nor written: a view in the place
// of a table would be a program of its maker's.
func TestForeignSchema(t *testing.T) {
	const endless = `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT `
	for name, c := range map[string]struct{ spoil, want string }{
		"view for a table": {`ALTER TABLE games RENAME TO others; CREATE VIEW games AS ` + endless + `n AS position, n AS id FROM r`, "was not written by this program"},
		"no table":         {`DROP TABLE gpu_samples`, "lacks 1 of a run's 6 tables"},
		"other letters":    {`ALTER TABLE gpus RENAME TO gpuz; ALTER TABLE gpuz RENAME TO GPUS`, "lacks 1"},
		"one more column":  {`ALTER TABLE turns ADD COLUMN more AS (hex(zeroblob(100000000)))`, `table "turns" is not a run's`},
		"trigger":          {`CREATE TRIGGER t AFTER INSERT ON games BEGIN DELETE FROM games; END`, `trigger "t" is not a run's`},
		"own list of pages": {`PRAGMA writable_schema = 1;
			INSERT INTO sqlite_schema VALUES ('table', 'SQLite_dbpage', 'SQLite_dbpage', 2, 'CREATE TABLE SQLite_dbpage (pgno, data)')`, "is not a run's"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mustCreate(t, dir, testExperiment()).Close()
			execDB(t, dir, c.spoil)
			_, err := Open(dir)
			checkLine(t, err, []string{filepath.Join(dir, dbName), c.want, "run folder"})
			_, err = Create(dir, testExperiment(), Session{})
			checkLine(t, err, []string{filepath.Join(dir, dbName), c.want, "run folder"})
		})
	}
}

// What people add for themselves is no harm: no view is ever read here.
func TestOwnViewsAndIndexes(t *testing.T) {
	dir := t.TempDir()
	s := mustCreate(t, dir, testExperiment())
	if err := s.Append(played(remaining(t, s)[0])); err != nil {
		t.Fatal(err)
	}
	s.Close()
	execDB(t, dir, `CREATE INDEX by_id ON games (id); CREATE TABLE notes (text); ANALYZE; DROP VIEW margins;
		CREATE VIEW margins AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r`)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if rep, err := r.Report(); err != nil || rep.Games != 1 {
		t.Errorf("%v", err)
	}
}

// A tree of pages that comes back to itself has more rows than any file: counting
// them would not end.
func TestPagesInCircles(t *testing.T) {
	dir := t.TempDir()
	e := testExperiment()
	e.N = 20
	s := mustCreate(t, dir, e)
	var all []scheduler.Record
	for _, j := range remaining(t, s) {
		all = append(all, played(j))
	}
	if err := s.Append(all...); err != nil {
		t.Fatal(err)
	}
	s.Close()
	path := filepath.Join(dir, dbName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	circles := 0
	for at := pageSize; at < len(whole); at += pageSize {
		if len(children(whole[at:at+pageSize])) < 2 {
			continue
		}
		circles++
		broken := append([]byte(nil), whole...)
		page := broken[at : at+pageSize]
		first := int(binary.BigEndian.Uint16(page[12:]))
		copy(page[first:first+4], page[8:12]) // the first child is the last one again
		write(t, path, string(broken))
		_, err := Open(dir)
		checkLine(t, err, []string{path, "damaged", "out of place"})
	}
	if circles < 2 {
		t.Errorf("%d pages with others below, want those of games and turns", circles)
	}
}

// hashes are the sums of all files of a folder, by name.
func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		sum := sha256.Sum256(b)
		sums[strings.TrimPrefix(path, dir)] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// Whatever reads a run leaves its folder as it was, whether or not it was closed in
// order by who wrote it.
func TestReadingChangesNothing(t *testing.T) {
	dir := t.TempDir()
	s := mustCreate(t, dir, testExperiment())
	for _, j := range remaining(t, s) {
		if err := s.Append(played(j)); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	before := hashes(t, dir)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.db.Exec(`DELETE FROM turns`); err == nil {
		t.Error("a run that was opened for reading could be written")
	}
	if _, err := r.Report(); err != nil {
		t.Fatal(err)
	}
	if err := r.ExportJSONL(discard{}); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if _, err := Merge(filepath.Join(t.TempDir(), "joined"), []string{dir}); err != nil {
		t.Fatal(err)
	}
	sameHashes(t, hashes(t, dir), before)
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func sameHashes(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, sum := range got {
		if want[name] != sum {
			t.Errorf("%s has changed", name)
		}
	}
	for name := range want {
		if got[name] == "" {
			t.Errorf("%s is gone", name)
		}
	}
}

// A run that was opened when nobody wrote it is seen to go on.
func TestWriterBegins(t *testing.T) {
	dir := t.TempDir()
	s := mustCreate(t, dir, testExperiment())
	jobs := remaining(t, s)
	if err := s.Append(played(jobs[0])); err != nil {
		t.Fatal(err)
	}
	s.Close()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	games := func(want int) {
		t.Helper()
		if n, err := r.Games(); n != want || err != nil {
			t.Errorf("%d games, want %d: %v", n, want, err)
		}
	}
	games(1)
	s = mustCreate(t, dir, testExperiment())
	games(1)
	for i, j := range jobs[1:4] {
		if err := s.Append(played(j)); err != nil {
			t.Fatal(err)
		}
		games(2 + i)
	}
	s.Close()
	games(4)
}

// The writer's log is written into a file that is being read as a still one: what
// was read may be of two moments.
func TestWrittenWhileRead(t *testing.T) {
	dir := t.TempDir()
	s := mustCreate(t, dir, testExperiment())
	jobs := remaining(t, s)
	if err := s.Append(played(jobs[0])); err != nil {
		t.Fatal(err)
	}
	s.Close()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = r.Outcomes(func(Outcome) error {
		s := mustCreate(t, dir, testExperiment())
		for _, j := range jobs[1:] {
			if err := s.Append(played(j)); err != nil {
				t.Fatal(err)
			}
		}
		return s.Close()
	})
	checkLine(t, err, []string{filepath.Join(dir, dbName), "written to while it was read", "again"})
}

// What a run folder holds under our names must be files: reading a pipe would not end.
func TestPipesInFolder(t *testing.T) {
	for _, name := range []string{runName, dbName} {
		dir := t.TempDir()
		mustCreate(t, dir, testExperiment()).Close()
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		checkLine(t, err, []string{path, map[string]string{runName: "not a file", dbName: "is no file"}[name], "run folder"})
	}
	for _, name := range []string{lockName, dbName, runName} {
		dir := t.TempDir()
		mustCreate(t, dir, testExperiment()).Close()
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Merge(filepath.Join(t.TempDir(), "joined"), []string{dir})
		checkLine(t, err, []string{dir})
		if _, err = Create(dir, testExperiment(), Session{}); name != lockName {
			checkLine(t, err, []string{dir})
		}
	}
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, shardsName), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Create(dir, testExperiment(), Session{})
	checkLine(t, err, []string{dir})
	if err := syscall.Mkfifo(tunedFor.Path(dir), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = ReadTuned(dir, tunedFor)
	checkLine(t, err, []string{tunedFor.Path(dir), "not a file"})
}
