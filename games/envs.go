package games

import (
	"fmt"
	"slices"
	"strings"

	"selfplay/locales"
)

// A Spec is a game with its parameters set, as TextArena registers it.
type Spec struct {
	ID   string // such as Nim-v0-large
	Game string // the rules, and the folder of its strings: Nim

	Solved bool // perfect play is known: its games are of the interface Solved

	messages []locales.Message
	wrap     func(string) string
	start    func(s setting, seed int64) Game
}

const solved, unsolved = true, false

var specs = []Spec{
	{"TicTacToe-v0", "TicTacToe", solved, ticTacToeMessages, inBrackets, newTicTacToe},
	{"Nim-v0", "Nim", solved, nimMessages, inBrackets, nimOf(3, 4, 5)},
	{"Nim-v0-medium", "Nim", solved, nimMessages, inBrackets, nimOf(4, 2, 3, 7)},
	{"Nim-v0-large", "Nim", solved, nimMessages, inBrackets, nimOf(5, 7, 9, 11, 2)},
	{"SimpleTak-v0", "SimpleTak", solved, takMessages, inBrackets, takOf(4)},
	{"SimpleTak-v0-medium", "SimpleTak", unsolved, takMessages, inBrackets, takOf(5)},
	{"SimpleTak-v0-large", "SimpleTak", unsolved, takMessages, inBrackets, takOf(6)},
	{"SimpleTak-v0-extreme", "SimpleTak", unsolved, takMessages, inBrackets, takOf(8)},
	{"ColonelBlotto-v0-small", "ColonelBlotto", unsolved, blottoMessages, inBrackets, blottoOf(3, 20, 5)},
	{"ColonelBlotto-v0", "ColonelBlotto", unsolved, blottoMessages, inBrackets, blottoOf(3, 20, 9)},
	{"ColonelBlotto-v0-large", "ColonelBlotto", unsolved, blottoMessages, inBrackets, blottoOf(5, 50, 15)},
	{"ColonelBlotto-v0-extreme", "ColonelBlotto", unsolved, blottoMessages, inBrackets, blottoOf(7, 75, 25)},
	{"KuhnPoker-v0", "KuhnPoker", solved, kuhnMessages, inBrackets, kuhnOf(3)},
	{"KuhnPoker-v0-short", "KuhnPoker", solved, kuhnMessages, inBrackets, kuhnOf(5)},
	{"KuhnPoker-v0-medium", "KuhnPoker", solved, kuhnMessages, inBrackets, kuhnOf(9)},
	{"KuhnPoker-v0-long", "KuhnPoker", solved, kuhnMessages, inBrackets, kuhnOf(15)},
	{"KuhnPoker-v0-extreme", "KuhnPoker", solved, kuhnMessages, inBrackets, kuhnOf(25)},
	{"IteratedPrisonersDilemma-v0", "IteratedPrisonersDilemma", unsolved, ipdMessages, clipped, ipdOf(10)},
	{"IteratedPrisonersDilemma-v0-short", "IteratedPrisonersDilemma", unsolved, ipdMessages, clipped, ipdOf(5)},
}

// Names lists the environment ids.
func Names() []string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.ID
	}
	return names
}

// Lookup finds an environment by its id, or by the name of its game, which
// means the variant without a suffix: TicTacToe is TicTacToe-v0.
func Lookup(name string) (Spec, error) {
	for _, id := range []string{name, name + "-v0"} {
		if i := slices.IndexFunc(specs, func(s Spec) bool { return s.ID == id }); i >= 0 {
			return specs[i], nil
		}
	}
	return Spec{}, fmt.Errorf("games: unknown game %q; choose from: %s", name, strings.Join(Names(), ", "))
}

// New starts a match, each seat in its language. Everything random in it
// follows from seed alone.
func (s Spec) New(set *locales.Set, langs [2]string, seed int64) (Game, error) {
	t := setting{wrap: s.wrap}
	for seat, lang := range langs {
		var err error
		if t.texts[seat], err = set.Texts(s.Game, lang, s.messages); err != nil {
			return nil, err
		}
		if t.common[seat], err = set.Texts(locales.Common, lang, commonMessages); err != nil {
			return nil, err
		}
	}
	return s.start(t, seed), nil
}
