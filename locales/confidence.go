package locales

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// confidenceFile is the name of a set's record of how good its languages are,
// beside the common strings. TextArena's is read as it is.
const confidenceFile = "_trackb_confidence"

// Tiers of a language.
const (
	Certified = "CERTIFIED" // as the record has it

	Source     = "source"     // English, which the others are translated from
	Unreviewed = "unreviewed" // built in: no native speaker has reviewed it
	Unrecorded = "unrecorded" // the set has no record of it
)

// A Confidence is what is known about the quality of one language.
type Confidence struct {
	Lang     string   `json:"lang"`
	Name     string   `json:"name,omitempty"`
	Tier     string   `json:"tier"`
	Fidelity *float64 `json:"fidelity_pct,omitempty"` // of the texts judged right, after repair
	Coverage *float64 `json:"coverage_pct,omitempty"` // of the texts in the language
	English  int      `json:"english_texts,omitempty"`
	Flagged  []string `json:"flagged_games,omitempty"` // games with faults that are known and remain
}

// confidenceEntry is a language in the record's file.
type confidenceEntry struct {
	Name     string   `json:"name"`
	Tier     string   `json:"tier"`
	Fidelity *float64 `json:"post_repair_fidelity_pct"`
	Coverage *float64 `json:"target_coverage_pct"`
	English  int      `json:"english_fallback_leaves"`
	Flagged  []string `json:"flagged_games"`
}

// has reports whether a set has a file at all.
func (s *Set) has(game, lang string) bool {
	inside, _ := s.file(game, lang)
	_, err := fs.Stat(s.files, inside)
	return err == nil
}

// record reads the set's record; a set without one has an empty record.
func (s *Set) record() (map[string]confidenceEntry, error) {
	if !s.has(Common, confidenceFile) {
		return nil, nil
	}
	data, err := s.read(Common, confidenceFile)
	if err != nil {
		return nil, err
	}
	_, shown := s.file(Common, confidenceFile)
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("locales: %s is not a JSON object: %w; correct the file", shown, oneLine(err))
	}
	record := make(map[string]confidenceEntry, len(raw))
	for lang, value := range raw {
		if strings.HasPrefix(lang, "_") {
			continue
		}
		var e confidenceEntry
		if err := json.Unmarshal(value, &e); err != nil || e.Tier == "" {
			return nil, fmt.Errorf("locales: %s: language %q: not an entry with a tier; correct the file", shown, lang)
		}
		record[lang] = e
	}
	return record, nil
}

// Confidence says what is known about languages, in their order.
func (s *Set) Confidence(langs []string) ([]Confidence, error) {
	record, err := s.record()
	if err != nil {
		return nil, err
	}
	known := make([]Confidence, len(langs))
	for i, lang := range langs {
		c := Confidence{Lang: lang, Tier: Unrecorded}
		if e, ok := record[lang]; ok {
			c = Confidence{Lang: lang, Name: e.Name, Tier: e.Tier, Fidelity: e.Fidelity, Coverage: e.Coverage, English: e.English, Flagged: e.Flagged}
		} else if lang == english {
			c.Tier = Source
		} else if s == Embedded() {
			c.Tier = Unreviewed
		}
		known[i] = c
	}
	return known, nil
}

// Doubts names, on one line, the languages of a run that nobody has certified,
// and why; "" if there are none.
func (s *Set) Doubts(games, langs []string) (string, error) {
	known, err := s.Confidence(langs)
	if err != nil {
		return "", err
	}
	var tiers []string
	named := make(map[string][]string)
	for _, c := range known {
		if c.Tier == Certified || c.Tier == Source {
			continue
		}
		name := c.Lang
		if at := flaggedIn(c, games); len(at) > 0 {
			name += " (faults known in " + strings.Join(at, ", ") + ")"
		}
		if !slices.Contains(tiers, c.Tier) {
			tiers = append(tiers, c.Tier)
		}
		if !slices.Contains(named[c.Tier], name) {
			named[c.Tier] = append(named[c.Tier], name)
		}
	}
	var parts []string
	for _, tier := range tiers {
		parts = append(parts, strings.Join(named[tier], ", ")+": "+meaning(tier))
	}
	return strings.Join(parts, "; "), nil
}

func flaggedIn(c Confidence, games []string) (flagged []string) {
	for _, g := range games {
		if slices.Contains(c.Flagged, g) {
			flagged = append(flagged, g)
		}
	}
	return flagged
}

// meaning puts a tier in words.
func meaning(tier string) string {
	switch tier {
	case Unreviewed:
		return "built in, reviewed by no native speaker"
	case Unrecorded:
		return "no record of their quality"
	}
	return tier
}

// A Listing says which languages and games a set has.
type Listing struct {
	Source string       `json:"source"`
	Langs  []ListedLang `json:"languages"`
	Games  []ListedGame `json:"games"`
}

// A ListedLang is a language and the games that can be played in it.
type ListedLang struct {
	Confidence
	Games []string `json:"games"`
}

// A ListedGame is a game and the languages that it can be played in.
type ListedGame struct {
	Game  string   `json:"game"`
	Langs []string `json:"languages"`
}

// List says what is there.
func (s *Set) List() (*Listing, error) {
	l := &Listing{Source: s.name, Langs: []ListedLang{}, Games: []ListedGame{}}
	played := make(map[string][]string)
	for _, game := range s.Games() {
		langs := s.Langs(game)
		l.Games = append(l.Games, ListedGame{game, langs})
		for _, lang := range langs {
			played[lang] = append(played[lang], game)
		}
	}
	langs := s.fileLangs(Common)
	known, err := s.Confidence(langs)
	if err != nil {
		return nil, err
	}
	for i, lang := range langs {
		l.Langs = append(l.Langs, ListedLang{known[i], append([]string{}, played[lang]...)})
	}
	return l, nil
}
