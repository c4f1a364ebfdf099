package games

import (
	"slices"
	"strconv"
	"strings"

	"selfplay/locales"
)

// What is said in Nim.
const (
	nimIntro = iota
	nimPiles
	nimWrongFormat
	nimWrongFields
	nimOutOfRange
	nimNonPositive
	nimExceedsPile
	nimRemoved
	nimWin
)

var nimMessages = []locales.Message{
	nimIntro:       {Key: "player_prompt.intro", Args: []string{"player_id"}},
	nimPiles:       {Key: "state.current_pile", Args: []string{"piles"}},
	nimWrongFormat: {Key: "invalid_move.wrong_format"},
	nimWrongFields: {Key: "invalid_move.correct_format_wrong_fields", Unfilled: []string{"player_id", "col"}},
	nimOutOfRange:  {Key: "invalid_move.out_of_range", Args: []string{"pile_index"}},
	nimNonPositive: {Key: "invalid_move.non_positive"},
	nimExceedsPile: {Key: "invalid_move.exceeds_pile", Args: []string{"quantity", "pile_index", "pile_count"}},
	nimRemoved:     {Key: "observation.removed_from_piles", Args: []string{"player_id", "quantity", "pile_index"}},
	nimWin:         {Key: "outcome.win", Args: []string{"player_id"}},
}

// nim is the game of taking objects from piles; who takes the last one wins.
type nim struct {
	match
	piles   []int
	judging bool // events say what moves lose
}

// nimOf starts games with these piles.
func nimOf(piles ...int) func(setting, int64) Game {
	return func(s setting, _ int64) Game {
		g := &nim{piles: slices.Clone(piles)}
		g.open(s, 3<<10)
		for seat := range 2 {
			g.tell(seat, nimIntro, strconv.Itoa(seat))
		}
		g.showPiles()
		return g
	}
}

// Step takes objects as the answer's first "[pile quantity]" says.
func (g *nim) Step(answer string) Event {
	action := g.begin(answer)
	g.echoBoth(action)
	g.take(action)
	g.showPiles()
	if !slices.ContainsFunc(g.piles, func(n int) bool { return n > 0 }) {
		g.win(g.mover, nimWin, strconv.Itoa(g.mover))
	}
	return g.finish()
}

func (g *nim) take(action string) {
	digits, _, ok := bracketed(action, 2)
	if !ok {
		g.refuse(nimWrongFormat)
		return
	}
	pile, ok0 := toNumber(digits[0])
	quantity, ok1 := toNumber(digits[1])
	switch {
	case !ok0 || !ok1:
		g.refuse(nimWrongFields)
	case pile.value >= len(g.piles):
		g.refuse(nimOutOfRange, pile.String())
	case quantity.value == 0:
		g.refuse(nimNonPositive)
	case quantity.value > g.piles[pile.value]:
		g.refuse(nimExceedsPile, quantity.String(), pile.String(), strconv.Itoa(g.piles[pile.value]))
	default:
		if g.judging {
			g.judge(g.regret(pile.value, quantity.value))
		}
		g.piles[pile.value] -= quantity.value
		g.tellBoth(nimRemoved, strconv.Itoa(g.mover), quantity.String(), pile.String())
	}
}

// showPiles shows both players a row per pile.
func (g *nim) showPiles() {
	var b strings.Builder
	for i, n := range g.piles {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("  pile ")
		b.WriteString(strconv.Itoa(i))
		b.WriteString(": ")
		b.WriteString(strconv.Itoa(n))
	}
	g.tellBoth(nimPiles, b.String())
}

// RandomAction takes any number from any pile; each such move is as likely.
func (g *nim) RandomAction(intn func(n int) int) string {
	total := 0
	for _, n := range g.piles {
		total += n
	}
	k := intn(total)
	for i, n := range g.piles {
		if k < n {
			return "[" + strconv.Itoa(i) + " " + strconv.Itoa(k+1) + "]"
		}
		k -= n
	}
	panic("games: Nim has no move left")
}
