package games

import (
	"strconv"

	"selfplay/locales"
)

// What is said in the Iterated Prisoner's Dilemma.
const (
	ipdIntro = iota
	ipdRoundStarts
	ipdTalkOver
	ipdRoundOver
	ipdBothCooperate
	ipdBothDefect
	ipdSeat1Defects
	ipdSeat0Defects
	ipdWin
	ipdDraw
)

var ipdMessages = []locales.Message{
	ipdIntro: {Key: "player_prompt.intro", Args: []string{"player_id", "num_rounds", "total_conversation_rounds",
		"cooperate_reward", "mutual_defect_reward", "defect_reward", "sucker_reward"}},
	ipdRoundStarts:   {Key: "phases.starting_round", Args: []string{"round"}},
	ipdTalkOver:      {Key: "phases.conversation_finished", Args: []string{"round"}},
	ipdRoundOver:     {Key: "phases.round_summary", Args: []string{"round", "outcome", "r0", "score_0", "r1", "score_1"}},
	ipdBothCooperate: {Key: "outcome.round_both_cooperate"},
	ipdBothDefect:    {Key: "outcome.round_both_defect"},
	ipdSeat1Defects:  {Key: "outcome.round_p0_cooperates_p1_defects"},
	ipdSeat0Defects:  {Key: "outcome.round_p0_defects_p1_cooperates"},
	ipdWin:           {Key: "outcome.winner", Args: []string{"winner", "win_score", "lose_score"}},
	ipdDraw:          {Key: "outcome.draw", Args: []string{"s0"}},
}

// The points of a round, the same in every environment.
const (
	ipdReward     = 3 // both cooperate
	ipdPunishment = 1 // both defect
	ipdTemptation = 5 // alone in defecting
	ipdSucker     = 0 // alone in cooperating
)

// ipdTalks is how often each player may talk before a decision.
const ipdTalks = 1

// prisoners is the dilemma: in each round the players talk, seat 0 first, and
// then decide, seat 1 without knowing how seat 0 decided.
type prisoners struct {
	match
	rounds   int
	round    int // from 1
	talked   int // turns of talk in this round
	deciding bool
	defects  [2]bool
	scores   [2]int
}

// ipdOf starts games of so many rounds.
func ipdOf(rounds int) func(setting, int64) Game {
	return func(s setting, _ int64) Game {
		g := &prisoners{rounds: rounds, round: 1}
		g.open(s, 5<<10)
		for seat := range 2 {
			g.tell(seat, ipdIntro, strconv.Itoa(seat), strconv.Itoa(rounds), strconv.Itoa(ipdTalks),
				strconv.Itoa(ipdReward), strconv.Itoa(ipdPunishment), strconv.Itoa(ipdTemptation), strconv.Itoa(ipdSucker))
		}
		g.tellBoth(ipdRoundStarts, "1")
		return g
	}
}

// Step passes a message on, or takes a decision, as the round's phase has it.
// No answer is invalid: who names no choice cooperates.
func (g *prisoners) Step(answer string) Event {
	action := g.begin(answer)
	g.echo(g.mover, action)
	if g.deciding {
		g.decide(action)
	} else {
		g.talk(action)
	}
	return g.finish()
}

func (g *prisoners) talk(action string) {
	g.echo(1-g.mover, strip(action))
	if g.mover == 1 {
		g.talked++
	}
	if g.talked == ipdTalks {
		g.deciding = true
		g.tellBoth(ipdTalkOver, strconv.Itoa(g.round))
	}
}

func (g *prisoners) decide(action string) {
	_, defects := bracketedWord(action, "defect")
	_, cooperates := bracketedWord(action, "cooperate")
	g.event.Default = !defects && !cooperates
	g.defects[g.mover] = defects
	if g.mover == 0 {
		return
	}
	g.resolve()
	g.round++
	g.talked, g.deciding = 0, false
	if g.round <= g.rounds {
		g.tellBoth(ipdRoundStarts, strconv.Itoa(g.round))
		return
	}
	switch winner := 0; {
	case g.scores[0] == g.scores[1]:
		g.draw(ipdDraw, strconv.Itoa(g.scores[0]))
	default:
		if g.scores[1] > g.scores[0] {
			winner = 1
		}
		g.win(winner, ipdWin, strconv.Itoa(winner), strconv.Itoa(g.scores[winner]), strconv.Itoa(g.scores[1-winner]))
	}
}

// resolve gives the points of the round and shows them.
func (g *prisoners) resolve() {
	var points [2]int
	var outcome int
	switch g.defects {
	case [2]bool{false, false}:
		points, outcome = [2]int{ipdReward, ipdReward}, ipdBothCooperate
	case [2]bool{true, true}:
		points, outcome = [2]int{ipdPunishment, ipdPunishment}, ipdBothDefect
	case [2]bool{false, true}:
		points, outcome = [2]int{ipdSucker, ipdTemptation}, ipdSeat1Defects
	case [2]bool{true, false}:
		points, outcome = [2]int{ipdTemptation, ipdSucker}, ipdSeat0Defects
	}
	g.scores[0] += points[0]
	g.scores[1] += points[1]
	for seat := range 2 {
		g.tell(seat, ipdRoundOver, strconv.Itoa(g.round), g.texts[seat].String(outcome),
			strconv.Itoa(points[0]), strconv.Itoa(g.scores[0]), strconv.Itoa(points[1]), strconv.Itoa(g.scores[1]))
	}
}

// RandomAction is either choice, or while the players talk no words.
func (g *prisoners) RandomAction(intn func(n int) int) string {
	if !g.deciding {
		return "…"
	}
	return [2]string{"[Cooperate]", "[Defect]"}[intn(2)]
}
