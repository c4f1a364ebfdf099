package bench

import (
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const dbName = "games.db"

// schema has the tables of games.db, views the queries over them that it brings.
var (
	//go:embed schema.sql
	schema string
	//go:embed views.sql
	views string
)

// openDB opens games.db for reading and writing, and makes its tables if it
// has none and fresh is true.
func openDB(dir string, fresh bool) (*sql.DB, error) {
	path := filepath.Join(dir, dbName)
	if !fresh && !exists(path) {
		return nil, fmt.Errorf("%s is missing: restore it or choose another --run folder", path)
	}
	if err := checkLength(path); err != nil {
		return nil, err
	}
	// synchronous=FULL: what was said to be kept survives a power cut; Append
	// says when it does not wait for that. A checkpoint waits for the disk twice,
	// so they come each 32 MiB. foreign_keys: no turn without its game.
	db, err := connect(path, pragmas(url.Values{"mode": {"rwc"}, "_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "wal_autocheckpoint(8192)", "foreign_keys(1)"}}, untrusted))
	if err != nil {
		return nil, err
	}
	if fresh {
		err = createTables(db)
	}
	if err == nil {
		err = checkVersion(db, path)
	}
	if err == nil {
		err = checkTables(db, path)
	}
	if err == nil {
		err = quickCheck(db, path)
	}
	if err != nil {
		db.Close()
		return nil, dbError(path, err)
	}
	return db, nil
}

// openDBForReading opens games.db of a run that another process may be writing.
// Where none is, SQLite is told that the file is still: else it would leave files
// of its own beside it, in which readers and a writer meet. See Run.read.
func openDBForReading(dir string) (_ *sql.DB, still bool, _ error) {
	path := filepath.Join(dir, dbName)
	if !exists(path) {
		return nil, false, fmt.Errorf("%s is missing: restore it or choose another run folder", path)
	}
	if !isFile(path) {
		return nil, false, fmt.Errorf("%s is no file: restore it or choose another run folder", path)
	}
	if err := checkLength(path); err != nil {
		return nil, false, err
	}
	still = isStill(path)
	db, err := connectForReading(path, still)
	if e, ok := errors.AsType[*sqlite.Error](err); ok && !still && e.Code()&0xff == sqlite3.SQLITE_CANTOPEN {
		return nil, false, fmt.Errorf("%s was not closed by its writer, and the games in %s-wal can be read only where files can be written: copy the folder to such a place and read it there (%w)", path, dbName, err)
	}
	return db, still, dbError(path, err)
}

// isStill says that all of a database lies in its file: beside one that is being
// written, or was when its writer died, lies a log.
func isStill(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err != nil || info.Size() == 0
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func connectForReading(path string, immutable bool) (*sql.DB, error) {
	params := pragmas(url.Values{"mode": {"ro"}}, readingOnly)
	if immutable {
		params.Set("immutable", "1")
	}
	db, err := connect(path, params)
	if err != nil {
		return nil, err
	}
	if err = checkVersion(db, path); err == nil {
		err = checkTables(db, path)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// pageSize is SQLite's, in bytes.
const pageSize = 4096

// checkLength refuses a file that ends within a page: SQLite takes what is
// missing for zeros. Beside a log the file may be so, and is mended from it.
func checkLength(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size()%pageSize == 0 || exists(path+"-wal") {
		return nil // SQLite says what is wrong, if anything is
	}
	return fmt.Errorf("%s is damaged (it ends within a page): restore it or choose another run folder", path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// connect opens the file with SQLite's URI parameters; those named _pragma are
// set on every connection of the pool.
func connect(path string, params url.Values) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	params.Add("_pragma", "busy_timeout(10000)")
	name := url.URL{Scheme: "file", Path: path, RawQuery: params.Encode()}
	return sql.Open("sqlite", name.String())
}

// createTables makes the tables in one transaction, so a crash leaves all or none.
func createTables(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var tables int
	if err := tx.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil || tables > 0 {
		return err
	}
	if _, err := tx.Exec(schema + views + fmt.Sprintf("PRAGMA user_version = %d", format)); err != nil {
		return err
	}
	return tx.Commit()
}

func checkVersion(db *sql.DB, path string) error {
	var version int
	if err := db.QueryRow(`PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	switch {
	case version > format:
		return fmt.Errorf("%s has format %d, this program knows up to %d: use the program that wrote it", path, version, format)
	case version < 1:
		return fmt.Errorf("%s holds no games of a run: restore it or choose another --run folder", path)
	case version < format:
		return olderFormat(path, version)
	}
	return nil
}

// quickCheck reads the whole file once before a run goes on writing to it, so
// that damage is found now and not hours later.
func quickCheck(db *sql.DB, path string) error {
	var verdict string
	if err := db.QueryRow(`PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%s is damaged (%s): restore it or choose another --run folder", path, strings.ReplaceAll(verdict, "\n", " "))
	}
	return nil
}

// dbError names the file in the database's errors, and says what to do about
// those that a person can mend. Other errors pass.
func dbError(path string, err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	hint := ""
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		hint = "it is damaged: restore it or choose another --run folder"
	case sqlite3.SQLITE_FULL:
		hint = "the disk is full: free some space and run again, ended games are kept"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		hint = "the file and its folder must be writable"
	case sqlite3.SQLITE_BUSY:
		hint = "another program holds it: close that and run again"
	case sqlite3.SQLITE_IOERR:
		hint = "the disk failed: ended games are kept, check the disk and run again"
	default:
		return fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Errorf("%s: %s (%w)", path, hint, err)
}
