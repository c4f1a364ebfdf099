package games

import (
	"strconv"

	"selfplay/locales"
)

// What is said in SimpleTak.
const (
	takIntro = iota
	takBoard
	takWrongFormat
	takOutOfRange
	takOccupied
	takPlaced
	takWin
	takDraw
)

var takMessages = []locales.Message{
	takIntro:       {Key: "player_prompt.intro", Args: []string{"player_id", "player_stone", "opponent_stone"}},
	takBoard:       {Key: "board.current_state", Args: []string{"rendered_board", "available_moves"}},
	takWrongFormat: {Key: "invalid_move.invalid_move_format"},
	takOutOfRange:  {Key: "invalid_move.cell_out_of_range", Args: []string{"cell_num", "max_board_num"}},
	takOccupied:    {Key: "invalid_move.cell_already_occupied", Args: []string{"cell_num"}},
	takPlaced:      {Key: "action.placement", Args: []string{"current_player_id", "symbol", "cell_num"}},
	takWin:         {Key: "outcome.winner", Args: []string{"current_player_id", "symbol"}},
	takDraw:        {Key: "outcome.draw"},
}

// simpleTak is the game of joining two opposite edges of a square board.
type simpleTak struct {
	match
	size   int
	board  []byte // row by row; 0 while free, then the stone
	free   int
	line   string       // the rule between two rows
	solver *boardSolver // nil: moves are not judged
}

// takOf starts games on boards of this size.
func takOf(size int) func(setting, int64) Game {
	line := make([]byte, 0, 64)
	for range size {
		line = append(line, "+----"...)
	}
	line = append(line, '+')
	return func(s setting, _ int64) Game {
		g := &simpleTak{size: size, board: make([]byte, size*size), free: size * size, line: string(line)}
		g.open(s, 32*len(g.board)*len(g.board)) // the board is shown after each move
		for seat := range 2 {
			g.tell(seat, takIntro, strconv.Itoa(seat), mark(seat), mark(1-seat))
		}
		g.showBoard()
		if size == solvedTakSize {
			return &solvedTak{g}
		}
		return g
	}
}

// Step puts the mover's stone on the last cell that the answer names.
func (g *simpleTak) Step(answer string) Event {
	action := g.begin(answer)
	g.echoBoth(action)
	g.place(action)
	g.showBoard()
	return g.finish()
}

func (g *simpleTak) place(action string) {
	digits, ok := lastBracketed(action)
	cell, fits := toNumber(digits)
	switch {
	case !ok || !fits:
		g.refuse(takWrongFormat)
		return
	case cell.value >= len(g.board):
		g.refuse(takOutOfRange, cell.String(), strconv.Itoa(len(g.board)-1))
		return
	case g.board[cell.value] != 0:
		g.refuse(takOccupied, cell.String())
		return
	}
	if g.solver != nil {
		g.judge(g.solver.regret(g.board, g.mover, cell.value))
	}
	player, stone := strconv.Itoa(g.mover), mark(g.mover)
	g.board[cell.value] = stone[0]
	g.free--
	g.tellBoth(takPlaced, player, stone, cell.String())
	switch {
	case g.joins(cell.value):
		g.win(g.mover, takWin, player, stone)
	case g.free == 0:
		g.draw(takDraw)
	}
}

// lastBracketed finds the digits of the last "[d]" in s.
func lastBracketed(s string) (last string, ok bool) {
	for {
		digits, rest, found := bracketed(s, 1)
		if !found {
			return last, ok
		}
		last, ok, s = digits[0], true, rest
	}
}

// joins reports whether the stones connected with the one just placed touch two
// opposite edges. A new path can only run through the new stone.
func (g *simpleTak) joins(placed int) bool {
	across, down := g.spans(placed)
	return across || down
}

// spans reports whether these stones join left and right, and top and bottom.
func (g *simpleTak) spans(placed int) (across, down bool) {
	n, stone := g.size, g.board[placed]
	seen := make([]bool, len(g.board))
	seen[placed] = true
	var top, bottom, left, right bool
	for todo := []int{placed}; len(todo) > 0; {
		cell := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		row, column := cell/n, cell%n
		top, bottom = top || row == 0, bottom || row == n-1
		left, right = left || column == 0, right || column == n-1
		for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			r, c := row+d[0], column+d[1]
			if r < 0 || r >= n || c < 0 || c >= n {
				continue
			}
			if next := r*n + c; g.board[next] == stone && !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return left && right, top && bottom
}

// showBoard shows both players the board, free cells by their numbers, and
// then the moves: [0], [3].
func (g *simpleTak) showBoard() {
	board := append(make([]byte, 0, (2*g.size+1)*(len(g.line)+1)), g.line...)
	moves := make([]byte, 0, 6*g.free)
	for cell, stone := range g.board {
		if cell%g.size == 0 {
			board = append(board, "\n|"...)
		}
		board = append(board, ' ')
		start := len(board)
		if stone != 0 {
			board = append(board, stone)
		} else {
			board = strconv.AppendInt(board, int64(cell), 10)
			if len(moves) > 0 {
				moves = append(moves, ", "...)
			}
			moves = append(append(append(moves, '['), board[start:]...), ']')
		}
		if len(board)-start == 1 { // cells are two wide; all numbers fit
			board = append(board, ' ')
		}
		board = append(board, " |"...)
		if cell%g.size == g.size-1 {
			board = append(append(board, '\n'), g.line...)
		}
	}
	g.tellBoth(takBoard, string(board), string(moves))
}

// RandomAction is one of the free cells.
func (g *simpleTak) RandomAction(intn func(n int) int) string {
	k := intn(g.free)
	for cell, stone := range g.board {
		if stone == 0 {
			if k == 0 {
				return "[" + strconv.Itoa(cell) + "]"
			}
			k--
		}
	}
	panic("games: SimpleTak has no move left")
}
