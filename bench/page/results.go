package page

import (
	"fmt"
	"slices"

	"selfplay/bench"
	"selfplay/bench/screen"
)

// summary has a column for each run.
func (b *builder) summary() section {
	t := table{Caption: "The runs", Corner: "run", Head: b.head()}
	line := func(name string, value func(r *bench.Report) cell) { t.addRow(name, b.each(value)...) }
	line("games played", func(r *bench.Report) cell {
		c := count(r.Games)
		if r.Games < r.Planned {
			c.Text += " of " + screen.Thousands(r.Planned)
		}
		return c
	})
	line("language gap", func(r *bench.Report) cell {
		if r.GapMean == nil {
			return none
		}
		return early(gapCell(*r.GapMean, r.GapMeanCI), r.EarlyGap(""))
	})
	line("strongest", func(r *bench.Report) cell { return extreme(r, 1) })
	line("weakest", func(r *bench.Report) cell { return extreme(r, -1) })
	line("won by seat 0", func(r *bench.Report) cell { return percent(r.Wins0, r.Games) })
	line("drawn", func(r *bench.Report) cell { return percent(r.Draws, r.Games) })
	line("lost by invalid moves", func(r *bench.Report) cell { return failure(r.InvalidLosses, r.Games) })
	line("answers", func(r *bench.Report) cell { return count(r.Turns) })
	line("invalid answers", func(r *bench.Report) cell { return failure(r.Invalid, r.Turns) })
	line("tokens read", func(r *bench.Report) cell { return count(r.PromptTokens) })
	line("tokens written", func(r *bench.Report) cell { return count(r.CompletionTokens) })
	line("time played", func(r *bench.Report) cell { return duration(r.Seconds) })
	line("joules a game", func(r *bench.Report) cell {
		if r.GPU == nil || r.GPU.JoulesPerGame == nil {
			return none
		}
		return number(*r.GPU.JoulesPerGame, "%.4g")
	})
	return section{ID: "summary", Title: "Summary", Groups: []group{{Tables: with(t)}}}
}

// extreme is the language with the largest mean margin, or for -1 the smallest.
func extreme(r *bench.Report, sign float64) cell {
	best, value := "", 0.0
	for _, lang := range r.Labels {
		if mu, ok := r.MuMean[lang]; ok && (best == "" || sign*mu > sign*value) {
			best, value = lang, mu
		}
	}
	if best == "" {
		return none
	}
	return cell{Text: clean(best) + " " + signed(value), Title: languageNames[best]}
}

func duration(seconds float64) cell {
	s := int(seconds + 0.5)
	switch {
	case s >= 3600:
		return cell{Text: fmt.Sprintf("%d h %02d min", s/3600, s/60%60)}
	case s >= 60:
		return cell{Text: fmt.Sprintf("%d min %02d s", s/60, s%60)}
	}
	return cell{Text: fmt.Sprintf("%d s", s)}
}

func withOptional(c cell, ci *bench.Interval) cell {
	if ci == nil {
		return c
	}
	return withInterval(c, *ci, true)
}

// gapCell is a difference that is never negative, and so has no sign.
func gapCell(gap float64, ci *bench.Interval) cell {
	c := cell{Text: fmt.Sprintf("%.2f", gap)}
	if ci != nil {
		c.Text += fmt.Sprintf(" (%.2f to %.2f)", ci[0], ci[1])
	}
	return c
}

// head names the runs over the columns.
func (b *builder) head() []string {
	var head []string
	for _, name := range b.names {
		head = append(head, clean(name))
	}
	return head
}

func (b *builder) each(value func(*bench.Report) cell) []cell {
	var cells []cell
	for _, r := range b.reports {
		cells = append(cells, value(r))
	}
	return cells
}

// margins are the heat maps: of the mean over the games (Figure 2), then of each
// game, a map for each run.
func (b *builder) margins() section {
	s := section{ID: "margins", Title: "Margins", Note: b.earlyNote(),
		Intro: fmt.Sprintf("Games won less games lost, as a share of all games of the two languages in both roles, from the row's language's side. Blue: ahead; orange: behind; the strongest colours stand for ±%.1f. The first column is the mean.", b.scale)}
	if len(b.games) > 1 {
		s.Groups = append(s.Groups, b.heatMaps("Mean over the games", "", func(r *bench.Report) heatMap {
			return heatMap{r.MarginsMean, r.MuMean, r.MarginsMeanCI, r.MuMeanCI}
		}))
	}
	for _, game := range b.games {
		s.Groups = append(s.Groups, b.heatMaps(clean(game), game, func(r *bench.Report) heatMap {
			return heatMap{r.Margins[game], r.Mu[game], r.MarginsCI[game], r.MuCI[game]}
		}))
	}
	for _, game := range b.games {
		var tables []table
		for i, r := range b.reports {
			tables = append(tables, pairTable(b.names[i], r, game))
		}
		s.Groups = append(s.Groups, group{Title: clean(game) + ": each pair with its interval and test", Folded: true, Tables: with(tables...)})
	}
	return s
}

