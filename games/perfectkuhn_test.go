package games

import (
	"math/big"
	"testing"
)

// A kuhnPlayer is how often a chip is put in, by decision and card.
type kuhnPlayer [kuhnDecisions][3]*big.Rat

// equilibrium is the strategy that is played.
func equilibrium() (p kuhnPlayer) {
	for decision, cards := range kuhnStrategy {
		for card, n := range cards {
			p[decision][card] = big.NewRat(int64(n), kuhnCases)
		}
	}
	return p
}

// pureKuhnPlayers are all players that leave nothing to chance.
func pureKuhnPlayers() []kuhnPlayer {
	players := make([]kuhnPlayer, 1<<(3*kuhnDecisions))
	for i := range players {
		for k := range 3 * kuhnDecisions {
			players[i][k/3][k%3] = big.NewRat(int64(i>>k&1), 1)
		}
	}
	return players
}

// mix is p times a plus (1-p) times b.
func mix(p, a, b *big.Rat) *big.Rat {
	x := new(big.Rat).Mul(p, a)
	return x.Add(x, new(big.Rat).Mul(new(big.Rat).Sub(big.NewRat(1, 1), p), b))
}

// playKuhn is what a round is worth to who opens, by the rules of the game as
// told in a book: ante of 1, one bet of 1.
func playKuhn(opener, other kuhnPlayer, card, otherCard int) *big.Rat {
	chips := func(n int64) *big.Rat { return big.NewRat(n, 1) }
	sign := int64(1)
	if otherCard > card {
		sign = -1
	}
	facesBet := mix(opener[kuhnCheckBet][card], chips(2*sign), chips(-1))
	check := mix(other[kuhnChecked][otherCard], facesBet, chips(sign))
	bet := mix(other[kuhnFaces][otherCard], chips(2*sign), chips(1))
	return mix(opener[kuhnOpens][card], bet, check)
}

// roundValue is its mean over the six deals.
func roundValue(opener, other kuhnPlayer) *big.Rat {
	sum := new(big.Rat)
	for card := range 3 {
		for otherCard := range 3 {
			if card != otherCard {
				sum.Add(sum, playKuhn(opener, other, card, otherCard))
			}
		}
	}
	return sum.Mul(sum, big.NewRat(1, 6))
}

// Nobody gains by leaving the equilibrium: the best answers to it are worth
// exactly what it is worth itself.
func TestKuhnEquilibrium(t *testing.T) {
	eq, value := equilibrium(), big.NewRat(-1, 18)
	if v := roundValue(eq, eq); v.Cmp(value) != 0 {
		t.Errorf("the round is worth %v", v)
	}
	var asOpener, asOther *big.Rat
	for _, p := range pureKuhnPlayers() {
		if v := roundValue(p, eq); asOpener == nil || v.Cmp(asOpener) > 0 {
			asOpener = v
		}
		if v := roundValue(eq, p); asOther == nil || v.Cmp(asOther) < 0 {
			asOther = v
		}
	}
	if asOpener.Cmp(value) != 0 || asOther.Cmp(value) != 0 {
		t.Errorf("against it, who opens gets %v at best, and the other leaves them %v", asOpener, asOther)
	}
}

// Worked out by hand, in chips: what not putting a chip in loses, and what
// putting one in does, for J, Q and K.
func TestKuhnRegrets(t *testing.T) {
	want := [kuhnDecisions][3][2]float64{
		// Q checked is worth (2/3 - 1/3 - 1)/2 = -1/3, bet (1 - 2)/2 = -1/2.
		kuhnOpens: {{0, 0}, {0, 1. / 6}, {0, 0}},
		// Q faces J in 5 cases and K in 3: checked (5-3)/8, bet (5-6)/8.
		// K faces J in 5 and Q in 6, which calls half: checked 1, bet (5+9)/11.
		kuhnChecked: {{0, 0}, {0, 3. / 8}, {3. / 11, 0}},
		// J is beaten for sure. Q faces J in 1 case and K in 3: (2-6)/4 = -1.
		kuhnFaces:    {{0, 1}, {0, 0}, {3, 0}},
		kuhnCheckBet: {{0, 1}, {0, 0}, {3, 0}}, // Q faces J in 2 and K in 6
	}
	if kuhnRegrets != want {
		t.Errorf("%v, want %v", kuhnRegrets, want)
	}
}

// A whole mistake, made by a player who is perfect otherwise, costs its regret
// times the share of deals in which it is made.
func TestKuhnRegretsAgainstPlay(t *testing.T) {
	eq := equilibrium()
	for decision := range kuhnDecisions {
		for card := range 3 {
			for action := range 2 {
				wrong, reached := eq, eq
				wrong[decision][card] = big.NewRat(int64(action), 1)
				var v, share *big.Rat
				if decision == kuhnOpens || decision == kuhnCheckBet {
					if decision == kuhnCheckBet { // have all come there who hold the card
						wrong[kuhnOpens][card], reached[kuhnOpens][card] = new(big.Rat), new(big.Rat)
					}
					v = new(big.Rat).Sub(roundValue(reached, eq), roundValue(wrong, eq))
				} else {
					v = new(big.Rat).Sub(roundValue(eq, wrong), roundValue(eq, reached))
				}
				share = new(big.Rat)
				for _, n := range kuhnHeld(decision, card) {
					share.Add(share, big.NewRat(int64(n), 6*kuhnCases))
				}
				loss, _ := v.Quo(v, share).Float64()
				if got := kuhnRegrets[decision][card][action]; got != loss {
					t.Errorf("decision %d, card %d, action %d: regret %v, a mistake costs %v", decision, card, action, got, loss)
				}
			}
		}
	}
}

// The policy draws as the strategy says, at every decision that games come to.
func TestKuhnOptimalAction(t *testing.T) {
	seen := map[[2]int]bool{}
	for seed := range int64(200) {
		g, p := newJudged(t, "KuhnPoker", seed).(*kuhn), newPlayer(seed, 0)
		for !g.ended {
			at := [2]int{g.decision(), g.deck[g.mover]}
			seen[at] = true
			chips := 0
			for draw := range kuhnCases {
				if a := g.OptimalAction(func(int) int { return draw }); a == "[bet]" || a == "[call]" {
					chips++
				}
			}
			if want := kuhnStrategy[at[0]][at[1]]; chips != want {
				t.Fatalf("decision and card %v: a chip in %d cases, want %d", at, chips, want)
			}
			regrets := kuhnRegrets[at[0]][at[1]]
			answer := p.answer(g)
			want := regrets[0]
			if answer == "[bet]" || answer == "[call]" {
				want = regrets[1]
			}
			if e := g.Step(answer); !e.Judged || e.Regret != want {
				t.Fatalf("decision and card %v: %+v, want regret %v", at, e, want)
			}
		}
	}
	if len(seen) != 3*kuhnDecisions {
		t.Errorf("games come to %d decisions and cards of %d", len(seen), 3*kuhnDecisions)
	}
}
