package locales

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"selfplay/locales/tier"
)

// What is known of how good a set's languages are stands beside the common
// strings: in a record of our own, and in TextArena's, which is read as it is. Of
// a language that both name ours counts.
const (
	RecordFile     = "_confidence"        // see package tier
	confidenceFile = "_trackb_confidence" // TextArena's
)

// Tiers of a language beside those of package tier.
const (
	Certified = "CERTIFIED" // as TextArena's record has it

	Source     = "source"     // English, which the others are translated from
	Unreviewed = "unreviewed" // built in: no native speaker has reviewed it
	Unrecorded = "unrecorded" // the set has no record of it
	Changed    = "changed"    // the record is of other files
)

// A Confidence is what is known about the quality of one language.
type Confidence struct {
	Lang     string       `json:"lang"`
	Name     string       `json:"name,omitempty"`
	Tier     string       `json:"tier"`
	Fidelity *float64     `json:"fidelity_pct,omitempty"` // of the texts judged right, in our record before any was left in English, in TextArena's after repair
	Coverage *float64     `json:"coverage_pct,omitempty"` // of the texts in the language
	Fallback *float64     `json:"fallback_pct,omitempty"` // of the texts left in English
	English  int          `json:"english_texts,omitempty"`
	Flagged  []string     `json:"flagged_games,omitempty"` // games with faults that are known and remain
	Record   *tier.Record `json:"record,omitempty"`        // ours, in full
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

// ours reads our record; a set without one has an empty record.
func (s *Set) ours() (map[string]tier.Record, error) {
	if !s.has(Common, RecordFile) {
		return nil, nil
	}
	data, err := s.read(Common, RecordFile)
	if err != nil {
		return nil, err
	}
	records, err := tier.Parse(data)
	if err != nil {
		_, shown := s.file(Common, RecordFile)
		return nil, fmt.Errorf("locales: %s: %w", shown, err)
	}
	return records, nil
}

// recorded is what our record says of a language, if it is of the files there.
func (s *Set) recorded(lang string, r tier.Record) (Confidence, error) {
	now, err := s.HashOf(lang)
	if err != nil {
		return Confidence{}, err
	}
	known := func(percent float64, ok bool) *float64 {
		if !ok {
			return nil
		}
		return &percent
	}
	c := Confidence{Lang: lang, Name: r.Name, Tier: string(r.Tier), English: r.English, Flagged: r.Flagged, Record: &r,
		Fidelity: known(r.Fidelity()), Coverage: known(r.Coverage()), Fallback: known(r.Fallback())}
	if now != r.SHA256 {
		c.Tier = Changed
	}
	return c, nil
}

// theirs reads TextArena's record; a set without one has an empty record.
func (s *Set) theirs() (map[string]confidenceEntry, error) {
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
	ours, err := s.ours()
	if err != nil {
		return nil, err
	}
	theirs, err := s.theirs()
	if err != nil {
		return nil, err
	}
	known := make([]Confidence, len(langs))
	for i, lang := range langs {
		c := Confidence{Lang: lang, Tier: Unrecorded}
		if r, ok := ours[lang]; ok {
			if c, err = s.recorded(lang, r); err != nil {
				return nil, err
			}
		} else if e, ok := theirs[lang]; ok {
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
	var reasons []string
	named := make(map[string][]string)
	for _, c := range known {
		if c.Tier == Certified || c.Tier == Source || c.Tier == string(tier.A) {
			continue
		}
		name := c.Lang + shares(c)
		if at := flaggedIn(c, games); len(at) > 0 {
			name += " (faults known in " + strings.Join(at, ", ") + ")"
		}
		why := meaning(c)
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		if !slices.Contains(named[why], name) {
			named[why] = append(named[why], name)
		}
	}
	var parts []string
	for _, why := range reasons {
		parts = append(parts, strings.Join(named[why], ", ")+": "+why)
	}
	return strings.Join(parts, "; "), nil
}

// shares puts in brackets what our record has counted.
func shares(c Confidence) string {
	switch {
	case c.Record == nil || c.Fallback == nil:
		return ""
	case c.Fidelity == nil:
		return fmt.Sprintf(" (%.0f%% left in English)", math.Ceil(*c.Fallback))
	}
	return fmt.Sprintf(" (%.0f%% judged right, %.0f%% left in English)", math.Floor(*c.Fidelity), math.Ceil(*c.Fallback))
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
func meaning(c Confidence) string {
	switch c.Tier {
	case string(tier.B), string(tier.C), string(tier.E):
		if c.Fidelity == nil {
			return "tier " + c.Tier + ", translated by machines, judged by nobody"
		}
		return "tier " + c.Tier + ", translated and judged by machines, reviewed by no native speaker"
	case Changed:
		return "changed since their record was written"
	case Unreviewed:
		return "built in, reviewed by no native speaker"
	case Unrecorded:
		return "no record of their quality"
	}
	return c.Tier
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
	Games  []string `json:"games"`
	SHA256 string   `json:"sha256"` // of its files as they are, for a record of them
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
	games := s.Games()
	for _, game := range games {
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
		sum, err := s.hashOf(games, lang)
		if err != nil {
			return nil, err
		}
		l.Langs = append(l.Langs, ListedLang{known[i], append([]string{}, played[lang]...), sum})
	}
	return l, nil
}
