package games

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"selfplay/locales"
)

// What every game must hold, played by chance.

var suiteLangs = [][2]string{{"en", "ar"}, {"de", "de"}, {"zh", "fr"}, {"he", "ms"}, {"es", "en"}}

// maxSteps is more than any game can take: the longest has 25 rounds in which
// each of two answers may be corrected once.
const maxSteps = 400

func newGame(t testing.TB, env string, langs [2]string, seed int64) Game {
	t.Helper()
	spec, err := Lookup(env)
	if err != nil {
		t.Fatal(err)
	}
	g, err := spec.New(locales.Embedded(), langs, seed)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A player answers for both seats: legally, or with nonsense now and then.
type player struct {
	rng  *rand.Rand
	name string  // written into its nonsense
	odd  float64 // share of nonsense
}

func newPlayer(seed int64, odd float64) *player {
	return &player{rand.New(rand.NewPCG(uint64(seed), 1)), fmt.Sprintf("canary%dx", seed), odd}
}

func (p *player) answer(g Game) string {
	if p.rng.Float64() < p.odd {
		return "[" + p.name + "]"
	}
	return g.(Mover).RandomAction(p.rng.IntN)
}

// playOn plays one step and gives what can be seen of it.
func (p *player) playOn(g Game) string {
	seat, shown := g.ToMove(), g.Observation()
	return fmt.Sprintf("%d %q %+v\n", seat, shown, g.Step(p.answer(g)))
}

// playOut plays to the end.
func (p *player) playOut(g Game) string {
	var b strings.Builder
	for range maxSteps {
		r, ended := g.Result()
		if ended {
			fmt.Fprintf(&b, "%+v", r)
			return b.String()
		}
		b.WriteString(p.playOn(g))
	}
	return "does not end"
}

func TestLegalPlay(t *testing.T) {
	for _, env := range Names() {
		for i, langs := range suiteLangs {
			for seed := range int64(8) {
				g := newGame(t, env, langs, seed)
				p := newPlayer(seed*10+int64(i), 0)
				checkLegalGame(t, env, g, p)
			}
		}
	}
}

func checkLegalGame(t *testing.T, env string, g Game, p *player) {
	t.Helper()
	var seen [2]string
	for step := 0; ; step++ {
		r, ended := g.Result()
		if ended {
			if r.Rewards[0]+r.Rewards[1] != 0 || r.Invalid != [2]bool{} || r.Reasons[0] == "" || r.Reasons[1] == "" {
				t.Errorf("%s: result %+v of a legal game", env, r)
			}
			return
		}
		if step == maxSteps {
			t.Fatalf("%s does not end", env)
		}
		seat, shown := g.ToMove(), g.Observation()
		if !strings.HasPrefix(shown, seen[seat]) || len(shown) == len(seen[seat]) {
			t.Fatalf("%s: step %d: the history of seat %d does not grow at its end", env, step, seat)
		}
		if strings.ContainsAny(shown, "{}") && !strings.Contains(shown, `\boxed{}`) {
			t.Fatalf("%s: an unfilled placeholder: %s", env, shown)
		}
		seen[seat] = shown
		answer := p.answer(g)
		if e := g.Step(answer); e.Invalid || e.Reason != "" || e.Default {
			t.Fatalf("%s: step %d: legal %q gives %+v", env, step, answer, e)
		}
	}
}

// With nonsense about, a game still ends, and who loses by it is marked.
func TestOddPlay(t *testing.T) {
	forfeits := 0
	for _, env := range Names() {
		for seed := range int64(30) {
			g := newGame(t, env, suiteLangs[seed%5], seed)
			if out := newPlayer(seed, 0.3).playOut(g); strings.HasSuffix(out, "does not end") {
				t.Fatalf("%s does not end", env)
			}
			r, _ := g.Result()
			for seat := range 2 {
				if r.Invalid[seat] {
					forfeits++
					if r.Rewards[seat] != -1 || r.Rewards[1-seat] != 1 {
						t.Errorf("%s: %+v", env, r)
					}
				}
			}
			if r.Rewards[0]+r.Rewards[1] != 0 {
				t.Errorf("%s: %+v", env, r)
			}
		}
	}
	if forfeits == 0 {
		t.Error("no game was lost by invalid moves")
	}
}

// Games played in turns go as each goes alone, and none sees another's text.
func TestInterleavedGames(t *testing.T) {
	const games = 12
	for _, env := range Names() {
		alone := make([]string, games)
		for i := range alone {
			alone[i] = newPlayer(int64(i), 0.1).playOut(newGame(t, env, suiteLangs[i%5], int64(i)))
		}
		running, players := make([]Game, games), make([]*player, games)
		for i := range running {
			running[i] = newGame(t, env, suiteLangs[i%5], int64(i))
			players[i] = newPlayer(int64(i), 0.1)
		}
		together := make([]string, games)
		for range maxSteps {
			for i, g := range running {
				if _, ended := g.Result(); !ended {
					together[i] += players[i].playOn(g)
				}
			}
		}
		for i, g := range running {
			r, _ := g.Result()
			together[i] += fmt.Sprintf("%+v", r)
			if together[i] != alone[i] {
				t.Errorf("%s: game %d goes otherwise among others", env, i)
			}
			for j, p := range players {
				if i != j && strings.Contains(together[i], p.name) {
					t.Errorf("%s: game %d shows text of game %d", env, i, j)
				}
			}
		}
	}
}

func TestRenderingIsDeterministic(t *testing.T) {
	for _, env := range Names() {
		first := newPlayer(3, 0.2).playOut(newGame(t, env, suiteLangs[0], 3))
		for range 100 {
			if again := newPlayer(3, 0.2).playOut(newGame(t, env, suiteLangs[0], 3)); again != first {
				t.Fatalf("%s: the same game reads differently\n%s\n%s", env, first, again)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for name, want := range map[string]string{"TicTacToe": "TicTacToe-v0", "Nim": "Nim-v0", "Nim-v0-large": "Nim-v0-large"} {
		if spec, err := Lookup(name); err != nil || spec.ID != want {
			t.Errorf("%s: %s, %v", name, spec.ID, err)
		}
	}
	for _, name := range []string{"", "Chess", "nim", "Nim-v1", "-v0"} {
		if _, err := Lookup(name); err == nil || !strings.Contains(err.Error(), "choose from: TicTacToe-v0, Nim-v0") {
			t.Errorf("%q: error %v", name, err)
		}
	}
	names := Names()
	slices.Sort(names)
	if len(slices.Compact(names)) != len(specs) {
		t.Error("an id is given twice")
	}
}

// A locale file that cannot be rendered stops the game before it starts.
func TestNewRefusesUnknownLanguages(t *testing.T) {
	spec, _ := Lookup("Nim")
	if _, err := spec.New(locales.Embedded(), [2]string{"en", "tlh"}, 1); err == nil || !strings.Contains(err.Error(), "Nim/tlh.json") {
		t.Errorf("error %v", err)
	}
}
