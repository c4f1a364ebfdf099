package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"selfplay/bench"
	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

const hostile = "</p></details><script>alert(1)</script><img src=http://example.com/x onerror=alert(2)> \u202egnp.\x1b[2J"

// played invents a game: seat 0 wins even indices; the Arabic seat always writes
// something hostile, and English loses by invalid moves.
func played(j scheduler.Job) scheduler.Record {
	r := scheduler.Record{Job: j}
	r.Result.Rewards[j.Index%2], r.Result.Rewards[1-j.Index%2] = 1, -1
	r.Result.Invalid[1] = j.Langs == [2]string{"he", "en"}
	rules := map[string]string{"en": "[GAME] Rules.", "ar": "[اللعبة] قواعد.", "he": "[משחק] כללים.", "zh": "[游戏] 规则。"}
	var history [2]string
	for seat, lang := range j.Langs {
		r.Result.Roles[seat], r.Result.Reasons[seat] = lang+hostile, rules[bench.InterfaceOf(lang)]+" & over"
		history[seat] = rules[bench.InterfaceOf(lang)] + "\n\n 0 | 1 \n---+---\n"
	}
	for i := range 4 {
		seat := i % 2
		history[seat] += fmt.Sprintf("\n%s board %d\n X | %d \n", rules[bench.InterfaceOf(j.Langs[seat])], i, i)
		r.Turns = append(r.Turns, scheduler.Turn{Seat: seat, Observation: history[seat],
			Thinking: "think " + hostile, Completion: rules[bench.InterfaceOf(j.Langs[seat])] + "\n" + hostile, Action: "[" + hostile + "]",
			Status: prompts.Raw, Finish: scheduler.FinishLength, CompletionTokens: 5,
			Event: games.Event{Action: "[4]", Invalid: i == 1, Reason: hostile, Judged: i == 0}})
	}
	return r
}

// testRun is a run of two games and three languages in a folder, all played.
func testRun(t *testing.T, model string, langs ...string) Run {
	t.Helper()
	store, err := bench.Create(t.TempDir(), bench.Experiment{
		Games: []string{"ColonelBlotto-v0", "IteratedPrisonersDilemma-v0"}, Langs: langs, N: 3, Seed: 1, Model: bench.Model{Name: model}, System: "Play <well>.",
		Locales: bench.Locales{Source: "embedded"}}, bench.Session{Program: "v1", Settings: map[string]string{"slots": "4"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for j := range store.Experiment.Plan().Jobs() {
		if err := store.Append(played(j)); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := store.Report()
	if err != nil {
		t.Fatal(err)
	}
	return Run{Report: rep, Games: store.Run}
}

func mustWrite(t *testing.T, runs ...Run) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, runs, Options{Scatters: []bench.Scatter{{Model: "m", X: "accuracy", Points: make([]bench.ScatterPoint, 3), Fit: &bench.Fit{R: 0.5, P: 0.04}}}}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// elements lists a page's elements, in order.
func elements(t *testing.T, page string) []*html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var all []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			all = append(all, n)
		}
	}
	return all
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// Nothing in the page is a script or is loaded from anywhere, whatever models
// wrote, and the policy allows the page's own style alone.
func TestPageLoadsNothing(t *testing.T) {
	all := elements(t, mustWrite(t, testRun(t, "a"+hostile, "en", "ar", "he")))
	allowed := " html head meta title style body header h1 nav ul li a main section h2 h3 p div table caption thead tbody tr th td svg g line path text figure details summary span ol pre bdi code "
	ids, policy, css := map[string]bool{}, "", ""
	for _, n := range all {
		ids[attr(n, "id")] = true
	}
	for _, n := range all {
		if n.Data == "title" && n.Namespace == "svg" {
			continue
		}
		if !strings.Contains(allowed, " "+n.Data+" ") {
			t.Errorf("an element %s", n.Data)
		}
		for _, a := range n.Attr {
			if a.Key == "src" || a.Key == "style" || a.Key == "srcset" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s has an attribute %s", n.Data, a.Key)
			}
			if a.Key == "href" && (!strings.HasPrefix(a.Val, "#") || !ids[a.Val[1:]]) {
				t.Errorf("a link to %s", a.Val)
			}
		}
		if attr(n, "http-equiv") == "Content-Security-Policy" {
			policy = attr(n, "content")
		}
		if n.Data == "style" {
			css += textOf(n)
		}
	}
	sum := sha256.Sum256([]byte(css))
	if want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"; policy != want {
		t.Errorf("policy %s, want %s", policy, want)
	}
	if regexp.MustCompile(`url\(|@import|http`).MatchString(css) {
		t.Error("the style loads something")
	}
}

