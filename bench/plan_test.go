package bench

import (
	"slices"
	"strings"
	"testing"

	"selfplay/scheduler"
)

func TestPlanByHand(t *testing.T) {
	p := Plan{Games: []string{"Nim-v0", "KuhnPoker-v0"}, Langs: []string{"en", "zh_tw"}, N: 2, Seed: 7}
	cell := func(game, index string) []string {
		return []string{
			game + "/en-en/" + index, game + "/en-en/" + index + "r",
			game + "/en-zh_tw/" + index, game + "/zh_tw-en/" + index,
			game + "/zh_tw-zh_tw/" + index, game + "/zh_tw-zh_tw/" + index + "r",
		}
	}
	want := slices.Concat(cell("Nim-v0", "0"), cell("Nim-v0", "1"), cell("KuhnPoker-v0", "0"), cell("KuhnPoker-v0", "1"))
	jobs := slices.Collect(p.Jobs())
	var got []string
	for _, j := range jobs {
		got = append(got, j.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("IDs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	wantJob := scheduler.Job{ID: "Nim-v0/zh_tw-en/1", Game: "Nim-v0", Langs: [2]string{"zh_tw", "en"}, Role: 1, Index: 1, Seed: 7_000_001}
	if jobs[9] != wantJob {
		t.Errorf("job 9 is %+v, want %+v", jobs[9], wantJob)
	}
}

func TestPlanOfThePaper(t *testing.T) {
	p := Plan{Games: []string{"TicTacToe-v0"}, Langs: strings.Fields("en ar de es fr he ms zh"), N: 400}
	if p.Len() != 28_800 {
		t.Errorf("%d games, want 28800", p.Len())
	}
	perPair := map[[2]string]int{}
	for j := range p.Jobs() {
		perPair[j.Langs]++
	}
	if len(perPair) != 64 || perPair[[2]string{"en", "zh"}] != 400 || perPair[[2]string{"zh", "en"}] != 400 || perPair[[2]string{"he", "he"}] != 800 {
		t.Errorf("games per ordered pair: %v", perPair)
	}
}

// Jobs, Len and positions must tell one story, and IDs must be unique.
func TestPlanPositions(t *testing.T) {
	for _, p := range []Plan{
		{Games: []string{"A-v0"}, Langs: []string{"en"}, N: 1},
		{Games: []string{"A-v0", "B-v0", "C-v0"}, Langs: []string{"en", "ar", "de", "zh"}, N: 3, Seed: 5},
	} {
		find, at, seen := p.positions(), 0, map[string]bool{}
		for j := range p.Jobs() {
			if pos, err := find(j); err != nil || pos != at {
				t.Fatalf("%s is at %d, %v; want %d", j.ID, pos, err, at)
			}
			if seen[j.ID] {
				t.Fatalf("%s comes twice", j.ID)
			}
			seen[j.ID] = true
			at++
		}
		if at != p.Len() {
			t.Errorf("%d jobs, Len %d", at, p.Len())
		}
	}
}

func TestPlanRefusesForeignJobs(t *testing.T) {
	p := Plan{Games: []string{"A-v0"}, Langs: []string{"en", "ar"}, N: 2, Seed: 5}
	good := p.job("A-v0", 1, pair{labels: [2]string{"en", "ar"}}, 1)
	find := p.positions()
	for name, spoil := range map[string]func(*scheduler.Job){
		"game":  func(j *scheduler.Job) { j.Game = "B-v0" },
		"index": func(j *scheduler.Job) { j.Index = 2 },
		"langs": func(j *scheduler.Job) { j.Langs[0] = "de" },
		"role":  func(j *scheduler.Job) { j.Role = 0 },
		"seed":  func(j *scheduler.Job) { j.Seed++ },
		"id":    func(j *scheduler.Job) { j.ID += "x" },
	} {
		j := good
		spoil(&j)
		if _, err := find(j); err == nil {
			t.Errorf("a job with another %s is taken", name)
		}
	}
	if _, err := find(good); err != nil {
		t.Error(err)
	}
}

// A game must play the same whatever else is planned beside it.
func TestPlanJobsAreIndependent(t *testing.T) {
	small := Plan{Games: []string{"B-v0"}, Langs: []string{"en", "zh"}, N: 2, Seed: 3}
	large := Plan{Games: []string{"A-v0", "B-v0"}, Langs: []string{"en", "ar", "zh"}, N: 5, Seed: 3}
	all := map[string]scheduler.Job{}
	for j := range large.Jobs() {
		all[j.ID] = j
	}
	for j := range small.Jobs() {
		if all[j.ID] != j {
			t.Errorf("%+v is %+v in the larger plan", j, all[j.ID])
		}
	}
}

func TestPlanValidate(t *testing.T) {
	good := Plan{Games: []string{"Nim-v0"}, Langs: []string{"en", "ar"}, N: MaxN, Seed: maxSeed}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		want  string
		spoil func(*Plan)
	}{
		{"n is 0: a cell needs at least 1 game", func(p *Plan) { p.N = 0 }},
		{"n is -3: a cell needs at least 1 game", func(p *Plan) { p.N = -3 }},
		{"n is 1000001: at most 1000000 games fit in a cell", func(p *Plan) { p.N++ }},
		{"no game given: name at least one", func(p *Plan) { p.Games = nil }},
		{"no language given: name at least one", func(p *Plan) { p.Langs = nil }},
		{"language ar is given twice", func(p *Plan) { p.Langs = []string{"ar", "en", "ar"} }},
		{"game Nim-v0 is given twice", func(p *Plan) { p.Games = []string{"Nim-v0", "Nim-v0"} }},
		{`"" is no name of a language`, func(p *Plan) { p.Langs = []string{""} }},
		{`"en-ar" is no name of a language`, func(p *Plan) { p.Langs = []string{"en-ar"} }},
		{"seed is -1: choose one from 0 to 9223372036853", func(p *Plan) { p.Seed = -1 }},
	} {
		p := good
		c.spoil(&p)
		if err := p.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
