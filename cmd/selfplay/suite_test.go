package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"selfplay/bench"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/locales"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// The table of the suite holds what the program has elsewhere too.
func TestSuites(t *testing.T) {
	s, err := bench.FindSuite("paper")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, name := range defaultGames() {
		spec, err := games.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, spec.ID)
	}
	slices.Sort(ids)
	if !slices.Equal(s.Games, ids) || !slices.Equal(s.Langs, paperLangs) {
		t.Errorf("%s", s)
	}
	if s.Temperature != 1 || s.TopK != inference.TopK || s.TopP != inference.TopP {
		t.Errorf("it samples otherwise: %s", s)
	}
	if text, err := systemPrompt(s.Prompt); err != nil || text != prompts.LanguageConditioned {
		t.Errorf("%q, %v", text, err)
	}
	if help := selfplay("", "bench", "--help"); !strings.Contains(strings.Join(strings.Fields(help.stdout), " "), "--n 400 --prompt conditioned") {
		t.Errorf("the help does not tell what the suite is:\n%s", help.stdout)
	}
}

// Flags win over a suite, which run.json has in full.
func TestSuiteIsNarrowed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := selfplay("", "bench", "--suite", "paper", "--model", "builtin:random", "--games", "Nim", "--n", "1", "--run", dir)
	if r.code != 0 || !strings.Contains(r.stderr, "planned: 72 games: 1 game x 36 pairs of languages x 2 roles x 1\n") {
		t.Fatalf("code %d, %s", r.code, r.stderr)
	}
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ How []bench.Session }
	if err := json.Unmarshal(data, &f); err != nil || len(f.How) != 1 || f.How[0].Suite != bench.Suites[0].String() {
		t.Errorf("%v, %s", err, data)
	}
	// The suite is a way to ask for it: asked for otherwise it is the same run.
	r = selfplay("", "bench", "--model", "builtin:random", "--games", "Nim", "--n", "1", "--run", dir, "--quiet")
	if r.code != 0 {
		t.Error(r.stderr)
	}
}

// A silentModel never says a word, and keeps what its seats are shown.
type silentModel struct {
	mu    sync.Mutex
	heard map[[2]string]bool // system prompt, observation
}

func (m *silentModel) Limits() inference.Limits {
	return inference.Limits{Slots: 4, Cells: 16, Tokens: 16, Rows: 4, Pool: 64, Least: 16}
}
func (m *silentModel) Forward(*inference.Batch) error { return nil } // token 0 is sampled: the end
func (m *silentModel) Copy(inference.Copy) error      { return nil }
func (m *silentModel) Close() error                   { return nil }

func (m *silentModel) Prompt(system, user string) ([]int32, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard[[2]string{system, user}] = true
	return []int32{1, 2}, false, nil
}
func (m *silentModel) Text([]int32) string                { return "" }
func (m *silentModel) Cuts(_ []int32, places []int) []int { return places }
func (m *silentModel) End(int32) bool                     { return true }

// Each seat has the system prompt of its label, and is shown the game in its
// interface language, whatever the other seat has.
func TestSeatsOfLabels(t *testing.T) {
	f := &benchFlags{games: []string{"Nim"}, langs: []string{"en", "fr", "zh"}, n: 1, prompt: "conditioned", think: "auto", cache: "f16", weights: "auto"}
	f.device, f.replicas = "auto", 1
	f.reasonIn, f.interfaces = []string{"es"}, []string{"zh"}
	set := locales.Embedded()
	e, err := experiment(f, player{id: bench.Model{Name: "m"}}, set)
	if err != nil {
		t.Fatal(err)
	}
	if want := []bench.Reasoned{{Label: "zh+es", System: mustReasonIn(t, "es")}}; !slices.Equal(e.Reasoned, want) {
		t.Fatalf("%+v", e.Reasoned)
	}
	first := map[string]string{} // what a language's first seat is shown at first
	for _, lang := range f.langs {
		spec, err := games.Lookup("Nim")
		if err != nil {
			t.Fatal(err)
		}
		g, err := spec.New(set, [2]string{lang, lang}, 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		first[lang] = g.Observation()
	}
	for job := range e.Plan().Jobs() {
		m := &silentModel{heard: map[[2]string]bool{}}
		cfg := scheduler.Config{System: e.SystemOf, New: dealer(set), Codec: m, Limits: m.Limits()}
		one := func(yield func(scheduler.Job) bool) { yield(job) }
		err := bench.OnEngine(cfg, m)(t.Context(), bench.Deal{Jobs: one, Total: 1}, func(scheduler.Record) error { return nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		lang, reason := bench.SplitLabel(job.Langs[0])
		want := prompts.LanguageConditioned
		if reason != "" {
			want = mustReasonIn(t, reason)
		}
		if !m.heard[[2]string{want, first[lang]}] {
			t.Errorf("%s: seat 0 is not shown %s with %q", job.ID, lang, want)
		}
		for heard := range m.heard { // silence loses: only seat 0 is asked
			if heard[0] != want {
				t.Errorf("%s: seat 0 is told %q", job.ID, heard[0])
			}
		}
	}
}

func mustReasonIn(t *testing.T, lang string) string {
	t.Helper()
	text, err := prompts.ReasonIn(lang)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Against an opponent the model plays both roles in every language, and a policy
// may be the model.
func TestOpponent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	args := []string{"bench", "--model", "builtin:random", "--opponent", "builtin:optimal", "--games", "TicTacToe,Nim", "--langs", "en,he", "--n", "20", "--run", dir}
	r := selfplay("", args...)
	if r.code != 0 || !strings.Contains(r.stderr, "planned: 160 games: 2 games x 2 languages against builtin:optimal x 2 roles x 20\n") ||
		!strings.Contains(r.stdout, "\nbuiltin:optimal  ±") {
		t.Fatalf("code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	seats := map[[2]string]int{}
	for line := range strings.Lines(export(t, dir)) {
		var g struct {
			ID, Game       string
			Langs, Players [2]string
			Rewards        [2]int
		}
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		seats[g.Players]++
		seat := slices.Index(g.Players[:], "builtin:optimal")
		if g.Langs[0] != g.Langs[1] {
			t.Errorf("%s: languages %v", g.ID, g.Langs)
		}
		if g.Rewards[seat] < 0 && (g.Game == "TicTacToe-v0" || seat == 0) {
			t.Errorf("%s: perfect play lost", g.ID) // from [3,4,5] the first to move wins
		}
	}
	if len(seats) != 2 || seats[[2]string{"", "builtin:optimal"}] != 80 || seats[[2]string{"builtin:optimal", ""}] != 80 {
		t.Errorf("%v", seats)
	}
	if r := selfplay("", append(args, "--json")...); r.code != 0 || !strings.Contains(r.stdout, `"games":0,`) {
		t.Errorf("resumed: code %d, %s%s", r.code, r.stdout, r.stderr)
	}
}
