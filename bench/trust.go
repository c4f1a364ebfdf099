package bench

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A games.db may come from anyone. Before anything is asked of it, its tables must
// be ours, so that a query means what it says here, and its pages must lie in
// trees, so that no query can go round in circles. Views are for people: nothing
// here reads one.

// untrusted are SQLite's settings for a file that may be anyone's: what its schema
// calls must be harmless.
var untrusted = []string{"trusted_schema(0)", "cell_size_check(1)"}

// readingOnly keeps a connection from writing, whatever it is asked.
var readingOnly = append([]string{"query_only(1)"}, untrusted...)

// tables are the texts that make the tables, as SQLite keeps them, by name.
var tables = sync.OnceValues(func() (map[string]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each has a database of its own
	if err := createTables(db); err != nil {
		return nil, err
	}
	tx, err := db.Begin()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	all := map[string]string{}
	err = eachObject(tx, func(o object) error {
		if o.kind == "table" {
			all[o.name] = plain(o.text)
		}
		return nil
	})
	return all, err
})

// An object of a schema; the text of an index that SQLite made by itself is empty.
type object struct {
	kind, name, table, text string
	root                    int // its first page; 0: it has none
}

func eachObject(tx *sql.Tx, f func(object) error) error {
	rows, err := tx.Query(`SELECT type, name, tbl_name, coalesce(sql, ''), coalesce(rootpage, 0) FROM sqlite_schema`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.table, &o.text, &o.root); err != nil {
			return err
		}
		if err := f(o); err != nil {
			return err
		}
	}
	return rows.Err()
}

var comment = regexp.MustCompile(`--[^\n]*`)

// plain is a text of SQL without comments, which may change while tables do not.
func plain(text string) string {
	return strings.Join(strings.Fields(comment.ReplaceAllString(text, "")), " ")
}

// checkTables makes sure of what is said above.
func checkTables(db *sql.DB, path string) error {
	want, err := tables()
	if err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	left := len(want)
	var roots []int
	err = eachObject(tx, func(o object) error {
		text, ours := want[o.table]
		switch {
		case o.kind == "trigger" || strings.EqualFold(o.name, pagesTable) || o.kind == "table" && ours && (o.name != o.table || plain(o.text) != text):
			return fmt.Errorf("%s was not written by this program (its %s %q is not a run's): restore it or choose another run folder", path, o.kind, o.name)
		case o.kind == "table" && ours:
			left--
		}
		if ours {
			roots = append(roots, o.root)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%s was not written by this program (it lacks %d of a run's %d tables): restore it or choose another run folder", path, left, len(want))
	}
	return checkPages(tx, path, roots)
}

// pagesTable is SQLite's own view of a file. It would be hidden by a table of its name.
const pagesTable = "sqlite_dbpage"

// Kinds of pages that hold others, in SQLite's file format.
const (
	innerIndex = 2
	innerTable = 5
)

// mostPages is how many pages are asked for at once: a query takes longer than a page.
const mostPages = 500

// checkPages walks down from the first pages of tables and refuses a page that is
// met twice: SQLite itself goes wherever pages point.
func checkPages(tx *sql.Tx, path string, pages []int) error {
	var count int
	if err := tx.QueryRow(`PRAGMA page_count`).Scan(&count); err != nil {
		return err
	}
	met := make([]bool, count+1)
	for len(pages) > 0 {
		some := pages[max(0, len(pages)-mostPages):]
		for _, at := range some {
			if at < 1 || at > count || met[at] {
				return fmt.Errorf("%s is damaged (page %d is out of place): restore it or choose another run folder", path, at)
			}
			met[at] = true
		}
		below, err := childrenOf(tx, some)
		if err != nil {
			return err
		}
		pages = append(pages[:len(pages)-len(some)], below...)
	}
	return nil
}

// childrenOf are the pages that some pages point to. The leaves, which are nearly all
// there is, stay where they are.
func childrenOf(tx *sql.Tx, pages []int) (all []int, err error) {
	var numbers []string
	for _, at := range pages {
		numbers = append(numbers, strconv.Itoa(at))
	}
	rows, err := tx.Query(`SELECT data FROM ` + pagesTable + ` WHERE pgno IN (` + strings.Join(numbers, ",") + `)
		AND substr(data, 1, 1) IN (x'02', x'05')`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var data sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		all = append(all, children(data)...)
	}
	return all, rows.Err()
}

// children are the pages that a page points to; none if it is a leaf. One whose
// pointers lie outside of it SQLite refuses.
func children(page []byte) (all []int) {
	if len(page) < 12 || page[0] != innerIndex && page[0] != innerTable {
		return nil
	}
	pointer := func(at int) {
		if at+4 <= len(page) {
			all = append(all, int(binary.BigEndian.Uint32(page[at:])))
		}
	}
	pointer(8)
	cells := int(binary.BigEndian.Uint16(page[3:]))
	for i := 12; i < 12+2*cells && i+2 <= len(page); i += 2 {
		pointer(int(binary.BigEndian.Uint16(page[i:])))
	}
	return all
}

// pragmas adds settings that each connection is to have.
func pragmas(params url.Values, settings []string) url.Values {
	params["_pragma"] = append(params["_pragma"], settings...)
	return params
}
