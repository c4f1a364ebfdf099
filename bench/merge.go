package bench

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"

	"selfplay/inference/files"
	"selfplay/locales/wholefile"
	"selfplay/scheduler"
)

// A Merged is what Merge did.
type Merged struct {
	Games   int    // of all runs
	Planned int    // of the experiment
	Already bool   // dir held them before
	Missing string // which shards are not whole, in words; "" where all are, or none was joined
}

// mergeSuffix names the folder in which the runs are joined, beside the one
// that they go to.
const mergeSuffix = ".merging"

// Merge joins runs of one experiment, no game of which two have played, into a
// new run in dir, which holds what one run would that had played all their
// games, and all shards; the sessions of the runs stand one behind the other. The runs are left
// as they are. dir must not be there, be empty, or hold the outcome of the same
// call. It appears whole: whatever stops Merge, the same call begins again.
func Merge(dir string, runs []string) (Merged, error) {
	sources, err := openSources(runs)
	defer closeSources(sources)
	if err != nil {
		return Merged{}, err
	}
	e := sources[0].Experiment.Whole()
	for _, s := range sources[1:] {
		if err := e.difference(s.Experiment.Whole()); err != nil {
			return Merged{}, fmt.Errorf("%s (there) and %s (here) hold different experiments: %w; only runs of one experiment can be joined", sources[0].Dir, s.Dir, err)
		}
	}
	of, err := splitOf(sources)
	if err != nil {
		return Merged{}, err
	}
	found := newCensus(e, of)
	if err := findOverlap(sources, found); err != nil {
		return Merged{}, err
	}
	m := found.merged()
	joined := joinedFile(sources)
	m.Already, err = holdsMerge(dir, joined, m.Games)
	if m.Already || err != nil {
		return m, err
	}
	return m, mergeInto(dir, joined, sources)
}

// A source is a run to be joined, kept from being written meanwhile.
type source struct {
	*Run
	lock *os.File
}

func openSources(dirs []string) ([]source, error) {
	var sources []source
	for _, dir := range dirs {
		r, err := Open(dir)
		if err != nil {
			return sources, err
		}
		s := source{Run: r}
		sources = append(sources, s)
		s.lock, err = lockShared(dir)
		if err != nil {
			return sources, err
		}
		sources[len(sources)-1] = s
	}
	return sources, nil
}

