package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"selfplay/bench/screen"
	"selfplay/prompts"
)

// languageTable has a row for each label that has an entry and the columns that
// cells gives.
func languageTable[T any](b *strings.Builder, name string, labels []string, byLang map[string]T, head []string, cells func(T) []string) {
	if len(byLang) == 0 {
		return
	}
	g := grid{append([]string{name}, head...)}
	for _, lang := range labels {
		if v, ok := byLang[lang]; ok {
			g.row(append([]string{lang}, cells(v)...)...)
		}
	}
	g.write(b)
	b.WriteByte('\n')
}

// failureTables are the paper's G.1 to G.4, shares in percent.
func (rep *Report) failureTables(b *strings.Builder) {
	if len(rep.TicTacToe)+len(rep.SimpleTak)+len(rep.Kuhn)+len(rep.Nim) > 0 {
		b.WriteString("how each language loses and plays, in percent but for whole numbers\n")
	}
	for _, game := range rep.Experiment.Games {
		languageTable(b, game, rep.Labels, rep.TicTacToe[game], []string{"by row", "by column", "by diagonal", "defeats", "two lines", "invalid moves"},
			func(l LineLosses) []string {
				return []string{percentOf(l.Row), percentOf(l.Column), percentOf(l.Diagonal), screen.Thousands(l.Defeats), screen.Thousands(l.Double), screen.Thousands(l.Forfeits)}
			})
		languageTable(b, game, rep.Labels, rep.SimpleTak[game], []string{"by row", "by column", "defeats", "both", "invalid moves"},
			func(l PathLosses) []string {
				return []string{percentOf(l.Row), percentOf(l.Column), screen.Thousands(l.Defeats), screen.Thousands(l.Double), screen.Thousands(l.Forfeits)}
			})
		languageTable(b, game, rep.Labels, rep.Kuhn[game], []string{"invalid", "BluffJ", "BetQ", "ValueK", "CallK", "FoldK"},
			func(k KuhnPlay) []string {
				return []string{percentOf(k.Invalid), percentOf(k.BluffJ), percentOf(k.BetQ), percentOf(k.ValueK), percentOf(k.CallK), percentOf(k.FoldK)}
			})
		languageTable(b, game, rep.Labels, rep.Nim[game], []string{"won", "mentions", "first move optimal", "in own script", "in Latin script"},
			func(n NimPlay) []string {
				own, latin := "", ""
				if n.Kept != nil {
					own, latin = percentOf(*n.Kept), percentOf(*n.Switched)
				}
				return []string{percentOf(n.Win), screen.Thousands(n.Mentions), percentOf(n.First), own, latin}
			})
	}
}

// recoveryTable is the paper's Table 3.
func (rep *Report) recoveryTable(b *strings.Builder) {
	if len(rep.Recovery) > 0 {
		b.WriteString("recovered: of the way from the interface's own mean margin (floor) to the best\n")
	}
	for _, game := range rep.Experiment.Games {
		g := grid{{game, "mean", "floor", "best", "", "recovered", "95 %"}}
		for _, r := range rep.Recovery[game] {
			share, ci := "-", "-"
			if r.Share != nil {
				share = fmt.Sprintf("%.0f%%", 100**r.Share)
			}
			if r.CI != nil {
				ci = spread(Interval{100 * r.CI[0], 100 * r.CI[1]}, "%.0f")
			}
			g.row(r.Label, plus(r.Mu), plus(r.MuFloor), r.Best, plus(r.MuBest), marked(share, rep.EarlyRecovery(game, r)), ci)
		}
		if len(g) > 1 {
			g.write(b)
			b.WriteByte('\n')
		}
	}
}

// opponentTable has a row for each game and opponent and a column per language.
func (rep *Report) opponentTable(b *strings.Builder) {
	g := grid{append([]string{"against"}, rep.Labels...)}
	for _, game := range rep.Experiment.Games {
		for _, opponent := range slices.Sorted(maps.Keys(rep.Opponents[game])) {
			margins, widths := []string{game}, []string{opponent}
			for _, lang := range rep.Labels {
				v, ok := rep.Opponents[game][opponent][lang]
				if !ok {
					margins, widths = append(margins, "-"), append(widths, "")
					continue
				}
				margins, widths = append(margins, marked(plus(v.Margin), rep.EarlyAgainst(game, lang, opponent))), append(widths, halfWidth(v.CI))
			}
			g.row(margins...)
			g.row(widths...)
		}
	}
	if len(g) > 1 {
		g.write(b)
		b.WriteString("margin of the model over the opponent, both seats, and half of its 95 % interval\n\n")
	}
}

