package games

// A Solved game knows perfect play. Spec.Solved says which games do.
//
// What a move loses, its regret, is the value of the position with perfect play
// less the value that the move keeps, both for the player who makes it:
//
//   - In games that are won, drawn or lost, these are worth 1, 0 and -1, and a move
//     loses 0, 1 or 2. Who is lost anyway has nothing to lose: there every move is
//     optimal.
//   - In Kuhn Poker a value is the expected chips of the round against a player of
//     the equilibrium, see kuhnStrategy. How the match stands, which goes to who
//     has more chips in the end, plays no part.
type Solved interface {
	Game
	// OptimalAction is an answer without regret for the player to move, one of all
	// such; intn(n) gives a number in [0,n).
	OptimalAction(intn func(n int) int) string
	// Judge has all later events say what the move lost. Games do not unless asked
	// to: it may take a moment to solve one.
	Judge()
}

// judge notes what the move of this step loses.
func (m *match) judge(regret float64) {
	m.event.Judged, m.event.Regret = true, regret
}
