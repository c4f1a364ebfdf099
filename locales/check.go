package locales

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check compares a locale file with the same set's English one and names what a
// translator has to correct: keys that are missing or not known, texts whose
// placeholders differ, texts that are empty.
func (s *Set) Check(game, lang string) ([]string, error) {
	english, err := s.leaves(game, "en")
	if err != nil {
		return nil, err
	}
	texts, err := s.leaves(game, lang)
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, key := range slices.Sorted(maps.Keys(english)) {
		text, ok := texts[key]
		switch want, got := placeholders(english[key]), placeholders(text); {
		case !ok:
			faults = append(faults, fmt.Sprintf("key %s: missing", key))
		case strings.TrimSpace(text) == "" && english[key] != "":
			faults = append(faults, fmt.Sprintf("key %s: empty", key))
		case !slices.Equal(want, got):
			faults = append(faults, fmt.Sprintf("key %s: has the placeholders %v, the English text has %v", key, got, want))
		default:
			if _, err := parse(text, got); err != nil {
				faults = append(faults, fmt.Sprintf("key %s: %v", key, err))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if _, ok := english[key]; !ok {
			faults = append(faults, fmt.Sprintf("key %s: not in the English file", key))
		}
	}
	return faults, nil
}

// leaves maps each dotted key of a file to its text. Names that start with "_"
// at the top are notes to translators.
func (s *Set) leaves(game, lang string) (map[string]string, error) {
	tree, err := s.tree(game, lang)
	if err != nil {
		return nil, err
	}
	leaves := make(map[string]string)
	var walk func(prefix string, node any) error
	walk = func(prefix string, node any) error {
		switch node := node.(type) {
		case string:
			leaves[prefix] = node
		case map[string]any:
			for name, child := range node {
				if err := walk(prefix+"."+name, child); err != nil {
					return err
				}
			}
		default:
			_, shown := s.file(game, lang)
			return fmt.Errorf("locales: %s: key %s: not a string; put the text in quotes", shown, prefix)
		}
		return nil
	}
	for name, child := range tree {
		if strings.HasPrefix(name, "_") {
			continue
		}
		if err := walk(name, child); err != nil {
			return nil, err
		}
	}
	return leaves, nil
}

// placeholders lists the distinct names in braces, in alphabetical order.
func placeholders(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "{{", ""), "}}", "")
	var names []string
	for {
		_, rest, ok := strings.Cut(text, "{")
		name, rest, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			slices.Sort(names)
			return slices.Compact(names)
		}
		names = append(names, name)
		text = rest
	}
}
