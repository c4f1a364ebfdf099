package bench

import (
	"database/sql"
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

// schema of games.db, format 3. A game's position in the plan is its key, so
// reading in plan order is reading in key order. In turns the long texts come
// last: a query without them then skips the pages that hold them.
const schema = `
CREATE TABLE games (
	position INTEGER PRIMARY KEY, -- in the plan, from 0
	id       TEXT NOT NULL UNIQUE,
	session  INTEGER NOT NULL,    -- which entry of run.json's "how" played it
	game     TEXT NOT NULL,       -- environment id
	lang0    TEXT NOT NULL, lang1 TEXT NOT NULL,
	player0  TEXT NOT NULL, player1 TEXT NOT NULL, -- who answered: '', the run's model, or a policy's name
	role     INTEGER NOT NULL,
	idx      INTEGER NOT NULL,    -- within the cell
	seed     INTEGER NOT NULL,
	reward0  INTEGER NOT NULL, reward1  INTEGER NOT NULL,
	invalid0 INTEGER NOT NULL, invalid1 INTEGER NOT NULL, -- 1: lost by a second invalid move
	turns0   INTEGER NOT NULL, turns1   INTEGER NOT NULL, -- valid moves
	name0    TEXT NOT NULL, name1 TEXT NOT NULL,          -- role names
	reason0  TEXT NOT NULL, reason1 TEXT NOT NULL
);
CREATE TABLE turns (
	game              INTEGER NOT NULL REFERENCES games (position),
	turn              INTEGER NOT NULL, -- from 0
	seat              INTEGER NOT NULL,
	status            TEXT NOT NULL,
	finish            TEXT NOT NULL,
	invalid           INTEGER NOT NULL,
	defaulted         INTEGER NOT NULL,
	regret            REAL,             -- what the move lost by perfect play; NULL: not known, or invalid
	optimal           INTEGER AS (regret = 0), -- 1: it lost nothing
	prompt_tokens     INTEGER NOT NULL,
	completion_tokens INTEGER NOT NULL,
	thinking_tokens   INTEGER NOT NULL, -- of those, while thinking
	prefill_tokens    INTEGER NOT NULL,
	start_ms          INTEGER NOT NULL, -- since the start of the session
	end_ms            INTEGER NOT NULL,
	action            TEXT NOT NULL,    -- extracted from the completion
	wrapped           TEXT NOT NULL,    -- as the rules parsed it
	reason            TEXT NOT NULL,    -- why they refused it
	completion        TEXT NOT NULL,    -- as the model wrote it
	thinking          TEXT NOT NULL,
	kept              INTEGER NOT NULL, -- the observation is this many bytes of the seat's one before,
	observation       TEXT NOT NULL,    -- then this text
	PRIMARY KEY (game, turn)
);
`

// openDB opens games.db for reading and writing, and makes its tables if it
// has none and fresh is true.
func openDB(dir string, fresh bool) (*sql.DB, error) {
	path := filepath.Join(dir, dbName)
	if !fresh && !exists(path) {
		return nil, fmt.Errorf("%s is missing: restore it or choose another --run folder", path)
	}
	// synchronous=FULL: a game that was said to be kept survives a power cut.
	// foreign_keys: no turn without its game.
	db, err := connect(path, url.Values{"mode": {"rwc"}, "_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}})
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
		err = quickCheck(db, path)
	}
	if err != nil {
		db.Close()
		return nil, dbError(path, err)
	}
	return db, nil
}

// openDBForReading opens games.db of a run that another process may be writing.
func openDBForReading(dir string) (*sql.DB, error) {
	path := filepath.Join(dir, dbName)
	if !exists(path) {
		return nil, fmt.Errorf("%s is missing: restore it or choose another run folder", path)
	}
	db, err := connectForReading(path, false)
	if e, ok := errors.AsType[*sqlite.Error](err); ok && !exists(path+"-wal") &&
		(e.Code() == sqlite3.SQLITE_READONLY_DIRECTORY || e.Code() == sqlite3.SQLITE_CANTOPEN) {
		// Readers and a writer meet in a file beside the database. Where none
		// can be made, on a read-only disk, nobody can be writing either.
		db, err = connectForReading(path, true)
	}
	return db, dbError(path, err)
}

func connectForReading(path string, immutable bool) (*sql.DB, error) {
	params := url.Values{"mode": {"ro"}}
	if immutable {
		params.Set("immutable", "1")
	}
	db, err := connect(path, params)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(db, path); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
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
	if _, err := tx.Exec(schema + fmt.Sprintf("PRAGMA user_version = %d", format)); err != nil {
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
