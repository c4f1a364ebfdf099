package live

import (
	"fmt"

	"selfplay/bench/screen"
)

// loadInShort is how busy all GPUs, or all cores, are.
func (m *Model) loadInShort() [][]span {
	if len(m.Load.GPUs) > 0 {
		return gpusInShort(m.Load.GPUs)
	}
	if n := len(m.Load.Cores); n > 0 {
		return [][]span{{{plain, "cpu "}, {strong, fmt.Sprintf("%.0f%%", 100*mean(m.Load.Cores))}, {plain, " of " + screen.Counted(n, "core", "cores")}}}
	}
	return nil
}

func gpusInShort(all []GPU) [][]span {
	var util []float64
	watts := 0.0
	for _, g := range all {
		if g.Util != nil {
			util = append(util, float64(*g.Util))
		}
		if g.Power != nil {
			watts += float64(*g.Power) / 1000
		}
	}
	name := "gpu"
	if len(all) > 1 {
		name = screen.Counted(len(all), "", "gpus")
	}
	group := []span{{plain, name}}
	if len(util) > 0 {
		group = append(group, span{strong, fmt.Sprintf(" %.0f%%", mean(util))})
	}
	if watts > 0 {
		group = append(group, span{plain, fmt.Sprintf(" %.0f W", watts)})
	}
	return [][]span{group}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// machine has a row for each GPU, or for each core.
func (m *Model) machine(width, height int) []line {
	if len(m.Load.GPUs) == 0 && len(m.Load.Cores) == 0 {
		return nil
	}
	lines := []line{fit(width, span{strong, "machine"})}
	for i, g := range m.Load.GPUs {
		share, busy := 0.0, "?"
		if g.Util != nil {
			share, busy = float64(*g.Util)/100, fmt.Sprintf("%d%%", *g.Util)
		}
		text := ""
		if g.Power != nil {
			text += fmt.Sprintf(" %4d W", (*g.Power+500)/1000)
		}
		if g.Used != nil {
			text += fmt.Sprintf(" %5.1f GB", float64(*g.Used)/1e9)
		}
		if g.Temperature != nil {
			text += fmt.Sprintf(" %d°C", *g.Temperature)
		}
		spans := append([]span{{plain, fmt.Sprintf("gpu %-2d", i)}}, bar(8, share)...)
		spans = append(spans, span{plain, padded(busy, 5, true) + text})
		l, named := fit(width, spans...), fit(width, append(spans, span{faint, "  " + screen.Clean(g.Name)})...)
		if named.width < width {
			l = named
		}
		lines = append(lines, l)
	}
	if len(m.Load.GPUs) > 0 {
		return lines
	}
	// Cores stand in as many columns as they need, and have room for.
	rows := max(1, height-1)
	var columns [][]line
	for i, load := range m.Load.Cores {
		if i%rows == 0 {
			columns = append(columns, nil)
		}
		spans := append([]span{{plain, fmt.Sprintf("core %-3d", i)}}, bar(8, load)...)
		at := &columns[len(columns)-1]
		*at = append(*at, fit(width, append(spans, span{plain, fmt.Sprintf("%4.0f%%", 100*load)})...))
	}
	for len(columns) > 1 && widest(beside(gap, columns...)) > width {
		columns = columns[:len(columns)-1]
	}
	return append(lines, beside(gap, columns...)...)
}
