package bench

import (
	"fmt"
	"slices"
	"strings"
)

// OpponentMargins are what the model's games against fixed opponents tell: by
// game, opponent and label of the model, (won - lost) / games over both roles, in
// [-1, 1]. Margins of self-play compare labels with each other; these have one
// scale for all labels, models and runs.
type OpponentMargins map[string]map[string]map[string]float64

// duels count the games of the model, as seat 0, against opponents.
type duels map[string]map[pair]Tally

// add counts a game against an opponent; false if it is none.
func (d duels) add(o Outcome) bool {
	c := pairOf(o.Job)
	if c.opponent == "" {
		return false
	}
	rewards := o.Rewards
	if o.Job.Role == 1 {
		rewards[0], rewards[1] = rewards[1], rewards[0]
	}
	if d[o.Job.Game] == nil {
		d[o.Job.Game] = map[pair]Tally{}
	}
	t := d[o.Job.Game][c]
	t.add(rewards)
	d[o.Job.Game][c] = t
	return true
}

// margins is nil without games.
func (d duels) margins() OpponentMargins {
	var all OpponentMargins
	for game, cells := range d {
		if all == nil {
			all = OpponentMargins{}
		}
		all[game] = map[string]map[string]float64{}
		for c, t := range cells {
			if all[game][c.opponent] == nil {
				all[game][c.opponent] = map[string]float64{}
			}
			all[game][c.opponent][c.labels[0]] = float64(t.Wins0-t.Wins1) / float64(t.Games())
		}
	}
	return all
}

// opponentTable has a row for each opponent of a game.
func (rep *Report) opponentTable(b *strings.Builder, game string) {
	labels, opponents := rep.Experiment.Labels(), rep.Experiment.Opponents
	label, column := widest(opponents, 0), max(7, widest(labels, 0)+1)
	fmt.Fprintf(b, "%-*s", label, "")
	for _, l := range labels {
		fmt.Fprintf(b, "%*s", column, l)
	}
	b.WriteByte('\n')
	for _, opponent := range opponents {
		fmt.Fprintf(b, "%-*s", label, opponent)
		for _, l := range labels {
			fmt.Fprintf(b, "%*s", column, signed(rep.Opponents[game][opponent], l))
		}
		b.WriteByte('\n')
	}
}

// stoppedTable says which cells of a game stopped before their last game.
func (rep *Report) stoppedTable(b *strings.Builder, game string) {
	if !slices.ContainsFunc(rep.Stopped, func(c StoppedCell) bool { return c.Game == game }) {
		return
	}
	fmt.Fprintf(b, "stopped before n %s:", thousands(rep.Experiment.N))
	separator := " "
	for _, c := range rep.Stopped {
		if c.Game != game {
			continue
		}
		name := c.Labels[0] + "-" + c.Labels[1]
		if c.Opponent != "" {
			name = c.Labels[0] + " against " + c.Opponent
		}
		fmt.Fprintf(b, "%s%s at %s (margin %+.2f to %+.2f)", separator, name, thousands(c.N), c.Low, c.High)
		separator = ", "
	}
	b.WriteByte('\n')
}
