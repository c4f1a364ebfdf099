package bench

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// allocated gives the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// templateRun gives the files of a small run, to be spoilt.
func templateRun(f testing.TB) (runJSON, gamesDB []byte) {
	dir := f.TempDir()
	e := testExperiment()
	e.N = 1
	s, err := Create(dir, e, Session{Program: "test", Settings: map[string]string{"slots": "4"}})
	if err != nil {
		f.Fatal(err)
	}
	jobs, err := s.Remaining()
	if err != nil {
		f.Fatal(err)
	}
	for j := range jobs {
		if err := s.Append(played(j)); err != nil {
			f.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	if runJSON, err = os.ReadFile(filepath.Join(dir, runName)); err == nil {
		gamesDB, err = os.ReadFile(filepath.Join(dir, dbName))
	}
	if err != nil {
		f.Fatal(err)
	}
	return runJSON, gamesDB
}

// readAll asks a run folder all that can be asked of one.
func readAll(dir string) (errs []error) {
	r, err := Open(dir)
	if err != nil {
		return []error{err}
	}
	defer r.Close()
	did := func(err error) { errs = append(errs, err) }
	rep, err := r.Report()
	did(err)
	if err == nil {
		did(rep.WriteText(discard{}, dir))
		did(SideBySide([]*Report{rep, rep}).WriteText(discard{}))
	}
	for _, format := range []string{FormatJSONL, FormatCSV, FormatParquet} {
		did(r.Export(discard{}, format, TableTurns))
		did(r.Export(discard{}, format, TableGames))
	}
	for _, c := range Causes {
		did(r.List(Filter{Cause: c.Name, Longer: 1}, func(Listed) error { return nil }))
	}
	_, err = r.Search("en")
	did(err)
	_, err = Merge(dir+".merged", []string{dir})
	did(err)
	return errs
}

// checkErrors wants each error on one line that names the folder.
func checkErrors(t *testing.T, dir string, errs []error) {
	t.Helper()
	for _, err := range errs {
		if err != nil && (!strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("error %q", err)
		}
	}
}

// FuzzRunFile reads anything as run.json beside games that are whole.
func FuzzRunFile(f *testing.F) {
	runJSON, gamesDB := templateRun(f)
	f.Add(runJSON)
	for old, bad := range map[string]string{`"n": 1`: `"n": 1000000`, `"en",`: `"en","en+fr",`, `"reasoned"`: `"x"`, `"how": [`: `"how": [{}, `, `"seed": 1`: `"seed": 9223372036854775807`,
		`"opponents"`: `"y"`, `"model": {`: `"shard": {"index": 3, "of": 2147483647}, "model": {`, `"top_k"`: `"until_ci": 1e-300, "top_k"`} {
		f.Add([]byte(strings.Replace(string(runJSON), old, bad, 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, runName), string(data))
		write(t, filepath.Join(dir, dbName), string(gamesDB))
		var errs []error
		if n := allocated(func() { errs = readAll(dir) }); n > 64<<20+4096*uint64(len(data)) {
			t.Errorf("%d bytes of memory for a run.json of %d", n, len(data))
		}
		checkErrors(t, dir, errs)
	})
}

// FuzzRows spoils a row of games.db: any column of any table may hold anything.
func FuzzRows(f *testing.F) {
	runJSON, gamesDB := templateRun(f)
	f.Add(uint8(0), uint8(1), uint8(0), int64(0), []byte("\x1b"))
	f.Add(uint8(0), uint8(8), uint8(1), int64(-1), []byte(nil))
	f.Add(uint8(1), uint8(14), uint8(1), int64(1)<<62, []byte(nil))
	f.Add(uint8(3), uint8(1), uint8(2), int64(0), []byte("\x28\xb5\x2f\xfd\x04\x00"))
	f.Add(uint8(2), uint8(4), uint8(2), int64(0), []byte("\xff"))
	f.Fuzz(func(t *testing.T, table, column, kind uint8, number int64, text []byte) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, runName), string(runJSON))
		write(t, filepath.Join(dir, dbName), string(gamesDB))
		spoilRow(t, dir, table, column, kind, number, text)
		var errs []error
		if n := allocated(func() { errs = readAll(dir) }); n > 64<<20+64*uint64(len(text)) {
			t.Errorf("%d bytes of memory for a text of %d", n, len(text))
		}
		checkErrors(t, dir, errs)
	})
}

