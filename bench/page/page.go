// Package page writes reports as one self-contained page: no script, nothing
// fetched from elsewhere, readable on a phone, in the dark and on paper. What
// models wrote is shown as text, in its direction, and never as markup.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"

	"selfplay/bench"
	"selfplay/scheduler"
)

// A Run is what the page shows of one run folder.
type Run struct {
	Report *bench.Report
	Games  *bench.Run // for games to read and for its sessions
}

// Options are what a page can have beside its runs.
type Options struct {
	Scatters []bench.Scatter // Figure 4's lines, a row each
}

// A view is what the template shows.
type view struct {
	Title    string
	About    string
	Policy   string // what the browser may load: nothing but this style
	Style    template.CSS
	Legend   []legend
	Sections []section
	Samples  []sample
}

// A section has groups of tables and plots, which stand side by side where there
// is room.
type section struct {
	ID, Title, Intro string
	Note             string // what a mark means
	Groups           []group
}

type group struct {
	Title  string
	Folded bool // opened by the reader
	Plots  []plot
	Tables []table
}

//go:embed page.html
var markup string

//go:embed page.css
var style string

var pageTemplate = template.Must(template.New("page").Parse(markup))

// Write writes the page of at least one run. Equal runs give equal pages.
func Write(w io.Writer, runs []Run, o Options) error {
	names := comparison(runs).Names()
	v := view{Title: "selfplay: " + clean(titleOf(names)), Legend: legends(names), Sections: sections(runs, names, o)}
	var err error
	if v.Samples, err = samples(runs, names); err != nil {
		return err
	}
	return v.write(w)
}

// WriteGame writes a page of one game alone, with all of its texts.
func WriteGame(w io.Writer, e bench.Experiment, rec scheduler.Record) error {
	s, _ := sampleOf(e, rec, math.MaxInt)
	s.Open = true
	v := view{
		Title:   "selfplay: " + s.ID,
		About:   fmt.Sprintf("%s; seed of the run %d, of the deal %d", clean(e.Model.Name), e.Seed, rec.Job.Seed),
		Samples: []sample{s},
	}
	return v.write(w)
}

// write puts in the style, and has the browser load nothing else.
func (v view) write(w io.Writer) error {
	css := style + paletteCSS()
	sum := sha256.Sum256([]byte(css))
	v.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	v.Style = template.CSS(css)
	return pageTemplate.Execute(w, v)
}

func titleOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// comparison has the runs' reports side by side.
func comparison(runs []Run) (c bench.Comparison) {
	for _, r := range runs {
		c.Runs = append(c.Runs, r.Report)
	}
	return c
}

// sections lists all but the games to read; those without tables are left out.
func sections(runs []Run, names []string, o Options) []section {
	all := comparison(runs)
	b := &builder{names: names, reports: all.Runs, games: all.Games(), labels: all.Labels(), scale: bench.MarginScale(all.Runs...)}
	parts := []section{b.summary(), b.margins(), b.profiles(), b.gaps(), b.strengths(), b.play(), b.tactics(),
		b.answers(), b.paper(), scatterSection(o.Scatters), settings(runs, names)}
	var shown []section
	for _, s := range parts {
		var groups []group
		for _, g := range s.Groups {
			if len(g.Tables)+len(g.Plots) > 0 {
				groups = append(groups, g)
			}
		}
		if s.Groups = groups; len(groups) > 0 {
			shown = append(shown, s)
		}
	}
	return shown
}

// A builder makes the sections out of reports that stand side by side.
type builder struct {
	names   []string // of the runs
	reports []*bench.Report
	games   []string // of any run
	labels  []string
	scale   float64 // the margin that has the strongest colour
}

// earlyNote says what the mark of cells that stopped early means, where there are any.
func (b *builder) earlyNote() string {
	for _, r := range b.reports {
		if len(r.Stopped) > 0 {
			return "*: of cells that stopped early: its interval, made for a fixed number of games, is a little too narrow."
		}
	}
	return ""
}
