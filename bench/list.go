package bench

import (
	"database/sql"
	"slices"
	"strconv"
	"strings"
)

// A Filter says which ended games are listed: those of which all that it names is
// true. Its zero value lets all through.
type Filter struct {
	Part            string    // of the game's ID, in small letters or capitals
	Game            string    // environment id
	Langs           [2]string // labels of seat 0 and 1; only the first: of either seat
	Winner          string    // the seat, 0 or 1, or draw
	Cause           string    // see Causes
	Longer, Shorter int       // more, fewer turns than this; 0: any number
	Limit           int       // games at most, the first of the plan; 0: all
}

// Draw is the Winner of games that nobody won.
const Draw = "draw"

// A Cause is something that went wrong in a game.
type Cause struct{ Name, Says, where string }

// Causes are what games can be found by.
var Causes = []Cause{
	{"invalid", "lost by a second invalid move in a row", "(g.invalid0 OR g.invalid1)"},
	{"refused", "an answer was refused by the rules", anyTurn("t.invalid")},
	{"defaulted", "an answer could not be read, so that the rules took their default", anyTurn("t.defaulted")},
	{"truncated", "thinking that never ended", anyTurn("t.status = 'truncated'")},
	{"length", "an answer was cut off at the limit of tokens", anyTurn("t.finish = 'length'")},
	{"context", "an answer was cut off because the context was full", anyTurn("t.finish = 'context'")},
}

func anyTurn(is string) string {
	return "EXISTS (SELECT 1 FROM turns t WHERE t.game = g.position AND " + is + ")"
}

// A Listed game is one line of a list.
type Listed struct {
	Position int       `json:"position"` // in the plan
	ID       string    `json:"id"`
	Game     string    `json:"game"`
	Langs    [2]string `json:"langs"`
	Players  [2]string `json:"players"` // "": the run's model; else a policy's name
	Rewards  [2]int    `json:"rewards"`
	Invalid  [2]bool   `json:"invalid"` // lost by a second invalid move in a row
	Turns    int       `json:"turns"`
}

const (
	countTurns = "(SELECT count(*) FROM turns t WHERE t.game = g.position)"
	selectList = "SELECT g.position, g.id, g.game, g.lang0, g.lang1, g.player0, g.player1, g.reward0, g.reward1, g.invalid0, g.invalid1, " + countTurns + " FROM games g "
)

// List calls f for every ended game that the filter lets through, in plan order.
func (r *Run) List(f Filter, each func(Listed) error) error {
	which, args := f.sql()
	return r.list(which, args, each)
}

func (r *Run) list(which string, args []any, each func(Listed) error) error {
	return r.read(func(tx *sql.Tx) error {
		rows, err := tx.Query(selectList+which, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var l Listed
			err := scan(rows, &l.Position, &l.ID, &l.Game, &l.Langs[0], &l.Langs[1], &l.Players[0], &l.Players[1],
				&l.Rewards[0], &l.Rewards[1], &l.Invalid[0], &l.Invalid[1], &l.Turns)
			if err != nil {
				return err
			}
			if err := each(l); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Positions are the places in the plan of the games that List would list. They take
// much less time than the list where there are many.
func (r *Run) Positions(f Filter) ([]int, error) {
	var all []int
	which, args := f.sql()
	err := r.read(func(tx *sql.Tx) error {
		rows, err := tx.Query("SELECT g.position FROM games g "+which, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var at int
			if err := scan(rows, &at); err != nil {
				return err
			}
			all = append(all, at)
		}
		return rows.Err()
	})
	return all, err
}

// At lists the game at a position of the plan; false if it has not ended.
func (r *Run) At(position int) (l Listed, ok bool, err error) {
	err = r.list("WHERE g.position = ?", []any{position}, func(found Listed) error {
		l, ok = found, true
		return nil
	})
	return l, ok, err
}

// sql is what comes after FROM games g.
func (f Filter) sql() (which string, args []any) {
	var where []string
	is := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if f.Part != "" {
		is("instr(lower(g.id), lower(?)) > 0", f.Part)
	}
	if f.Game != "" {
		is("g.game = ?", f.Game)
	}
	switch {
	case f.Langs[1] != "":
		is("g.lang0 = ? AND g.lang1 = ?", f.Langs[0], f.Langs[1])
	case f.Langs[0] != "":
		is("? IN (g.lang0, g.lang1)", f.Langs[0])
	}
	switch f.Winner {
	case "0":
		is("g.reward0 > g.reward1")
	case "1":
		is("g.reward0 < g.reward1")
	case Draw:
		is("g.reward0 = g.reward1")
	}
	if i := slices.IndexFunc(Causes, func(c Cause) bool { return c.Name == f.Cause }); i >= 0 {
		is(Causes[i].where)
	}
	if f.Longer > 0 {
		is(countTurns+" > ?", f.Longer)
	}
	if f.Shorter > 0 {
		is(countTurns+" < ?", f.Shorter)
	}
	if len(where) > 0 {
		which = "WHERE " + strings.Join(where, " AND ")
	}
	which += " ORDER BY g.position"
	if f.Limit > 0 {
		which += " LIMIT " + strconv.Itoa(f.Limit)
	}
	return which, args
}

// mostNamed is how many games Search gives of a name that is not clear.
const mostNamed = 5

// Search finds the ended games that a person may mean: the one with this ID, the one
// at this position of the plan, or else some of those whose ID ends with this part, or
// if none does, holds it.
func (r *Run) Search(name string) ([]Listed, error) {
	if at, err := strconv.Atoi(name); err == nil {
		l, ok, err := r.At(at)
		if err != nil || !ok {
			return nil, err
		}
		return []Listed{l}, nil
	}
	var exact, ends, holds []Listed
	end := "/" + strings.ToLower(name)
	err := r.List(Filter{Part: name}, func(l Listed) error {
		switch {
		case l.ID == name:
			exact = []Listed{l}
		case strings.HasSuffix(strings.ToLower(l.ID), end) && len(ends) < mostNamed:
			ends = append(ends, l)
		case len(holds) < mostNamed:
			holds = append(holds, l)
		}
		return nil
	})
	for _, found := range [][]Listed{exact, ends, holds} {
		if len(found) > 0 {
			return found, err
		}
	}
	return nil, err
}
