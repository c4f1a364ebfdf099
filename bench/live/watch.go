package live

import (
	"cmp"
	"slices"
	"time"
)

// Another shows the live game that began by places after, or before, the one that
// is shown.
func (c *Collector) Another(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	games := c.byAge()
	if len(games) == 0 {
		return
	}
	at := slices.IndexFunc(games, func(g *liveGame) bool { return g.job.ID == c.shown })
	if at < 0 && by > 0 { // what is shown has ended
		at = -1
	}
	at = ((at+by)%len(games) + len(games)) % len(games)
	c.shown, c.over = games[at].job.ID, nil
}

// game is the one that is shown. When it has ended it stays for a while, then
// comes the oldest.
func (c *Collector) game(now time.Duration) Game {
	if c.over != nil && now-c.overAt < lingerOver {
		g := *c.over
		g.Of = len(c.live)
		return g
	}
	games := c.byAge()
	at := slices.IndexFunc(games, func(g *liveGame) bool { return g.job.ID == c.shown })
	switch {
	case at >= 0:
	case len(games) > 0:
		at = 0
		c.shown, c.over = games[0].job.ID, nil
	case c.over != nil:
		return *c.over
	default:
		return Game{}
	}
	g := games[at]
	return Game{Job: g.job, Turns: g.turns, Number: at + 1, Of: len(games)}
}

// byAge are the live games, those that began first in front.
func (c *Collector) byAge() []*liveGame {
	games := make([]*liveGame, 0, len(c.live))
	for _, g := range c.live {
		games = append(games, g)
	}
	slices.SortFunc(games, func(a, b *liveGame) int { return cmp.Compare(a.age, b.age) })
	return games
}
