// Package scheduler turns games into batches for one engine: a pure core that
// admits games, cuts prompts into chunks, hands slots on and finds what they
// hold already, and the few goroutines that drive it.
package scheduler

import (
	"time"

	"selfplay/games"
	"selfplay/prompts"
)

// A Job is one planned game. Its outcome depends on the run seed, its ID and
// the model alone.
type Job struct {
	ID    string    // unique in the run
	Game  string    // environment id, such as TicTacToe-v0
	Langs [2]string // the language of each seat, or whatever names how it is spoken to
	Role  int       // 0, or 1 for the mirrored half of a cell (same languages, seats swapped)
	Index int       // number within its cell, from 0
	Seed  int64     // of the deal; the same for the Index-th game of every cell

	Players [2]string // who answers for each seat: "", the run's model, or a policy's name
}

// Finish says why a completion ended.
type Finish string

const (
	FinishStop    Finish = "stop"    // the model's end-of-turn token
	FinishLength  Finish = "length"  // the limit of tokens a turn
	FinishContext Finish = "context" // the slot's cells were full, or the prompt did not fit
	FinishPolicy  Finish = "policy"  // no model: a built-in policy answered
)

// A Turn is one answer of one seat.
type Turn struct {
	Seat             int
	Observation      string
	Completion       string // as the model wrote it
	Thinking         string
	Action           string         // extracted, before the game's own wrapper
	Status           prompts.Status // how it was extracted
	Finish           Finish
	Event            games.Event   // what the rules made of it
	PromptTokens     int           // computed, copied and kept; none of these if the prompt did not fit
	CompletionTokens int           // sampled, the end token included: it was computed like any other
	ThinkingTokens   int           // of those, in the thinking and its marks
	Prefill          int           // prompt tokens really computed, again after the turn was preempted
	Copied           int           // prompt tokens whose cells were copied from another slot, each time that it got one
	Kept             int           // prompt tokens whose cells the slot held already, likewise
	Start, End       time.Duration // since the start of the run, waiting for its prefill included; see inference.Batch.At
}

// A Record is one ended game.
type Record struct {
	Job    Job
	Turns  []Turn
	Result games.Result
}
