package figures

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"selfplay/bench"
)

// heatMap is Figure 2: the row's language over the column's, mean over games.
func heatMap(r *bench.Report, scale float64) (figure, bool) {
	labels := r.Labels
	if len(labels) == 0 || len(r.MuMean) == 0 {
		return figure{}, false
	}
	side := vg.Length(len(labels))*36 + 90
	return figure{"figure2-" + slug(r.Experiment.Model.Name), side, side + 10, func(c draw.Canvas) error {
		p := newPlot(r.Experiment.Model.Name, "over", "margin of")
		var names []string
		for _, l := range labels {
			names = append(names, latin(l))
		}
		p.NominalX(names...)
		p.Y.Tick.Marker = upsideDown(names)
		p.Y.Tick.Length, p.X.Tick.Length = 0, 0
		p.Add(cells{r, scale})
		p.Draw(c)
		return nil
	}}, true
}

// upsideDown names rows from the top down.
type upsideDown []string

func (u upsideDown) Ticks(_, _ float64) []plot.Tick {
	var ticks []plot.Tick
	for i, name := range u {
		ticks = append(ticks, plot.Tick{Value: float64(len(u) - 1 - i), Label: name})
	}
	return ticks
}

// cells are the squares of a heat map with their numbers.
type cells struct {
	report *bench.Report
	scale  float64
}

func (m cells) DataRange() (xmin, xmax, ymin, ymax float64) {
	end := float64(len(m.report.Labels)) - 0.5
	return -0.5, end, -0.5, end
}

func (m cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := text.Style{Font: sans, XAlign: draw.XCenter, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
	style.Font.Size = 9
	labels := m.report.Labels
	for i, a := range labels {
		row := float64(len(labels) - 1 - i)
		for j, b := range labels {
			v, ok := m.report.MarginsMean[a][b]
			if !ok {
				continue
			}
			col := float64(j)
			back := margin(v / m.scale)
			c.FillPolygon(back, []vg.Point{{X: x(col - 0.5), Y: y(row - 0.5)}, {X: x(col + 0.5), Y: y(row - 0.5)}, {X: x(col + 0.5), Y: y(row + 0.5)}, {X: x(col - 0.5), Y: y(row + 0.5)}})
			style.Color = inkOn(back)
			c.FillText(style, vg.Point{X: x(col), Y: y(row)}, signed(v))
		}
	}
}

// margin is a colour for a share of the largest margin: blue ahead, orange behind.
func margin(share float64) color.RGBA {
	end := [3]float64{0x1f, 0x5f, 0xa8}
	if share < 0 {
		end = [3]float64{0xc2, 0x54, 0x00}
	}
	share = min(1, math.Abs(share))
	at := func(i int) uint8 { return uint8(0xf3 + (end[i]-0xf3)*share + 0.5) }
	return color.RGBA{at(0), at(1), at(2), 255}
}

// inkOn is black or white, by the lightness that eyes see.
func inkOn(c color.RGBA) color.Color {
	if color.GrayModel.Convert(c).(color.Gray).Y < 128 {
		return color.White
	}
	return color.Black
}

func signed(v float64) string {
	s := fmt.Sprintf("%+.2f", v)
	if strings.Trim(s, "+-0.") == "" {
		return "0.00"
	}
	return s
}

// scatter is a panel of Figure 4, with the line through it.
func scatter(s bench.Scatter) (figure, bool) {
	if len(s.Points) == 0 {
		return figure{}, false
	}
	return figure{"figure4-" + slug(s.Model) + "-" + slug(s.X), 340, 280, func(c draw.Canvas) error {
		title := s.Model
		if s.Fit != nil {
			title += fmt.Sprintf("   r = %.2f, p = %.3f", s.Fit.R, s.Fit.P)
		}
		p := newPlot(title, s.X, "mean margin")
		var points plotter.XYs
		var names []string
		low, high := math.Inf(1), math.Inf(-1)
		for _, point := range s.Points {
			points = append(points, plotter.XY{X: point.X, Y: point.Y})
			names = append(names, " "+latin(point.Lang))
			low, high = min(low, point.X), max(high, point.X)
		}
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: blue, Radius: 3, Shape: draw.CircleGlyph{}}
		labels, err := plotter.NewLabels(plotter.XYLabels{XYs: points, Labels: names})
		if err != nil {
			return err
		}
		for i := range labels.TextStyle {
			labels.TextStyle[i].Font, labels.TextStyle[i].Font.Size = sans, 9
		}
		if f := s.Fit; f != nil {
			line, err := plotter.NewLine(plotter.XYs{{X: low, Y: f.Intercept + f.Slope*low}, {X: high, Y: f.Intercept + f.Slope*high}})
			if err != nil {
				return err
			}
			line.LineStyle.Color = grey
			p.Add(line)
		}
		p.Add(dots, labels)
		room := max((high-low)*0.08, 1e-3)
		p.X.Min, p.X.Max = low-room, high+room*2
		p.Draw(c)
		return nil
	}}, true
}

