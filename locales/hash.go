package locales

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is the sha256 of all files that the games need in these languages: two
// runs with the same hash showed their players the same strings.
func (s *Set) Hash(games, langs []string) (string, error) {
	h := sha256.New()
	for _, game := range append([]string{Common}, games...) {
		for _, lang := range langs {
			data, err := s.read(game, lang)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %s %d\n", game, lang, len(data))
			h.Write(data)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// HashOf is the sha256 of all files of one language. A confidence record holds
// it: files that were changed later are not the ones that it speaks of.
func (s *Set) HashOf(lang string) (string, error) {
	var games []string
	for _, game := range s.Games() {
		if s.has(game, lang) {
			games = append(games, game)
		}
	}
	return s.Hash(games, []string{lang})
}

// Name is what the set is called: embedded locales, or the folder.
func (s *Set) Name() string { return s.name }
