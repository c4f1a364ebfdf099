package games

import (
	"fmt"
	"slices"
	"testing"
)

// wonNim tries every move to the end.
func wonNim(piles []int, known map[string]bool) bool {
	name := fmt.Sprint(piles)
	if won, ok := known[name]; ok {
		return won
	}
	won := false
	for pile, n := range piles {
		for quantity := 1; quantity <= n; quantity++ {
			piles[pile] = n - quantity
			won = !wonNim(piles, known) || won
		}
		piles[pile] = n
	}
	known[name] = won
	return won
}

// Every move from up to four piles of up to five.
func TestNimSolver(t *testing.T) {
	known := map[string]bool{}
	for code := range 6 * 6 * 6 * 6 {
		g := &nim{piles: []int{code % 6, code / 6 % 6, code / 36 % 6, code / 216}}
		if code == 0 {
			continue
		}
		won := wonNim(g.piles, known)
		var optimal, drawn []string
		for pile, n := range g.piles {
			for quantity := 1; quantity <= n; quantity++ {
				after := slices.Clone(g.piles)
				after[pile] -= quantity
				want := 0.0
				if won && wonNim(after, known) {
					want = 2
				} else {
					optimal = append(optimal, fmt.Sprintf("[%d %d]", pile, quantity))
				}
				if got := g.regret(pile, quantity); got != want {
					t.Fatalf("%v: %d of pile %d: regret %v, want %v", g.piles, quantity, pile, got, want)
				}
			}
		}
		for i := range optimal {
			drawn = append(drawn, g.OptimalAction(func(n int) int {
				if n != len(optimal) {
					t.Fatalf("%v: %d optimal moves, want %d", g.piles, n, len(optimal))
				}
				return i
			}))
		}
		if !slices.Equal(drawn, optimal) {
			t.Fatalf("%v: optimal are %v, want %v", g.piles, drawn, optimal)
		}
	}
}
