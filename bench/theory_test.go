package bench

import (
	"math"
	"slices"
	"strings"
	"testing"

	"selfplay/games"
	"selfplay/scheduler"
)

// solvedSuite is the paper's suite with the games that are solved.
func solvedSuite(n int) Experiment {
	suite := Suites[0]
	e := Experiment{Langs: suite.Langs, N: n, Seed: 1, Model: Model{Name: "builtin:optimal"}}
	for _, game := range suite.Games {
		if spec, err := games.Lookup(game); err == nil && spec.Solved {
			e.Games = append(e.Games, game)
		}
	}
	return e
}

// Perfect play against itself, in every pair of the eight languages: no move loses
// anything, Tic Tac Toe and SimpleTak on four by four are drawn, and Nim from 3, 4 and 5
// is won by who moves first. No language is ahead, nor behind.
func TestPerfectSelfPlay(t *testing.T) {
	e := solvedSuite(1)
	rep := playedReport(t, e, policyPlayer(e.Seed, scheduler.Optimal{}))
	if !slices.Equal(e.Games, []string{"KuhnPoker-v0", "Nim-v0", "SimpleTak-v0", "TicTacToe-v0"}) {
		t.Fatalf("solved: %v", e.Games)
	}
	for _, game := range e.Games {
		c := rep.ByGame[game]
		won, drawn := 0, 72
		switch game {
		case "Nim-v0":
			won, drawn = 72, 0
		case "KuhnPoker-v0":
			won, drawn = c.Wins0, c.Draws // chance decides, see TestKuhnValue
		}
		if c.Games != 72 || c.Wins0 != won || c.Draws != drawn {
			t.Errorf("%s: seat 0 won %d of %d games, %d drawn", game, c.Wins0, c.Games, c.Draws)
		}
		for _, lang := range e.Langs {
			if rep.Optimal[game][lang] != 1 || rep.Regret[game][lang] != 0 || rep.Judged[game][lang] == 0 || rep.Answers[game][lang].Invalid > 0 {
				t.Errorf("%s, %s: %v of %d moves optimal, regret %v", game, lang, rep.Optimal[game][lang], rep.Judged[game][lang], rep.Regret[game][lang])
			}
			if game != "KuhnPoker-v0" && (rep.Mu[game][lang] != 0 || !rep.MuCI[game][lang].Contains(0)) {
				t.Errorf("%s, %s: mean margin %v in %v", game, lang, rep.Mu[game][lang], rep.MuCI[game][lang])
			}
		}
	}
}

