package bench

import (
	"fmt"
	"math"
)

// deals are the wins less losses of seat 0 and the games, by index: games of one
// index share their deal, so luck of the deal is the same for all of them. What
// moving first is worth is a mean over deals, and its interval as well: that of a
// ratio of means over deals drawn at random, by its normal approximation.
type deals []struct{ won, games int32 }

// add counts a game of the index, which is below n.
func (d *deals) add(index, n int, rewards [2]int) error {
	if index < 0 || index >= n {
		return fmt.Errorf("index %d is not of 0 to %d: %s is damaged, restore it", index, n-1, dbName)
	}
	for len(*d) <= index {
		*d = append(*d, struct{ won, games int32 }{})
	}
	at := &(*d)[index]
	at.games++
	switch {
	case rewards[0] > rewards[1]:
		at.won++
	case rewards[0] < rewards[1]:
		at.won--
	}
	return nil
}

// margin is that of seat 0 over seat 1 with its interval; false without games.
// One win and one loss are added to the spread, as in errorsOf.
func (d deals) margin() (float64, Interval, bool) {
	won, games, used := 0.0, 0.0, 0.0
	for _, x := range d {
		won += float64(x.won)
		games += float64(x.games)
		used += float64(oneIf(x.games > 0))
	}
	if games == 0 {
		return 0, Interval{}, false
	}
	m := won / games
	sum := 0.0
	for _, x := range d {
		off := float64(x.won) - m*float64(x.games)
		sum += off * off
	}
	sum *= used / max(1, used-1)
	half := z95 * math.Sqrt(sum+2+2*m*m) / (games + 2)
	return m, Interval{max(-1, m-half), min(1, m+half)}, true
}
