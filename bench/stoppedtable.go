package bench

import (
	"fmt"
	"slices"
	"strings"
)

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
