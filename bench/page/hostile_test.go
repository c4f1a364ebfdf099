package page

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"selfplay/bench"
	"selfplay/bench/screen"
	"selfplay/games"
	"selfplay/scheduler"
)

// An evil text would end whatever it stands in and go on as markup of its own. Its name
// says where it was put. One that is a name itself has no blanks and no slash.
func evil(place string) string {
	return "evil" + place + `</title></style></textarea></script></pre></svg><evil onevil=1>" onevil="1" x="' onevil='1 javascript:alert(1)//--><!--&lt;evil&gt;<![CDATA[` + "\u202e\x1b[2J\x00"
}

func evilName(place string) string {
	return "evil" + place + `"onevil='1'><evil><!>'onevil="1&quot;onevil=1` + "\u202e\x1b[2J"
}

// hostileRun has evil texts in all that a run folder holds, but for games: others than
// ours have no report.
func hostileRun(t *testing.T, folder string) Run {
	t.Helper()
	langs := []string{evilName("lang0"), evilName("lang1")}
	label := langs[0] + "+" + evilName("reason")
	e := bench.Experiment{
		Games: []string{"ColonelBlotto-v0"}, Langs: langs, N: 1, Seed: 1, Opponents: []string{evilName("opponent")},
		Model: bench.Model{Name: evil("model"), SHA256: evil("sha")}, Weights: evil("weights"), Cache: evil("cache"), System: evil("system"), Think: evil("think"),
		Reasoned: []bench.Reasoned{{Label: label, System: evil("reasoned")}}, Locales: bench.Locales{Source: evil("source"), SHA256: evil("texts")},
	}
	store, err := bench.Create(filepath.Join(t.TempDir(), evilName(folder)), e, bench.Session{Program: evil("program"), Settings: map[string]string{evil("key"): evil("value")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for j := range store.Experiment.Plan().Jobs() {
		if err := store.Append(hostileGame(j)); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := store.Report()
	if err != nil {
		t.Fatal(err)
	}
	rep.GPU = &bench.GPUUse{GPUs: []bench.GPUStats{{Name: evil("gpu")}}}
	rep.Paper = []bench.PaperRow{{Table: evil("table"), Figure: evil("figure"), Game: evil("papergame"), Lang: evil("paperlang")}}
	return Run{Report: rep, Games: store.Run}
}

func hostileGame(j scheduler.Job) scheduler.Record {
	r := scheduler.Record{Job: j}
	r.Result.Rewards = [2]int{1, -1}
	r.Result.Roles, r.Result.Reasons = [2]string{evil("role"), evil("role")}, [2]string{evil("end0"), evil("end1")}
	for i := range 3 {
		r.Turns = append(r.Turns, scheduler.Turn{Seat: i % 2, Observation: evil("shown") + "\n | " + evil("board") + " | \n---+---+---\n", Thinking: evil("thought"), Completion: evil("answer"),
			Action: evil("action"), Status: "raw", Finish: "length", Event: games.Event{Action: evil("wrapped"), Reason: evil("refused"), Invalid: true}})
	}
	return r
}

// checkMarkup parses a page and looks for elements, attributes and links that the
// template does not have, and for the texts of all places, which must be texts.
func checkMarkup(t *testing.T, page string, places ...string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Builder{}
	for n := range doc.Descendants() {
		switch n.Type {
		case html.CommentNode:
			t.Errorf("a comment %q", n.Data)
		case html.TextNode:
			all.WriteString(n.Data)
		case html.ElementNode:
			if strings.Contains(n.Data, "evil") || slices.Contains([]string{"script", "img", "iframe", "link", "base", "form", "object", "embed"}, n.Data) {
				t.Errorf("an element %s", n.Data)
			}
			for _, a := range n.Attr {
				all.WriteString(a.Val)
				if strings.HasPrefix(a.Key, "on") || strings.ContainsAny(a.Key, `"'<`) || slices.Contains([]string{"style", "src", "srcset", "action", "formaction"}, a.Key) {
					t.Errorf("%s has an attribute %s", n.Data, a.Key)
				}
				if strings.Contains(a.Key, "href") && !strings.HasPrefix(a.Val, "#") {
					t.Errorf("a link to %s", a.Val)
				}
				if slices.Contains([]string{"id", "class", "href", "d"}, a.Key) && strings.Contains(a.Val, "evil") {
					t.Errorf("%s has the %s %q", n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "style" && textOf(n) != style+paletteCSS() {
				t.Errorf("the style is not the page's own")
			}
		}
	}
	for _, place := range places {
		if !strings.Contains(all.String(), "evil"+place+"<") && !strings.Contains(all.String(), "evil"+place+`"`) {
			t.Errorf("the text of %s is not there", place)
		}
	}
	if screen.Clean(page) != page {
		t.Error("a character that can harm")
	}
}

// Whatever stands in any place of a run folder, it is text on the page, and no element,
// attribute, link or style comes of it.
func TestHostileEverywhere(t *testing.T) {
	runs := []Run{hostileRun(t, "folder0"), hostileRun(t, "folder1")}
	scatters := []bench.Scatter{{Model: evil("scatter"), X: evil("x"), Points: []bench.ScatterPoint{{Lang: evil("point")}}}}
	var out bytes.Buffer
	if err := Write(&out, runs, Options{Scatters: scatters}); err != nil {
		t.Fatal(err)
	}
	checkMarkup(t, out.String(), "model", "folder0", "folder1", "lang0", "lang1", "reason", "opponent", "sha", "weights", "cache", "system", "think",
		"source", "texts", "program", "key", "value", "gpu", "table", "figure", "papergame", "paperlang", "end0", "end1", "shown", "board", "thought", "answer", "action", "refused", "scatter", "x")

	e, rec := runs[0].Report.Experiment, scheduler.Record{}
	for j := range e.Plan().Jobs() {
		rec = hostileGame(j)
	}
	rec.Job.ID, rec.Job.Langs[1] = evil("id"), evil("lang1")
	out.Reset()
	if err := WriteGame(&out, e, rec); err != nil {
		t.Fatal(err)
	}
	checkMarkup(t, out.String(), "id", "model", "lang1", "end0", "end1", "shown", "board", "thought", "answer", "action", "refused")
}
