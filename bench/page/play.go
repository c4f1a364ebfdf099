package page

import (
	"cmp"
	"fmt"

	"selfplay/bench"
	"selfplay/bench/screen"
)

// play is about seats and moves: who moves first, perfect play, opponents.
func (b *builder) play() section {
	s := section{ID: "play", Title: "Seats and moves", Note: b.earlyNote()}
	first := table{Caption: "Margin of seat 0 over seat 1, all games", Corner: "game", Head: b.head()}
	for _, game := range b.games {
		first.addRow(game, b.each(func(r *bench.Report) cell {
			v, ok := r.SeatMargin[game]
			ci, hasCI := r.SeatMarginCI[game]
			return early(withInterval(margin(v, ok, bench.Interval{}, false), ci, hasCI), r.EarlyGame(game))
		})...)
	}
	s.Groups = []group{{Title: "Moving first", Tables: with(first)}}
	moves := group{Title: "Beside perfect play, where a game is solved"}
	same := group{Title: "Moving first where both play in the same language", Folded: true}
	versus := group{Title: "Against an opponent"}
	for i, r := range b.reports {
		moves.Tables = append(moves.Tables, with(b.perfect(i, r))...)
		same.Tables = append(same.Tables, with(byLanguage("Margin of seat 0, "+b.names[i], r, func(game, lang string) cell {
			v, ok := r.FirstMover[game][lang]
			ci, hasCI := r.FirstMoverCI[game][lang]
			return early(margin(v, ok, ci, hasCI), r.EarlyPair(game, lang, lang))
		}))...)
		versus.Tables = append(versus.Tables, with(opponents(b.names[i], r))...)
	}
	s.Groups = append(s.Groups, moves, versus, same)
	return s
}

// byLanguage has a row for each language and a column for each game.
func byLanguage(caption string, r *bench.Report, value func(game, lang string) cell) table {
	t := table{Caption: clean(caption), Corner: "language"}
	for _, game := range r.Experiment.Games {
		t.Head = append(t.Head, clean(game))
	}
	for _, lang := range r.Labels {
		var cells []cell
		for _, game := range r.Experiment.Games {
			cells = append(cells, value(game, lang))
		}
		t.addRow(lang, cells...)
	}
	return t
}

func (b *builder) perfect(run int, r *bench.Report) table {
	return byLanguage("Moves that lose nothing, "+b.names[run], r, func(game, lang string) cell {
		share, ok := r.Optimal[game][lang]
		if !ok {
			return none
		}
		c := cell{Text: fmt.Sprintf("%.1f %%", 100*share), Title: "of " + screen.Thousands(r.Judged[game][lang]) + " moves"}
		if regret, ok := r.Regret[game][lang]; ok {
			c.Title += fmt.Sprintf("; a move loses %.3f in the mean", regret)
		}
		return c
	})
}

func opponents(name string, r *bench.Report) table {
	t := table{Caption: clean(name), Corner: "language", Head: []string{"game", "opponent", "margin", "in seat 0", "in seat 1"}}
	r.EachVersus(func(game, opponent, lang string, v bench.Versus) {
		stopped := r.EarlyAgainst(game, lang, opponent)
		cells := []cell{plain(game), plain(opponent), early(withInterval(cell{Text: signed(v.Margin)}, v.CI, true), stopped), none, none}
		for seat := range v.Seat {
			if v.Seat[seat] != nil {
				cells[3+seat] = early(withOptional(cell{Text: signed(*v.Seat[seat])}, v.SeatCI[seat]), stopped)
			}
		}
		t.addRow(lang, cells...)
	})
	return t
}

