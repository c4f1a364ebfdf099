package bench

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// WriteText writes the report as tables for a terminal: with eight languages
// they fit in 120 columns. dir is the run folder that it comes from.
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
		marginTable(&b, rep.Labels, rep.MarginsMean, rep.MuMean, rep.MuMeanCI, nil)
		if rep.GapMean != nil {
			fmt.Fprintf(&b, "mean gap %.2f (%s)\n", *rep.GapMean, spread(*rep.GapMeanCI, "%.2f"))
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
		b.WriteString("apart: pairs whose margin is no chance, corrected for all pairs of the game (Holm)\n")
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
	fmt.Fprintf(b, "%s: %s of %s games\n", game, thousands(c.Games), thousands(c.Planned))
	if len(rep.Experiment.Opponents) == 0 {
		marginTable(b, rep.Labels, rep.Margins[game], rep.Mu[game], rep.MuCI[game], rep.FirstMover[game])
	}
	rep.stoppedTable(b, game)
	var worth []string
	if gap, ok := rep.Gap[game]; ok {
		p := pValue(rep.Tests[game].P)
		if len(rep.Gap) > 1 {
			p += fmt.Sprintf(", %.3f corrected", rep.Tests[game].PHolm)
		}
		worth = append(worth, fmt.Sprintf("gap %.2f (%s), %s", gap, spread(rep.GapCI[game], "%.2f"), p))
	}
	if v, ok := rep.SeatMargin[game]; ok {
		worth = append(worth, fmt.Sprintf("moving first %s (%s)", plus(v), spread(rep.SeatMarginCI[game], "%+.2f")))
	}
	if len(worth) > 0 {
		b.WriteString(strings.Join(worth, "; ") + "\n")
	}
	fmt.Fprintf(b, "seat 0 won %s, seat 1 %s, drawn %s, lost by invalid moves %s\n",
		thousands(c.Wins0), thousands(c.Wins1), thousands(c.Draws), thousands(c.InvalidLosses))
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

// wrap writes a list in lines of a terminal's width.
func wrap(b *strings.Builder, line string, items []string) {
	for i, item := range items {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		if len(line)+len(separator)+len(item) > 100 {
			b.WriteString(line + ",\n")
			line, separator = "", "  "
		}
		line += separator + item
	}
	b.WriteString(line + "\n")
}

// marginTable has a row and a column per language, last columns with the mean
// margin and half of its interval, and a last row with the first mover's margin
// if first is not nil.
func marginTable(b *strings.Builder, langs []string, margins map[string]map[string]float64, mu map[string]float64, ci map[string]Interval, first map[string]float64) {
	label := widest(langs, len("first"))
	column := max(7, widest(langs, 0)+1)
	row := func(name string, cell func(lang string) string, last string) {
		fmt.Fprintf(b, "%-*s", label, name)
		for _, lang := range langs {
			fmt.Fprintf(b, "%*s", column, cell(lang))
		}
		value, half, _ := strings.Cut(last, " ")
		b.WriteString(strings.TrimRight(fmt.Sprintf("%*s %s", column, value, half), " ") + "\n")
	}
	means := func(a string) string {
		if i, ok := ci[a]; ok {
			return signed(mu, a) + " " + halfWidth(i)
		}
		return signed(mu, a)
	}
	row("", func(lang string) string { return lang }, "mean")
	for _, a := range langs {
		row(a, func(lang string) string {
			if a == lang {
				return "."
			}
			return signed(margins[a], lang)
		}, means(a))
	}
	if first != nil {
		row("first", func(lang string) string { return signed(first, lang) }, "")
	}
}

// answerTable has a row per language and a column per kind of answer. What cuts
// answers off or makes them invalid is seen here.
func answerTable(b *strings.Builder, langs []string, byLang map[string]AnswerCounts) {
	label := widest(langs, len("answers"))
	fmt.Fprintf(b, "%-*s%11s%10s%10s%10s%8s%8s%8s%8s\n", label, "answers",
		"all", "boxed", "raw", "truncated", "length", "context", "invalid", "default")
	for _, lang := range langs {
		c := byLang[lang]
		fmt.Fprintf(b, "%-*s%11d%10d%10d%10d%8d%8d%8d%8d\n", label, lang,
			c.Turns, c.Boxed, c.Raw, c.Truncated, c.Length, c.Context, c.Invalid, c.Defaulted)
	}
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

// widest is the length of the longest name, at least least.
func widest(names []string, least int) int {
	for _, name := range names {
		least = max(least, utf8.RuneCountInString(name))
	}
	return least
}