// lockShared keeps writers from a run that is read; nil where no process can
// have locked it.
func lockShared(dir string) (*os.File, error) {
	f, _, err := files.Open(filepath.Join(dir, lockName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("run folder %s cannot be read (%w)", dir, wholefile.Cause(err))
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%s is being written by another process: wait for it, then join again", dir)
	} else if err != nil {
		err = fmt.Errorf("%s cannot be locked (%w): copy the run to another file system", dir, err)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func closeSources(sources []source) {
	for _, s := range sources {
		s.Close()
		if s.lock != nil {
			s.lock.Close()
		}
	}
}

// findOverlap counts the games of all sources, and names the first that two
// of them hold.
func findOverlap(sources []source, found *census) error {
	owner := map[string]int{} // of a game's ID
	for i, s := range sources {
		err := s.Outcomes(func(o Outcome) error {
			if at, ok := owner[o.Job.ID]; ok {
				return fmt.Errorf("%s and %s both hold game %s: only runs of different games can be joined", sources[at].Dir, s.Dir, o.Job.ID)
			}
			owner[o.Job.ID] = i
			if err := found.add(o); err != nil {
				return fmt.Errorf("%s: %w", s.Dir, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// joinedFile is the run.json of the joined run.
func joinedFile(sources []source) runFile {
	f := runFile{Format: format, Created: sources[0].Created, Experiment: sources[0].Experiment.Whole()}
	for _, s := range sources {
		if s.Created.Before(f.Created) {
			f.Created = s.Created
		}
		f.How = append(f.How, s.How...)
	}
	return f
}

// holdsMerge says whether the folder holds the joined run already. Any other
// content is an error.
func holdsMerge(dir string, joined runFile, games int) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s cannot be read (%w): choose another --out folder", dir, wholefile.Cause(err))
	}
	r, err := Open(dir)
	if err != nil {
		return false, fmt.Errorf("%s is not empty: choose another --out folder", dir)
	}
	defer r.Close()
	n, err := r.Games()
	if err != nil {
		return false, err
	}
	if n != games || !reflect.DeepEqual(r.How, joined.How) || r.Experiment.difference(joined.Experiment) != nil {
		return false, fmt.Errorf("%s holds another run: choose another --out folder", dir)
	}
	return true, nil
}

// mergeInto makes the joined run under another name and renames it.
func mergeInto(dir string, joined runFile, sources []source) error {
	dir = filepath.Clean(dir)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("%s cannot be made (%w): choose another --out folder", dir, wholefile.Cause(err))
	}
	work := dir + mergeSuffix
	if err := claim(work); err != nil {
		return err
	}
	lock, err := lockFolder(work)
	if err != nil {
		return err
	}
	defer lock.Close() // what it is the lock of moves to dir
	if err := clearFolder(work); err != nil {
		return fmt.Errorf("%s, left by a merge that was stopped, cannot be emptied: %w", work, err)
	}
	if err := fill(work, joined, sources); err != nil {
		return errors.Join(err, os.RemoveAll(work))
	}
	// Unlike os.Rename it replaces an empty folder.
	if err := syscall.Rename(work, dir); err != nil {
		return errors.Join(fmt.Errorf("%s cannot be renamed to %s: %w", work, dir, err), os.RemoveAll(work))
	}
	return syncFolder(filepath.Dir(dir))
}

// clearFolder removes what an earlier merge has left, but for its lock.
func clearFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if name := entry.Name(); err == nil && name != lockName {
			err = os.Remove(filepath.Join(dir, name))
		}
	}
	return err
}

// fill writes the joined run into an empty folder.
func fill(dir string, joined runFile, sources []source) error {
	db, err := openDB(dir, true)
	if err != nil {
		return err
	}
	s := &Store{Run: newRun(dir, joined, db), position: joined.Experiment.Plan().positions()}
	if s.writer, err = newWriter(db); err == nil {
		first := 0 // session of the source
		for _, src := range sources {
			if err = s.takeAll(src, first); err != nil {
				break
			}
			first += len(src.How)
		}
		err = errors.Join(err, s.writer.conn.Close())
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return writeRunFile(dir, joined)
}

// takeAll copies games and GPUs of a run, whose first session is to be this one.
func (s *Store) takeAll(src source, first int) error {
	var batch []scheduler.Record
	var lost error // of the joined run: read would blame the source
	session, size := 0, 0
	flush := func() error {
		lost = dbError(filepath.Join(s.Dir, dbName), s.append(first+session, batch))
		batch, size = batch[:0], 0
		return lost
	}
	err := src.read(func(tx *sql.Tx) error {
		err := eachWhole(tx, allGames, nil, func(row gameRow) error {
			if row.session < 0 || row.session >= len(src.How) {
				return fmt.Errorf("%s and %s in %s do not belong together (game %s was played by session %d of %d): restore them", runName, dbName, src.Dir, row.rec.Job.ID, row.session, len(src.How))
			}
			if row.session != session || len(batch) == batchSize || size > maxTranscript {
				if err := flush(); err != nil {
					return err
				}
			}
			session = row.session
			batch, size = append(batch, row.rec), size+textBytes(row.rec)
			return nil
		})
		if err == nil {
			err = flush()
		}
		if err != nil {
			return err
		}
		lost = s.write(func(to *sql.Tx) error {
			if err := copyRows(to, tx, "gpus", first); err != nil {
				return err
			}
			return copyRows(to, tx, "gpu_samples", first)
		})
		return lost
	})
	if lost != nil {
		return lost
	}
	return err
}

// copyRows copies a table whose first column is the session.
func copyRows(to, from *sql.Tx, table string, first int) error {
	rows, err := from.Query(`SELECT * FROM ` + table)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	insert, err := to.Prepare(`INSERT INTO ` + table + ` VALUES (? + ?` + strings.Repeat(`,?`, len(names)-1) + `)`)
	if err != nil {
		return err
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if _, err := insert.Exec(append([]any{first}, values...)...); err != nil {
			return err
		}
	}
	return rows.Err()
}
