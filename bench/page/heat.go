package page

import (
	"fmt"
	"math"
	"strings"
)

// Margins are shown in colours that the colour-blind can tell apart: blue where
// the row's language is ahead, orange where it is behind.
const steps = 8 // of colour on each side of zero

type rgb [3]float64 // 0 to 255

// A theme is what a page looks like by day or by night. The style sheet takes
// its colours from here, so that their contrast can be computed.
type theme struct {
	Paper, Panel, Ink, Faint, Line, Link, Bad, Good rgb
	Even, Ahead, Behind                             rgb    // of heat maps
	Runs                                            [4]rgb // marks of the runs in plots
}

func hex(v uint32) rgb { return rgb{float64(v >> 16), float64(v >> 8 & 255), float64(v & 255)} }

var day = theme{
	Paper: hex(0xffffff), Panel: hex(0xf4f5f7), Ink: hex(0x1c2024), Faint: hex(0x565d66), Line: hex(0xd5d9de),
	Link: hex(0x0b57a4), Bad: hex(0xa32100), Good: hex(0x1a6334),
	Even: hex(0xf3f3f1), Ahead: hex(0x1f5fa8), Behind: hex(0xc25400),
	Runs: [4]rgb{hex(0x1f5fa8), hex(0xb04a00), hex(0x1a6334), hex(0x7b3fa0)},
}

var night = theme{
	Paper: hex(0x14171a), Panel: hex(0x1e2226), Ink: hex(0xe6e8ea), Faint: hex(0xa4adb7), Line: hex(0x394048),
	Link: hex(0x82bdff), Bad: hex(0xff9d80), Good: hex(0x83d69d),
	Even: hex(0x2a2e33), Ahead: hex(0x6fb4ff), Behind: hex(0xff9d4d),
	Runs: [4]rgb{hex(0x6fb4ff), hex(0xff9d4d), hex(0x83d69d), hex(0xcf9df0)},
}

func (c rgb) String() string {
	return fmt.Sprintf("#%02x%02x%02x", int(c[0]+0.5), int(c[1]+0.5), int(c[2]+0.5))
}

func mix(a, b rgb, t float64) rgb {
	for i := range a {
		a[i] += (b[i] - a[i]) * t
	}
	return a
}

// luminance is the relative one of WCAG 2.
func (c rgb) luminance() float64 {
	sum := 0.0
	for i, weight := range [3]float64{0.2126, 0.7152, 0.0722} {
		v := c[i] / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// contrast is WCAG's ratio of two colours, from 1 to 21.
func contrast(a, b rgb) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// heat is the background of a step, from -steps to steps, and the colour of the
// number on it: black or white, whichever can be read better.
func (t theme) heat(step int) (back, ink rgb) {
	end := t.Ahead
	if step < 0 {
		end = t.Behind
	}
	back = mix(t.Even, end, math.Abs(float64(step))/steps)
	ink = hex(0x000000)
	if white := hex(0xffffff); contrast(white, back) > contrast(ink, back) {
		ink = white
	}
	return back, ink
}

// heatClass names the step of a margin in the style sheet.
func heatClass(margin, scale float64) string {
	step := int(math.Round(margin / scale * steps))
	step = max(-steps, min(steps, step))
	return fmt.Sprintf("heat h%d", step+steps)
}

// paletteCSS are the themes as CSS: variables for day and, on a screen only, for
// night, and a class for each step.
func paletteCSS() string {
	var b strings.Builder
	fmt.Fprintf(&b, ":root{%s}\n", day.variables())
	fmt.Fprintf(&b, "@media screen and (prefers-color-scheme:dark){:root{%s}}\n", night.variables())
	for i := range 2*steps + 1 {
		fmt.Fprintf(&b, ".h%d{background:var(--h%d);color:var(--t%d)}\n", i, i, i)
	}
	for i := range day.Runs {
		fmt.Fprintf(&b, ".run%d{fill:var(--run%d);stroke:var(--run%d)}\n", i, i, i)
	}
	return b.String()
}

func (t theme) variables() string {
	var b strings.Builder
	for _, v := range []struct {
		name  string
		value rgb
	}{{"paper", t.Paper}, {"panel", t.Panel}, {"ink", t.Ink}, {"faint", t.Faint}, {"line", t.Line}, {"link", t.Link}, {"bad", t.Bad}, {"good", t.Good}} {
		fmt.Fprintf(&b, "--%s:%s;", v.name, v.value)
	}
	for i := range 2*steps + 1 {
		back, ink := t.heat(i - steps)
		fmt.Fprintf(&b, "--h%d:%s;--t%d:%s;", i, back, i, ink)
	}
	for i, c := range t.Runs {
		fmt.Fprintf(&b, "--run%d:%s;", i, c)
	}
	return b.String()
}