// Each margin is in its cell, of each game and of their mean, for each run.
func TestPageHasEveryMargin(t *testing.T) {
	runs := []Run{testRun(t, "one", "en", "ar", "he"), testRun(t, "two", "zh", "he")}
	cells := map[string]int{} // title up to the interval, and text
	for _, n := range elements(t, mustWrite(t, runs...)) {
		if n.Data == "td" && strings.HasPrefix(attr(n, "class"), "heat ") {
			title, interval, _ := strings.Cut(attr(n, "title"), "; ")
			if !strings.HasPrefix(interval, "95 % interval: ") {
				t.Errorf("%s has no interval", title)
			}
			cells[title+" "+textOf(n)]++
		}
	}
	for _, r := range runs {
		maps := []map[string]map[string]float64{r.Report.MarginsMean}
		for _, game := range r.Report.Experiment.Games {
			maps = append(maps, r.Report.Margins[game])
		}
		for _, m := range maps {
			for a, row := range m {
				for b, v := range row {
					key := a + " over " + b + " " + signed(v)
					if cells[key]--; cells[key] < 0 {
						t.Errorf("no cell %s", key)
					}
				}
			}
		}
	}
	for key, n := range cells {
		if n != 0 && !strings.HasPrefix(key, "the mean margin of ") {
			t.Errorf("%d cells too many: %s", n, key)
		}
	}
}

// A drawing's edge cuts nothing off: its letters are 10 units high and at most 7 wide.
func TestPlotLabelsFit(t *testing.T) {
	r := testRun(t, "a", "en", "ar", "he")
	b := &builder{names: []string{"a"}, reports: []*bench.Report{r.Report}, labels: r.Report.Labels}
	plots := b.profilePlot("", func(r *bench.Report) (map[string]float64, map[string]bench.Interval) { return r.MuMean, r.MuMeanCI })
	if len(plots) != 1 || len(plots[0].Ticks) != 3 {
		t.Fatalf("%+v", plots)
	}
	for _, tick := range plots[0].Ticks {
		if half := 3.5 * float64(utf8.RuneCountInString(tick.Label)); tick.X-half < 0 || tick.X+half > plots[0].W {
			t.Errorf("%q around %v of %v", tick.Label, tick.X, plots[0].W)
		}
	}
}

