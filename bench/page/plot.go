package page

import (
	"fmt"
	"math"

	"selfplay/bench"
)

// A plot is a drawing of dots with their intervals: a line for each language, a
// mark for each run. Its sizes are in the drawing's own units; the page scales it.
type plot struct {
	Caption string
	W, H    float64
	Left    float64 // where the lines begin
	Ticks   []tick
	Lines   []plotLine
	Marks   []mark
}

type tick struct {
	X     float64
	Label string
	Zero  bool
}

type plotLine struct {
	Y     float64
	Label string
}

// A mark is a run's value: a shape around X, Y, and a line from X1 to X2.
type mark struct {
	Class        string
	X, Y, X1, X2 float64
	Shape        string // an SVG path
	Title        string
}

type legend struct {
	Name, Class, Shape string
}

const (
	plotWidth = 320.0
	plotLeft  = 52.0
	plotRight = 18.0 // half of "+0.20"
)

// profilePlot draws mean margins; none if there are none.
func (b *builder) profilePlot(title string, mu func(*bench.Report) (map[string]float64, map[string]bench.Interval)) []plot {
	lane := 9.0 // of a run within its language's line
	step := max(18, lane*float64(len(b.reports))+8)
	p := plot{Caption: title, W: plotWidth, Left: plotLeft}
	limit := 0.1
	for _, r := range b.reports {
		values, intervals := mu(r)
		for lang, v := range values {
			limit = max(limit, math.Abs(v))
			if ci, ok := intervals[lang]; ok {
				limit = max(limit, math.Abs(ci[0]), math.Abs(ci[1]))
			}
		}
	}
	limit = min(1, math.Ceil(limit*10-1e-9)/10)
	x := func(v float64) float64 {
		v = max(-limit, min(limit, v))
		return round(plotLeft + (v+limit)/(2*limit)*(plotWidth-plotLeft-plotRight))
	}
	y := 14.0
	for _, lang := range b.labels {
		found := false
		for i, r := range b.reports {
			values, intervals := mu(r)
			v, ok := values[lang]
			if !ok {
				continue
			}
			found = true
			at := y + (float64(i)-float64(len(b.reports)-1)/2)*lane
			m := mark{Class: runClass(i), X: x(v), X1: x(v), X2: x(v), Y: at, Shape: shape(i, x(v), at), Title: fmt.Sprintf("%s, %s: %s", clean(b.names[i]), clean(lang), signed(v))}
			if ci, ok := intervals[lang]; ok {
				m.X1, m.X2, m.Title = x(ci[0]), x(ci[1]), m.Title+" ("+span(ci)+")"
			}
			p.Marks = append(p.Marks, m)
		}
		if found {
			p.Lines = append(p.Lines, plotLine{Y: round(y), Label: clean(lang)})
			y += step
		}
	}
	if len(p.Marks) == 0 {
		return nil
	}
	for _, v := range []float64{-limit, 0, limit} {
		p.Ticks = append(p.Ticks, tick{X: x(v), Label: signed(v), Zero: v == 0})
	}
	p.H = y + 8
	return []plot{p}
}

func runClass(run int) string { return fmt.Sprintf("run%d", run%len(day.Runs)) }

// shape tells runs apart without colour: square, disc, diamond, triangle.
func shape(run int, x, y float64) string {
	const r = 4.0
	x, y = round(x), round(y)
	switch run % 4 {
	case 0:
		return fmt.Sprintf("M%g %ga%g %g 0 1 0 %g 0a%g %g 0 1 0 %g 0z", x-r, y, r, r, 2*r, r, r, -2*r)
	case 1:
		return fmt.Sprintf("M%g %gh%gv%gh%gz", x-r+0.5, y-r+0.5, 2*r-1, 2*r-1, -2*r+1)
	case 2:
		return fmt.Sprintf("M%g %gl%g %gl%g %gl%g %gz", x, y-r-1, r+1, r+1, -r-1, r+1, -r-1, -r-1)
	}
	return fmt.Sprintf("M%g %gl%g %gh%gz", x, y-r-0.5, r+0.5, 2*r, -2*r-1)
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

func legends(names []string) []legend {
	if len(names) < 2 {
		return nil
	}
	var all []legend
	for i, name := range names {
		all = append(all, legend{Name: clean(name), Class: runClass(i), Shape: shape(i, 7, 7)})
	}
	return all
}
