package bench

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"selfplay/bench/screen"
)

// WriteText writes the report as tables for a terminal of 80 columns. dir is the run
// folder that it comes from.
func (rep *Report) WriteText(w io.Writer, dir string) error {
	var b strings.Builder
	e := rep.Experiment
	if e.Shard != (Shard{}) {
		fmt.Fprintf(&b, "shard %s, a part of the experiment: selfplay merge joins the parts\n", e.Shard)
	}
	for _, game := range e.Games {
		rep.gameText(&b, game)
	}
	if len(e.Games) > 1 && len(e.Opponents) == 0 {
		fmt.Fprintf(&b, "mean over the games\n")
		rep.marginTable(&b, "")
		if rep.GapMean != nil {
			fmt.Fprintf(&b, "mean gap %s (%s)\n", marked(fmt.Sprintf("%.2f", *rep.GapMean), rep.EarlyGap("")), spread(*rep.GapMeanCI, "%.2f"))
		}
		b.WriteByte('\n')
	}
	if len(e.Opponents) == 0 {
		b.WriteString("margin of the row's language over the column's: (won - lost) / games, both roles\n")
		b.WriteString("first: margin of seat 0 where both play in the column's language\n")
	}
	b.WriteString("± and brackets: 95 % intervals\n")
	if len(rep.Tests) > 0 {
		b.WriteString("p: chance of such a gap if all languages are equal, and corrected for the number\nof games (Holm)\n")
		b.WriteString("apart: pairs whose margin is no chance, corrected for all pairs of the game\n(Holm)\n")
	}
	if len(rep.Stopped) > 0 {
		b.WriteString(earlyLegend)
	}
	b.WriteByte('\n')
	rep.strengthTable(&b)
	rep.recoveryTable(&b)
	rep.opponentTable(&b)
	rep.failureTables(&b)
	rep.perfectTables(&b)
	rep.writingTable(&b)
	answerTable(&b, rep.Labels, rep.ByLang)
	rep.GPU.table(&b, rep.Games)
	if rep.Paper != nil {
		b.WriteByte('\n')
		rep.paperTable(&b)
	}
	fmt.Fprintf(&b, "\nresults: %s\n", dir)
	_, err := io.WriteString(w, b.String())
	return err
}

// gameText is one game's margins, and what is certain of them.
func (rep *Report) gameText(b *strings.Builder, game string) {
	c := rep.ByGame[game]
	fmt.Fprintf(b, "%s: %s of %s games\n", game, screen.Thousands(c.Games), screen.Thousands(c.Planned))
	if len(rep.Experiment.Opponents) == 0 {
		rep.marginTable(b, game)
	}
	rep.stoppedTable(b, game)
	if gap, ok := rep.Gap[game]; ok {
		p := pValue(rep.Tests[game].P)
		if len(rep.Gap) > 1 {
			p += fmt.Sprintf(", %.3f corrected", rep.Tests[game].PHolm)
		}
		fmt.Fprintf(b, "gap %s (%s), %s\n", marked(fmt.Sprintf("%.2f", gap), rep.EarlyGap(game)), spread(rep.GapCI[game], "%.2f"), p)
	}
	if v, ok := rep.SeatMargin[game]; ok {
		fmt.Fprintf(b, "moving first %s (%s)\n", marked(plus(v), rep.EarlyGame(game)), spread(rep.SeatMarginCI[game], "%+.2f"))
	}
	fmt.Fprintf(b, "seat 0 won %s, seat 1 %s, drawn %s, lost by invalid moves %s\n",
		screen.Thousands(c.Wins0), screen.Thousands(c.Wins1), screen.Thousands(c.Draws), screen.Thousands(c.InvalidLosses))
	if pairs := rep.Tests[game].Pairs; len(pairs) > 0 {
		var apart []string
		for _, p := range pairs {
			switch {
			case p.PHolm >= 0.05:
			case p.Margin > 0:
				apart = append(apart, p.A+" > "+p.B)
			default:
				apart = append(apart, p.B+" > "+p.A)
			}
		}
		wrap(b, fmt.Sprintf("apart: %d of %d pairs", len(apart), len(pairs)), apart)
	}
	b.WriteByte('\n')
}

// marginTable has a row and a column per label, of a game or, with "", of the mean
// over the games. The mean margin of a row and half of its interval are over the
// languages, and stand between these and the labels that reason in another one. The
// last row, of a game, has what moving first is worth.
func (rep *Report) marginTable(b *strings.Builder, game string) {
	margins, mu, ci := rep.Margins[game], rep.Mu[game], rep.MuCI[game]
	if game == "" {
		margins, mu, ci = rep.MarginsMean, rep.MuMean, rep.MuMeanCI
	}
	var plain, reasoned []string
	for _, label := range rep.Labels {
		if isPlain(label) {
			plain = append(plain, label)
		} else {
			reasoned = append(reasoned, label)
		}
	}
	g := grid{slices.Concat([]string{""}, plain, []string{"mean", ""}, reasoned)}
	first := []string{"first"}
	for _, lang := range plain {
		first = append(first, marked(signed(rep.FirstMover[game], lang), rep.EarlyPair(game, lang, lang)))
	}
	for _, a := range rep.Labels {
		row, half := []string{a}, ""
		over := func(others []string) {
			for _, other := range others {
				cell := "."
				if a != other {
					cell = marked(signed(margins[a], other), rep.EarlyPair(game, a, other))
				}
				row = append(row, cell)
			}
		}
		if i, ok := ci[a]; ok {
			half = halfWidth(i)
		}
		over(plain)
		row = append(row, marked(signed(mu, a), rep.EarlyMean(game, a)), half)
		over(reasoned)
		g.row(row...)
	}
	if game != "" {
		g.row(first...)
	}
	g.write(b)
}

// answerTable has a row per language and a column per kind of answer. What cuts
// answers off or makes them invalid is seen here.
func answerTable(b *strings.Builder, langs []string, byLang map[string]AnswerCounts) {
	g := grid{{"answers", "all", "boxed", "raw", "truncated", "length", "context", "invalid", "default"}}
	for _, lang := range langs {
		c, row := byLang[lang], []string{lang}
		for _, n := range []int{c.Turns, c.Boxed, c.Raw, c.Truncated, c.Length, c.Context, c.Invalid, c.Defaulted} {
			row = append(row, strconv.Itoa(n))
		}
		g.row(row...)
	}
	g.write(b)
}

// signed is a margin, or "-" where there is none.
func signed(values map[string]float64, key string) string {
	v, ok := values[key]
	if !ok {
		return "-"
	}
	return plus(v)
}

// plus is a margin with its sign.
func plus(v float64) string {
	return noMinusZero(fmt.Sprintf("%+.2f", v))
}