// A heatMap is what one map shows.
type heatMap struct {
	margins map[string]map[string]float64
	mu      map[string]float64
	ci      map[string]map[string]bench.Interval
	muCI    map[string]bench.Interval
}

// heatMaps are those of a game or, with "", of the mean over the games.
func (b *builder) heatMaps(title, game string, of func(*bench.Report) heatMap) group {
	g := group{Title: title}
	for i, r := range b.reports {
		m := of(r)
		t := table{Caption: clean(b.names[i]), Corner: "over", Head: []string{"mean"}, Map: true}
		for _, lang := range r.Labels {
			t.Head = append(t.Head, clean(lang))
		}
		for _, a := range r.Labels {
			mu, ok := m.mu[a]
			ci, hasCI := m.muCI[a]
			cells := []cell{b.hot(early(margin(mu, ok, ci, hasCI), r.EarlyMean(game, a)), mu, "the mean margin of "+a)}
			for _, other := range r.Labels {
				v, ok := m.margins[a][other]
				ci, hasCI := m.ci[a][other]
				c := b.hot(early(margin(v, ok, ci, hasCI), r.EarlyPair(game, a, other)), v, a+" over "+other)
				if a == other {
					c = cell{Text: "·", Class: "none", Title: "a language cannot beat itself"}
				}
				cells = append(cells, c)
			}
			t.addRow(a, cells...)
		}
		g.Tables = append(g.Tables, with(t)...)
	}
	return g
}

// hot colours a margin.
func (b *builder) hot(c cell, v float64, title string) cell {
	if c == none {
		return c
	}
	c.Class = heatClass(v, b.scale)
	if c.Title == "" {
		c.Title = clean(title)
	} else {
		c.Title = clean(title) + "; " + c.Title
	}
	return c
}

// pairTable has a row for each pair of languages.
func pairTable(name string, r *bench.Report, game string) table {
	t := table{Caption: clean(name) + ", " + clean(game), Corner: "pair", Head: []string{"margin", "95 % interval", "p", "p (Holm)"}}
	tests := map[[2]string]bench.PairTest{}
	for _, p := range r.Tests[game].Pairs {
		tests[[2]string{p.A, p.B}] = p
	}
	for i, a := range r.Labels {
		for _, other := range r.Labels[i+1:] {
			v, ok := r.Margins[game][a][other]
			if !ok {
				continue
			}
			cells := []cell{early(cell{Text: signed(v)}, r.EarlyPair(game, a, other)), none, none, none}
			if ci, ok := r.MarginsCI[game][a][other]; ok {
				cells[1] = cell{Text: span(ci)}
			}
			if p, ok := tests[[2]string{a, other}]; ok {
				cells[2], cells[3] = chance(p.P), chance(p.PHolm)
			}
			t.addRow(a+" over "+other, cells...)
		}
	}
	return t
}

// profiles show the mean margins of the languages (Figure F.1).
func (b *builder) profiles() section {
	s := section{ID: "profiles", Title: "Languages in each game", Note: b.earlyNote(),
		Intro: "The mean margin of each language over the others, with its 95 % interval."}
	add := func(title, game string, mu func(*bench.Report) (map[string]float64, map[string]bench.Interval)) {
		t := table{Caption: title, Corner: "language", Head: b.head()}
		for _, lang := range b.labels {
			t.addRow(lang, b.each(func(r *bench.Report) cell {
				values, intervals := mu(r)
				v, ok := values[lang]
				ci, hasCI := intervals[lang]
				return early(withInterval(margin(v, ok, bench.Interval{}, false), ci, hasCI), r.EarlyMean(game, lang))
			})...)
		}
		s.Groups = append(s.Groups, group{Title: title, Plots: b.profilePlot(title, mu), Tables: with(t)})
	}
	if len(b.games) > 1 {
		add("Mean over the games", "", func(r *bench.Report) (map[string]float64, map[string]bench.Interval) { return r.MuMean, r.MuMeanCI })
	}
	for _, game := range b.games {
		add(clean(game), game, func(r *bench.Report) (map[string]float64, map[string]bench.Interval) { return r.Mu[game], r.MuCI[game] })
	}
	return s
}

