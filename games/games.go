package games

// A Game is one running match. It is used by one goroutine.
type Game interface {
	// ToMove is the seat to act, 0 or 1.
	ToMove() int
	// Observation is all that the player to move has been shown, in its language.
	Observation() string
	// Step plays the raw answer of the player to move. A bad answer is an event
	// of the rules, never an error. It must not be called once the game ended.
	Step(action string) Event
	// Result is the outcome; true once the game ended.
	Result() (Result, bool)
}

// A Mover is a game that can name a legal answer without a model.
type Mover interface {
	// RandomAction is a legal answer for the player to move, drawn uniformly;
	// intn(n) gives a number in [0,n).
	RandomAction(intn func(n int) int) string
}

// An Event says what the rules made of one answer.
type Event struct {
	Action  string // what the rules parsed: the answer after TextArena's action wrapper
	Invalid bool   // the rules refused it
	Reason  string // why they refused it, in the mover's language
	Default bool   // the rules could not read a choice and took their default

	Judged bool    // the move was valid, and Regret says what it lost; see Solved
	Regret float64 // 0: it was optimal
}

// A Result is the outcome of an ended game; index 0 and 1 are the seats.
type Result struct {
	Rewards [2]int    // 1 won, -1 lost, 0 drawn
	Reasons [2]string // in each seat's language
	Invalid [2]bool   // the seat lost by a second invalid move in a row
	Turns   [2]int    // moves made, as the reference counts them: also the one that forfeits
	Roles   [2]string // the seat's role name in its language
}
