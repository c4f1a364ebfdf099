package page

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

// WCAG 2 AA: 4.5 for text, 3 for marks, by day and by night.
func TestContrast(t *testing.T) {
	for name, th := range map[string]theme{"day": day, "night": night} {
		for _, back := range []rgb{th.Paper, th.Panel} {
			for _, ink := range []rgb{th.Ink, th.Faint, th.Link, th.Bad, th.Good} {
				if c := contrast(ink, back); c < 4.5 {
					t.Errorf("%s: %s on %s has %.2f", name, ink, back, c)
				}
			}
		}
		for _, mark := range th.Runs {
			if c := contrast(mark, th.Paper); c < 3 {
				t.Errorf("%s: mark %s has %.2f", name, mark, c)
			}
		}
		for step := -steps; step <= steps; step++ {
			if back, ink := th.heat(step); contrast(ink, back) < 4.5 {
				t.Errorf("%s: step %d, %s on %s has %.2f", name, step, ink, back, contrast(ink, back))
			}
		}
	}
}

// All colours are the themes', so that the test above sees them.
func TestStyleHasNoColours(t *testing.T) {
	if found := regexp.MustCompile(`#[0-9a-f]{3,8}\b[^{}]*;|rgba?\(|hsla?\(|opacity`).FindString(style); found != "" {
		t.Errorf("%q", found)
	}
	for _, m := range regexp.MustCompile(`var\(--(\w+)\)`).FindAllStringSubmatch(style, -1) {
		if !strings.Contains(day.variables(), "--"+m[1]+":") {
			t.Errorf("no colour %s", m[1])
		}
	}
}

// Black on white has the ratio 21, a colour on itself 1; the grey is W3C's example.
func TestContrastFormula(t *testing.T) {
	for _, c := range []struct {
		a, b uint32
		want float64
	}{{0x000000, 0xffffff, 21}, {0x123456, 0x123456, 1}, {0x767676, 0xffffff, 4.54}} {
		if got := contrast(hex(c.a), hex(c.b)); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%06x on %06x: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestHeatClass(t *testing.T) {
	for _, c := range []struct {
		margin, scale float64
		want          string
	}{{0, 0.5, "heat h8"}, {0.5, 0.5, "heat h16"}, {-0.5, 0.5, "heat h0"}, {0.25, 0.5, "heat h12"}, {-0.01, 0.5, "heat h8"}, {2, 0.5, "heat h16"}} {
		if got := heatClass(c.margin, c.scale); got != c.want {
			t.Errorf("%v of %v: %s, want %s", c.margin, c.scale, got, c.want)
		}
	}
}

func TestSigned(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", -0.001: "0.00", 0.004: "0.00", 0.25: "+0.25", -1: "−1.00"} {
		if got := signed(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
