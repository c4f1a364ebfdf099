package bench

import (
	"fmt"
	"slices"
	"strings"

	"selfplay/bench/screen"
)

// Intervals for a fixed number of games are a little too narrow where a cell stopped
// because it was known well enough. Tables mark what is of such a cell, or made of
// several with one among them; game "" is any of the run's.

// EarlyPair says whether two labels stopped early, or a label with itself.
func (rep *Report) EarlyPair(game, a, b string) bool {
	return rep.early(game, "", func(c StoppedCell) bool {
		return c.Labels == [2]string{a, b} || c.Labels == [2]string{b, a}
	})
}

// EarlyMean says whether a pair that stopped early is in the mean margin of a label.
func (rep *Report) EarlyMean(game, a string) bool {
	return slices.ContainsFunc(rep.Labels, func(b string) bool { return isRival(a, b) && rep.EarlyPair(game, a, b) })
}

// EarlyGap says whether a pair that stopped early is in the language gap of a game.
func (rep *Report) EarlyGap(game string) bool {
	return slices.ContainsFunc(rep.Labels, func(a string) bool { return isPlain(a) && rep.EarlyMean(game, a) })
}

// EarlyRecovery says whether a pair that stopped early is in a recovery in a game.
func (rep *Report) EarlyRecovery(game string, r Recovery) bool {
	return rep.EarlyMean(game, r.Label) || rep.EarlyMean(game, r.Interface) || rep.EarlyMean(game, r.Best)
}

// EarlyGame says whether a pair that stopped early is in what is made of all cells of a
// game: what moving first is worth, and strengths.
func (rep *Report) EarlyGame(game string) bool {
	return rep.early(game, "", func(StoppedCell) bool { return true })
}

// EarlyAgainst says whether a label stopped early against an opponent.
func (rep *Report) EarlyAgainst(game, label, opponent string) bool {
	return rep.early(game, opponent, func(c StoppedCell) bool { return c.Labels[0] == label })
}

func (rep *Report) early(game, opponent string, is func(StoppedCell) bool) bool {
	return slices.ContainsFunc(rep.Stopped, func(c StoppedCell) bool {
		return (game == "" || c.Game == game) && c.Opponent == opponent && is(c)
	})
}

// stoppedTable says which cells of a game stopped before their last game.
func (rep *Report) stoppedTable(b *strings.Builder, game string) {
	var cells []string
	for _, c := range rep.Stopped {
		if c.Game != game {
			continue
		}
		name := c.Labels[0] + "-" + c.Labels[1]
		if c.Opponent != "" {
			name = c.Labels[0] + " against " + c.Opponent
		}
		cells = append(cells, fmt.Sprintf("%s at %s (margin %+.2f to %+.2f)", name, screen.Thousands(c.N), c.Low, c.High))
	}
	if len(cells) > 0 {
		wrap(b, "stopped before n "+screen.Thousands(rep.Experiment.N), cells)
	}
}
