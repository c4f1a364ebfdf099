package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"selfplay/bench"
	"selfplay/bench/screen"
)

// scatterSection is the table of Figure 4's lines.
func scatterSection(scatters []bench.Scatter) section {
	t := table{Caption: "Least squares over the languages", Corner: "model", Head: []string{"against", "languages", "slope", "Pearson r", "p"}}
	for _, s := range scatters {
		cells := []cell{plain(s.X), count(len(s.Points)), none, none, none}
		if f := s.Fit; f != nil {
			cells[2], cells[3], cells[4] = number(f.Slope, "%.3g"), cell{Text: signed(f.R)}, chance(f.P)
		}
		t.addRow(s.Model, cells...)
	}
	return section{ID: "benchmarks", Title: "Margins and benchmarks", Intro: "Mean margin of each language against a benchmark's accuracy, or against the base-10 logarithm of its words on the web.",
		Groups: []group{{Tables: with(t)}}}
}

// settings are what was played, and on what.
func settings(runs []Run, names []string) section {
	s := section{ID: "settings", Title: "Settings and hardware"}
	experiment := table{Caption: "Settings", Corner: "setting"}
	for _, name := range names {
		experiment.Head = append(experiment.Head, clean(name))
	}
	line := func(name string, value func(bench.Experiment) string) {
		var cells []cell
		for _, r := range runs {
			cells = append(cells, plain(cmp.Or(value(r.Report.Experiment), "–")))
		}
		experiment.addRow(name, cells...)
	}
	line("shard", func(e bench.Experiment) string {
		if e.Shard == (bench.Shard{}) {
			return ""
		}
		return e.Shard.String()
	})
	line("sha256 of the model", func(e bench.Experiment) string { return e.Model.SHA256 })
	line("weights", func(e bench.Experiment) string { return e.Weights })
	line("cache", func(e bench.Experiment) string { return e.Cache })
	line("games", func(e bench.Experiment) string { return strings.Join(e.Games, " ") })
	line("languages", func(e bench.Experiment) string { return strings.Join(e.Langs, " ") })
	line("games a direction", func(e bench.Experiment) string { return screen.Thousands(e.N) })
	line("opponents", func(e bench.Experiment) string { return strings.Join(e.Opponents, " ") })
	line("stops early", func(e bench.Experiment) string {
		if e.UntilCI == 0 {
			return ""
		}
		return fmt.Sprintf("margin known to ±%g", e.UntilCI)
	})
	line("seed", func(e bench.Experiment) string { return fmt.Sprint(e.Seed) })
	line("system prompt", func(e bench.Experiment) string { return e.System })
	line("told to reason in", func(e bench.Experiment) string {
		var labels []string
		for _, r := range e.Reasoned {
			labels = append(labels, r.Label)
		}
		return strings.Join(labels, " ")
	})
	line("thinking", func(e bench.Experiment) string { return e.Think })
	prompted := func(name string, value func(bench.Experiment) string) { // a built-in policy is not
		line(name, func(e bench.Experiment) string {
			if e.System == "" {
				return ""
			}
			return value(e)
		})
	}
	prompted("temperature", func(e bench.Experiment) string { return fmt.Sprint(e.Temperature) })
	prompted("top-k", func(e bench.Experiment) string { return fmt.Sprint(e.TopK) })
	prompted("top-p", func(e bench.Experiment) string { return fmt.Sprint(e.TopP) })
	prompted("tokens of an answer", func(e bench.Experiment) string {
		if e.MaxTokens == 0 {
			return "until the turn's are used up"
		}
		return screen.Thousands(e.MaxTokens)
	})
	prompted("tokens of a turn", func(e bench.Experiment) string { return screen.Thousands(e.Context) })
	line("texts", func(e bench.Experiment) string { return e.Locales.Source + " " + e.Locales.SHA256 })
	s.Groups = []group{{Tables: with(experiment)}}
	for i, r := range runs {
		s.Groups = append(s.Groups, group{Tables: with(sessions(names[i], r), gpuTable(names[i], r.Report.GPU))})
	}
	return s
}

// sessions lists the invocations that played a run.
func sessions(name string, r Run) table {
	t := table{Caption: "Sessions of " + clean(name), Corner: "started", Head: []string{"program", "how"}}
	for _, how := range r.Games.How {
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(how.Settings)) {
			parts = append(parts, key+" "+how.Settings[key])
		}
		t.addRow(how.Started.UTC().Format("2006-01-02 15:04 UTC"), plain(how.Program), plain(strings.Join(parts, ", ")))
	}
	return t
}

func gpuTable(name string, use *bench.GPUUse) table {
	t := table{Caption: "GPUs of " + clean(name), Corner: "GPU", Head: []string{"name", "busy", "power", "largest memory", "energy", "hottest", "held down"}}
	if use == nil {
		return t
	}
	for _, g := range use.GPUs {
		t.addRow(fmt.Sprint(g.Index), plain(g.Name), figure(g.Utilization, 1, "%.0f %%"), figure(g.Watts, 1, "%.0f W"),
			figure(g.PeakMemory, 1.0/(1<<30), "%.1f GB"), figure(g.Joules, 1e-3, "%.1f kJ"), figure(g.Hottest, 1, "%.0f °C"), figure(g.Throttled, 100, "%.0f %%"))
	}
	return t
}

// figure is a number times unit.
func figure[T int64 | float64](v *T, unit float64, format string) cell {
	if v == nil {
		return none
	}
	return number(float64(*v)*unit, format)
}
