package bench

import "path/filepath"

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
			names[i] += " " + filepath.Base(rep.Dir)
		}
	}
	return names
}
