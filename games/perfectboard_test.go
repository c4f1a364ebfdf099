package games

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// A dumbBoard solves by trying every move to the end, on boards as strings with
// the mover's stones as 'm', the other's as 'o' and '.' for free cells.
type dumbBoard struct {
	wins  func(board string, stone byte) bool
	known map[string]int
}

func (d *dumbBoard) value(board string) int {
	if v, ok := d.known[board]; ok {
		return v
	}
	best := -1
	for cell := range len(board) {
		if board[cell] == '.' {
			best = max(best, d.move(board, cell))
		}
	}
	d.known[board] = best
	return best
}

func (d *dumbBoard) move(board string, cell int) int {
	after := board[:cell] + "m" + board[cell+1:]
	if d.wins(after, 'm') {
		return 1
	}
	free := 0
	swapped := []byte(after)
	for i, c := range swapped {
		switch c {
		case 'm':
			swapped[i] = 'o'
		case 'o':
			swapped[i] = 'm'
		default:
			free++
		}
	}
	if free == 0 {
		return 0
	}
	return -d.value(string(swapped))
}

func dumbThreeInRow(board string, stone byte) bool {
	for i := range 3 {
		row := board[3*i] == stone && board[3*i+1] == stone && board[3*i+2] == stone
		column := board[i] == stone && board[i+3] == stone && board[i+6] == stone
		if row || column {
			return true
		}
	}
	return board[4] == stone && (board[0] == stone && board[8] == stone || board[2] == stone && board[6] == stone)
}

// dumbPath walks from every cell of the top and left edges.
func dumbPath(size int) func(board string, stone byte) bool {
	return func(board string, stone byte) bool {
		for i := range size {
			for _, across := range []bool{false, true} {
				seen := map[[2]int]bool{}
				var walk func(row, column int) bool
				walk = func(row, column int) bool {
					at := [2]int{row, column}
					if row < 0 || row >= size || column < 0 || column >= size || seen[at] || board[row*size+column] != stone {
						return false
					}
					seen[at] = true
					if across && column == size-1 || !across && row == size-1 {
						return true
					}
					return walk(row+1, column) || walk(row-1, column) || walk(row, column+1) || walk(row, column-1)
				}
				if across && walk(i, 0) || !across && walk(0, i) {
					return true
				}
			}
		}
		return false
	}
}

// compareBoards holds every move of a position to the dumb solver.
func compareBoards(t *testing.T, s *boardSolver, d *dumbBoard, board string) {
	t.Helper()
	var own, other uint
	for cell := range len(board) {
		switch board[cell] {
		case 'm':
			own |= 1 << cell
		case 'o':
			other |= 1 << cell
		}
	}
	value, best := d.value(board), uint(0)
	if got := s.value(own, other); got != value {
		t.Fatalf("%s: %d, want %d", board, got, value)
	}
	for cell := range len(board) {
		if board[cell] != '.' {
			continue
		}
		v := d.move(board, cell)
		if got := s.move(own, other, 1<<cell); got != v {
			t.Fatalf("%s: cell %d: %d, want %d", board, cell, got, v)
		}
		if v == value {
			best |= 1 << cell
		}
	}
	if got := s.best(own, other); got != best {
		t.Fatalf("%s: best are %b, want %b", board, got, best)
	}
}

// Every position that can be reached on the small boards.
func TestBoardSolverOnSmallBoards(t *testing.T) {
	for _, test := range []struct {
		name   string
		solver *boardSolver
		wins   func(string, byte) bool
		start  string
		value  int
	}{
		{"TicTacToe", ticTacToeSolver(), dumbThreeInRow, ".........", 0},
		{"Tak 2x2", newTakSolver(2), dumbPath(2), "....", 1},
		{"Tak 3x3", newTakSolver(3), dumbPath(3), ".........", 1},
	} {
		d := &dumbBoard{test.wins, map[string]int{}}
		if v := d.value(test.start); v != test.value {
			t.Errorf("%s: the start is worth %d, want %d", test.name, v, test.value)
		}
		t.Log(test.name, len(d.known), "positions")
		for board := range d.known {
			compareBoards(t, test.solver, d, board)
		}
	}
}

// Positions of the large board with few free cells, and those that follow.
func TestTakSolverLate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s, wins := newTakSolver(4), dumbPath(4)
	values := map[int]int{}
	for range 60 {
		board := randomBoard(rng, 16, 8, wins)
		d := &dumbBoard{wins, map[string]int{}}
		values[d.value(board)]++
		for board := range d.known {
			compareBoards(t, s, d, board)
		}
	}
	if len(values) != 3 {
		t.Errorf("positions are worth %v: none of some kind", values)
	}
}

// randomBoard is a position of a game that has not ended, with so many free cells.
func randomBoard(rng *rand.Rand, cells, free int, wins func(string, byte) bool) string {
	for {
		board := make([]byte, cells)
		for i, cell := range rng.Perm(cells) {
			switch stones := cells - free; {
			case i >= stones:
				board[cell] = '.'
			case i%2 == stones%2:
				board[cell] = 'm'
			default:
				board[cell] = 'o'
			}
		}
		if b := string(board); !wins(b, 'm') && !wins(b, 'o') {
			return b
		}
	}
}

// The values of the empty board and of all its moves, known since solved once
// with nothing but plain search: a draw, wherever the first stone is put.
func TestTakSolverStart(t *testing.T) {
	s := newTakSolver(4)
	if v, best := s.value(0, 0), s.best(0, 0); v != 0 || best != s.all {
		t.Errorf("%d, best %b", v, best)
	}
}

// One solver serves all goroutines.
func TestBoardSolverIsShared(t *testing.T) {
	var wg sync.WaitGroup
	for seed := range int64(4) {
		wg.Go(func() {
			g, p := newJudged(t, "SimpleTak", seed), newPlayer(seed, 0)
			for !g.(*solvedTak).ended {
				g.Step(p.answer(g))
			}
		})
	}
	wg.Wait()
}

// BenchmarkTakSolver solves the empty board and all its moves, with nothing
// known before.
func BenchmarkTakSolver(b *testing.B) {
	for b.Loop() {
		newTakSolver(4).best(0, 0)
	}
}

// BenchmarkTakSolverAll solves all that is left to solve after that: every
// position that can be reached, and all its moves.
func BenchmarkTakSolverAll(b *testing.B) {
	for b.Loop() {
		s, positions := newTakSolver(4), 0
		seen := make([]bool, 1<<26)
		var visit func(own, other uint)
		visit = func(own, other uint) {
			if number := s.key[own] + 2*s.key[other]; !seen[number] {
				seen[number] = true
				positions++
				s.best(own, other)
				for free := s.all &^ (own | other); free != 0; free &= free - 1 {
					if stone := free & -free; !s.wins[own|stone] && own|other|stone != s.all {
						visit(other, own|stone)
					}
				}
			}
		}
		visit(0, 0)
		b.ReportMetric(float64(positions), "positions")
	}
}
