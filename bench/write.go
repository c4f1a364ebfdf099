package bench

import (
	"database/sql"
	"fmt"
	"path/filepath"

	"selfplay/scheduler"
)

const insertGame = `INSERT INTO games (position, id, session, game, lang0, lang1, player0, player1, role, idx, seed,
	reward0, reward1, invalid0, invalid1, turns0, turns1, name0, name1, reason0, reason1)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

const insertTurn = `INSERT INTO turns (game, turn, seat, status, finish, invalid, defaulted, regret,
	prompt_tokens, completion_tokens, thinking_tokens, prefill_tokens, start_ms, end_ms,
	action, wrapped, reason, completion, thinking, kept, observation)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

// Append stores ended games, all of them or, after an error, none. A game that
// is already there is an error: ended games are never written again.
func (s *Store) Append(records ...scheduler.Record) error {
	if err := s.append(records); err != nil {
		return dbError(filepath.Join(s.Dir, dbName), err)
	}
	return nil
}

func (s *Store) append(records []scheduler.Record) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	game, err := tx.Prepare(insertGame)
	if err != nil {
		return err
	}
	turn, err := tx.Prepare(insertTurn)
	if err != nil {
		return err
	}
	for _, r := range records {
		position, err := s.position(r.Job)
		if err != nil {
			return err
		}
		if err := writeGame(game, position, s.session, r); err != nil {
			return fmt.Errorf("game %s: %w", r.Job.ID, err)
		}
		if err := writeTurns(turn, position, r.Turns); err != nil {
			return fmt.Errorf("game %s: %w", r.Job.ID, err)
		}
	}
	return tx.Commit()
}

func writeGame(insert *sql.Stmt, position, session int, r scheduler.Record) error {
	j, o := r.Job, r.Result
	_, err := insert.Exec(position, j.ID, session, j.Game, j.Langs[0], j.Langs[1], j.Players[0], j.Players[1], j.Role, j.Index, j.Seed,
		o.Rewards[0], o.Rewards[1], o.Invalid[0], o.Invalid[1], o.Turns[0], o.Turns[1],
		o.Roles[0], o.Roles[1], o.Reasons[0], o.Reasons[1])
	return err
}

func writeTurns(insert *sql.Stmt, position int, turns []scheduler.Turn) error {
	var before [2]string // each seat's last observation
	for i, t := range turns {
		kept := commonPrefix(before[t.Seat], t.Observation)
		before[t.Seat] = t.Observation
		_, err := insert.Exec(position, i, t.Seat, string(t.Status), string(t.Finish), t.Event.Invalid, t.Event.Default,
			sql.Null[float64]{V: t.Event.Regret, Valid: t.Event.Judged},
			t.PromptTokens, t.CompletionTokens, t.ThinkingTokens, t.Prefill, t.Start.Milliseconds(), t.End.Milliseconds(),
			t.Action, t.Event.Action, t.Event.Reason, t.Completion, t.Thinking, kept, t.Observation[kept:])
		if err != nil {
			return err
		}
	}
	return nil
}

// commonPrefix counts the bytes with which both texts begin. An observation is
// the seat's whole history, so storing only what is new makes a game's size
// grow with its turns and not with their square. A character may be cut in
// two: reading joins it again.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
