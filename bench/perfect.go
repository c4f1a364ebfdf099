package bench

import (
	"database/sql"
	"fmt"
	"strings"
)

// JudgedMoves counts the moves of one game and language that lost the same by
// perfect play.
type JudgedMoves struct {
	Game   string
	Lang   string // of the mover
	Regret float64
	Count  int
}

// Moves that lost the same are counted before anything is added up, so that sums
// do not depend on the order in which games ended.
const selectJudged = `SELECT g.game, CASE t.seat WHEN 0 THEN g.lang0 ELSE g.lang1 END, t.regret, count(*)
	FROM turns t JOIN games g ON g.position = t.game WHERE t.regret IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`

func judged(tx *sql.Tx, f func(JudgedMoves) error) error {
	rows, err := tx.Query(selectJudged)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var m JudgedMoves
		if err := rows.Scan(&m.Game, &m.Lang, &m.Regret, &m.Count); err != nil {
			return err
		}
		if err := f(m); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A Quality sums up how moves compare with perfect play.
type Quality struct {
	Moves   int
	Optimal int     // without regret
	Regret  float64 // of all
}

// Qualities are by game and language.
type Qualities map[[2]string]Quality

func (q Qualities) add(m JudgedMoves) {
	key := [2]string{m.Game, m.Lang}
	sum := q[key]
	sum.Moves += m.Count
	if m.Regret == 0 {
		sum.Optimal += m.Count
	}
	sum.Regret += float64(m.Count) * m.Regret
	q[key] = sum
}

// OptimalRate is the share of moves that lose nothing; false without moves.
func (q Quality) OptimalRate() (float64, bool) {
	return float64(q.Optimal) / float64(max(1, q.Moves)), q.Moves > 0
}

// MeanRegret is what a move loses in the mean; false without moves.
func (q Quality) MeanRegret() (float64, bool) {
	return q.Regret / float64(max(1, q.Moves)), q.Moves > 0
}

// compare fills in how the moves of each game compare with perfect play.
func (rep *Report) compare(qualities Qualities) {
	e := rep.Experiment
	for _, game := range e.Games {
		of := func(lang string) Quality { return qualities[[2]string{game, lang}] }
		moves := map[string]int{}
		for _, lang := range e.Langs {
			if n := of(lang).Moves; n > 0 {
				moves[lang] = n
			}
		}
		if len(moves) == 0 {
			continue
		}
		rep.Judged[game] = moves
		rep.Optimal[game] = collect(e.Langs, func(lang string) (float64, bool) { return of(lang).OptimalRate() })
		rep.Regret[game] = collect(e.Langs, func(lang string) (float64, bool) { return of(lang).MeanRegret() })
	}
}

// perfectTables have a row per solved game and a column per language.
func (rep *Report) perfectTables(b *strings.Builder) {
	var solved []string
	for _, game := range rep.Experiment.Games {
		if len(rep.Judged[game]) > 0 {
			solved = append(solved, game)
		}
	}
	if len(solved) == 0 {
		return
	}
	perfectTable(b, "optimal", solved, rep.Experiment.Langs, rep.Optimal)
	perfectTable(b, "regret", solved, rep.Experiment.Langs, rep.Regret)
	b.WriteString("optimal: share of the language's valid moves that lose nothing by perfect play\n")
	b.WriteString("regret: what they lose in the mean (won 1, drawn 0, lost -1; Kuhn Poker: chips)\n\n")
}

func perfectTable(b *strings.Builder, name string, games, langs []string, values map[string]map[string]float64) {
	label, column := widest(games, len(name)), max(7, widest(langs, 0)+1)
	fmt.Fprintf(b, "%-*s", label, name)
	for _, lang := range langs {
		fmt.Fprintf(b, "%*s", column, lang)
	}
	b.WriteByte('\n')
	for _, game := range games {
		fmt.Fprintf(b, "%-*s", label, game)
		for _, lang := range langs {
			cell := "-"
			if v, ok := values[game][lang]; ok {
				cell = fmt.Sprintf("%.3f", v)
			}
			fmt.Fprintf(b, "%*s", column, cell)
		}
		b.WriteByte('\n')
	}
}
