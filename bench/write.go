package bench

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"selfplay/scheduler"
)

const insertGame = `INSERT INTO games (position, id, session, game, lang0, lang1, player0, player1, role, idx, seed,
	reward0, reward1, invalid0, invalid1, turns0, turns1, name0, name1, reason0, reason1, opening0, opening1)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

const insertTurn = `INSERT INTO turns (game, turn, seat, status, finish, invalid, defaulted, regret,
	prompt_tokens, completion_tokens, thinking_tokens, prefill_tokens, start_ms, end_ms,
	action, wrapped, reason, kept, observation_bytes, completion_bytes, thinking_bytes, action_bytes, wrapped_bytes)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

const (
	insertTranscript = `INSERT INTO transcripts (game, zstd) VALUES (?,?)`
	insertOpening    = `INSERT INTO openings (id, game, seat, lang, text) VALUES (?,?,?,?,?)`
	selectOpenings   = `SELECT id, game, seat, lang, text FROM openings`
)

// Append stores ended games, all of them or, after an error, none. A game that
// is already there is an error: ended games are never written again.
//
// They survive the end of the process, however it ends. A power cut they survive
// too, but for those that came in full batches since the last smaller one: then
// the disk is what games wait for, and a game that is lost so is played again.
func (s *Store) Append(records ...scheduler.Record) error {
	if err := s.append(s.session, records); err != nil {
		return dbError(filepath.Join(s.Dir, dbName), err)
	}
	return nil
}

func (s *Store) append(session int, records []scheduler.Record) error {
	if err := s.writer.wait(len(records) < batchSize); err != nil {
		return err
	}
	tx, err := s.writer.conn.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	b, err := s.writer.batch(tx)
	if err != nil {
		return err
	}
	for _, r := range records {
		position, err := s.position(r.Job)
		if err != nil {
			return err
		}
		if err := b.add(position, session, r); err != nil {
			return fmt.Errorf("game %s: %w", r.Job.ID, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.writer.openings = b.openings
	return nil
}

// A writer keeps what storing games needs from one transaction to the next.
type writer struct {
	conn       *sql.Conn // its own: how it waits for the disk is the connection's
	waits      bool      // for the disk, at a commit
	encoder    *zstd.Encoder
	openings   map[openingKey]opening // stored ones
	raw, frame []byte                 // reused
}

// An opening is a text that the first observations of a seat begin with, as
// far as the deal and the other seat's first move let them.
type opening struct {
	id   int
	text string
}

type openingKey struct {
	game string
	seat int
	lang string
}

func newWriter(db *sql.DB) (*writer, error) {
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, waits: true, openings: map[openingKey]opening{}}
	w.encoder, err = newEncoder()
	if err == nil {
		err = w.readOpenings(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

func (w *writer) readOpenings(ctx context.Context) error {
	rows, err := w.conn.QueryContext(ctx, selectOpenings)
	if err != nil {
		return err
	}
	return eachOpening(rows, func(k openingKey, o opening) { w.openings[k] = o })
}

// wait says whether commits are to wait for the disk.
func (w *writer) wait(yes bool) error {
	if yes == w.waits {
		return nil
	}
	level := "NORMAL"
	if yes {
		level = "FULL"
	}
	_, err := w.conn.ExecContext(context.Background(), "PRAGMA synchronous = "+level)
	if err == nil {
		w.waits = yes
	}
	return err
}

// eachOpening reads the rows of selectOpenings.
func eachOpening(rows *sql.Rows, f func(openingKey, opening)) error {
	defer rows.Close()
	for rows.Next() {
		var k openingKey
		var o opening
		if err := scan(rows, &o.id, &k.game, &k.seat, &k.lang, &o.text); err != nil {
			return err
		}
		f(k, o)
	}
	return rows.Err()
}

// A batch is the games of one transaction. What it adds to openings is the
// writer's only once the transaction is committed.
type batch struct {
	*writer
	game, turn, transcript, opening *sql.Stmt
	openings                        map[openingKey]opening
}

func (w *writer) batch(tx *sql.Tx) (*batch, error) {
	b := &batch{writer: w, openings: maps.Clone(w.openings)}
	var err error
	for _, s := range []struct {
		stmt *(*sql.Stmt) // ends with tx
		text string
	}{{&b.game, insertGame}, {&b.turn, insertTurn}, {&b.transcript, insertTranscript}, {&b.opening, insertOpening}} {
		if *s.stmt, err = tx.Prepare(s.text); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *batch) add(position, session int, r scheduler.Record) error {
	var before [2]string // each seat's last observation
	var openings [2]sql.Null[int]
	for seat := range before {
		if o, ok, err := b.openingOf(r, seat); err != nil {
			return err
		} else if ok {
			before[seat], openings[seat] = o.text, sql.Null[int]{V: o.id, Valid: true}
		}
	}
	j, o := r.Job, r.Result
	_, err := b.game.Exec(position, j.ID, session, j.Game, j.Langs[0], j.Langs[1], j.Players[0], j.Players[1], j.Role, j.Index, j.Seed,
		o.Rewards[0], o.Rewards[1], o.Invalid[0], o.Invalid[1], o.Turns[0], o.Turns[1],
		o.Roles[0], o.Roles[1], o.Reasons[0], o.Reasons[1], openings[0], openings[1])
	if err != nil {
		return err
	}
	b.raw = b.raw[:0]
	shown := 0
	for i, t := range r.Turns {
		shown += len(t.Observation)
		texts := textsOf(t, before[t.Seat])
		before[t.Seat] = t.Observation
		b.raw = texts.appendTo(b.raw)
		_, err := b.turn.Exec(position, i, t.Seat, string(t.Status), string(t.Finish), t.Event.Invalid, t.Event.Default,
			sql.Null[float64]{V: t.Event.Regret, Valid: t.Event.Judged},
			t.PromptTokens, t.CompletionTokens, t.ThinkingTokens, t.Prefill, t.Start.Milliseconds(), t.End.Milliseconds(),
			column(t.Action), column(t.Event.Action), t.Event.Reason,
			texts.kept, len(texts.observation), len(texts.completion), len(texts.thinking), len(texts.action), len(texts.wrapped))
		if err != nil {
			return err
		}
	}
	if len(b.raw) > maxTranscript || shown > maxShown {
		return fmt.Errorf("its texts are %d bytes, and what its players were shown %d: at most %d and %d can be kept: choose a smaller --max-tokens, in another --run folder", len(b.raw), shown, maxTranscript, maxShown)
	}
	b.frame = b.encoder.EncodeAll(b.raw, b.frame[:0])
	_, err = b.transcript.Exec(position, b.frame)
	return err
}

// openingOf finds the opening for the first observation of a seat, and stores
// that observation if there is none yet; false if the seat had no turn.
func (b *batch) openingOf(r scheduler.Record, seat int) (opening, bool, error) {
	for _, t := range r.Turns {
		if t.Seat != seat {
			continue
		}
		key := openingKey{r.Job.Game, seat, r.Job.Langs[seat]}
		o, ok := b.openings[key]
		if ok {
			return o, true, nil
		}
		o = opening{len(b.openings) + 1, t.Observation}
		b.openings[key] = o
		_, err := b.opening.Exec(o.id, key.game, key.seat, key.lang, o.text)
		return o, true, err
	}
	return opening{}, false, nil
}
