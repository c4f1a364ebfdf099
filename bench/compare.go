package bench

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"selfplay/bench/screen"
)

// SideBySide puts several runs together, each usually of another model.
func SideBySide(runs []*Report) Comparison {
	c := Comparison{Runs: runs, GapAverage: map[string]float64{}}
	var means []float64
	for _, game := range c.Games() {
		var gaps []float64
		for _, rep := range runs {
			if gap, ok := rep.Gap[game]; ok {
				gaps = append(gaps, gap)
			}
		}
		if v, ok := mean(gaps); ok {
			c.GapAverage[game] = v
		}
	}
	for _, rep := range runs {
		if rep.GapMean != nil {
			means = append(means, *rep.GapMean)
		}
	}
	if v, ok := mean(means); ok {
		c.GapMeanMean = &v
	}
	return c
}

// Games are those of all runs, in the order in which they are first named.
func (c Comparison) Games() []string {
	return union(c.Runs, func(rep *Report) []string { return rep.Experiment.Games })
}

// Labels are those of all runs.
func (c Comparison) Labels() []string {
	return union(c.Runs, func(rep *Report) []string { return rep.Labels })
}

func union(runs []*Report, names func(*Report) []string) []string {
	var all []string
	seen := map[string]bool{}
	for _, rep := range runs {
		for _, name := range names(rep) {
			if !seen[name] {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}

// Names call each run by its model, and by its folder too where models repeat.
func (c Comparison) Names() []string {
	count := map[string]int{}
	for _, rep := range c.Runs {
		count[rep.Experiment.Model.Name]++
	}
	names := make([]string, len(c.Runs))
	for i, rep := range c.Runs {
		names[i] = rep.Experiment.Model.Name
		if count[names[i]] > 1 {
			names[i] += " (" + filepath.Base(rep.Dir) + ")"
		}
	}
	return names
}

// WriteText writes what the runs can be compared in, as tables for a terminal of 80
// columns.
func (c Comparison) WriteText(w io.Writer) error {
	var b strings.Builder
	names := c.Names()
	for i, rep := range c.Runs {
		fmt.Fprintf(&b, "%d  %s: %s of %s games, ", i+1, names[i], screen.Thousands(rep.Games), screen.Thousands(rep.Planned))
		if shard := rep.Experiment.Shard; shard != (Shard{}) {
			fmt.Fprintf(&b, "shard %s, ", shard)
		}
		b.WriteString(rep.Dir + "\n")
	}
	b.WriteString("\nlanguage gap, and its 95 % interval\n")
	c.gapTable(&b)
	for _, game := range c.Games() {
		fmt.Fprintf(&b, "%s\n", game)
		c.meanTable(&b, game, func(rep *Report) (map[string]float64, map[string]Interval) { return rep.Mu[game], rep.MuCI[game] })
	}
	b.WriteString("mean over the games\n")
	c.meanTable(&b, "", func(rep *Report) (map[string]float64, map[string]Interval) { return rep.MuMean, rep.MuMeanCI })
	b.WriteString("mean margin of the column's language over the others, and half of its 95 %\ninterval\n")
	if slices.ContainsFunc(c.Runs, func(rep *Report) bool { return len(rep.Stopped) > 0 }) {
		b.WriteString(earlyLegend)
	}
	b.WriteByte('\n')
	for i, rep := range c.Runs {
		if rep.Paper != nil {
			fmt.Fprintf(&b, "%s\n", names[i])
			rep.paperTable(&b)
		}
	}
	b.WriteString("more of one run: selfplay report RUN\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// gapTable is the paper's Table 2 with games as rows, so that it fits.
func (c Comparison) gapTable(b *strings.Builder) {
	g := grid{{"gap"}}
	for i := range c.Runs {
		g[0] = append(g[0], fmt.Sprintf("run %d", i+1), "")
	}
	g[0] = append(g[0], "average")
	line := func(name, game string, average *float64, of func(*Report) (*float64, *Interval)) {
		cells := []string{name}
		for _, rep := range c.Runs {
			v, ci := of(rep)
			if v == nil || ci == nil {
				cells = append(cells, "-", "")
				continue
			}
			cells = append(cells, marked(fmt.Sprintf("%.2f", *v), rep.EarlyGap(game)), spread(*ci, "%.2f"))
		}
		g.row(append(cells, figure(average, 1, "%.2f"))...)
	}
	for _, game := range c.Games() {
		line(game, game, entry(c.GapAverage, game), func(rep *Report) (*float64, *Interval) { return entry(rep.Gap, game), entry(rep.GapCI, game) })
	}
	line("average", "", c.GapMeanMean, func(rep *Report) (*float64, *Interval) { return rep.GapMean, rep.GapMeanCI })
	g.write(b)
	b.WriteByte('\n')
}

// meanTable has a row for each run and a column per language, the paper's Figure
// F.1, of a game or, with "", of the mean over the games.
func (c Comparison) meanTable(b *strings.Builder, game string, of func(*Report) (map[string]float64, map[string]Interval)) {
	labels := c.Labels()
	g := grid{append([]string{""}, labels...)}
	for i, rep := range c.Runs {
		mu, ci := of(rep)
		values, halves := []string{fmt.Sprintf("run %d", i+1)}, []string{""}
		for _, lang := range labels {
			values = append(values, marked(signed(mu, lang), rep.EarlyMean(game, lang)))
			if i, ok := ci[lang]; ok {
				halves = append(halves, halfWidth(i))
			} else {
				halves = append(halves, "")
			}
		}
		g.row(values...)
		if len(ci) > 0 {
			g.row(halves...)
		}
	}
	g.write(b)
	b.WriteByte('\n')
}
