package bench

import (
	"fmt"

	"selfplay/games"
	"selfplay/scheduler"
)

// The paper's tables G.1 to G.4, each counted record by record. Opponents'
// moves and defeats are not counted: players[seat] is not empty for them.

// lost is the seat that lost, and whether it did so by an invalid move; false if
// the game was drawn.
func lost(r games.Result) (seat int, forfeit, ok bool) {
	switch {
	case r.Rewards[0] < r.Rewards[1]:
		return 0, r.Invalid[0], true
	case r.Rewards[1] < r.Rewards[0]:
		return 1, r.Invalid[1], true
	}
	return 0, false, false
}

// tictactoe counts a game of Tic Tac Toe for the language that lost it.
func (l LineLosses) tictactoe(forfeit bool, r games.Review) LineLosses {
	if forfeit {
		l.Forfeits++
		return l
	}
	lines := r.Rows + r.Columns + r.Diagonals
	l.Defeats++
	if lines > 1 {
		l.Double++
	}
	l.Row.add(r.Rows, lines)
	l.Column.add(r.Columns, lines)
	l.Diagonal.add(r.Diagonals, lines)
	return l
}

// simpletak counts a game of SimpleTak for the language that lost it.
func (l PathLosses) simpletak(forfeit bool, r games.Review) PathLosses {
	if forfeit {
		l.Forfeits++
		return l
	}
	across, down := oneIf(r.Across), oneIf(r.Down)
	l.Defeats++
	if r.Across && r.Down {
		l.Double++
	}
	l.Row.add(across, across+down)
	l.Column.add(down, across+down)
	return l
}

// kuhn counts one answer in Kuhn Poker.
func (k KuhnPlay) kuhn(s games.KuhnSpot) KuhnPlay {
	k.Invalid.add(oneIf(s.Move == ""), 1)
	switch bet := oneIf(s.Move == "bet"); {
	case s.Facing && s.Card == 'K':
		k.CallK.add(oneIf(s.Move == "call"), 1)
		k.FoldK.add(oneIf(s.Move == "fold"), 1)
	case s.Facing:
	case s.Card == 'J':
		k.BluffJ.add(bet, 1)
	case s.Card == 'Q':
		k.BetQ.add(bet, 1)
	case s.Card == 'K':
		k.ValueK.add(bet, 1)
	}
	return k
}

// firstMove counts seat 0's first valid move in Nim; lang is that of its
// reasoning.
func (n NimPlay) firstMove(lang string, t scheduler.Turn) NimPlay {
	optimal := oneIf(t.Event.Judged && t.Event.Regret == 0)
	n.First.add(optimal, 1)
	if in, ok := writtenIn[lang]; ok && in.script != Latin {
		if n.Kept == nil {
			n.Kept, n.Switched = new(Share), new(Share)
		}
		switch script, _ := identify(t.Completion); script {
		case in.script:
			n.Kept.add(optimal, 1)
		case Latin:
			n.Switched.add(optimal, 1)
		}
	}
	return n
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// byGameLang is a table by game and language.
type byGameLang[T any] map[string]map[string]T

// update replaces the entry of a game and language, which may not exist yet.
func (m byGameLang[T]) update(game, lang string, f func(T) T) {
	if m[game] == nil {
		m[game] = map[string]T{}
	}
	m[game][lang] = f(m[game][lang])
}

// paperTables counts a record in the table of its game.
func (rep *Report) paperTables(rec scheduler.Record) error {
	spec, err := games.Lookup(rec.Job.Game)
	if err != nil {
		return err
	}
	switch spec.Game {
	case "Nim":
		rep.nim(rec)
		return nil
	case "TicTacToe", "SimpleTak", "KuhnPoker":
	default:
		return nil
	}
	j := rec.Job
	answers := make([]string, len(rec.Turns))
	for i, t := range rec.Turns {
		answers[i] = t.Action
	}
	review, err := spec.Review(j.Seed, answers)
	if err != nil {
		return fmt.Errorf("game %s: %w", j.ID, err)
	}
	if spec.Game == "KuhnPoker" {
		for i, spot := range review.Spots {
			if seat := rec.Turns[i].Seat; j.Players[seat] == "" {
				byGameLang[KuhnPlay](rep.Kuhn).update(j.Game, j.Langs[seat], func(k KuhnPlay) KuhnPlay { return k.kuhn(spot) })
			}
		}
		return nil
	}
	seat, forfeit, ok := lost(rec.Result)
	if !ok || j.Players[seat] != "" {
		return nil
	}
	if spec.Game == "TicTacToe" {
		byGameLang[LineLosses](rep.TicTacToe).update(j.Game, j.Langs[seat], func(l LineLosses) LineLosses { return l.tictactoe(forfeit, review) })
	} else {
		byGameLang[PathLosses](rep.SimpleTak).update(j.Game, j.Langs[seat], func(l PathLosses) PathLosses { return l.simpletak(forfeit, review) })
	}
	return nil
}

// nim counts a game of Nim. A game of a language with itself is won and lost by
// it: it counts once, as the game of the seat of its role. So the paper's shares
// of games won agree with its gaps.
func (rep *Report) nim(rec scheduler.Record) {
	j, seen := rec.Job, false
	table := byGameLang[NimPlay](rep.Nim)
	for seat, lang := range j.Langs {
		if j.Players[seat] != "" || j.Langs[0] == j.Langs[1] && j.Players == [2]string{} && seat != j.Role {
			continue
		}
		table.update(j.Game, lang, func(n NimPlay) NimPlay {
			n.Win.add(oneIf(rec.Result.Rewards[seat] > 0), 1)
			return n
		})
	}
	for _, t := range rec.Turns {
		if j.Players[t.Seat] != "" {
			continue
		}
		table.update(j.Game, j.Langs[t.Seat], func(n NimPlay) NimPlay {
			n.Mentions += nimMentions(t.Completion)
			if t.Seat == 0 && !t.Event.Invalid && !seen {
				n, seen = n.firstMove(rep.Experiment.ReasonsIn(j.Langs[0]), t), true
			}
			return n
		})
	}
}