// tactics are the paper's tables G.1 to G.4.
func (b *builder) tactics() section {
	s := section{ID: "tactics", Title: "How games are played and lost"}
	for _, game := range b.games {
		g := group{Title: clean(game)}
		for i, r := range b.reports {
			g.Tables = append(g.Tables, with(
				tactic(b.names[i], r.Labels, r.TicTacToe[game], []string{"defeats", "row", "column", "diagonal", "two lines", "by invalid moves"}, func(l bench.LineLosses) []cell {
					return []cell{count(l.Defeats), shareCell(l.Row), shareCell(l.Column), shareCell(l.Diagonal), count(l.Double), count(l.Forfeits)}
				}),
				tactic(b.names[i], r.Labels, r.SimpleTak[game], []string{"defeats", "across", "down", "both", "by invalid moves"}, func(l bench.PathLosses) []cell {
					return []cell{count(l.Defeats), shareCell(l.Row), shareCell(l.Column), count(l.Double), count(l.Forfeits)}
				}),
				tactic(b.names[i], r.Labels, r.Kuhn[game], []string{"invalid", "bets J", "bets Q", "bets K", "calls with K", "folds K"}, func(k bench.KuhnPlay) []cell {
					return []cell{shareCell(k.Invalid), shareCell(k.BluffJ), shareCell(k.BetQ), shareCell(k.ValueK), shareCell(k.CallK), shareCell(k.FoldK)}
				}),
				tactic(b.names[i], r.Labels, r.Nim[game], []string{"won", "strategy named", "first move optimal", "in own script", "in Latin letters"}, func(n bench.NimPlay) []cell {
					return []cell{shareCell(n.Win), count(n.Mentions), shareCell(n.First), optionalShare(n.Kept), optionalShare(n.Switched)}
				}),
			)...)
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

func tactic[T any](caption string, labels []string, byLang map[string]T, head []string, cells func(T) []cell) table {
	t := table{Caption: clean(caption), Corner: "language", Head: head}
	for _, lang := range labels {
		if v, ok := byLang[lang]; ok {
			t.addRow(lang, cells(v)...)
		}
	}
	return t
}

func optionalShare(s *bench.Share) cell {
	if s == nil {
		return none
	}
	return shareCell(*s)
}

// answers are what went wrong: by language, then by game and language.
func (b *builder) answers() section {
	s := section{ID: "answers", Title: "Answers",
		Intro: "Truncated: thinking that never ended. At the limit: cut off by the tokens that an answer may take. Defaulted: unreadable, so that the rules took their default. Script and language are told of answers that are long enough, and are other than the label or the system prompt says to reason in, or else than the game is shown in. Shares from 10 % on are marked."}
	all := group{Title: "All games"}
	for i, r := range b.reports {
		all.Tables = append(all.Tables, with(answerTable(b.names[i], r.Labels, r.ByLang))...)
	}
	s.Groups = append(s.Groups, all)
	for _, game := range b.games {
		g := group{Title: clean(game), Folded: true}
		for i, r := range b.reports {
			g.Tables = append(g.Tables, with(answerTable(b.names[i], r.Labels, r.Answers[game]))...)
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

func answerTable(caption string, labels []string, byLang map[string]bench.AnswerCounts) table {
	t := table{Caption: clean(caption), Corner: "language", Head: []string{"answers", "invalid", "truncated", "at the limit", "context full",
		"defaulted", "not boxed", "other script", "other language", "tokens an answer", "of these thinking"}}
	for _, lang := range labels {
		c, ok := byLang[lang]
		if !ok || c.Turns == 0 {
			continue
		}
		other, script := none, none
		if c.Told > 0 {
			script, other = failure(c.OtherScript, c.Told), failure(c.OtherLanguage, c.Told)
		}
		raw := percent(c.Raw, c.Turns)
		per := func(n int) cell { return number(float64(n)/float64(c.Turns), "%.0f") }
		t.addRow(lang, count(c.Turns), failure(c.Invalid, c.Turns), failure(c.Truncated, c.Turns), failure(c.Length, c.Turns), failure(c.Context, c.Turns),
			failure(c.Defaulted, c.Turns), raw, script, other, per(c.CompletionTokens), per(c.ThinkingTokens))
	}
	return t
}

// paper sets the paper's numbers beside ours.
func (b *builder) paper() section {
	s := section{ID: "paper", Title: "Beside the paper", Intro: "The numbers of arXiv 2608.25832 beside those of this run; marked where the paper's lies outside of our 95 % interval."}
	for i, r := range b.reports {
		t := table{Caption: clean(b.names[i]), Corner: "figure", Head: []string{"game", "language", "paper", "ours", "95 % interval", "difference"}}
		for _, p := range r.Paper {
			cells := []cell{plain(cmp.Or(p.Game, "mean")), plain(p.Lang), number(p.Paper, "%.4g"), none, none, none}
			if p.Ours != nil {
				cells[3] = number(*p.Ours, "%.3g")
			}
			if p.CI != nil {
				cells[4] = cell{Text: number(p.CI[0], "%.3g").Text + " to " + number(p.CI[1], "%.3g").Text}
			}
			if p.Diff != nil {
				cells[5] = number(*p.Diff, "%+.3g")
			}
			if p.Within != nil && !*p.Within {
				cells[5].Class = "bad"
				cells[5].Title = "the paper's number lies outside of our interval"
			}
			t.addRow(p.Table+" "+p.Figure, cells...)
		}
		s.Groups = append(s.Groups, group{Tables: with(t)})
	}
	return s
}
