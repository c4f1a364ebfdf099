package bench

import (
	"strings"
	"testing"
	"unicode/utf8"

	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// widest is an experiment with all that makes tables wide: the paper's games, eight
// languages and four labels that reason in another one.
func widest() Experiment {
	suite := Suites[0]
	e := testExperiment()
	e.Games, e.Langs, e.N = suite.Games, suite.Langs, 1
	e.System, _ = prompts.ReasonIn("fr")
	for _, label := range []string{"zh+en", "zh+fr", "ar+en", "he+en"} {
		e.Reasoned = append(e.Reasoned, Reasoned{Label: label, System: label})
	}
	return e
}

// wideReport has every table: of play against itself, or against both opponents.
func wideReport(t *testing.T, opponents ...string) *Report {
	t.Helper()
	e := widest()
	e.Opponents = opponents
	c := newCollector(e)
	c.rep.Dir = "runs/wide"
	for j := range e.Plan().Jobs() {
		r := scheduler.Record{Job: j}
		r.Result.Rewards = [][2]int{{1, -1}, {-1, 1}, {0, 0}}[(len(j.Langs[0])+len(j.Langs[1])+j.Role)%3]
		r.Turns = []scheduler.Turn{{Seat: j.Role, CompletionTokens: 1234, ThinkingTokens: 1000, Event: games.Event{Judged: true, Regret: 0.5}}}
		if err := c.add(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, label := range e.Labels() { // as many as a whole run has
		counts := c.rep.ByLang[label]
		counts.Turns, counts.Raw, counts.Told = 1_234_567, 1_234_567, 1_234_567
		c.rep.ByLang[label] = counts
	}
	for i, game := range e.Games {
		for _, other := range e.Langs {
			c.rep.Stopped = append(c.rep.Stopped, StoppedCell{Cell: Cell{Game: game, Labels: [2]string{e.Langs[i], other}, Opponent: strings.Join(opponents[:min(1, len(opponents))], "")}, N: 50})
		}
	}
	stopped := c.rep.Stopped
	rep := c.report()
	rep.Stopped = stopped
	rep.Compare("Qwen3-4B")
	return rep
}

// With eight languages and four labels more, all that report prints fits in 80
// columns, however many games there are.
func TestReportFitsATerminal(t *testing.T) {
	self, against := wideReport(t), wideReport(t, "builtin:random", "builtin:optimal")
	for name, write := range map[string]func(*strings.Builder) error{
		"self-play": func(b *strings.Builder) error { return self.WriteText(b, self.Dir) },
		"opponents": func(b *strings.Builder) error { return against.WriteText(b, against.Dir) },
		"four runs": func(b *strings.Builder) error {
			return SideBySide([]*Report{self, self, self, self}).WriteText(b)
		},
	} {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > terminal || strings.HasSuffix(line, " ") {
				t.Errorf("%s: %d columns: %q", name, utf8.RuneCountInString(line), line)
			}
		}
	}
}

// The labels come in a block of their own, the rows named again; cells that stopped
// early are marked, and digits still stand under digits.
func TestWideMarginTable(t *testing.T) {
	rep := newReport(widest())
	rep.Labels = rep.Experiment.Labels()
	m := Matrix{}
	for i, a := range rep.Labels {
		for j, b := range rep.Labels {
			if i == j || isRival(a, b) || isRival(b, a) {
				m[[2]string{a, b}] = Tally{Wins0: 5 + i, Wins1: 5 + j, Draws: 10}
			}
		}
	}
	rep.measure(map[string]Matrix{"Nim-v0": m})
	for _, labels := range [][2]string{{"en", "ar"}, {"fr", "fr"}, {"de", "zh+en"}} {
		rep.Stopped = append(rep.Stopped, StoppedCell{Cell: Cell{Game: "Nim-v0", Labels: labels}})
	}
	var out strings.Builder
	rep.marginTable(&out, "Nim-v0")
	want := `
          en     ar     de     es     fr     he     ms     zh   mean
en         .  -0.05* -0.09  -0.13  -0.17  -0.20  -0.23  -0.26  -0.16* ±0.08
ar     +0.05*     .  -0.04  -0.08  -0.12  -0.15  -0.19  -0.21  -0.11* ±0.08
de     +0.09  +0.04      .  -0.04  -0.08  -0.11  -0.14  -0.17  -0.06  ±0.08
es     +0.13  +0.08  +0.04      .  -0.04  -0.07  -0.10  -0.13  -0.01  ±0.08
fr     +0.17  +0.12  +0.08  +0.04      .  -0.03  -0.07  -0.10  +0.03  ±0.08
he     +0.20  +0.15  +0.11  +0.07  +0.03      .  -0.03  -0.06  +0.07  ±0.08
ms     +0.23  +0.19  +0.14  +0.10  +0.07  +0.03      .  -0.03  +0.10  ±0.08
zh     +0.26  +0.21  +0.17  +0.13  +0.10  +0.06  +0.03      .  +0.14  ±0.08
zh+en  +0.29  +0.24  +0.20* +0.16  +0.12  +0.09  +0.06      -  +0.17* ±0.08
zh+fr  +0.31  +0.27  +0.23  +0.19  +0.15  +0.12  +0.09      -  +0.19  ±0.07
ar+en  +0.33      -  +0.25  +0.21  +0.18  +0.14  +0.11  +0.08  +0.19  ±0.07
he+en  +0.35  +0.31  +0.27  +0.24  +0.20      -  +0.14  +0.11  +0.23  ±0.07
first  +0.00  +0.00  +0.00  +0.00  +0.00* +0.00  +0.00  +0.00

       zh+en  zh+fr  ar+en  he+en
en     -0.29  -0.31  -0.33  -0.35
ar     -0.24  -0.27      -  -0.31
de     -0.20* -0.23  -0.25  -0.27
es     -0.16  -0.19  -0.21  -0.24
fr     -0.12  -0.15  -0.18  -0.20
he     -0.09  -0.12  -0.14      -
ms     -0.06  -0.09  -0.11  -0.14
zh         -      -  -0.08  -0.11
zh+en      .      -      -      -
zh+fr      -      .      -      -
ar+en      -      -      .      -
he+en      -      -      -      .
`
	if "\n"+out.String() != want {
		t.Errorf("got:\n%s\nwant:%s", out.String(), want)
	}
}

// A grid that is too wide is cut between columns, but not before one without a head;
// a column that no terminal has room for stands alone.
func TestGridBlocks(t *testing.T) {
	long := strings.Repeat("x", 30)
	for _, c := range []struct {
		head []string
		want string // of the head, a block a line
	}{
		{[]string{"name"}, "name"},
		{[]string{"name", "a", "b"}, "name a b"},
		{[]string{"name", long, long, "a"}, "name " + long + " " + long + " a"},
		{[]string{"name", long, long, "a", ""}, "name " + long + " " + long + "|name a"},
		{[]string{"name", long, long, "abcdefgh", "i"}, "name " + long + " " + long + " abcdefgh|name i"},
		{[]string{"name", long + long + long, "a"}, "name " + long + long + long + "|name a"},
	} {
		g := grid{c.head, make([]string, len(c.head))}
		for i := range c.head {
			g[1][i] = "1"
		}
		if last := len(c.head) - 1; c.head[last] == "" {
			g[1][last] = "1234567"
		}
		var out strings.Builder
		g.write(&out)
		var heads []string
		for block := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\n"), "\n\n") {
			head, _, _ := strings.Cut(block, "\n")
			heads = append(heads, strings.Join(strings.Fields(head), " "))
		}
		if got := strings.Join(heads, "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.head, got, c.want)
		}
	}
}
