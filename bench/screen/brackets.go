package screen

import "golang.org/x/text/unicode/bidi"

// A way is the direction that a character surely has, if it has one.
type way int8

const (
	neither way = iota
	leftward
	rightward
)

// mostOpen is how many brackets may be open at once; Unicode's number.
const mostOpen = 63

// withBrackets puts a letter of their direction for brackets that belong together, by
// rule N0 of the algorithm: the package bidi knows that rule but takes no two brackets
// for a pair, so that \boxed{4} in Arabic text would be torn apart.
func withBrackets(line []rune, right bool) []rune {
	own, other := rightward, leftward
	if right {
		own, other = other, own
	}
	ways := waysOf(line, own)
	out := append([]rune(nil), line...)
	for _, pair := range pairs(line) {
		found := neither
		for _, w := range ways[pair[0]+1 : pair[1]] {
			if w == own {
				found = own
				break
			}
			if w == other {
				found = other
			}
		}
		if found == other && before(ways, pair[0], own) == own {
			found = own
		}
		for _, at := range pair {
			ways[at] = found
			switch found {
			case leftward:
				out[at] = 'א'
			case rightward:
				out[at] = 'a'
			}
		}
	}
	return out
}

// before is the way that the text in front of a place has, which begins as own.
func before(ways []way, place int, own way) way {
	for i := place - 1; i >= 0; i-- {
		if ways[i] != neither {
			return ways[i]
		}
	}
	return own
}

// waysOf takes numbers to run like the text before them where that runs to the right,
// and else like right-to-left text.
func waysOf(line []rune, own way) []way {
	ways := make([]way, len(line))
	last := own
	for i, r := range line {
		switch classOf(r) {
		case bidi.L:
			ways[i], last = rightward, rightward
		case bidi.R, bidi.AL:
			ways[i], last = leftward, leftward
		case bidi.EN:
			ways[i] = last
		case bidi.AN:
			ways[i] = leftward
		}
	}
	return ways
}

// pairs are the places of brackets that belong together, by the first of each.
func pairs(line []rune) [][2]int {
	var open []int
	closing := make([]int, len(line))
	for i, r := range line {
		p, _ := bidi.LookupRune(r)
		switch {
		case p.IsOpeningBracket() && len(open) == mostOpen:
			return nil
		case p.IsOpeningBracket():
			open = append(open, i)
		case p.IsBracket():
			for k := len(open) - 1; k >= 0; k-- {
				if mirrored(string(line[open[k]])) == string(r) {
					closing[open[k]] = i
					open = open[:k]
					break
				}
			}
		}
	}
	var all [][2]int
	for i, end := range closing {
		if end > 0 {
			all = append(all, [2]int{i, end})
		}
	}
	return all
}
