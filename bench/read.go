package bench

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"time"

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
	return eachGame(tx, allGames, nil, func(_ int, rec scheduler.Record) error {
		return f(outcomeOf(rec))
	})
}

// Each calls f for every ended game with all its turns, in plan order. It sees
// the run as it is when Each begins; games that end later are left out.
func (r *Run) Each(f func(scheduler.Record) error) error {
	return r.each(f, allGames)
}

// Find returns one ended game by its ID; false if it has not ended.
func (r *Run) Find(id string) (scheduler.Record, bool, error) {
	var found scheduler.Record
	ok := false
	err := r.each(func(rec scheduler.Record) error {
		found, ok = rec, true
		return nil
	}, oneGame, id)
	return found, ok, err
}

func (r *Run) each(f func(scheduler.Record) error, which string, args ...any) error {
	return r.read(func(tx *sql.Tx) error {
		turns, err := tx.Prepare(selectTurns)
		if err != nil {
			return err
		}
		return eachGame(tx, which, args, func(position int, rec scheduler.Record) error {
			if rec.Turns, err = readTurns(turns, position); err != nil {
				return fmt.Errorf("game %s: %w", rec.Job.ID, err)
			}
			return f(rec)
		})
	})
}

// read runs f in one transaction, so that all it sees is of one moment.
func (r *Run) read(f func(*sql.Tx) error) error {
	path := filepath.Join(r.Dir, dbName)
	tx, err := r.db.Begin()
	if err != nil {
		return dbError(path, err)
	}
	defer tx.Rollback()
	return dbError(path, f(tx))
}

const selectGames = `SELECT position, id, game, lang0, lang1, role, idx, seed,
	reward0, reward1, invalid0, invalid1, turns0, turns1, name0, name1, reason0, reason1
	FROM games `

// Which games a query is to yield.
const (
	allGames = "ORDER BY position"
	oneGame  = "WHERE id = ?"
)

// eachGame reads games without their turns.
func eachGame(tx *sql.Tx, which string, args []any, f func(position int, rec scheduler.Record) error) error {
	rows, err := tx.Query(selectGames+which, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var position int
		var rec scheduler.Record
		j, o := &rec.Job, &rec.Result
		err := rows.Scan(&position, &j.ID, &j.Game, &j.Langs[0], &j.Langs[1], &j.Role, &j.Index, &j.Seed,
			&o.Rewards[0], &o.Rewards[1], &o.Invalid[0], &o.Invalid[1], &o.Turns[0], &o.Turns[1],
			&o.Roles[0], &o.Roles[1], &o.Reasons[0], &o.Reasons[1])
		if err != nil {
			return err
		}
		if err := f(position, rec); err != nil {
			return err
		}
	}
	return rows.Err()
}

const selectTurns = `SELECT seat, status, finish, invalid, defaulted, regret,
	prompt_tokens, completion_tokens, thinking_tokens, prefill_tokens, start_ms, end_ms,
	action, wrapped, reason, completion, thinking, kept, observation
	FROM turns WHERE game = ? ORDER BY turn`

func readTurns(query *sql.Stmt, position int) ([]scheduler.Turn, error) {
	rows, err := query.Query(position)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var turns []scheduler.Turn
	var before [2]string // each seat's last observation, see writeTurns
	for rows.Next() {
		var t scheduler.Turn
		var start, end int64
		var kept int
		var regret sql.Null[float64]
		err := rows.Scan(&t.Seat, &t.Status, &t.Finish, &t.Event.Invalid, &t.Event.Default, &regret,
			&t.PromptTokens, &t.CompletionTokens, &t.ThinkingTokens, &t.Prefill, &start, &end,
			&t.Action, &t.Event.Action, &t.Event.Reason, &t.Completion, &t.Thinking, &kept, &t.Observation)
		if err != nil {
			return nil, err
		}
		if t.Seat < 0 || t.Seat > 1 || kept < 0 || kept > len(before[t.Seat]) {
			return nil, fmt.Errorf("%s is damaged at turn %d: restore it or choose another --run folder", dbName, len(turns))
		}
		t.Observation = before[t.Seat][:kept] + t.Observation
		before[t.Seat] = t.Observation
		t.Event.Regret, t.Event.Judged = regret.V, regret.Valid
		t.Start, t.End = time.Duration(start)*time.Millisecond, time.Duration(end)*time.Millisecond
		turns = append(turns, t)
	}
	return turns, rows.Err()
}