// A pair that stopped early is marked wherever its margin or what is made of it stands,
// with a line on what that means; of a run that stopped none there is no mark.
func TestPageMarksEarlyStops(t *testing.T) {
	r := testRun(t, "a", "en", "ar", "he")
	if plain := mustWrite(t, r); strings.Contains(plain, "stopped early") || strings.Contains(plain, "*<") {
		t.Error("a mark without a stop")
	}
	game := r.Report.Experiment.Games[0]
	r.Report.Opponents[game] = map[string]map[string]bench.Versus{"builtin:random": {"en": {}, "he": {}}}
	for _, c := range []bench.Cell{{Labels: [2]string{"en", "ar"}}, {Labels: [2]string{"he", "he"}}, {Labels: [2]string{"en", "en"}, Opponent: "builtin:random"}} {
		c.Game = game
		r.Report.Stopped = append(r.Report.Stopped, bench.StoppedCell{Cell: c, N: 1})
	}
	marked := map[string]int{} // cells by table and row
	caption, name, notes := "", "", 0
	for _, n := range elements(t, mustWrite(t, r)) {
		switch {
		case n.Data == "caption":
			caption = textOf(n)
		case n.Data == "th" && attr(n, "scope") == "row":
			name = textOf(n)
		case n.Data == "td" && strings.HasSuffix(textOf(n), "*"):
			if !strings.HasSuffix(attr(n, "title"), "stopped early") {
				t.Errorf("%s, %s: the title is %q", caption, name, attr(n, "title"))
			}
			marked[caption+", "+name]++
		case n.Data == "p" && strings.HasPrefix(textOf(n), "*: of cells that stopped early"):
			notes++
		}
	}
	want := map[string]int{
		"a, en": 5, "a, ar": 4, // in two maps the pair and the mean; against the opponent
		"Margin of seat 0, a, he":         1,
		"a, ColonelBlotto-v0, en over ar": 1,
		"Mean over the games, en":         1, "Mean over the games, ar": 1, game + ", en": 1, game + ", ar": 1,
		"a; moving first is worth 120, en": 2, "a; moving first is worth 120, ar": 2, "a; moving first is worth 120, he": 2, // of the game and of all
		"Language gap, " + game: 1, "Language gap, mean": 1, "The runs, language gap": 1,
		"Margin of seat 0 over seat 1, all games, " + game: 1,
	}
	if !maps.Equal(marked, want) || notes != 5 {
		t.Errorf("marked %v, want %v; %d notes", marked, want, notes)
	}
}

// Texts of games stand in their language and direction, with what could harm
// made visible.
func TestPageDirections(t *testing.T) {
	page := mustWrite(t, testRun(t, "m", "en", "ar", "he"))
	byLang, boards := map[string]int{}, 0
	answered := false
	for _, n := range elements(t, page) {
		lang, text := attr(n, "lang"), textOf(n)
		switch attr(n, "class") {
		case "board":
			if boards++; attr(n, "dir") != "ltr" || !strings.Contains(text, "|") {
				t.Errorf("board %q runs %s", text, attr(n, "dir"))
			}
		case "text":
			byLang[lang]++
			want := "ltr"
			if strings.ContainsAny(text, "قש") { // a letter of the rules in either
				want = "rtl"
			}
			if attr(n, "dir") != want || lang != "" && direction(lang) != want {
				t.Errorf("%q in %q runs %s", text, lang, attr(n, "dir"))
			}
			answered = answered || strings.Contains(text, "<script>alert(1)</script>") && strings.Contains(text, "⟨U+202E⟩gnp.␛[2J")
		}
	}
	if byLang["en"] == 0 || byLang["ar"] == 0 || byLang["he"] == 0 || boards == 0 || !answered {
		t.Errorf("texts by language %v, %d boards, hostile text shown: %v", byLang, boards, answered)
	}
	if clean(page) != page {
		t.Error("a character that can harm")
	}
}

// Of what a player is shown, each turn has only what is new.
func TestSample(t *testing.T) {
	s, _ := sampleOf(bench.Experiment{}, played(scheduler.Job{ID: "g", Langs: [2]string{"zh+ar", "en"}}), maxText)
	if got := s.Turns[2].Shown.Blocks; len(got) != 2 || got[0].Text != "[游戏] 规则。 board 2" || got[1].Text != " X | 2" || got[0].Lang != "zh" {
		t.Errorf("%+v", got)
	}
	if !s.Turns[0].First || !s.Turns[1].First || s.Turns[2].First {
		t.Error("the first turns of both seats have the rules")
	}
	var notes []string
	for _, n := range s.Turns[1].Notes {
		notes = append(notes, n.Text)
	}
	if got := strings.Join(notes, "|"); !strings.HasPrefix(got, "invalid: ") || !strings.HasSuffix(got, "|not boxed|cut off at the limit of tokens") {
		t.Errorf("notes %s", got)
	}
	if s.Result != "won by seat 0" {
		t.Errorf("result %s", s.Result)
	}
}

