package games

import (
	"strconv"

	"selfplay/locales"
)

// What is said in Tic Tac Toe.
const (
	tttIntro = iota
	tttBoard
	tttWrongFormat
	tttOutOfRange
	tttOccupied
	tttPlaced
	tttWin
	tttDraw
)

var ticTacToeMessages = []locales.Message{
	tttIntro:       {Key: "player_prompt.intro", Args: []string{"player_id", "symbol", "opponent_symbol"}},
	tttBoard:       {Key: "board.current_board", Args: []string{"board", "moves"}},
	tttWrongFormat: {Key: "invalid_move.wrong_format"},
	tttOutOfRange:  {Key: "invalid_move.out_of_range", Args: []string{"cell"}},
	tttOccupied:    {Key: "invalid_move.already_occupied", Args: []string{"cell"}},
	tttPlaced:      {Key: "game_action.placed", Args: []string{"player_id", "symbol", "cell"}},
	tttWin:         {Key: "outcome.win", Args: []string{"player_id"}},
	tttDraw:        {Key: "outcome.draw"},
}

// ticTacToe is the game on three by three cells, numbered row by row.
type ticTacToe struct {
	match
	board  [9]byte      // 0 while free, then the mark
	solver *boardSolver // nil: moves are not judged
}

var ticTacToeLines = [8][3]int{
	{0, 1, 2}, {3, 4, 5}, {6, 7, 8},
	{0, 3, 6}, {1, 4, 7}, {2, 5, 8},
	{0, 4, 8}, {2, 4, 6},
}

func newTicTacToe(s setting, _ int64) Game {
	g := &ticTacToe{}
	g.open(s, 3<<10)
	for seat := range 2 {
		g.tell(seat, tttIntro, strconv.Itoa(seat), mark(seat), mark(1-seat))
	}
	g.showBoard()
	return g
}

// mark is a seat's sign on the board.
func mark(seat int) string { return "OX"[seat : seat+1] }

// Step places the mover's mark in the first cell that the answer names.
func (g *ticTacToe) Step(answer string) Event {
	action := g.begin(answer)
	g.echoBoth(action)
	g.place(action)
	g.showBoard()
	return g.finish()
}

func (g *ticTacToe) place(action string) {
	digits, _, ok := bracketed(action, 1)
	cell, fits := toNumber(digits[0])
	switch {
	case !ok || !fits:
		g.refuse(tttWrongFormat)
		return
	case cell.value >= len(g.board):
		g.refuse(tttOutOfRange, cell.String())
		return
	case g.board[cell.value] != 0:
		g.refuse(tttOccupied, cell.String())
		return
	}
	if g.solver != nil {
		g.judge(g.solver.regret(g.board[:], g.mover, cell.value))
	}
	player, symbol := strconv.Itoa(g.mover), mark(g.mover)
	g.board[cell.value] = symbol[0]
	g.tellBoth(tttPlaced, player, symbol, cell.String())
	switch {
	case g.threeInRow(symbol[0]):
		g.win(g.mover, tttWin, player)
	case g.full():
		g.draw(tttDraw)
	}
}

func (g *ticTacToe) threeInRow(m byte) bool {
	for _, l := range ticTacToeLines {
		if g.board[l[0]] == m && g.board[l[1]] == m && g.board[l[2]] == m {
			return true
		}
	}
	return false
}

func (g *ticTacToe) full() bool {
	for _, c := range g.board {
		if c == 0 {
			return false
		}
	}
	return true
}

// showBoard shows both players the board, free cells by their numbers, and
// then the moves: '[0]', '[3]'.
func (g *ticTacToe) showBoard() {
	var board, moves [64]byte
	b, m := board[:0], moves[:0]
	for i, c := range g.board {
		if c == 0 {
			c = '0' + byte(i)
			if len(m) > 0 {
				m = append(m, ", "...)
			}
			m = append(m, '\'', '[', c, ']', '\'')
		}
		b = append(b, ' ', c, ' ')
		switch {
		case i%3 < 2:
			b = append(b, '|')
		case i < 8:
			b = append(b, "\n---+---+---\n"...)
		}
	}
	g.tellBoth(tttBoard, string(b), string(m))
}

// RandomAction is one of the free cells.
func (g *ticTacToe) RandomAction(intn func(n int) int) string {
	free := make([]int, 0, len(g.board))
	for i, c := range g.board {
		if c == 0 {
			free = append(free, i)
		}
	}
	return "[" + strconv.Itoa(free[intn(len(free))]) + "]"
}
