package bench

import (
	"fmt"
	"math"

	"selfplay/games"
)

// deals are the wins less losses of seat 0 and the games, by index: games of one
// index share their deal, so luck of the deal is the same for all of them. What
// moving first is worth is a mean over deals, and its interval as well: that of a
// ratio of means over deals drawn at random, by Student's distribution, since the
// spread is known from so few of them. Where a game deals nothing, each of its games
// is a deal of its own.
type deals []struct{ won, games int32 }

// dealsNothing says whether games of one index have nothing in common.
func dealsNothing(game string) bool {
	spec, err := games.Lookup(game)
	return err == nil && spec.Game != "KuhnPoker"
}

// add counts a game of the index, which is below n; alone if it shares no deal.
func (d *deals) add(index, n int, alone bool, rewards [2]int) error {
	if index < 0 || index >= n {
		return fmt.Errorf("index %d is not of 0 to %d: %s is damaged, restore it", index, n-1, dbName)
	}
	if alone {
		index = len(*d)
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
	half := t95(max(1, used-1)) * math.Sqrt(sum+2+2*m*m) / (games + 2)
	return m, Interval{max(-1, m-half), min(1, m+half)}, true
}

// t95 has 2.5 % of Student's distribution above it, by Cornish and Fisher's expansion
// from the normal one: to within 0.01 from 4 degrees of freedom on, too small below.
func t95(freedom float64) float64 {
	z, z2 := z95, z95*z95
	return z + z*(z2+1)/(4*freedom) + z*((5*z2+16)*z2+3)/(96*freedom*freedom) +
		z*(((3*z2+19)*z2+17)*z2-15)/(384*freedom*freedom*freedom)
}