func TestPick(t *testing.T) {
	r := testRun(t, "m", "en", "ar", "he")
	got, err := pick(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []choice{{"ColonelBlotto-v0/ar-he/0", "the first of its languages"}, {"IteratedPrisonersDilemma-v0/en-ar/0", "the first of its languages"},
		{"ColonelBlotto-v0/he-en/0", "lost by invalid moves"}, {"IteratedPrisonersDilemma-v0/he-en/0", "lost by invalid moves"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A long text is cut, and says so; a run's games stop before they fill the page.
func TestPageStaysSmall(t *testing.T) {
	r := testRun(t, "m", "en", "ar")
	rec, _, err := r.Games.Find("IteratedPrisonersDilemma-v0/en-ar/0")
	if err != nil {
		t.Fatal(err)
	}
	rec.Turns[0].Completion = strings.Repeat("א", maxText)
	s, size := sampleOf(bench.Experiment{}, rec, maxText)
	if got := s.Turns[0].Answer; got.Left != maxText || len(got.Blocks[0].Text) != maxText || size > 2*maxText {
		t.Errorf("%d bytes left out, %d in the page", got.Left, size)
	}
}

func TestPageIsDeterministic(t *testing.T) {
	runs := []Run{testRun(t, "same", "en", "ar"), testRun(t, "other", "en", "ar")}
	runs[0].Games.How, runs[1].Games.How = nil, nil // the time of a session is its own
	if mustWrite(t, runs...) != mustWrite(t, runs...) {
		t.Error("two pages of the same runs differ")
	}
}

// Runs of one model are told apart by their folders.
func TestRunNames(t *testing.T) {
	a, b := testRun(t, "m", "en", "ar"), testRun(t, "m", "en", "ar")
	page := mustWrite(t, a, b, testRun(t, "n", "en", "ar"))
	for _, want := range []string{"m (" + filepath.Base(a.Games.Dir) + ")", "m (" + filepath.Base(b.Games.Dir) + ")", "n"} {
		if !strings.Contains(page, `<th scope="col">`+want+`</th>`) {
			t.Errorf("no run is called %q", want)
		}
	}
}

// A run of which nothing has been played has a page too.
func TestPageOfNothing(t *testing.T) {
	store, err := bench.Create(t.TempDir(), bench.Experiment{Games: []string{"Nim-v0"}, Langs: []string{"en", "ar"}, N: 1, Model: bench.Model{Name: "m"}}, bench.Session{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rep, err := store.Report()
	if err != nil {
		t.Fatal(err)
	}
	page := mustWrite(t, Run{Report: rep, Games: store.Run})
	if strings.Contains(page, `id="margins"`) || strings.Contains(page, `id="games"`) || !strings.Contains(page, "0 of 6") {
		t.Error("margins or games of nothing, or no count")
	}
}

// A page of one game has all of its texts, unfolded, as harmless as on the page of
// a run.
func TestGameAlone(t *testing.T) {
	rec := played(scheduler.Job{ID: "g/en-ar/1", Game: "g", Langs: [2]string{"en", "ar"}, Index: 1, Seed: 7})
	long := strings.Repeat("word ", maxText)
	rec.Turns[2].Completion = long
	var out bytes.Buffer
	if err := WriteGame(&out, bench.Experiment{Model: bench.Model{Name: "m" + hostile}, Seed: 3}, rec); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	open, text, right := 0, "", 0
	for _, n := range elements(t, page) {
		switch {
		case n.Data == "script" || n.Data == "img" || n.Data == "nav":
			t.Errorf("an element %s", n.Data)
		case n.Data == "details" && attr(n, "class") == "game":
			for _, a := range n.Attr {
				if a.Key == "open" {
					open++
				}
			}
			text = textOf(n)
		case n.Data == "p" && attr(n, "dir") == "rtl" && attr(n, "lang") == "ar":
			right++
		}
	}
	if open != 1 || right == 0 || !strings.Contains(text, strings.TrimSpace(long)) || clean(page) != page {
		t.Errorf("%d open, %d from the right, %d bytes of text", open, right, len(text))
	}
	for _, want := range []string{"<title>selfplay: g/en-ar/1</title>", "seed of the run 3, of the deal 7", "default-src &#39;none&#39;", "won by seat 1; 4 turns</span>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}
