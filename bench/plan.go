package bench

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"selfplay/scheduler"
)

// MaxN is the largest number of games in one cell. It is also the distance of
// two run seeds in the seeds of deals, so no two of them share a deal.
const MaxN = 1_000_000

const maxSeed = math.MaxInt64/MaxN - 1

// A Plan is the set of games of one experiment: every unordered pair of
// languages, a language with itself included, in both roles, N games each.
type Plan struct {
	Games []string // environment ids, such as TicTacToe-v0
	Langs []string // language codes
	N     int      // games of one pair in one role
	Seed  int64    // of the run
}

// Validate reports the first thing wrong with the plan. Whether the games and
// languages exist is for the caller to say, who has the tables.
func (p Plan) Validate() error {
	if err := distinct("game", p.Games); err != nil {
		return err
	}
	if err := distinct("language", p.Langs); err != nil {
		return err
	}
	switch {
	case p.N < 1:
		return fmt.Errorf("n is %d: a cell needs at least 1 game", p.N)
	case p.N > MaxN:
		return fmt.Errorf("n is %d: at most %d games fit in a cell", p.N, MaxN)
	case p.Seed < 0 || p.Seed > maxSeed:
		return fmt.Errorf("seed is %d: choose one from 0 to %d", p.Seed, int64(maxSeed))
	}
	return nil
}

// distinct checks a list of names that become parts of a job's ID, in which
// '/' and, between two languages, '-' are separators.
func distinct(what string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("no %s given: name at least one", what)
	}
	bad := "/ \t\n"
	if what == "language" {
		bad += "-"
	}
	seen := map[string]bool{}
	for _, name := range names {
		if name == "" || strings.ContainsAny(name, bad) {
			return fmt.Errorf("%q is no name of a %s", name, what)
		}
		if seen[name] {
			return fmt.Errorf("%s %s is given twice", what, name)
		}
		seen[name] = true
	}
	return nil
}

// Len is the number of games of the plan.
func (p Plan) Len() int {
	l := len(p.Langs)
	return len(p.Games) * p.N * l * (l + 1) // l(l+1)/2 pairs, two roles
}

// Jobs yields the games in plan order: by game, then index, then pair, then
// role. The index comes before the pair so that a run stopped early has played
// every cell of a game about equally often.
func (p Plan) Jobs() iter.Seq[scheduler.Job] {
	return func(yield func(scheduler.Job) bool) {
		pairs := p.pairs()
		for _, game := range p.Games {
			for index := range p.N {
				for _, pair := range pairs {
					for role := range 2 {
						if !yield(p.job(game, index, pair, role)) {
							return
						}
					}
				}
			}
		}
	}
}

// pairs lists the unordered pairs {A,B}, A=B included, A no later than B in Langs.
func (p Plan) pairs() [][2]string {
	var pairs [][2]string
	for i, a := range p.Langs {
		for _, b := range p.Langs[i:] {
			pairs = append(pairs, [2]string{a, b})
		}
	}
	return pairs
}

// job makes one game of the plan. Its ID and seed hold nothing of the other
// games, languages or of n, so the same game of a larger plan plays the same.
func (p Plan) job(game string, index int, pair [2]string, role int) scheduler.Job {
	langs, suffix := pair, ""
	if role == 1 {
		langs = [2]string{pair[1], pair[0]}
		if langs == pair {
			suffix = "r" // the mirrored half of a same-language cell
		}
	}
	return scheduler.Job{
		ID:    game + "/" + langs[0] + "-" + langs[1] + "/" + strconv.Itoa(index) + suffix,
		Game:  game,
		Langs: langs,
		Role:  role,
		Index: index,
		Seed:  p.Seed*MaxN + int64(index),
	}
}

// positions returns a function that finds a job's place in Jobs, and refuses a
// job that is not of this plan.
func (p Plan) positions() func(scheduler.Job) (int, error) {
	pairs := p.pairs()
	gameAt, pairAt := map[string]int{}, map[[2]string]int{}
	for i, game := range p.Games {
		gameAt[game] = i
	}
	for i, pair := range pairs {
		pairAt[pair] = i
	}
	return func(j scheduler.Job) (int, error) {
		pair := j.Langs
		if j.Role == 1 {
			pair = [2]string{j.Langs[1], j.Langs[0]}
		}
		g, okGame := gameAt[j.Game]
		c, okPair := pairAt[pair]
		if !okGame || !okPair || j.Index < 0 || j.Index >= p.N || j != p.job(j.Game, j.Index, pair, j.Role) {
			return 0, fmt.Errorf("game %q is not of this run's plan", j.ID)
		}
		return ((g*p.N+j.Index)*len(pairs)+c)*2 + j.Role, nil
	}
}
