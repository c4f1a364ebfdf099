package translate

import (
	"fmt"
	"slices"
	"strings"

	"selfplay/locales"
	"selfplay/locales/mask"
)

// A Text is one text that is to be translated.
type Text struct {
	Game    string // or locales.Common
	Key     string // dotted
	English string
}

// Empty says whether a text has no words to translate.
func (t Text) Empty() bool { return !mask.Mask(t.English).HasProse() }

const english = "en"

// TextsOf are the English texts of games, and those that all games share, in the
// order of the files.
func TextsOf(set *locales.Set, games []string) ([]Text, error) {
	var all []Text
	for _, game := range append(slices.Clone(games), locales.Common) {
		texts, err := set.Strings(game, english)
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			if t.Key == "" {
				return nil, fmt.Errorf("%s: %s/%s.json has a text without a key; give it one", set.Name(), game, english)
			}
			all = append(all, Text{game, t.Key, t.Text})
		}
	}
	return all, nil
}

// roles say what a text is for, by a word in its key.
var roles = []struct{ word, role string }{
	{"prompt", "the rules and aims that a player reads before the first move"},
	{"role", "the name of a role"},
	{"invalid", "told to a player whose move was refused"},
	{"format_error", "told to a player whose move was refused"},
	{"err", "told to a player whose move was refused"},
	{"outcome", "how the game or a round of it ended"},
	{"result", "how the game or a round of it ended"},
	{"showdown", "how the game or a round of it ended"},
	{"board", "a heading or a part of the board that is shown"},
	{"render", "a heading or a part of the board that is shown"},
	{"hand", "about the cards or pieces that a player holds"},
	{"action", "what a player did, as all are told"},
	{"act", "what a player did, as all are told"},
	{"state", "how the game stands"},
	{"round", "about a round of the game"},
	{"turn", "about whose turn it is"},
}

func roleOf(key string) string {
	for _, part := range strings.Split(strings.ToLower(key), ".") {
		for _, r := range roles {
			if strings.Contains(part, r.word) {
				return r.role
			}
		}
	}
	return "a message to the players"
}
