package games

import (
	"fmt"

	"selfplay/locales"
)

// A Review is what the rules know of an ended game and its record does not say.
// What is of another game is zero.
type Review struct {
	Rows, Columns, Diagonals int // Tic Tac Toe: lines that the last move completed, two at most

	// SimpleTak: the last stone joined left and right, top and bottom. It may do both.
	Across, Down bool

	Spots []KuhnSpot // Kuhn Poker: one for each answer
}

// A KuhnSpot is where a player of Kuhn Poker stood, and what it did.
type KuhnSpot struct {
	Card   byte   // J, Q or K
	Facing bool   // a bet: call and fold are legal, else check and bet
	Move   string // check, bet, fold or call; empty if the answer was refused
}

// Review plays a game again from its deal and all the answers given, in order,
// as they came to Step. The language of the texts changes no rule, so it plays in
// English, whatever the game was played in.
func (s Spec) Review(seed int64, answers []string) (Review, error) {
	var r Review
	g, err := s.New(locales.Embedded(), [2]string{"en", "en"}, seed)
	if err != nil {
		return r, err
	}
	var last Event
	for i, answer := range answers {
		if _, ended := g.Result(); ended {
			return r, fmt.Errorf("games: %s ended with answer %d of %d: the record is not of this game", s.ID, i, len(answers))
		}
		k, ok := g.(*kuhn)
		if !ok {
			last = g.Step(answer)
			continue
		}
		spot := KuhnSpot{Card: k.card(k.mover)[0], Facing: k.bet}
		if last = g.Step(answer); !last.Invalid {
			spot.Move, _ = bracketedWord(last.Action, "check", "bet", "fold", "call")
		}
		r.Spots = append(r.Spots, spot)
	}
	if last.Action == "" || last.Invalid {
		return r, nil
	}
	switch g := g.(type) {
	case *ticTacToe:
		r.Rows, r.Columns, r.Diagonals = g.completed(last.Action)
	case *simpleTak:
		r.Across, r.Down = g.completed(last.Action)
	case *solvedTak:
		r.Across, r.Down = g.completed(last.Action)
	}
	return r, nil
}

// completed counts the lines through the cell of a valid move that it completed.
func (g *ticTacToe) completed(action string) (rows, columns, diagonals int) {
	digits, _, _ := bracketed(action, 1)
	cell, _ := toNumber(digits[0])
	for i, l := range ticTacToeLines {
		m := g.board[cell.value]
		if l[0] != cell.value && l[1] != cell.value && l[2] != cell.value ||
			g.board[l[0]] != m || g.board[l[1]] != m || g.board[l[2]] != m {
			continue
		}
		switch {
		case i < 3:
			rows++
		case i < 6:
			columns++
		default:
			diagonals++
		}
	}
	return rows, columns, diagonals
}

// completed says which edges the stone of a valid move joined.
func (g *simpleTak) completed(action string) (across, down bool) {
	digits, _ := lastBracketed(action)
	cell, _ := toNumber(digits)
	return g.spans(cell.value)
}
