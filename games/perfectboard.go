package games

import (
	"math/bits"
	"strconv"
	"sync"
)

// A boardSolver solves games in which two players put stones on the free cells
// of a small board in turns, where the first to own every cell of a winning set
// wins and a full board without one is drawn: Tic Tac Toe, SimpleTak.
//
// Sets of cells are bits. What was found out about a position serves all games
// of the process. For the 16 cells of SimpleTak it takes 21.5 MB; the empty board
// and all its moves take about 40 ms, later positions less (6 stones: 0.2 ms), and
// all 8.9 million that games can come to, one after the other, 6 s.
type boardSolver struct {
	all  uint     // every cell
	wins []bool   // by set: it holds a winning one
	key  []uint32 // by set: the sum of 3^cell, so that positions can be numbered

	mu    sync.Mutex
	known [2][]verdicts // by value asked for, see reaches, and number of the position
}

// verdicts are about four positions, in 2 bits each.
type verdicts uint8

const (
	unknown = iota
	refuted
	proved
)

// newBoardSolver takes the rule that says which sets of cells hold a winning one.
func newBoardSolver(cells int, wins func(set uint) bool) *boardSolver {
	s := &boardSolver{all: 1<<cells - 1, wins: make([]bool, 1<<cells), key: make([]uint32, 1<<cells)}
	power := uint32(1)
	for cell := range cells {
		for set := range 1 << cell {
			s.key[1<<cell|set] = power + s.key[set]
		}
		power *= 3
	}
	for set := range s.wins {
		s.wins[set] = wins(uint(set))
	}
	for value := range s.known {
		s.known[value] = make([]verdicts, power/4+1)
	}
	return s
}

// regret is what the player to move loses by a stone on the cell.
func (s *boardSolver) regret(board []byte, mover, cell int) float64 {
	own, other := sides(board, mover)
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(s.value(own, other) - s.move(own, other, 1<<cell))
}

// optimal names one of the cells where a stone loses nothing.
func (s *boardSolver) optimal(board []byte, mover int, intn func(n int) int) string {
	set := s.best(sides(board, mover))
	for range intn(bits.OnesCount(set)) {
		set &= set - 1
	}
	return "[" + strconv.Itoa(bits.TrailingZeros(set)) + "]"
}

// best is the set of the cells where a stone loses nothing.
func (s *boardSolver) best(own, other uint) (set uint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value := s.value(own, other)
	for free := s.all &^ (own | other); free != 0; free &= free - 1 {
		if stone := free & -free; s.move(own, other, stone) == value {
			set |= stone
		}
	}
	return set
}

// sides are the cells of the player to move and of the other one.
func sides(board []byte, mover int) (own, other uint) {
	for cell, m := range board {
		switch m {
		case 0:
		case mark(mover)[0]:
			own |= 1 << cell
		default:
			other |= 1 << cell
		}
	}
	return own, other
}

// value is what the position is worth to the player to move: 1 won, 0 drawn,
// -1 lost. The game must not have ended.
func (s *boardSolver) value(own, other uint) int {
	switch {
	case s.reaches(1, own, other):
		return 1
	case s.reaches(0, own, other):
		return 0
	}
	return -1
}

// move is what a stone is worth to the player who puts it.
func (s *boardSolver) move(own, other, stone uint) int {
	own |= stone
	switch {
	case s.wins[own]:
		return 1
	case own|other == s.all:
		return 0
	}
	return -s.value(other, own)
}

// reaches reports whether the player to move can get a value of 0 or 1, or more.
// Two such questions need far fewer positions than the value itself: the first
// good move answers them, whatever others are worth.
func (s *boardSolver) reaches(value int, own, other uint) bool {
	number := s.key[own] + 2*s.key[other]
	four, shift := &s.known[value][number/4], number%4*2
	if v := *four >> shift & 3; v != unknown {
		return v == proved
	}
	if s.search(value, own, other) {
		*four |= proved << shift
		return true
	}
	*four |= refuted << shift
	return false
}

func (s *boardSolver) search(value int, own, other uint) bool {
	free := s.all &^ (own | other)
	// Who cannot own a winning set even with all free cells will not win.
	if value == 1 && !s.wins[own|free] {
		return false
	}
	if value == 0 && !s.wins[other|free] {
		return true
	}
	threat := uint(0)
	for todo := free; todo != 0; todo &= todo - 1 {
		stone := todo & -todo
		if s.wins[own|stone] {
			return true
		}
		if s.wins[other|stone] {
			threat = stone
		}
	}
	if threat != 0 {
		free = threat // any other move loses at once
	}
	for ; free != 0; free &= free - 1 {
		stone := free & -free
		if own|other|stone == s.all {
			return value == 0
		}
		// The value is reached if the other player gets no more than its opposite.
		if !s.reaches(1-value, other, own|stone) {
			return true
		}
	}
	return false
}

var ticTacToeSolver = sync.OnceValue(func() *boardSolver {
	return newBoardSolver(9, func(set uint) bool {
		for _, l := range ticTacToeLines {
			if line := uint(1<<l[0] | 1<<l[1] | 1<<l[2]); set&line == line {
				return true
			}
		}
		return false
	})
})

// Judge has events say what moves lose.
func (g *ticTacToe) Judge() { g.solver = ticTacToeSolver() }

// OptimalAction is one of the cells that lose nothing.
func (g *ticTacToe) OptimalAction(intn func(n int) int) string {
	return ticTacToeSolver().optimal(g.board[:], g.mover, intn)
}

// solvedTakSize is the side of the largest board on which SimpleTak is solved.
const solvedTakSize = 4

// solvedTak is SimpleTak on such a board. With perfect play it is drawn,
// wherever the first stone is put.
type solvedTak struct{ *simpleTak }

var takSolver = sync.OnceValue(func() *boardSolver { return newTakSolver(solvedTakSize) })

func newTakSolver(size int) *boardSolver {
	return newBoardSolver(size*size, func(set uint) bool { return joinsEdges(set, size) })
}

// joinsEdges reports whether cells of a square board join two opposite edges.
func joinsEdges(set uint, size int) bool {
	all, top, left := uint(1)<<(size*size)-1, uint(1)<<size-1, uint(0)
	for row := range size {
		left |= 1 << (row * size)
	}
	bottom, right := top<<(size*size-size), left<<(size-1)
	reach := func(edge uint) uint {
		for reached, before := edge&set, uint(0); ; {
			if reached == before {
				return reached
			}
			before = reached
			reached |= set & (reached<<size&all | reached>>size | reached&^right<<1 | reached&^left>>1)
		}
	}
	return reach(top)&bottom != 0 || reach(left)&right != 0
}

// Judge has events say what moves lose.
func (g *solvedTak) Judge() { g.solver = takSolver() }

// OptimalAction is one of the cells that lose nothing.
func (g *solvedTak) OptimalAction(intn func(n int) int) string {
	return takSolver().optimal(g.board, g.mover, intn)
}
