package bench

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"

	"selfplay/scheduler"
)

// Games counts the ended games.
func (r *Run) Games() (int, error) {
	var n int
	err := r.read(func(tx *sql.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM games`).Scan(&n)
	})
	return n, err
}

// Outcomes calls f for every ended game, in plan order.
func (r *Run) Outcomes(f func(Outcome) error) error {
	return r.read(func(tx *sql.Tx) error { return outcomes(tx, f) })
}

func outcomes(tx *sql.Tx, f func(Outcome) error) error {
	return eachGame(tx, allGames, nil, func(row gameRow) error {
		return f(outcomeOf(row.rec))
	})
}

// Each calls f for every ended game with all its turns, in plan order. It sees
// the run as it is when Each begins; games that end later are left out.
func (r *Run) Each(f func(scheduler.Record) error) error {
	return r.each(f, allGames)
}

// Find returns one ended game by its ID; false if it has not ended.
func (r *Run) Find(id string) (scheduler.Record, bool, error) { return r.find(oneGame, id) }

// FindAt returns the ended game at a position of the plan; false if it has not ended.
func (r *Run) FindAt(position int) (scheduler.Record, bool, error) { return r.find(gameAt, position) }

func (r *Run) find(which string, what any) (found scheduler.Record, ok bool, err error) {
	err = r.each(func(rec scheduler.Record) error {
		found, ok = rec, true
		return nil
	}, which, what)
	return found, ok, err
}

func (r *Run) each(f func(scheduler.Record) error, which string, args ...any) error {
	return r.read(func(tx *sql.Tx) error {
		return eachWhole(tx, which, args, func(row gameRow) error { return f(row.rec) })
	})
}

// eachWhole reads games with their turns.
func eachWhole(tx *sql.Tx, which string, args []any, f func(gameRow) error) error {
	t, err := newTurnReader(tx)
	if err != nil {
		return err
	}
	defer t.decoder.Close()
	return eachGame(tx, which, args, func(row gameRow) error {
		if row.rec.Turns, err = t.read(row); err != nil {
			return fmt.Errorf("game %s: %w", row.rec.Job.ID, err)
		}
		return f(row)
	})
}

// read runs f in one transaction, so that all it sees is of one moment. A file that
// is taken to be still is looked at before and after: a writer may have begun.
func (r *Run) read(f func(*sql.Tx) error) error {
	path := filepath.Join(r.Dir, dbName)
	db, still, err := r.current()
	if err != nil {
		return err
	}
	before, _ := os.Stat(path)
	tx, err := db.BeginTx(r.until, nil)
	if err == nil {
		defer tx.Rollback()
		err = f(tx)
	}
	if r.until.Err() != nil {
		return fmt.Errorf("stopped (%w)", r.until.Err())
	}
	if after, _ := os.Stat(path); still && !sameFile(before, after) {
		return fmt.Errorf("%s was written to while it was read: give the command again", path)
	}
	if errors.Is(err, errTranscript) || errors.Is(err, errRow) {
		return fmt.Errorf("%s: %w", r.Dir, err)
	}
	return dbError(path, err)
}

// errRow: a column holds what none of ours does.
var errRow = errors.New(dbName + " is damaged: restore it or choose another run folder")

// scan reads a row, of which any column may hold anything.
func scan(rows *sql.Rows, into ...any) error {
	if err := rows.Scan(into...); err != nil {
		return fmt.Errorf("%w (%.200s)", errRow, err.Error())
	}
	return nil
}

// current is the database, opened anew if it is still no more.
func (r *Run) current() (*sql.DB, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.still || isStill(filepath.Join(r.Dir, dbName)) {
		return r.db, r.still, nil
	}
	db, still, err := openDBForReading(r.Dir)
	if err != nil {
		return nil, false, err
	}
	r.db.Close()
	r.db, r.still = db, still
	return db, still, nil
}

func sameFile(a, b os.FileInfo) bool {
	return a != nil && b != nil && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

const selectGames = `SELECT position, id, session, game, lang0, lang1, player0, player1, role, idx, seed,
	reward0, reward1, invalid0, invalid1, turns0, turns1, name0, name1, reason0, reason1, opening0, opening1
	FROM games `

// Which games a query is to yield.
const (
	allGames = "ORDER BY position"
	oneGame  = "WHERE id = ?"
	gameAt   = "WHERE position = ?"
)

// A gameRow is a row of games, without its turns.
type gameRow struct {
	position, session int
	openings          [2]sql.Null[int]
	rec               scheduler.Record
}

// eachGame reads games without their turns.
func eachGame(tx *sql.Tx, which string, args []any, f func(gameRow) error) error {
	rows, err := tx.Query(selectGames+which, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var row gameRow
		j, o := &row.rec.Job, &row.rec.Result
		err := scan(rows, &row.position, &j.ID, &row.session, &j.Game, &j.Langs[0], &j.Langs[1], &j.Players[0], &j.Players[1], &j.Role, &j.Index, &j.Seed,
			&o.Rewards[0], &o.Rewards[1], &o.Invalid[0], &o.Invalid[1], &o.Turns[0], &o.Turns[1],
			&o.Roles[0], &o.Roles[1], &o.Reasons[0], &o.Reasons[1], &row.openings[0], &row.openings[1])
		if err != nil {
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

const selectTurns = `SELECT seat, status, finish, invalid, defaulted, regret,
	prompt_tokens, completion_tokens, thinking_tokens, prefill_tokens, start_ms, end_ms,
	action, wrapped, reason, kept, observation_bytes, completion_bytes, thinking_bytes, action_bytes, wrapped_bytes
	FROM turns WHERE game = ? ORDER BY turn`

// A turnReader reads the turns of one game after another.
type turnReader struct {
	turns, transcript *sql.Stmt
	decoder           *zstd.Decoder
	openings          map[int]string
	buf               []byte
}

func newTurnReader(tx *sql.Tx) (*turnReader, error) {
	t := &turnReader{openings: map[int]string{}}
	rows, err := tx.Query(selectOpenings)
	if err != nil {
		return nil, err
	}
	if err := eachOpening(rows, func(_ openingKey, o opening) { t.openings[o.id] = o.text }); err != nil {
		return nil, err
	}
	if t.turns, err = tx.Prepare(selectTurns); err != nil {
		return nil, err
	}
	if t.transcript, err = tx.Prepare(`SELECT zstd FROM transcripts WHERE game = ?`); err != nil {
		return nil, err
	}
	t.decoder, err = newDecoder()
	return t, err
}

// read gives the turns of a game.
func (r *turnReader) read(row gameRow) ([]scheduler.Turn, error) {
	var before [2]string // each seat's last observation, see batch.add
	for seat, id := range row.openings {
		text, ok := r.openings[id.V]
		if id.Valid && !ok {
			return nil, errTranscript
		}
		before[seat] = text
	}
	texts, err := r.open(row.position)
	if err != nil {
		return nil, err
	}
	rows, err := r.turns.Query(row.position)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var turns []scheduler.Turn
	left := maxShown
	for rows.Next() {
		t, err := readTurn(rows, &before, &texts, &left)
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if texts.rest != "" {
		return nil, errTranscript
	}
	return turns, nil
}

// open reads the transcript of a game.
func (r *turnReader) open(position int) (transcript, error) {
	var frame []byte
	if err := r.transcript.QueryRow(position).Scan(&frame); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return transcript{}, errTranscript
		}
		return transcript{}, err
	}
	t, buf, err := unpack(r.decoder, frame, r.buf)
	r.buf = buf
	return t, err
}

// readTurn reads a row of selectTurns, with its part of the transcript. left are the
// bytes that may yet be shown.
func readTurn(rows *sql.Rows, before *[2]string, texts *transcript, left *int) (scheduler.Turn, error) {
	var t scheduler.Turn
	var start, end int64
	var kept int
	var lengths [5]int
	var regret sql.Null[float64]
	var action, wrapped sql.Null[string]
	err := scan(rows, &t.Seat, &t.Status, &t.Finish, &t.Event.Invalid, &t.Event.Default, &regret,
		&t.PromptTokens, &t.CompletionTokens, &t.ThinkingTokens, &t.Prefill, &start, &end,
		&action, &wrapped, &t.Event.Reason, &kept, &lengths[0], &lengths[1], &lengths[2], &lengths[3], &lengths[4])
	if err != nil {
		return t, err
	}
	if t.Seat < 0 || t.Seat > 1 || kept < 0 || kept > len(before[t.Seat]) {
		return t, errTranscript
	}
	var parts [5]string
	for i, n := range lengths {
		if parts[i], err = texts.take(n); err != nil {
			return t, err
		}
	}
	if *left -= kept + len(parts[0]); *left < 0 {
		return t, errTranscript
	}
	t.Observation = before[t.Seat][:kept] + parts[0]
	before[t.Seat] = t.Observation
	t.Completion, t.Thinking = parts[1], parts[2]
	t.Action, t.Event.Action = action.V+parts[3], wrapped.V+parts[4] // one of each two is empty
	t.Event.Regret, t.Event.Judged = regret.V, regret.Valid
	t.Start, t.End = time.Duration(start)*time.Millisecond, time.Duration(end)*time.Millisecond
	return t, nil
}