// strengthTable has a row per game and a column per language.
func (rep *Report) strengthTable(b *strings.Builder) {
	g := grid{append([]string{"strength"}, rep.Labels...)}
	row := func(name, game string, r Rating) {
		cells := map[string]string{}
		for _, s := range r.Langs {
			rank := fmt.Sprint(s.Ranks[0])
			if s.Ranks[1] > s.Ranks[0] {
				rank += fmt.Sprintf("-%d", s.Ranks[1])
			}
			cells[s.Lang] = marked(noMinusZero(fmt.Sprintf("%+.0f", s.Elo))+" "+rank, rep.EarlyGame(game))
		}
		line := []string{name}
		for _, lang := range rep.Labels {
			line = append(line, cmp.Or(cells[lang], "-"))
		}
		g.row(line...)
	}
	for _, game := range rep.Experiment.Games {
		if r, ok := rep.Ratings[game]; ok {
			row(game, game, r)
		}
	}
	if rep.RatingAll != nil {
		row("all games", "", *rep.RatingAll)
	}
	if len(g) > 1 {
		g.write(b)
		b.WriteString("strength: Elo points from games won, drawn and lost in either seat, and the\nranks that its 95 % interval allows: 1-3 is tied with what is second or third\n\n")
	}
}

// writingTable has a row per language: how answers fail, how long they are, and
// what they are written in.
func (rep *Report) writingTable(b *strings.Builder) {
	g := grid{{"per answer", "invalid", "truncated", "tokens", "thinking", "told", "script", "language"}}
	for _, lang := range rep.Labels {
		c := rep.ByLang[lang]
		g.row(lang, percentOf(Share{c.Invalid, c.Turns}), percentOf(Share{c.Truncated, c.Turns}), perTurn(c.CompletionTokens, c.Turns),
			perTurn(c.ThinkingTokens, c.Turns), screen.Thousands(c.Told), percentOf(Share{c.OtherScript, c.Told}), percentOf(Share{c.OtherLanguage, c.Told}))
	}
	g.write(b)
	b.WriteString("in percent: invalid, truncated; told: answers long enough to tell what they are\nwritten in; in percent of these, in another script than asked, or language\n")
	if lang := prompts.ReasonsIn(rep.Experiment.System); lang != "" {
		fmt.Fprintf(b, "asked: %s, by the system prompt, where the label names no other language\n", lang)
	}
	b.WriteByte('\n')
}

// paperTable has the paper's numbers beside ours, where the run tells them: a block
// for each table and game, and one for all gaps.
func (rep *Report) paperTable(b *strings.Builder) {
	if rep.Paper == nil {
		return
	}
	told, within, untold := 0, 0, 0
	var g grid
	for _, r := range rep.Paper {
		if r.Ours == nil {
			untold++
			continue
		}
		title, name := "paper: "+r.Table+", "+r.Game, r.Lang+" "+r.Figure
		if r.Table == "gap" {
			title, name = "paper: gap", cmp.Or(r.Game, "mean")
		}
		if len(g) > 0 && g[0][0] != title {
			g.write(b)
			b.WriteByte('\n')
			g = nil
		}
		if len(g) == 0 {
			g.row(title, "theirs", "ours", "95 %", "off by", "within")
		}
		format := r.format()
		line := []string{name, fmt.Sprintf(format, r.Paper), fmt.Sprintf(format, *r.Ours), "-", noMinusZero(fmt.Sprintf("%+"+format[1:], *r.Diff)), "-"}
		if r.CI != nil {
			line[3], line[5] = spread(*r.CI, format), map[bool]string{true: "yes", false: "no"}[*r.Within]
			told, within = told+1, within+oneIf(*r.Within)
		}
		g.row(line...)
	}
	g.write(b)
	fmt.Fprintf(b, "%d of %d numbers of the paper lie within this run's 95 %% interval;\nof %d it tells nothing\n", within, told, untold)
}

// format is how the paper prints such a number.
func (r PaperRow) format() string {
	switch {
	case r.Table == "gap" || r.Figure == "mu":
		return "%.2f"
	case r.Figure == "mentions":
		return "%.0f"
	}
	return "%.1f"
}
