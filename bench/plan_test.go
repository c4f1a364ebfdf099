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

// Against opponents, and with languages to reason in, by hand.
func TestPlanOfLabels(t *testing.T) {
	langs := []string{"en", "fr", "zh"}
	for _, c := range []struct {
		plan Plan
		want string // IDs of the games that are more than self-play's, or instead of them
	}{
		{Plan{Langs: langs, Reasoned: []string{"zh+fr", "fr+es"}},
			"Nim-v0/en-zh+fr/0 Nim-v0/zh+fr-en/0 Nim-v0/fr-zh+fr/0 Nim-v0/zh+fr-fr/0 Nim-v0/en-fr+es/0 Nim-v0/fr+es-en/0 Nim-v0/zh-fr+es/0 Nim-v0/fr+es-zh/0"},
		{Plan{Langs: langs[:2], Opponents: []string{"builtin:random", "builtin:optimal"}},
			"Nim-v0/en-@random/0 Nim-v0/@random-en/0 Nim-v0/fr-@random/0 Nim-v0/@random-fr/0 Nim-v0/en-@optimal/0 Nim-v0/@optimal-en/0 Nim-v0/fr-@optimal/0 Nim-v0/@optimal-fr/0"},
		{Plan{Langs: langs[2:], Reasoned: []string{"zh+fr"}, Opponents: []string{"builtin:random"}},
			"Nim-v0/zh-@random/0 Nim-v0/@random-zh/0 Nim-v0/zh+fr-@random/0 Nim-v0/@random-zh+fr/0"},
	} {
		c.plan.Games, c.plan.N, c.plan.Seed = []string{"Nim-v0"}, 1, 2
		if err := c.plan.Validate(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for j := range c.plan.Jobs() {
			if strings.ContainsAny(j.ID, "+@") {
				got = append(got, j.ID)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("got  %s\nwant %s", strings.Join(got, " "), c.want)
		}
	}
	p := Plan{Games: []string{"Nim-v0"}, Langs: langs, Reasoned: []string{"zh+fr"}, Opponents: []string{"builtin:random"}, N: 3, Seed: 2}
	jobs := slices.Collect(p.Jobs())
	last := scheduler.Job{ID: "Nim-v0/@random-zh+fr/2", Game: "Nim-v0", Langs: [2]string{"zh", "zh+fr"}, Role: 1, Index: 2, Seed: 2_000_002, Players: [2]string{"builtin:random", ""}}
	if got := jobs[len(jobs)-1]; got != last {
		t.Errorf("the last job is %+v, want %+v", got, last)
	}
}

func TestPlanCounts(t *testing.T) {
	paper, err := FindSuite("paper")
	if err != nil {
		t.Fatal(err)
	}
	of := func(change func(*Plan)) Plan {
		p := Plan{Games: paper.Games, Langs: paper.Langs, N: paper.N}
		change(&p)
		return p
	}
	for _, c := range []struct {
		plan Plan
		want int
	}{
		{of(func(p *Plan) {}), 172_800},
		{of(func(p *Plan) { p.Games = p.Games[:1] }), 28_800},
		{of(func(p *Plan) { p.Reasoned = []string{"zh+fr", "zh+en"} }), 172_800 + 6*2*7*2*400},
		{of(func(p *Plan) { p.Opponents = []string{"builtin:random"} }), 6 * 8 * 2 * 400},
		{of(func(p *Plan) {
			p.Opponents = []string{"builtin:random", "builtin:optimal"}
			p.Reasoned = []string{"zh+fr"}
		}), 6 * 9 * 2 * 2 * 400},
	} {
		n := 0
		for range c.plan.Jobs() {
			n++
		}
		if n != c.want || c.plan.Len() != c.want {
			t.Errorf("%d games, Len %d, want %d", n, c.plan.Len(), c.want)
		}
	}
}

// The i-th games of all cells have one deal, those against opponents too.
func TestPlanPairsDeals(t *testing.T) {
	p := Plan{Games: []string{"A-v0", "B-v0"}, Langs: []string{"en", "zh"}, Reasoned: []string{"zh+fr"}, N: 3, Seed: 4}
	against := p
	against.Opponents = []string{"builtin:random"}
	deals := map[int]int64{}
	for _, p := range []Plan{p, against} {
		for j := range p.Jobs() {
			if seed, ok := deals[j.Index]; ok && seed != j.Seed {
				t.Errorf("%s has deal %d, others of its index %d", j.ID, j.Seed, seed)
			}
			deals[j.Index] = j.Seed
		}
	}
	if len(deals) != 3 || deals[0] == deals[1] || deals[1] == deals[2] {
		t.Errorf("deals %v", deals)
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
		{Games: []string{"A-v0", "B-v0"}, Langs: []string{"en", "ar", "de"}, Reasoned: []string{"ar+en", "ar+fr", "de+ar"}, N: 3, Seed: 5},
		{Games: []string{"A-v0", "B-v0"}, Langs: []string{"en", "ar"}, Reasoned: []string{"ar+en"}, Opponents: []string{"builtin:random", "builtin:optimal"}, N: 3},
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

		"player": func(j *scheduler.Job) { j.Players[1] = "builtin:random" },
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
		{`"en+fr" is no name of a language`, func(p *Plan) { p.Langs = []string{"en+fr"} }},
		{`"@en" is no name of a language`, func(p *Plan) { p.Langs = []string{"@en"} }},
		{`en+: "" is no name of a language`, func(p *Plan) { p.Reasoned = []string{"en+"} }},
		{`de+fr: its interface "de" is none of the languages`, func(p *Plan) { p.Reasoned = []string{"de+fr"} }},
		{"en+en is en itself: name another language to reason in", func(p *Plan) { p.Reasoned = []string{"en+en"} }},
		{"en+fr is given twice", func(p *Plan) { p.Reasoned = []string{"en+fr", "en+fr"} }},
		{"en+fr has nobody to play: name a second language", func(p *Plan) { p.Langs, p.Reasoned = []string{"en"}, []string{"en+fr"} }},
		{"opponent builtin:random is given twice", func(p *Plan) { p.Opponents = []string{"builtin:random", "builtin:random"} }},
		{"seed is -1: choose one from 0 to 9223372036853", func(p *Plan) { p.Seed = -1 }},
	} {
		p := good
		c.spoil(&p)
		if err := p.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
