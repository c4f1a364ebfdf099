package bench

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"selfplay/scheduler"
)

// MaxN is the largest number of games in one cell. It is also the distance of
// two run seeds in the seeds of deals, so no two of them share a deal.
const MaxN = 1_000_000

const maxSeed = math.MaxInt64/MaxN - 1

// maxLabels is how many there may be: every pair of them is a cell.
const maxLabels = 1000

// A Plan is the set of games of one experiment: of every game its cells, see
// there, and of each cell N games in either role. The i-th games of all cells of
// a game, in both roles, have the same deal.
type Plan struct {
	Games     []string // environment ids, such as TicTacToe-v0
	Langs     []string // languages
	Reasoned  []string // labels with a language to reason in, see SplitLabel
	Opponents []string // names of policies; with any, the model does not play itself
	N         int      // games of one cell in one role
	Seed      int64    // of the run
	Shard     Shard    // of all these games, those that are played
	ByCell    bool     // shards have whole cells
}

// A Cell is what games are compared by: two labels, A and B, that play each
// other in both roles, or one label in which the model plays an opponent.
//
// The cells of a game are every unordered pair of languages, a language with
// itself included, and every reasoned label with each language but its own
// interface: so the mean margin of zh+fr is over the same others as that of zh,
// and what the reasoning changed is their difference (Table 3 of the paper). With
// opponents the cells are every label with every opponent instead.
type Cell struct {
	Game     string    `json:"game"`
	Labels   [2]string `json:"labels"`             // A and B; in role 1 they have changed seats
	Opponent string    `json:"opponent,omitempty"` // a policy's name: it plays in B, the model in A
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
	if err := p.validateReasoned(); err != nil {
		return err
	}
	if len(p.Opponents) > 0 {
		if err := distinct("opponent", p.Opponents); err != nil {
			return err
		}
	}
	if n := len(p.Labels()) * max(1, len(p.Opponents)); n > maxLabels || len(p.Games) > maxLabels {
		return fmt.Errorf("%d labels of %d games are too many: at most %d of either can be compared", n, len(p.Games), maxLabels)
	}
	switch {
	case p.N < 1:
		return fmt.Errorf("n is %d: a cell needs at least 1 game", p.N)
	case p.N > MaxN:
		return fmt.Errorf("n is %d: at most %d games fit in a cell", p.N, MaxN)
	case p.Seed < 0 || p.Seed > maxSeed:
		return fmt.Errorf("seed is %d: choose one from 0 to %d", p.Seed, int64(maxSeed))
	}
	return p.validateShard()
}

func (p Plan) validateReasoned() error {
	seen := map[string]bool{}
	for _, label := range p.Reasoned {
		lang, reason := SplitLabel(label)
		if err := distinct("language", []string{reason}); err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
		switch {
		case !slices.Contains(p.Langs, lang):
			return fmt.Errorf("%s: its interface %q is none of the languages", label, lang)
		case reason == lang:
			return fmt.Errorf("%s is %s itself: name another language to reason in", label, lang)
		case seen[label]:
			return fmt.Errorf("%s is given twice", label)
		case len(p.Langs) < 2 && len(p.Opponents) == 0:
			return fmt.Errorf("%s has nobody to play: name a second language", label)
		}
		seen[label] = true
	}
	return nil
}