// TestSpoiltRows spoils each column of each table in turn, in one row and in all.
func TestSpoiltRows(t *testing.T) {
	runJSON, gamesDB := templateRun(t)
	spoilt := 0
	for table, columns := range []int{23, 24, 5, 2} {
		for column := range columns {
			for _, c := range []struct {
				kind   uint8
				number int64
				text   string
			}{{0, 0, "a\n\x1b"}, {5, -1 << 62, ""}, {6, 0, "\xff"}} {
				dir := t.TempDir()
				write(t, filepath.Join(dir, runName), string(runJSON))
				write(t, filepath.Join(dir, dbName), string(gamesDB))
				if spoilRow(t, dir, uint8(table), uint8(column), c.kind, c.number, []byte(c.text)) {
					spoilt++
				}
				checkErrors(t, dir, readAll(dir))
			}
		}
	}
	if spoilt < 120 { // of 159: some columns are unique, one is computed
		t.Errorf("only %d times was anything spoilt", spoilt)
	}
}

// spoilRow changes one row, or all of a table; false if the schema refuses that.
func spoilRow(t *testing.T, dir string, table, column, kind uint8, number int64, text []byte) bool {
	t.Helper()
	db, err := connect(filepath.Join(dir, dbName), url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := []string{"games", "turns", "openings", "transcripts"}[table%4]
	rows, err := db.Query(`SELECT * FROM ` + name + ` LIMIT 0`)
	if err != nil {
		t.Fatal(err)
	}
	columns, _ := rows.Columns()
	rows.Close()
	var value any
	switch kind % 4 {
	case 0:
		value = string(text)
	case 1:
		value = number
	case 2:
		value = text
	case 3:
		value = float64(number) / 3
	}
	where := ""
	if kind%8 < 4 {
		where = ` WHERE rowid = (SELECT min(rowid) FROM ` + name + `)`
		if name == "turns" {
			where = ` WHERE game = 0 AND turn = 1`
		}
	}
	_, err = db.Exec(fmt.Sprintf(`UPDATE %s SET %s = ?%s`, name, columns[int(column)%len(columns)], where), value)
	return err == nil
}

// A plan in a file from elsewhere may claim more games than there can be.
func TestPlanTooLarge(t *testing.T) {
	langs := make([]string, 3000)
	for i := range langs {
		langs[i] = fmt.Sprint("l", i)
	}
	p := Plan{Games: []string{"g"}, Langs: langs, N: 1}
	var err error
	if n := allocated(func() { err = p.Validate() }); err == nil || !strings.Contains(err.Error(), "labels") || n > 4<<20 {
		t.Errorf("%v in %d bytes", err, n)
	}
}

// Links under our names in a folder from elsewhere lead nowhere when it is written.
func TestLinksInFolder(t *testing.T) {
	for _, name := range []string{lockName, runName + ".tmp"} {
		dir, other := t.TempDir(), filepath.Join(t.TempDir(), "precious")
		mustCreate(t, dir, testExperiment()).Close()
		write(t, other, "precious")
		path := filepath.Join(dir, name)
		os.Remove(path)
		if err := os.Symlink(other, path); err != nil {
			t.Fatal(err)
		}
		_, err := Create(dir, testExperiment(), Session{})
		if err != nil {
			checkLine(t, err, []string{dir})
		}
		if text, _ := os.ReadFile(other); string(text) != "precious" {
			t.Errorf("%s led to a file that now holds %q", name, text)
		}
		if info, err := os.Lstat(filepath.Join(dir, runName)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("run.json: %v", err)
		}
	}
}
