package bench

import (
	"database/sql"
	"strings"
	"testing"

	"selfplay/games"
	"selfplay/scheduler"
)

// In played, seat 0's first move is judged to lose nothing and seat 1's to lose
// 0.5, in every game; the third is invalid.
func TestPerfectByHand(t *testing.T) {
	run := mustPlay(t, testExperiment())
	rep, err := run.Report()
	if err != nil {
		t.Fatal(err)
	}
	for _, game := range []string{"TicTacToe-v0", "Nim-v0"} {
		for _, lang := range []string{"en", "ar"} { // 9 games in each seat
			if n, o, r := rep.Judged[game][lang], rep.Optimal[game][lang], rep.Regret[game][lang]; n != 18 || o != 0.5 || r != 0.25 {
				t.Errorf("%s, %s: %d moves, optimal %v, regret %v", game, lang, n, o, r)
			}
		}
	}
	var optimal, not, unknown int
	err = run.read(func(tx *sql.Tx) error {
		return tx.QueryRow(`SELECT sum(optimal), sum(optimal = 0), sum(optimal IS NULL) FROM turns`).Scan(&optimal, &not, &unknown)
	})
	if err != nil || optimal != 36 || not != 36 || unknown != 36 {
		t.Errorf("%d optimal, %d not, %d unknown; %v", optimal, not, unknown, err)
	}
}

func TestPerfectText(t *testing.T) {
	rep := newReport(Experiment{Games: []string{"Nim-v0", "ColonelBlotto-v0", "KuhnPoker-v0"}, Langs: []string{"en", "ar", "zh_tw"}, N: 10, Seed: 1})
	q := Qualities{}
	for _, m := range []struct {
		game, lang string
		regret     float64
		count      int
	}{
		{"Nim-v0", "en", 0, 3}, {"Nim-v0", "en", 2, 1}, {"Nim-v0", "ar", 2, 5},
		{"KuhnPoker-v0", "en", 0, 1}, {"KuhnPoker-v0", "en", 1. / 6, 2}, {"KuhnPoker-v0", "zh_tw", 0, 1},
	} {
		for range m.count {
			q.add(m.game, m.lang, games.Event{Judged: true, Regret: m.regret})
		}
	}
	q.add("ColonelBlotto-v0", "en", games.Event{})
	rep.compare(q)
	var out strings.Builder
	rep.perfectTables(&out)
	want := `
optimal          en     ar  zh_tw
Nim-v0        0.750  0.000      -
KuhnPoker-v0  0.333      -  1.000
regret           en     ar  zh_tw
Nim-v0        0.500  2.000      -
KuhnPoker-v0  0.111      -  0.000
optimal: share of the language's valid moves that lose nothing by perfect play
regret: what they lose in the mean (won 1, drawn 0, lost -1; Kuhn Poker: chips)

`
	if "\n"+out.String() != want {
		t.Errorf("got:\n%s\nwant:%s", out.String(), want)
	}
}

// Both seats play perfectly: no move has a regret, and where the rules decide
// the outcome it is theirs.
func TestOptimalGames(t *testing.T) {
	e := testExperiment()
	e.Games, e.N = nil, 4
	for _, env := range games.Names() {
		if spec, err := games.Lookup(env); err == nil && spec.Solved {
			e.Games = append(e.Games, env)
		}
	}
	player := policyPlayer(e.Seed, scheduler.Optimal{})
	sum, err := Play(t.Context(), Options{Dir: t.TempDir(), Experiment: e, Player: player})
	if err != nil {
		t.Fatal(err)
	}
	rep := sum.Report
	for _, game := range e.Games {
		c := rep.ByGame[game]
		if rep.Judged[game]["en"]+rep.Judged[game]["ar"] != c.Turns || rep.Optimal[game]["en"] != 1 || rep.Regret[game]["ar"] != 0 {
			t.Errorf("%s: %d turns; judged %v, optimal %v, regret %v", game, c.Turns, rep.Judged[game], rep.Optimal[game], rep.Regret[game])
		}
		switch {
		case strings.HasPrefix(game, "Nim"):
			if c.Wins0 != c.Games {
				t.Errorf("%s: seat 0 won %d of %d", game, c.Wins0, c.Games)
			}
		case !strings.HasPrefix(game, "Kuhn"):
			if c.Draws != c.Games {
				t.Errorf("%s: %d of %d drawn", game, c.Draws, c.Games)
			}
		}
	}
}