// distinct checks a list of names that become parts of a job's ID, in which
// '/' and, between two labels, '-' are separators, while '+' is within a label
// and '@' before an opponent.
func distinct(what string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("no %s given: name at least one", what)
	}
	bad := "/ \t\n"
	if what == "language" {
		bad += "-+@"
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

// Labels are the languages, then the reasoned labels.
func (p Plan) Labels() []string { return slices.Concat(p.Langs, p.Reasoned) }

// Len is the number of games of the plan, of its shard if that is one.
func (p Plan) Len() int { return p.below(len(p.Games)) }

// LenOf is how many of them are of one game, given by its place in Games.
func (p Plan) LenOf(game int) int { return p.below(game+1) - p.below(game) }

// below is how many are of the first games.
func (p Plan) below(games int) int {
	cells := games * len(p.pairs())
	if p.ByCell {
		return p.Shard.below(cells) * p.N * 2
	}
	return p.Shard.below(cells*p.N) * 2
}

// dealt is the number of what is dealt to shards, see Shard, for an index of a
// cell, which is counted over all games.
func (p Plan) dealt(cell, index int) int {
	if p.ByCell {
		return cell
	}
	return cell*p.N + index
}

// has says whether the shard has an index of a cell.
func (p Plan) has(cell, index int) bool { return p.Shard.has(p.dealt(cell, index)) }

// Jobs yields the games in plan order: by game, then index, then cell, then
// role. The index comes before the cell so that a run stopped early has played
// every cell of a game about equally often.
func (p Plan) Jobs() iter.Seq[scheduler.Job] {
	return func(yield func(scheduler.Job) bool) {
		for _, job := range p.placed() {
			if !yield(job) {
				return
			}
		}
	}
}

// placed yields the games with their places in the order of the whole plan, which
// are the same in every shard.
func (p Plan) placed() iter.Seq2[int, scheduler.Job] {
	return func(yield func(int, scheduler.Job) bool) {
		pairs := p.pairs()
		for g, game := range p.Games {
			for index := range p.N {
				for c, pair := range pairs {
					if !p.has(g*len(pairs)+c, index) {
						continue
					}
					for role := range 2 {
						if !yield(((g*p.N+index)*len(pairs)+c)*2+role, p.job(game, index, pair, role)) {
							return
						}
					}
				}
			}
		}
	}
}

// A pair is a cell of any game.
type pair struct {
	labels   [2]string
	opponent string
}

// pairs are the cells that each game has, in plan order.
func (p Plan) pairs() (pairs []pair) {
	for _, opponent := range p.Opponents {
		for _, label := range p.Labels() {
			lang, _ := SplitLabel(label) // nobody tells a policy how to reason
			pairs = append(pairs, pair{[2]string{label, lang}, opponent})
		}
	}
	if len(p.Opponents) > 0 {
		return pairs
	}
	for i, a := range p.Langs {
		for _, b := range p.Langs[i:] {
			pairs = append(pairs, pair{labels: [2]string{a, b}})
		}
	}
	for _, label := range p.Reasoned {
		own, _ := SplitLabel(label)
		for _, lang := range p.Langs {
			if lang != own {
				pairs = append(pairs, pair{labels: [2]string{lang, label}})
			}
		}
	}
	return pairs
}

// job makes one game of the plan. Its ID and seed hold nothing of the other
// games, labels or of n, so the same game of a larger plan plays the same.
func (p Plan) job(game string, index int, c pair, role int) scheduler.Job {
	names, suffix := c.labels, ""
	if c.opponent != "" {
		names[1] = "@" + strings.TrimPrefix(c.opponent, builtinPrefix)
	}
	j := scheduler.Job{Game: game, Langs: c.labels, Role: role, Index: index, Seed: p.Seed*MaxN + int64(index), Players: [2]string{"", c.opponent}}
	if role == 1 {
		if names[0] == names[1] {
			suffix = "r" // the mirrored half of a same-language cell
		}
		swap(&names)
		swap(&j.Langs)
		swap(&j.Players)
	}
	j.ID = game + "/" + names[0] + "-" + names[1] + "/" + strconv.Itoa(index) + suffix
	return j
}

// builtinPrefix is how the names of policies begin.
const builtinPrefix = "builtin:"

func swap(two *[2]string) { two[0], two[1] = two[1], two[0] }

// pairOf is the cell of a job, whose game it does not look at.
func pairOf(j scheduler.Job) pair {
	c := pair{labels: j.Langs, opponent: j.Players[1]}
	if j.Role == 1 {
		c.opponent = j.Players[0]
		swap(&c.labels)
	}
	return c
}

// positions returns a function that finds a job's place, see placed, and refuses a
// job that is not of this plan or its shard.
func (p Plan) positions() func(scheduler.Job) (int, error) {
	pairs := p.pairs()
	gameAt, pairAt := map[string]int{}, map[pair]int{}
	for i, game := range p.Games {
		gameAt[game] = i
	}
	for i, pair := range pairs {
		pairAt[pair] = i
	}
	return func(j scheduler.Job) (int, error) {
		pair := pairOf(j)
		g, okGame := gameAt[j.Game]
		c, okPair := pairAt[pair]
		if !okGame || !okPair || j.Index < 0 || j.Index >= p.N || j != p.job(j.Game, j.Index, pair, j.Role) {
			return 0, fmt.Errorf("game %q is not of this run's plan", j.ID)
		}
		if !p.has(g*len(pairs)+c, j.Index) {
			return 0, fmt.Errorf("game %q is not of shard %s", j.ID, p.Shard)
		}
		return ((g*p.N+j.Index)*len(pairs)+c)*2 + j.Role, nil
	}
}
