package games

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Seed 4 deals K Q, J Q and K J to the seats 0 and 1; seat 1 begins.
func TestKuhnGame(t *testing.T) {
	g := newGame(t, "KuhnPoker", english, 4).(*kuhn)
	for i, step := range []struct {
		mover  int
		sees   string // at the end of what the mover is shown
		answer string
	}{
		{1, "### Round 1 of 3. You hold the card 'Q'.\n[GAME] You can choose from: '[check]', '[bet]'", "[check]"},
		{0, "### Round 1 of 3. You hold the card 'K'.\n[Player 1] [check]\n[GAME] Player 1 chooses '[check]'.\n[GAME] You can choose from: '[check]', '[bet]'.", "[bet]"},
		{1, "[GAME] You can choose from: '[fold]', '[call]'.", "[call]"},
		{0, "[GAME] The cards are turned over: K of Player 0 is higher than Q of Player 1. The pot of 4 chips goes to Player 0. Chips now: Player 0: 2; Player 1: -2.\n" +
			"[GAME] ### Round 2 of 3. You hold the card 'J'.\n[GAME] You can choose from: '[check]', '[bet]'", "[bet]"},
		{1, "[GAME] ### Round 2 of 3. You hold the card 'Q'.\n[Player 0] [bet]\n[GAME] Player 0 chooses '[bet]'.\n[GAME] You can choose from: '[fold]', '[call]'.", "[fold]"},
		{1, "[GAME] Player 1 gives up the round. Chips now: Player 0: 3; Player 1: -3.\n[GAME] ### Round 3 of 3. You hold the card 'J'.\n[GAME] You can choose from: '[check]', '[bet]'", "[check]"},
		{0, "[GAME] You can choose from: '[check]', '[bet]'.", "[check]"},
	} {
		if g.ToMove() != step.mover || !strings.HasSuffix(g.Observation(), step.sees) {
			t.Fatalf("step %d: player %d sees %s", i, g.ToMove(), g.Observation())
		}
		if e := g.Step(step.answer); e.Invalid {
			t.Fatalf("step %d: %+v", i, e)
		}
		checkChips(t, g)
	}
	r, ended := g.Result()
	// The move that ends a round counts for the player who starts the next one.
	want := Result{Rewards: [2]int{1, -1}, Turns: [2]int{4, 3}, Roles: [2]string{"Player 0", "Player 1"}}
	want.Reasons[0] = "After 3 rounds, Player 0 owns more chips and wins."
	want.Reasons[1] = want.Reasons[0]
	if !ended || r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// checkChips counts them: none appear or vanish.
func checkChips(t *testing.T, g *kuhn) {
	t.Helper()
	if g.chips[0]+g.chips[1]+g.pot != 0 {
		t.Errorf("chips %v and a pot of %d", g.chips, g.pot)
	}
}

// Exactly so many rounds are played, and none is begun after the last.
func TestKuhnRounds(t *testing.T) {
	for env, rounds := range map[string]int{"KuhnPoker-v0": 3, "KuhnPoker-v0-short": 5, "KuhnPoker-v0-extreme": 25} {
		for seed := range int64(20) {
			g := newGame(t, env, english, seed).(*kuhn)
			p := newPlayer(seed, 0)
			for !g.ended {
				p.playOn(g)
				checkChips(t, g)
			}
			for seat := range 2 {
				history := g.shown[seat].String()
				if got := strings.Count(history, "### Round "); got != rounds {
					t.Errorf("%s: %d rounds were begun", env, got)
				}
				if !strings.HasSuffix(history, "Chips now: Player 0: "+strconv.Itoa(g.chips[0])+"; Player 1: "+strconv.Itoa(g.chips[1])+".") || g.pot != 0 {
					t.Errorf("%s: ends with %s", env, history[len(history)-200:])
				}
			}
		}
	}
}

// The players begin in turns.
func TestKuhnTurns(t *testing.T) {
	g := newGame(t, "KuhnPoker-v0-short", english, 1)
	var movers []int
	for _, ended := g.Result(); !ended; _, ended = g.Result() {
		movers = append(movers, g.ToMove())
		g.Step("[check]")
	}
	if want := []int{1, 0, 0, 1, 1, 0, 0, 1, 1, 0}; !slices.Equal(movers, want) {
		t.Errorf("movers %v, want %v", movers, want)
	}
}

func TestKuhnAnswers(t *testing.T) {
	for _, test := range []struct{ before, answer, reason string }{
		{"", "[check]", ""}, {"", "check", ""}, {"", "'[BET]'", ""}, {"", "[Check] or [Bet]", ""}, {"", "[ check ] [bet]", ""},
		{"", "[[bet]", ""}, {"", "[chec\u212a]", ""}, {"[bet]", "I [Fold]", ""}, {"[bet]", "call", ""},
		{"", "", "holds none of"}, {"", "[ check ]", "holds none of"}, {"", "[raise]", "holds none of"}, {"", "[check.]", "holds none of"},
		{"", "[bet", "holds none of"}, {"", "check [", "holds none of"},
		{"", "[call]", "At this point only [check], [bet] can be played."}, {"", "[fold] [bet]", "only [check], [bet]"},
		{"[check]", "[fold]", "only [check], [bet]"}, {"[bet]", "[check]", "only [fold], [call]"}, {"[bet]", "[bet]", "only [fold], [call]"},
	} {
		g := newGame(t, "KuhnPoker", english, 1)
		if test.before != "" {
			steps(t, g, test.before)
		}
		e := g.Step(test.answer)
		if e.Invalid != (test.reason != "") || !strings.Contains(e.Reason, test.reason) {
			t.Errorf("%q: %+v", test.answer, e)
		}
	}
}

// A seed deals as Python does, whatever other games draw in between.
func TestKuhnDeals(t *testing.T) {
	a, b := newGame(t, "KuhnPoker", english, 4), newGame(t, "KuhnPoker", english, 5)
	deals := [2]string{}
	for i, g := range []Game{a, b, a, b, a, b} {
		k := g.(*kuhn)
		deals[i%2] += k.card(0) + k.card(1) + " "
		for round := k.round; k.round == round && !k.ended; {
			k.Step("[check]")
		}
	}
	if deals != [2]string{"KQ JQ KJ ", "JQ JQ QJ "} {
		t.Errorf("deals %q", deals)
	}
}
