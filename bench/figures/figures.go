// Package figures draws the paper's figures as SVG and PNG: margins as a heat
// map (2), mean margins against benchmarks and words on the web (4), and mean
// margins of each game (F.1).
package figures

import (
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"selfplay/bench"
	"selfplay/locales/wholefile"
)

// A figure is drawn on a canvas of its size.
type figure struct {
	name          string // of the files, without their ending
	width, height vg.Length
	draw          func(draw.Canvas) error
}

// Write draws into a folder that exists and gives the names of the files, each
// of which is there whole or not at all. Reports with nothing to draw, and
// scatters without points, have no figure.
func Write(dir string, reports []*bench.Report, scatters []bench.Scatter) ([]string, error) {
	var names []string
	for _, f := range all(reports, scatters) {
		for _, kind := range []string{"svg", "png"} {
			name := f.name + "." + kind
			err := wholefile.Write(filepath.Join(dir, name), func(w io.Writer) error { return f.write(w, kind) })
			if err != nil {
				return names, err
			}
			names = append(names, name)
		}
	}
	return names, nil
}

func all(reports []*bench.Report, scatters []bench.Scatter) []figure {
	var figures []figure
	taken := map[string]int{}
	add := func(f figure, ok bool) {
		if !ok {
			return
		}
		if taken[f.name]++; taken[f.name] > 1 { // two runs of one model
			f.name += fmt.Sprintf("-%d", taken[f.name])
		}
		figures = append(figures, f)
	}
	scale := bench.MarginScale(reports...)
	for _, r := range reports {
		add(heatMap(r, scale))
	}
	for _, s := range scatters {
		add(scatter(s))
	}
	for _, r := range reports {
		add(profiles(r))
	}
	return figures
}

// write draws the figure as svg or png, the latter with 200 dots an inch.
func (f figure) write(w io.Writer, kind string) error {
	if kind == "svg" {
		c := vgsvg.New(f.width, f.height)
		if err := f.draw(framed(draw.New(c))); err != nil {
			return err
		}
		_, err := c.WriteTo(w)
		return err
	}
	c := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(200))
	if err := f.draw(framed(draw.New(c))); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// framed leaves some white around a figure.
func framed(c draw.Canvas) draw.Canvas {
	const room = 6
	return draw.Crop(c, room, -room, room, -room)
}

// slug makes a part of a file's name of a model's.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.TrimSuffix(name, ".gguf") {
		if r < 0x80 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || strings.ContainsRune("._+", r)) {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-.")
	if s == "" {
		return "model"
	}
	return s[:min(len(s), 80)]
}

// latin keeps what the built-in font can draw.
func latin(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x17f || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// newPlot is an empty plot with this package's fonts and sizes.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	set := func(f *font.Font, size vg.Length) {
		*f = sans
		f.Size = size
	}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = latin(title), latin(x), latin(y)
	p.Title.Padding = vg.Points(6)
	set(&p.Title.TextStyle.Font, 11)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		set(&axis.Label.TextStyle.Font, 10)
		set(&axis.Tick.Label.Font, 9)
	}
	return p
}

func rgb(v uint32) color.Color {
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

var (
	blue = rgb(0x1f5fa8)
	grey = rgb(0x8a9099)
)
