package games

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// newJudged starts a game in which events say what moves lose.
func newJudged(t testing.TB, env string, seed int64) Solved {
	t.Helper()
	g, ok := newGame(t, env, english, seed).(Solved)
	if !ok {
		t.Fatalf("%s is not solved", env)
	}
	g.Judge()
	return g
}

// The table of environments says of each whether it is solved.
func TestSolvedGames(t *testing.T) {
	for _, env := range Names() {
		spec, err := Lookup(env)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := newGame(t, env, english, 1).(Solved); ok != spec.Solved {
			t.Errorf("%s: solved is %v in the table, %v in the game", env, spec.Solved, ok)
		}
	}
}

// Positions worked out by hand: moves, and then what the last one loses.
func TestRegretByHand(t *testing.T) {
	for _, test := range []struct {
		env, moves string
		regret     float64
	}{
		{"TicTacToe", "[4]", 0}, {"TicTacToe", "[0]", 0}, {"TicTacToe", "[1]", 0}, // any opening draws
		{"TicTacToe", "[4] [0]", 0}, {"TicTacToe", "[4] [1]", 1}, // a corner holds, an edge does not
		{"TicTacToe", "[0] [4]", 0}, {"TicTacToe", "[0] [8]", 1}, // nothing holds but the centre
		{"TicTacToe", "[0] [4] [8] [1]", 0}, {"TicTacToe", "[0] [4] [8] [2]", 1}, // an edge, or into the fork
		{"TicTacToe", "[4] [1] [0] [2]", 0},      // lost already: no move is worse
		{"TicTacToe", "[0] [3] [1] [4] [2]", 0},  // wins
		{"TicTacToe", "[0] [3] [1] [4] [5]", 1},  // only stops the other row
		{"TicTacToe", "[0] [3] [1] [4] [8]", 2},  // not even that
		{"Nim", "[0 2]", 0}, {"Nim", "[0 1]", 2}, // of 3, 4, 5: only 1, 4, 5 is lost
		{"Nim", "[2 5]", 2}, {"Nim", "[0 2] [1 4]", 0}, // lost already
		{"Nim", "[0 2] [1 4] [2 4]", 0}, {"Nim", "[0 2] [1 4] [2 5]", 2}, // of 1, 0, 5: leave 1, 0, 1
		{"Nim-v0-medium", "[3 2]", 0}, {"Nim-v0-medium", "[3 7]", 2}, // 4 ^ 2 ^ 3 ^ 7 is 2: make it 5 of 7
		{"SimpleTak", "[5]", 0}, {"SimpleTak", "[0]", 0}, // any opening draws
		{"SimpleTak", "[0] [12] [1] [13] [2] [14] [3]", 0},  // wins
		{"SimpleTak", "[0] [12] [1] [13] [2] [14] [15]", 1}, // only stops the other row
		{"SimpleTak", "[0] [12] [1] [13] [2] [14] [4]", 2},  // not even that
		{"SimpleTak", "[5] [0] [6] [1] [4] [2] [7]", 0},     // wins
		{"SimpleTak", "[5] [0] [6] [1] [4] [2]", 0},         // 7 would not help: 2 then threatens 3, 10 both 11 and 14
	} {
		g := newJudged(t, test.env, 1)
		var e Event
		for _, answer := range strings.Split(test.moves, "] ") {
			e = g.Step(strings.TrimSuffix(answer, "]") + "]")
		}
		if !e.Judged || e.Regret != test.regret {
			t.Errorf("%s: %s: %+v, want regret %v", test.env, test.moves, e, test.regret)
		}
	}
}

// No regret is negative, what is called optimal has none, what is invalid is not
// judged, and a game that is not asked to judge plays the same.
func TestJudgedPlay(t *testing.T) {
	for _, env := range Names() {
		spec, _ := Lookup(env)
		if !spec.Solved {
			continue
		}
		for seed := range int64(60) {
			judged, plain := newJudged(t, env, seed), newGame(t, env, english, seed)
			p := newPlayer(seed, 0.1)
			for _, ended := plain.Result(); !ended; _, ended = plain.Result() {
				answer, optimal := p.answer(judged), p.rng.IntN(2) == 0
				if optimal {
					answer = judged.OptimalAction(p.rng.IntN)
				}
				e := judged.Step(answer)
				if e.Judged == e.Invalid || e.Regret < 0 || e.Invalid && e.Regret != 0 || optimal && (e.Invalid || e.Regret != 0) {
					t.Fatalf("%s: %s gives %+v", env, answer, e)
				}
				e.Judged, e.Regret = false, 0
				if other := plain.Step(answer); other != e {
					t.Fatalf("%s: %+v where moves are judged, else %+v", env, e, other)
				}
			}
			a, _ := judged.Result()
			if b, _ := plain.Result(); a != b {
				t.Errorf("%s: %+v where moves are judged, else %+v", env, a, b)
			}
		}
	}
}

// playPerfectly lets one seat play perfectly against chance, or both with seat
// 2, and gives the rewards.
func playPerfectly(t *testing.T, env string, perfect int, seed int64) [2]int {
	t.Helper()
	g, rng := newJudged(t, env, seed), rand.New(rand.NewPCG(uint64(seed), 2))
	for range maxSteps {
		if r, ended := g.Result(); ended {
			return r.Rewards
		}
		answer := g.(Mover).RandomAction(rng.IntN)
		if g.ToMove() == perfect || perfect == 2 {
			answer = g.OptimalAction(rng.IntN)
		}
		g.Step(answer)
	}
	t.Fatalf("%s does not end", env)
	return [2]int{}
}

func TestPerfectPlay(t *testing.T) {
	for seed := range int64(500) {
		for _, env := range []string{"TicTacToe", "SimpleTak"} {
			for seat := range 2 {
				if r := playPerfectly(t, env, seat, seed); r[seat] < 0 {
					t.Errorf("%s: seat %d lost game %d to chance", env, seat, seed)
				}
			}
			if r := playPerfectly(t, env, 2, seed); r != [2]int{} {
				t.Errorf("%s: perfect play ends %v", env, r)
			}
		}
		for _, env := range []string{"Nim", "Nim-v0-medium", "Nim-v0-large"} { // all won for who begins
			for _, perfect := range []int{0, 2} {
				if r := playPerfectly(t, env, perfect, seed); r != [2]int{1, -1} {
					t.Errorf("%s: game %d ends %v", env, seed, r)
				}
			}
		}
	}
}
