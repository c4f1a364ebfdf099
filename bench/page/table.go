package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"selfplay/bench"
	"selfplay/bench/screen"
)

// A table has named columns and named rows. All its texts are plain.
type table struct {
	Caption string
	Corner  string // over the names of the rows
	Head    []string
	Rows    []row
	Map     bool // a heat map
}

type row struct {
	Name  string
	Title string // what the name stands for
	Cells []cell
}

// A cell is a number or a word; Title says more where a mouse rests on it.
type cell struct {
	Text, Title, Class string
}

// addRow leaves a row without any value out.
func (t *table) addRow(name string, cells ...cell) {
	for _, c := range cells {
		if c.Class != none.Class {
			t.Rows = append(t.Rows, row{Name: clean(name), Title: languageNames[name], Cells: cells})
			return
		}
	}
}

// with is the tables that have rows.
func with(tables ...table) []table {
	var all []table
	for _, t := range tables {
		if len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}

var none = cell{Text: "–", Class: "none"} // no game speaks for it

var languageNames = map[string]string{"en": "English", "ar": "Arabic", "de": "German", "es": "Spanish",
	"fr": "French", "he": "Hebrew", "ms": "Malay", "zh": "Chinese"}

func plain(s string) cell { return cell{Text: clean(s)} }

func count(n int) cell { return cell{Text: screen.Thousands(n)} }

// signed is a margin with its sign: never "-0.00", which nobody can see.
func signed(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	switch {
	case strings.Trim(s, "-0.") == "":
		return "0.00"
	case v > 0:
		return "+" + s
	}
	return strings.Replace(s, "-", "−", 1)
}

func span(i bench.Interval) string { return fmt.Sprintf("%s to %s", signed(i[0]), signed(i[1])) }

// margin is a value with its interval in the title; false values give none.
func margin(v float64, ok bool, ci bench.Interval, hasCI bool) cell {
	if !ok {
		return none
	}
	c := cell{Text: signed(v)}
	if hasCI {
		c.Title = "95 % interval: " + span(ci)
	}
	return c
}

// withInterval shows the interval in the cell itself.
func withInterval(c cell, ci bench.Interval, ok bool) cell {
	if ok && c != none {
		c.Text += " (" + span(ci) + ")"
	}
	return c
}

// early marks what is of a cell that stopped early.
func early(c cell, yes bool) cell {
	if !yes || c == none {
		return c
	}
	c.Text += "*"
	if c.Title != "" {
		c.Title += "; "
	}
	c.Title += "stopped early"
	return c
}

// percent is a share, with what it is of in the title.
func percent(count, of int) cell {
	if of == 0 {
		return none
	}
	return cell{Text: fmt.Sprintf("%.1f %%", 100*float64(count)/float64(of)), Title: screen.Thousands(count) + " of " + screen.Thousands(of)}
}

func shareCell(s bench.Share) cell { return percent(s.Count, s.Of) }

// failure is a share that is better small: marked where it is not.
func failure(count, of int) cell {
	c := percent(count, of)
	if of > 0 && count*10 >= of {
		c.Class = "bad"
	}
	return c
}

// chance is a p-value; marked below 0.05.
func chance(p float64) cell {
	c := cell{Text: fmt.Sprintf("%.3f", p)}
	if p < 0.001 {
		c.Text = "< 0.001"
	}
	if p < 0.05 {
		c.Class = "strong"
	}
	return c
}

// number is a value with a sign only if it can be seen: never "−0".
func number(v float64, format string) cell {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	s := fmt.Sprintf(format, v)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return cell{Text: strings.Replace(s, "-", "−", 1)}
}