// gaps are the paper's Tables 2 and 3.
func (b *builder) gaps() section {
	s := section{ID: "gaps", Title: "Language gap and recovery", Note: b.earlyNote(),
		Intro: "The gap is the largest mean margin less the smallest. Recovery is how much of what an interface language loses comes back when the model reasons in another language: 0 nothing, 1 all of it."}
	t := table{Caption: "Language gap", Corner: "game", Head: b.head()}
	for _, game := range b.games {
		t.addRow(game, b.each(func(r *bench.Report) cell {
			gap, ok := r.Gap[game]
			ci, hasCI := r.GapCI[game]
			if !ok {
				return none
			}
			var interval *bench.Interval
			if hasCI {
				interval = &ci
			}
			c := gapCell(gap, interval)
			if test, ok := r.Tests[game]; ok {
				c.Title = fmt.Sprintf("p = %.3f if all languages were equal, %.3f corrected for the games", test.P, test.PHolm)
			}
			return early(c, r.EarlyGap(game))
		})...)
	}
	t.addRow("mean", b.each(func(r *bench.Report) cell {
		if r.GapMean == nil {
			return none
		}
		return early(gapCell(*r.GapMean, r.GapMeanCI), r.EarlyGap(""))
	})...)
	s.Groups = []group{{Tables: with(t)}}
	for i, r := range b.reports {
		s.Groups = append(s.Groups, group{Tables: with(recoveryTable(b.names[i], r))})
	}
	return s
}

func recoveryTable(name string, r *bench.Report) table {
	t := table{Caption: "Recovery, " + clean(name), Corner: "interface and reasoning", Head: []string{"game", "mean margin", "floor", "best", "recovery"}}
	for _, game := range r.Experiment.Games {
		for _, rec := range r.Recovery[game] {
			share := none
			if rec.Share != nil {
				share = early(withOptional(cell{Text: fmt.Sprintf("%.2f", *rec.Share)}, rec.CI), r.EarlyRecovery(game, rec))
			}
			t.addRow(rec.Label, plain(game), cell{Text: signed(rec.Mu)}, cell{Text: signed(rec.MuFloor), Title: clean(rec.Interface)},
				cell{Text: signed(rec.MuBest) + " " + clean(rec.Best)}, share)
		}
	}
	return t
}

// strengths are the ratings.
func (b *builder) strengths() section {
	s := section{ID: "ratings", Title: "Strength", Note: b.earlyNote(),
		Intro: "One number for each language that explains its wins, draws and losses best, in Elo points: 400 more means ten wins for a loss. Ranks are those that a language may have; it ties with those whose intervals overlap its own."}
	all := group{Title: "All games together"}
	for i, r := range b.reports {
		all.Tables = append(all.Tables, with(ratingTable(b.names[i], r.RatingAll, r.EarlyGame("")))...)
	}
	s.Groups = []group{all}
	for _, game := range b.games {
		g := group{Title: clean(game), Folded: len(all.Tables) > 0}
		for i, r := range b.reports {
			if rating, ok := r.Ratings[game]; ok {
				g.Tables = append(g.Tables, with(ratingTable(b.names[i], &rating, r.EarlyGame(game)))...)
			}
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

func ratingTable(name string, r *bench.Rating, stopped bool) table {
	if r == nil {
		return table{}
	}
	t := table{Caption: fmt.Sprintf("%s; moving first is worth %s", clean(name), number(r.First, "%.0f").Text), Corner: "language",
		Head: []string{"Elo", "95 % interval", "rank", "ties with"}}
	for _, l := range r.Langs {
		rank := fmt.Sprint(l.Ranks[0])
		if l.Ranks[1] != l.Ranks[0] {
			rank += " to " + fmt.Sprint(l.Ranks[1])
		}
		ties := ""
		for i, other := range slices.Sorted(slices.Values(l.Ties)) {
			if i > 0 {
				ties += " "
			}
			ties += clean(other)
		}
		interval := cell{Text: number(l.CI[0], "%.0f").Text + " to " + number(l.CI[1], "%.0f").Text}
		t.addRow(l.Lang, early(number(l.Elo, "%.0f"), stopped), interval, cell{Text: rank}, cell{Text: ties})
	}
	return t
}
