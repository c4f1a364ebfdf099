package locales

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// Hash is the sha256 of all files that the games need in these languages: two
// runs with the same hash showed their players the same strings.
func (s *Set) Hash(games, langs []string) (string, error) {
	h := sha256.New()
	for _, game := range append([]string{Common}, games...) {
		for _, lang := range langs {
			if err := s.addTo(h, game, lang); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// HashOf is the sha256 of all files of one language, and of the English ones that
// they are translated from. A confidence record holds it: files that were changed
// later are not the ones that it speaks of.
func (s *Set) HashOf(lang string) (string, error) { return s.hashOf(s.Games(), lang) }

func (s *Set) hashOf(games []string, lang string) (string, error) {
	h := sha256.New()
	for _, game := range append([]string{Common}, games...) {
		if !s.has(game, lang) {
			continue
		}
		if err := s.addTo(h, game, lang); err != nil {
			return "", err
		}
		if lang == english || !s.has(game, english) {
			continue
		}
		if err := s.addTo(h, game, english); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (s *Set) addTo(h hash.Hash, game, lang string) error {
	data, err := s.read(game, lang)
	if err == nil {
		fmt.Fprintf(h, "%s %s %d\n", game, lang, len(data))
		h.Write(data)
	}
	return err
}

// Name is what the set is called: embedded locales, or the folder.
func (s *Set) Name() string { return s.name }
