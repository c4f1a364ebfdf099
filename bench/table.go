package bench

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// WriteText writes the report as tables for a terminal: with eight languages
// they fit in 80 columns. dir is the run folder that it comes from.
func (rep *Report) WriteText(w io.Writer, dir string) error {
	var b strings.Builder
	e := rep.Experiment
	labels := e.Labels()
	for _, game := range e.Games {
		c := rep.ByGame[game]
		fmt.Fprintf(&b, "%s: %s of %s games\n", game, thousands(c.Games), thousands(c.Planned))
		if len(e.Opponents) > 0 {
			rep.opponentTable(&b, game)
		} else {
			marginTable(&b, labels, rep.Margins[game], rep.Mu[game], rep.FirstMover[game])
		}
		rep.stoppedTable(&b, game)
		if gap, ok := rep.Gap[game]; ok {
			fmt.Fprintf(&b, "gap %.2f; ", gap)
		}
		fmt.Fprintf(&b, "seat 0 won %s, seat 1 %s, drawn %s, lost by invalid moves %s\n\n",
			thousands(c.Wins0), thousands(c.Wins1), thousands(c.Draws), thousands(c.InvalidLosses))
	}
	if len(e.Games) > 1 && len(e.Opponents) == 0 {
		fmt.Fprintf(&b, "mean over the games\n")
		marginTable(&b, labels, rep.MarginsMean, rep.MuMean, nil)
		if rep.GapMean != nil {
			fmt.Fprintf(&b, "mean gap %.2f\n", *rep.GapMean)
		}
		b.WriteByte('\n')
	}
	if len(e.Opponents) > 0 {
		b.WriteString("margin of the model over the row's opponent, in the column's language: (won - lost) / games, both roles\n\n")
	} else {
		b.WriteString("margin of the row's language over the column's: (won - lost) / games, both roles\n")
		b.WriteString("first: margin of seat 0 where both play in the column's language\n\n")
	}
	rep.perfectTables(&b)
	answerTable(&b, labels, rep.ByLang)
	rep.GPU.table(&b, rep.Games)
	fmt.Fprintf(&b, "\nresults: %s\n", dir)
	_, err := io.WriteString(w, b.String())
	return err
}

// marginTable has a row and a column per language, a last column with the mean
// margin, and a last row with the first mover's margin if first is not nil.
func marginTable(b *strings.Builder, langs []string, margins map[string]map[string]float64, mu, first map[string]float64) {
	label := widest(langs, len("first"))
	column := max(7, widest(langs, 0)+1)
	row := func(name string, cell func(lang string) string, last string) {
		fmt.Fprintf(b, "%-*s", label, name)
		for _, lang := range langs {
			fmt.Fprintf(b, "%*s", column, cell(lang))
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%*s", column, last), " ") + "\n")
	}
	row("", func(lang string) string { return lang }, "mean")
	for _, a := range langs {
		row(a, func(lang string) string {
			if a == lang {
				return "."
			}
			return signed(margins[a], lang)
		}, signed(mu, a))
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
	s := fmt.Sprintf("%+.2f", v)
	if s == "-0.00" { // rounded from below: no margin that can be seen
		return "+0.00"
	}
	return s
}

// widest is the length of the longest name, at least least.
func widest(names []string, least int) int {
	for _, name := range names {
		least = max(least, utf8.RuneCountInString(name))
	}
	return least
}