// Random play against perfect play in every language and both roles: it never wins Tic
// Tac Toe or SimpleTak, nor Nim where it moves second; where it moves first in Nim it
// wins at most when no move of its own was a mistake.
func TestPerfectOpponent(t *testing.T) {
	e := solvedSuite(4)
	e.Opponents = []string{"builtin:optimal"}
	c := newCollector(e)
	mistakes := map[string]bool{} // games in which the random side lost something by a move
	err := policyPlayer(e.Seed, scheduler.Random{})(t.Context(), Deal{Jobs: e.Plan().Jobs(), Total: e.Plan().Len()}, func(r scheduler.Record) error {
		for _, turn := range r.Turns {
			if turn.Event.Regret > 0 {
				mistakes[r.Job.ID] = true
				if r.Job.Players[turn.Seat] == "builtin:optimal" {
					t.Errorf("%s: perfect play lost %v by a move", r.Job.ID, turn.Event.Regret)
				}
			}
		}
		seat := slices.Index(r.Job.Players[:], "builtin:optimal")
		lost := r.Result.Rewards[seat] < 0
		switch never := !strings.HasPrefix(r.Job.ID, "Nim") || seat == 0 || mistakes[r.Job.ID]; {
		case r.Job.Game == "KuhnPoker-v0": // a matter of luck
		case lost && never:
			t.Errorf("%s: perfect play lost in seat %d", r.Job.ID, seat)
		case r.Job.Game == "Nim-v0" && !lost && !mistakes[r.Job.ID] && seat == 1:
			t.Errorf("%s: won without a mistake of who moved first", r.Job.ID)
		}
		return c.add(r)
	}, func(scheduler.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	rep := c.report()
	for _, game := range e.Games {
		for _, lang := range e.Langs {
			v := rep.Opponents[game]["builtin:optimal"][lang]
			if n := v.Tally[0].Games() + v.Tally[1].Games(); n != 8 {
				t.Errorf("%s, %s: %d games", game, lang, n)
			}
			if game != "KuhnPoker-v0" && (v.Tally[0].Wins0 > 0 && game != "Nim-v0" || v.Tally[1].Wins1 > 0 || v.Margin > 0) {
				t.Errorf("%s, %s: %+v", game, lang, v.Tally)
			}
		}
	}
}

// A kuhnPlan is how likely a chip is put in with J, Q and K: by who opens, by the other
// after a check and after a bet, and by who opened when it has checked and faces a bet.
type kuhnPlan struct{ opens, checked, faces, checkBet [3]float64 }

// The equilibrium of the books with 1/6 for its free parameter, and random play.
var (
	kuhnPerfect = kuhnPlan{opens: [3]float64{1. / 6, 0, 1. / 2}, checked: [3]float64{1. / 3, 0, 1}, faces: [3]float64{0, 1. / 3, 1}, checkBet: [3]float64{0, 1. / 2, 1}}
	kuhnRandom  = kuhnPlan{[3]float64{.5, .5, .5}, [3]float64{.5, .5, .5}, [3]float64{.5, .5, .5}, [3]float64{.5, .5, .5}}
)

// kuhnRound are the chances of the chips that a round brings to who opens, from -2 to 2.
func kuhnRound(opener, other kuhnPlan) (chances [5]float64) {
	for card := range 3 {
		for theirs := range 3 {
			if card == theirs {
				continue
			}
			higher := 1
			if theirs > card {
				higher = -1
			}
			end := func(p float64, chips int) { chances[2+chips] += p / 6 }
			bet, call := opener.opens[card], other.faces[theirs]
			end(bet*call, 2*higher)
			end(bet*(1-call), 1)
			answer, call := (1-bet)*other.checked[theirs], opener.checkBet[card]
			end((1-bet)*(1-other.checked[theirs]), higher)
			end(answer*call, 2*higher)
			end(answer*(1-call), -1)
		}
	}
	return chances
}

// kuhnMargin is the margin of seat 0 over a match of three rounds, which seat 1, seat 0
// and seat 1 open.
func kuhnMargin(seats [2]kuhnPlan) float64 {
	chips := map[int]float64{0: 1}
	for _, opens := range []int{1, 0, 1} {
		next := map[int]float64{}
		for have, p := range chips {
			for i, q := range kuhnRound(seats[opens], seats[1-opens]) {
				next[have+(i-2)*(1-2*opens)] += p * q
			}
		}
		chips = next
	}
	margin := 0.0
	for have, p := range chips {
		switch {
		case have > 0:
			margin += p
		case have < 0:
			margin -= p
		}
	}
	return margin
}

// Kuhn Poker has a value: what it is worth to sit in seat 0, for perfect play against
// itself and of random play against perfect play, lies within the intervals of the
// report as often as it should, in all eight languages.
func TestKuhnValue(t *testing.T) {
	if round := kuhnRound(kuhnPerfect, kuhnPerfect); math.Abs(2*round[4]+round[3]-round[1]-2*round[0]+1./18) > 1e-12 {
		t.Fatalf("a round is not worth -1/18: %v", round)
	}
	var held coverage
	var sum, lost, n float64 // of 2,400 games each
	self := kuhnMargin([2]kuhnPlan{kuhnPerfect, kuhnPerfect})
	against := [2]float64{kuhnMargin([2]kuhnPlan{kuhnRandom, kuhnPerfect}), -kuhnMargin([2]kuhnPlan{kuhnPerfect, kuhnRandom})}
	t.Logf("seat 0 is worth %.4f; random play against perfect play %.4f in seat 0, %.4f in seat 1", self, against[0], against[1])
	for i, lang := range Suites[0].Langs {
		e := Experiment{Games: []string{"KuhnPoker-v0"}, Langs: []string{lang}, N: 150, Seed: int64(i)}
		rep := playedReport(t, e, policyPlayer(e.Seed, scheduler.Optimal{}))
		held.add(rep.SeatMargin[e.Games[0]], rep.SeatMarginCI[e.Games[0]], self)
		held.add(rep.FirstMover[e.Games[0]][lang], rep.FirstMoverCI[e.Games[0]][lang], self)
		sum, n = sum+float64(rep.Wins0-rep.Wins1), n+float64(rep.Games)
		e.Opponents = []string{"builtin:optimal"}
		v := playedReport(t, e, policyPlayer(e.Seed, scheduler.Random{})).Opponents[e.Games[0]]["builtin:optimal"][lang]
		held.add(v.Margin, v.CI, (against[0]+against[1])/2)
		for seat, truth := range against {
			held.add(*v.Seat[seat], *v.SeatCI[seat], truth)
		}
		lost += v.Margin / float64(len(Suites[0].Langs))
	}
	if held.of != 40 || held.held[1] < 34 || held.held[0] > 38 { // of 40 at 95 %: under 34 in 0.3 %; at 80 %: over 38 in 0.1 %
		t.Errorf("the value is held by %v of %d intervals of 80, 95 and 99.9 %%", held.held, held.of)
	}
	reach := 4 / math.Sqrt(n/2) // both roles have the same deals
	if off := math.Abs(sum/n - self); off > reach {
		t.Errorf("seat 0 has %v over %v games, not %v", sum/n, n, self)
	}
	if off := math.Abs(lost - (against[0]+against[1])/2); off > reach || lost >= 0 {
		t.Errorf("random play has %v against perfect play, not %v", lost, (against[0]+against[1])/2)
	}
	t.Logf("held by %v of %d intervals; in all %.4f", held.held, held.of, sum/n)
}
