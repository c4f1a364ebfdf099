package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"selfplay/bench/screen"
	"selfplay/locales/wholefile"
	"selfplay/scheduler"
)

const lockName = "lock"

// A Run is a run folder opened for reading. Any number of processes may read a
// run, also while one writes it.
type Run struct {
	Dir        string
	Experiment Experiment
	Created    time.Time
	How        []Session

	until context.Context // see Until

	mu    sync.Mutex // for what follows
	db    *sql.DB
	still bool // nobody was writing it when it was opened
}

// Open opens a run for reading.
func Open(dir string) (*Run, error) {
	f, err := readRunFile(dir)
	if n := len(shardsIn(dir)); n > 0 && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds shards (%d by now) and no run: join them with selfplay merge, or name one", dir, n)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s is no run folder: it holds no %s", dir, runName)
	}
	if err != nil {
		return nil, err
	}
	db, still, err := openDBForReading(dir)
	if err != nil {
		return nil, err
	}
	r := newRun(dir, f, db)
	r.still = still
	return r, nil
}

func newRun(dir string, f runFile, db *sql.DB) *Run {
	return &Run{Dir: dir, Experiment: f.Experiment, Created: f.Created, How: f.How, db: db, until: context.Background()}
}

// Until has reading end with an error once ctx has.
func (r *Run) Until(ctx context.Context) { r.until = ctx }

// Close releases the run's files.
func (r *Run) Close() error { return r.db.Close() }

// A Store is a run folder opened for writing, by one process at a time. Its
// methods are for one goroutine.
type Store struct {
	*Run
	lock     *os.File
	session  int // of this process in Run.How
	position func(scheduler.Job) (int, error)
	writer   *writer
}

// Create opens dir for writing: a new folder, an empty one, or one that holds
// the same experiment, which then goes on.
func Create(dir string, e Experiment, how Session) (_ *Store, err error) {
	if err := e.Plan().Validate(); err != nil {
		return nil, err
	}
	if err := claim(dir); err != nil {
		return nil, err
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	if how.Started.IsZero() {
		how.Started = time.Now().UTC().Truncate(time.Second)
	}
	f, err := readRunFile(dir)
	fresh := errors.Is(err, fs.ErrNotExist)
	switch {
	case fresh:
		f = runFile{Format: format, Created: how.Started, Experiment: e}
	case err != nil:
		return nil, err
	}
	if err := f.Experiment.difference(e); err != nil {
		return nil, fmt.Errorf("%s holds another experiment: %w; choose another --run folder or give the same settings", dir, err)
	}
	db, err := openDB(dir, fresh)
	if err != nil {
		return nil, err
	}
	f.How = append(f.How, how)
	s := &Store{Run: newRun(dir, f, db), lock: lock, session: len(f.How) - 1, position: e.Plan().positions()}
	s.writer, err = newWriter(db)
	if err == nil {
		err = s.begin(f, fresh)
	}
	if err != nil {
		if s.writer != nil {
			s.writer.conn.Close()
		}
		db.Close()
		return nil, err
	}
	return s, nil
}

// begin writes run.json. It comes last in making a folder: a folder without it
// was never begun, and one that has it is whole.
func (s *Store) begin(f runFile, fresh bool) error {
	if n, err := s.Games(); err != nil {
		return err
	} else if fresh && n > 0 {
		return fmt.Errorf("%s holds %s but no %s: restore it or choose another --run folder", s.Dir, screen.Counted(n, "game", "games"), runName)
	}
	return writeRunFile(s.Dir, f)
}

// claim makes the folder if need be, and refuses one that holds other things.
func claim(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: --run names a folder", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("run folder %s cannot be made (%w): choose another --run folder", dir, wholefile.Cause(err))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("run folder %s cannot be read (%w): choose another --run folder", dir, wholefile.Cause(err))
	}
	foreign := ""
	for _, entry := range entries {
		name := entry.Name()
		if name == runName {
			return nil
		}
		if name != lockName && name != runName+".tmp" && !strings.HasPrefix(name, dbName) {
			foreign = name
		}
	}
	if _, err := readShardsFile(dir); err == nil {
		return fmt.Errorf("%s holds an experiment in shards: say which with --shard, or choose another --run folder", dir)
	}
	if foreign != "" {
		return fmt.Errorf("%s holds other files (%s) and no run: --run needs a new or empty folder", dir, foreign)
	}
	return nil
}

// lockFolder keeps other processes from writing to the run. The lock belongs
// to the open file, so it ends with the process, however that ends.
func lockFolder(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, fmt.Errorf("run folder %s cannot be written (%w): choose another --run folder", dir, wholefile.Cause(err))
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, fmt.Errorf("%s is being written by another process: wait for it or choose another --run folder", dir)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s cannot be locked (%w): choose a --run folder on another file system", path, err)
	}
	return f, nil
}

// Close ends writing and lets other processes write.
func (s *Store) Close() error {
	return errors.Join(s.writer.conn.Close(), s.Run.Close(), s.lock.Close())
}

// Remaining yields the jobs whose games have not ended, in plan order. What
// has ended is read once, before the first.
func (s *Store) Remaining() (iter.Seq[scheduler.Job], error) {
	ended, err := s.ended()
	if err != nil {
		return nil, err
	}
	return func(yield func(scheduler.Job) bool) {
		for at, job := range s.Experiment.Plan().placed() {
			if !ended[at] && !yield(job) {
				return
			}
		}
	}, nil
}

// ended is the set of positions of ended games. A stored game whose ID is not
// the plan's at its position means that the files do not belong together.
func (s *Store) ended() (map[int]bool, error) {
	ended := map[int]bool{}
	err := s.Outcomes(func(o Outcome) error {
		position, err := s.position(o.Job)
		if err != nil {
			return fmt.Errorf("%s and %s in %s do not belong together (%w): restore them or choose another --run folder", runName, dbName, s.Dir, err)
		}
		ended[position] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}
