package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"selfplay/games"
)

// A Quality says how moves compare with perfect play: how many lost how much.
type Quality map[float64]int

// Qualities are by game and language.
type Qualities map[[2]string]Quality

// add counts a move, unless what it lost is not known.
func (q Qualities) add(game, lang string, e games.Event) {
	if !e.Judged {
		return
	}
	key := [2]string{game, lang}
	if q[key] == nil {
		q[key] = Quality{}
	}
	q[key][e.Regret]++
}

// Moves is how many were counted.
func (q Quality) Moves() int {
	moves := 0
	for _, n := range q {
		moves += n
	}
	return moves
}

// OptimalRate is the share of moves that lose nothing; false without moves.
func (q Quality) OptimalRate() (float64, bool) {
	moves := q.Moves()
	return float64(q[0]) / float64(max(1, moves)), moves > 0
}

// MeanRegret is what a move loses in the mean; false without moves.
func (q Quality) MeanRegret() (float64, bool) {
	lost, moves := 0.0, q.Moves()
	for _, regret := range slices.Sorted(maps.Keys(q)) { // always in one order: sums are rounded
		lost += regret * float64(q[regret])
	}
	return lost / float64(max(1, moves)), moves > 0
}

// compare fills in how the moves of each game compare with perfect play.
func (rep *Report) compare(qualities Qualities) {
	e := rep.Experiment
	for _, game := range e.Games {
		of := func(lang string) Quality { return qualities[[2]string{game, lang}] }
		moves := map[string]int{}
		for _, lang := range rep.Labels {
			if n := of(lang).Moves(); n > 0 {
				moves[lang] = n
			}
		}
		if len(moves) == 0 {
			continue
		}
		rep.Judged[game] = moves
		rep.Optimal[game] = collect(rep.Labels, func(lang string) (float64, bool) { return of(lang).OptimalRate() })
		rep.Regret[game] = collect(rep.Labels, func(lang string) (float64, bool) { return of(lang).MeanRegret() })
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
	perfectTable(b, "optimal", solved, rep.Labels, rep.Optimal)
	perfectTable(b, "regret", solved, rep.Labels, rep.Regret)
	b.WriteString("optimal: share of the language's valid moves that lose nothing by perfect play\n")
	b.WriteString("regret: what they lose in the mean (won 1, drawn 0, lost -1; Kuhn Poker: chips)\n\n")
}

func perfectTable(b *strings.Builder, name string, games, langs []string, values map[string]map[string]float64) {
	g := grid{append([]string{name}, langs...)}
	for _, game := range games {
		row := []string{game}
		for _, lang := range langs {
			cell := "-"
			if v, ok := values[game][lang]; ok {
				cell = fmt.Sprintf("%.3f", v)
			}
			row = append(row, cell)
		}
		g.row(row...)
	}
	g.write(b)
}
