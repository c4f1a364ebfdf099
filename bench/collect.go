package bench

import (
	"maps"
	"slices"

	"selfplay/scheduler"
)

// A collector counts ended games, one after another, and makes a report of them.
// What it holds does not grow with the games, but for a few bytes each.
type collector struct {
	rep       *Report
	matrices  map[string]Matrix
	qualities Qualities
	first     map[string]*deals            // game: all of self-play
	firstOf   map[string]map[string]*deals // game, language: with itself
	stops     *stops
}

func newCollector(e Experiment) *collector {
	c := &collector{rep: newReport(e), matrices: map[string]Matrix{}, qualities: Qualities{},
		first: map[string]*deals{}, firstOf: map[string]map[string]*deals{}, stops: newStops(e)}
	for _, game := range e.Games {
		c.matrices[game], c.first[game], c.firstOf[game] = Matrix{}, &deals{}, map[string]*deals{}
	}
	return c
}

// add counts a game.
func (c *collector) add(rec scheduler.Record) error {
	o, j := outcomeOf(rec), rec.Job
	game := c.rep.ByGame[j.Game]
	game.add(o)
	c.rep.Counts.add(o)
	c.stops.add(j, o.Rewards)
	for _, t := range rec.Turns {
		var a AnswerCounts
		a.add(t)
		if lang := j.Langs[t.Seat]; j.Players[t.Seat] == "" {
			c.label(lang)
			a.written(c.rep.Experiment.ReasonsIn(lang), t.Completion)
			c.qualities.add(j.Game, lang, t.Event)
			byLang := c.rep.ByLang[lang]
			byLang.plus(a)
			c.rep.ByLang[lang] = byLang
			byGameLang[AnswerCounts](c.rep.Answers).update(j.Game, lang, func(s AnswerCounts) AnswerCounts { s.plus(a); return s })
		}
		game.plus(a)
		c.rep.plus(a)
	}
	c.rep.ByGame[j.Game] = game
	if err := c.outcome(o); err != nil {
		return err
	}
	return c.rep.paperTables(rec)
}

// label notes a label that is not a language of the experiment, in the order in
// which they come in the plan.
func (c *collector) label(lang string) {
	if !slices.Contains(c.rep.Labels, lang) {
		c.rep.Labels = append(c.rep.Labels, lang)
	}
}

// outcome counts who won.
func (c *collector) outcome(o Outcome) error {
	j := o.Job
	if j.Players != [2]string{} {
		c.rep.versus(o)
		return nil
	}
	if c.matrices[j.Game] == nil {
		c.matrices[j.Game], c.first[j.Game], c.firstOf[j.Game] = Matrix{}, &deals{}, map[string]*deals{}
	}
	c.matrices[j.Game].add(o)
	alone := dealsNothing(j.Game)
	if err := c.first[j.Game].add(j.Index, c.rep.Experiment.N, alone, o.Rewards); err != nil {
		return err
	}
	if j.Langs[0] != j.Langs[1] {
		return nil
	}
	of := c.firstOf[j.Game]
	if of[j.Langs[0]] == nil {
		of[j.Langs[0]] = &deals{}
	}
	return of[j.Langs[0]].add(j.Index, c.rep.Experiment.N, alone, o.Rewards)
}

// versus counts a game against an opponent; of two opponents nothing is told.
func (rep *Report) versus(o Outcome) {
	j := o.Job
	for seat, player := range j.Players {
		opponent := j.Players[1-seat]
		if player != "" || opponent == "" {
			continue
		}
		if rep.Opponents[j.Game] == nil {
			rep.Opponents[j.Game] = map[string]map[string]Versus{}
		}
		byGameLang[Versus](rep.Opponents[j.Game]).update(opponent, j.Langs[seat], func(v Versus) Versus {
			v.Tally[seat].add(o.Rewards)
			return v
		})
	}
}

// EachVersus calls f for each label against each opponent, in the order of the games,
// the opponents' names and the labels.
func (rep *Report) EachVersus(f func(game, opponent, label string, v Versus)) {
	for _, game := range rep.Experiment.Games {
		for _, opponent := range slices.Sorted(maps.Keys(rep.Opponents[game])) {
			for _, label := range rep.Labels {
				if v, ok := rep.Opponents[game][opponent][label]; ok {
					f(game, opponent, label, v)
				}
			}
		}
	}
}

// report makes the report of what was counted. The collector is used up.
func (c *collector) report() *Report {
	c.rep.stop(c.stops)
	c.rep.measure(c.matrices)
	c.rep.compare(c.qualities)
	for game, all := range c.first {
		if m, ci, ok := all.margin(); ok {
			c.rep.SeatMargin[game], c.rep.SeatMarginCI[game] = m, ci
		}
		c.rep.FirstMoverCI[game] = map[string]Interval{}
		for lang, d := range c.firstOf[game] {
			if _, ci, ok := d.margin(); ok {
				c.rep.FirstMoverCI[game][lang] = ci
			}
		}
	}
	for _, game := range slices.Sorted(maps.Keys(c.rep.Opponents)) {
		for _, opponent := range slices.Sorted(maps.Keys(c.rep.Opponents[game])) {
			langs := c.rep.Opponents[game][opponent]
			for _, lang := range slices.Sorted(maps.Keys(langs)) {
				langs[lang] = langs[lang].measured(game + "/" + opponent + "/" + lang)
			}
		}
	}
	return c.rep
}

// measured fills in the margins of the model; name is that of the draws.
func (v Versus) measured(name string) Versus {
	rng := generator(name)
	var errors [2][]float64
	won, n := 0, 0
	for seat, t := range v.Tally {
		sign := 1 - 2*seat
		errors[seat] = addTo(nil, errorsOf(t, rng), float64(sign))
		if t.Games() > 0 {
			of := float64(sign*(t.Wins0-t.Wins1)) / float64(t.Games())
			ci := around(of, addTo(nil, errors[seat], 1/float64(t.Games())), -1, 1)
			v.Seat[seat], v.SeatCI[seat] = &of, &ci
		}
		won += sign * (t.Wins0 - t.Wins1)
		n += t.Games()
	}
	v.Margin = float64(won) / float64(n)
	v.CI = around(v.Margin, addTo(addTo(nil, errors[0], 1/float64(n)), errors[1], 1/float64(n)), -1, 1)
	return v
}

// stop takes the games that are not to be played out of the plan.
func (rep *Report) stop(s *stops) {
	rep.Stopped = s.list()
	rep.Planned -= s.saved("")
	for game, c := range rep.ByGame {
		c.Planned -= s.saved(game)
		rep.ByGame[game] = c
	}
}