// profiles is Figure F.1: a panel for each game, a bar for each language.
func profiles(r *bench.Report) (figure, bool) {
	var games []string
	limit := 0.1
	for _, game := range r.Experiment.Games {
		if len(r.Mu[game]) > 0 {
			games = append(games, game)
		}
		for lang, v := range r.Mu[game] {
			ci := r.MuCI[game][lang]
			limit = max(limit, math.Abs(v), math.Abs(ci[0]), math.Abs(ci[1]))
		}
	}
	if len(games) == 0 {
		return figure{}, false
	}
	columns := min(3, len(games))
	rows := (len(games) + columns - 1) / columns
	width := vg.Length(len(r.Labels))*22 + 70
	return figure{"figureF1-" + slug(r.Experiment.Model.Name), width * vg.Length(columns), 190 * vg.Length(rows), func(c draw.Canvas) error {
		panels := make([][]*plot.Plot, rows)
		for i := range panels {
			panels[i] = make([]*plot.Plot, columns)
		}
		for i, game := range games {
			p, err := profile(r, game, limit*1.05)
			if err != nil {
				return err
			}
			panels[i/columns][i%columns] = p
		}
		tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 8, PadY: 8, PadTop: 4, PadBottom: 4, PadLeft: 4, PadRight: 4}
		for i, line := range plot.Align(panels, tiles, c) {
			for j, at := range line {
				if panels[i][j] != nil {
					panels[i][j].Draw(at)
				}
			}
		}
		return nil
	}}, true
}

// profile is one panel; its bars have their 95 % intervals.
func profile(r *bench.Report, game string, limit float64) (*plot.Plot, error) {
	p := newPlot(game, "", "mean margin")
	var names []string
	values := plotter.Values{}
	var spans struct {
		plotter.XYs
		plotter.YErrors
	}
	for _, lang := range r.Labels {
		v, ok := r.Mu[game][lang]
		if !ok {
			continue
		}
		if ci, ok := r.MuCI[game][lang]; ok {
			spans.XYs = append(spans.XYs, plotter.XY{X: float64(len(values)), Y: v})
			spans.YErrors = append(spans.YErrors, struct{ Low, High float64 }{v - ci[0], ci[1] - v})
		}
		names, values = append(names, latin(lang)), append(values, v)
	}
	bars, err := plotter.NewBarChart(values, 12)
	if err != nil {
		return nil, err
	}
	bars.Color, bars.LineStyle.Width = blue, 0
	p.Add(plotter.NewGrid(), bars)
	if len(spans.XYs) > 0 {
		errors, err := plotter.NewYErrorBars(&spans)
		if err != nil {
			return nil, err
		}
		p.Add(errors)
	}
	p.NominalX(names...)
	p.Y.Min, p.Y.Max = -limit, limit
	return p, nil
}
