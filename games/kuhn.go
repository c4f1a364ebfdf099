package games

import (
	"strconv"

	"selfplay/locales"
)

// What is said in Kuhn Poker.
const (
	kuhnIntro = iota
	kuhnRoundStarts
	kuhnFirstActions
	kuhnActions
	kuhnWrongFormat
	kuhnNotLegal
	kuhnMoved
	kuhnFolded
	kuhnShowdown
	kuhnRoundOver
	kuhnWin0
	kuhnWin1
	kuhnDraw
)

var kuhnMessages = []locales.Message{
	kuhnIntro:        {Key: "player_prompt.intro", Args: []string{"player_id", "max_rounds", "ante"}},
	kuhnRoundStarts:  {Key: "init_round.round_start", Args: []string{"current_round", "max_rounds", "player_card"}},
	kuhnFirstActions: {Key: "init_round.available_actions", Args: []string{"available_actions"}},
	kuhnActions:      {Key: "action.valid_actions", Args: []string{"legal_actions"}},
	kuhnWrongFormat:  {Key: "invalid_move.wrong_format"},
	kuhnNotLegal:     {Key: "invalid_move.not_legal", Args: []string{"legal_actions"}},
	kuhnMoved:        {Key: "action.submit_move", Args: []string{"player_id", "move"}},
	kuhnFolded:       {Key: "outcome.round_win", Args: []string{"player_id"}},
	kuhnShowdown:     {Key: "showdown.showdown_summary", Args: []string{"winner", "winner_card", "loser", "loser_card", "pot_value"}},
	kuhnRoundOver:    {Key: "action.round_summary", Args: []string{"reason", "player_0_chips", "player_1_chips"}},
	kuhnWin0:         {Key: "outcome.winner_player0", Args: []string{"max_rounds"}},
	kuhnWin1:         {Key: "outcome.winner_player1", Args: []string{"max_rounds"}},
	kuhnDraw:         {Key: "outcome.draw", Args: []string{"max_rounds"}},
}

// kuhnAnte is what each player pays for a round.
const kuhnAnte = 1

// kuhn is Kuhn Poker: a card each out of three, one bet of one chip.
type kuhn struct {
	match
	rounds int
	round  int // from 1
	random pythonRandom
	deck   [3]int // J, Q, K as 0, 1, 2; seat 0 holds the first, seat 1 the second
	starts int    // the seat that begins the round
	bet    bool   // a bet is on the table
	check  bool   // the round began with a check
	pot    int
	chips  [2]int // sum to minus the pot

	judging bool // events say what moves lose
}

// kuhnOf starts games of so many rounds.
func kuhnOf(rounds int) func(setting, int64) Game {
	return func(s setting, seed int64) Game {
		g := &kuhn{rounds: rounds, random: newPythonRandom(seed), deck: [3]int{0, 1, 2}}
		g.open(s, 3<<10)
		for seat := range 2 {
			g.tell(seat, kuhnIntro, strconv.Itoa(seat), strconv.Itoa(rounds), strconv.Itoa(kuhnAnte))
		}
		g.starts = 1
		g.deal()
		return g
	}
}

// deal begins the next round.
func (g *kuhn) deal() {
	g.round++
	g.random.shuffle(g.deck[:]) // from the last round's order, as the reference does
	g.bet, g.check = false, false
	g.pot = 2 * kuhnAnte
	g.chips[0] -= kuhnAnte
	g.chips[1] -= kuhnAnte
	g.mover = g.starts
	for seat := range 2 {
		g.tell(seat, kuhnRoundStarts, strconv.Itoa(g.round), strconv.Itoa(g.rounds), g.card(seat))
		if seat == g.starts {
			g.tell(seat, kuhnFirstActions, g.legal(true))
		}
	}
}

func (g *kuhn) card(seat int) string { return "JQK"[g.deck[seat] : g.deck[seat]+1] }

// legal lists the actions that can be taken, between quotes where the players
// are offered them.
func (g *kuhn) legal(quoted bool) string {
	switch {
	case g.bet && quoted:
		return "'[fold]', '[call]'"
	case g.bet:
		return "[fold], [call]"
	case quoted:
		return "'[check]', '[bet]'"
	}
	return "[check], [bet]"
}

// Step plays the first action that the answer names.
func (g *kuhn) Step(answer string) Event {
	action := g.begin(answer)
	g.echoBoth(action)
	move, ok := bracketedWord(action, "check", "bet", "fold", "call")
	switch {
	case !ok:
		g.refuse(kuhnWrongFormat)
		return g.finish()
	case g.bet != (move == "fold" || move == "call"):
		g.refuse(kuhnNotLegal, g.legal(false))
		return g.finish()
	}
	chip := move == "bet" || move == "call"
	if g.judging {
		g.judge(g.regret(chip))
	}
	if chip {
		g.chips[g.mover]--
		g.pot++
	}
	g.tellBoth(kuhnMoved, strconv.Itoa(g.mover), move)
	switch {
	case move == "fold":
		return g.endRound(1-g.mover, kuhnFolded, strconv.Itoa(g.mover))
	case move == "call" || move == "check" && g.check:
		return g.showdown()
	}
	g.bet, g.check = move == "bet", true
	g.tell(1-g.mover, kuhnActions, g.legal(true))
	return g.finish()
}

// showdown gives the pot to the higher card.
func (g *kuhn) showdown() Event {
	winner := 0
	if g.deck[1] > g.deck[0] {
		winner = 1
	}
	return g.endRound(winner, kuhnShowdown, strconv.Itoa(winner), g.card(winner),
		strconv.Itoa(1-winner), g.card(1-winner), strconv.Itoa(g.pot))
}

// endRound gives the pot to the winner, with a message as the reason, and goes
// on to the next round or ends the game. Nothing is dealt or charged after the
// last round. The other player starts next; as in the reference it is its count
// of moves that the move ending a round adds to, after the last round too.
func (g *kuhn) endRound(winner, id int, args ...string) Event {
	g.chips[winner] += g.pot
	g.pot = 0
	for seat := range 2 {
		reason := g.texts[seat].String(id, args...)
		g.tell(seat, kuhnRoundOver, reason, strconv.Itoa(g.chips[0]), strconv.Itoa(g.chips[1]))
	}
	g.starts = 1 - g.starts
	rounds := strconv.Itoa(g.rounds)
	switch {
	case g.round < g.rounds:
		g.deal()
	case g.chips[0] > g.chips[1]:
		g.win(0, kuhnWin0, rounds)
	case g.chips[0] < g.chips[1]:
		g.win(1, kuhnWin1, rounds)
	default:
		g.draw(kuhnDraw, rounds)
	}
	return g.finishAt(g.starts)
}

// RandomAction is one of the two actions that are legal.
func (g *kuhn) RandomAction(intn func(n int) int) string {
	if g.bet {
		return [2]string{"[fold]", "[call]"}[intn(2)]
	}
	return [2]string{"[check]", "[bet]"}[intn(2)]
}
