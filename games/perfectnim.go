package games

import "strconv"

// Judge has events say what moves lose.
func (g *nim) Judge() { g.judging = true }

// nimSum is the exclusive or of the piles: 0 if the player to move is lost.
func (g *nim) nimSum() int {
	sum := 0
	for _, n := range g.piles {
		sum ^= n
	}
	return sum
}

// regret is what the player to move loses by taking from a pile: 2 if the game
// was won and no longer is, else 0.
func (g *nim) regret(pile, quantity int) float64 {
	n, sum := g.piles[pile], g.nimSum()
	if sum != 0 && sum^n^(n-quantity) != 0 {
		return 2
	}
	return 0
}

// OptimalAction is one of the moves that leave a nim-sum of 0. There is at most
// one for a pile; who is lost may take what they like.
func (g *nim) OptimalAction(intn func(n int) int) string {
	sum := g.nimSum()
	if sum == 0 {
		return g.RandomAction(intn)
	}
	var piles []int
	for i, n := range g.piles {
		if n^sum < n {
			piles = append(piles, i)
		}
	}
	pile := piles[intn(len(piles))]
	n := g.piles[pile]
	return "[" + strconv.Itoa(pile) + " " + strconv.Itoa(n-(n^sum)) + "]"
}
