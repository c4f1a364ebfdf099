package scheduler

import (
	"fmt"

	"selfplay/games"
)

// A Policy answers for a seat without a model. It may keep what it has worked
// out, but its answer depends on nothing but the game and the draws.
type Policy interface {
	// Act is the answer of the player to move; intn(n) draws a number in [0,n).
	Act(g games.Game, intn func(n int) int) string
}

// Random plays a legal answer drawn uniformly. The games must be games.Mover.
type Random struct{}

func (Random) Act(g games.Game, intn func(n int) int) string {
	m, ok := g.(games.Mover)
	if !ok {
		panic(fmt.Sprintf("scheduler: %T can't name a legal answer, see games.Mover", g))
	}
	return m.RandomAction(intn)
}

// Optimal plays perfectly. The games must be games.Solved.
type Optimal struct{}

func (Optimal) Act(g games.Game, intn func(n int) int) string {
	s, ok := g.(games.Solved)
	if !ok {
		panic(fmt.Sprintf("scheduler: no perfect play of %T is known, see games.Spec.Solved", g))
	}
	return s.OptimalAction(intn)
}
