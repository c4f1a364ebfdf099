package games

// Where a player of a round of Kuhn Poker may stand. Two actions are legal at
// each: to bet or call, which puts a chip into the pot, or to check or fold.
const (
	kuhnOpens     = iota // begins the round
	kuhnChecked          // after a check
	kuhnFaces            // after a bet
	kuhnCheckBet         // has checked, and faces a bet
	kuhnDecisions = iota
)

// kuhnStrategy is the equilibrium of a round that is played: in how many cases
// of kuhnCases a chip is put in, by decision and card (J, Q, K).
//
// Who does not open has only one such strategy. Who opens has one for each
// alpha from 0 to 1/3: bet J with alpha and K with 3 alpha, call with Q in
// alpha + 1/3. This is alpha = 1/6, the middle: at both ends some mistakes of the
// other player cost nothing, or it never faces a bet. The round is worth -1/18
// chips to who opens.
var kuhnStrategy = [kuhnDecisions][3]int{
	kuhnOpens:    {1, 0, 3},
	kuhnChecked:  {2, 0, 6},
	kuhnFaces:    {0, 2, 6},
	kuhnCheckBet: {0, 3, 6},
}

const kuhnCases = 6

// kuhnRegrets is what an action loses, in chips, by decision, card, and 1 if it
// puts a chip in or 0. The opponent is of the equilibrium and holds each card as
// often as that strategy has it come here.
var kuhnRegrets = func() (regrets [kuhnDecisions][3][2]float64) {
	for decision := range kuhnDecisions {
		for card := range 3 {
			held, all := kuhnHeld(decision, card), 0
			for _, n := range held {
				all += n
			}
			values := kuhnValues(decision, card, held)
			for action, v := range values {
				regrets[decision][card][action] = float64(max(values[0], values[1])-v) / float64(kuhnCases*all)
			}
		}
	}
	return regrets
}()

// kuhnHeld is in how many of kuhnCases the opponent comes to a decision of the
// player with each card, when the player holds card.
func kuhnHeld(decision, card int) (cases [3]int) {
	for c := range cases {
		switch decision {
		case kuhnOpens:
			cases[c] = kuhnCases
		case kuhnChecked:
			cases[c] = kuhnCases - kuhnStrategy[kuhnOpens][c]
		case kuhnFaces:
			cases[c] = kuhnStrategy[kuhnOpens][c]
		case kuhnCheckBet:
			cases[c] = kuhnStrategy[kuhnChecked][c]
		}
	}
	cases[card] = 0
	return cases
}

// kuhnValues are the chips won by checking or folding, and by betting or
// calling, summed over the cases of the opponent's cards and for each over the
// kuhnCases of how it goes on. They are whole, so that equal ones are equal.
func kuhnValues(decision, card int, held [3]int) (values [2]int) {
	var bets [3]int // cases in which a check is answered by a bet
	for c, n := range held {
		higher := 1
		if c > card {
			higher = -1
		}
		afterBet := func(opponents int) int { // the opponent folds or calls
			calls := kuhnStrategy[opponents][c]
			return kuhnCases - calls + calls*2*higher
		}
		switch decision {
		case kuhnOpens:
			bets[c] = n * kuhnStrategy[kuhnChecked][c]
			values[0] += (n*kuhnCases - bets[c]) * higher
			values[1] += n * afterBet(kuhnFaces)
		case kuhnChecked:
			values[0] += n * kuhnCases * higher
			values[1] += n * afterBet(kuhnCheckBet)
		default:
			values[0] -= n * kuhnCases
			values[1] += n * kuhnCases * 2 * higher
		}
	}
	if decision == kuhnOpens {
		next := kuhnValues(kuhnCheckBet, card, bets)
		values[0] += max(next[0], next[1]) / kuhnCases
	}
	return values
}

// Judge has events say what moves lose.
func (g *kuhn) Judge() { g.judging = true }

// decision is where the player to move stands.
func (g *kuhn) decision() int {
	switch {
	case g.bet && g.mover == g.starts:
		return kuhnCheckBet
	case g.bet:
		return kuhnFaces
	case g.check:
		return kuhnChecked
	}
	return kuhnOpens
}

// regret is what the player to move loses by putting a chip in, or by not.
func (g *kuhn) regret(chip bool) float64 {
	action := 0
	if chip {
		action = 1
	}
	return kuhnRegrets[g.decision()][g.deck[g.mover]][action]
}

// OptimalAction plays the equilibrium.
func (g *kuhn) OptimalAction(intn func(n int) int) string {
	action := 0
	if intn(kuhnCases) < kuhnStrategy[g.decision()][g.deck[g.mover]] {
		action = 1
	}
	if g.bet {
		return [2]string{"[fold]", "[call]"}[action]
	}
	return [2]string{"[check]", "[bet]"}[action]
}
