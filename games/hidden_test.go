package games

import (
	"strings"
	"testing"
)

// A secret is something that one seat must not see yet: two games that differ
// in nothing else look the same to it, until the secret is out.
type secret struct {
	env    string
	seeds  [2]int64    // of the two games
	played [2][]string // answers before the seat looks
	seat   int
	reveal []string // answers that bring it out
}

var secrets = []secret{
	// Seat 1 holds a K against J and Q, seat 0 a K against Q and J.
	{"KuhnPoker", [2]int64{0, 1}, [2][]string{nil, nil}, 1, []string{"[check]", "[check]"}},
	{"KuhnPoker", [2]int64{4, 7}, [2][]string{{"[check]"}, {"[check]"}}, 0, []string{"[check]"}},
	// What seat 0 has decided in this round.
	{"ColonelBlotto", [2]int64{1, 1}, [2][]string{{"[A20]"}, {"[C20]"}}, 1, []string{"[B20]"}},
	{"IteratedPrisonersDilemma", [2]int64{1, 1}, [2][]string{{"a", "b", "[Cooperate]"}, {"a", "b", "[Defect]"}}, 1, []string{"[Defect]"}},
	// A mistake of seat 0 that its answer would give away.
	{"ColonelBlotto", [2]int64{1, 1}, [2][]string{{"[A19]", "[A20]"}, {"[A20]"}}, 1, nil},
}

func TestNobodySeesTheOthersSecrets(t *testing.T) {
	for i, s := range secrets {
		var views, after [2]string
		for k := range 2 {
			g := newGame(t, s.env, [2]string{"en", "fr"}, s.seeds[k])
			steps(t, g, s.played[k]...)
			if g.ToMove() != s.seat {
				t.Fatalf("secret %d: seat %d is to move", i, g.ToMove())
			}
			views[k] = g.Observation()
			steps(t, g, s.reveal...)
			after[k] = g.Observation()
		}
		if views[0] != views[1] {
			t.Errorf("secret %d of %s shows in\n%s\nagainst\n%s", i, s.env, views[0], views[1])
		}
		if s.reveal != nil && after[0] == after[1] {
			t.Errorf("secret %d of %s does not come out: the test sees nothing", i, s.env)
		}
	}
}

// Every answer of a game is shown to the seat that gave it, and in games with
// open moves to the other one too.
func TestWhoIsShownAnAnswer(t *testing.T) {
	for env, open := range map[string]bool{"TicTacToe": true, "Nim": true, "SimpleTak": true, "KuhnPoker": true, "ColonelBlotto": false} {
		g := newGame(t, env, english, 1)
		writer := g.ToMove()
		g.Step("[canary]") // refused: the same player is to move
		if e := g.Step(g.(Mover).RandomAction(func(int) int { return 0 })); e.Invalid {
			t.Fatalf("%s: %+v", env, e)
		}
		if g.ToMove() == writer {
			t.Fatalf("%s: the turn did not pass on", env)
		}
		if got := strings.Contains(g.Observation(), "canary"); got != open {
			t.Errorf("%s: the other seat sees the answer: %v", env, got)
		}
	}
}
