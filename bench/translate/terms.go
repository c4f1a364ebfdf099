package translate

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"selfplay/locales/mask"
)

// mostTerms keeps a glossary readable.
const mostTerms = 12

var (
	names     = regexp.MustCompile(`\p{Lu}\p{Ll}+(?:['’]\p{Ll}{2,})?(?: \p{Lu}\p{Ll}+(?:['’]\p{Ll}{2,})?)*`)
	sentinels = regexp.MustCompile(`「\d+」`)
)

// termsOf are the names in a game's texts that must be the same wherever they
// stand: of the game, its roles and marks. These are words with a capital within
// a sentence, and short texts that stand in others, too.
func termsOf(texts []Text) []string {
	var masked []string
	found := make(map[string]bool)
	for _, t := range texts {
		m := mask.Mask(t.English).Text
		masked = append(masked, m)
		for _, at := range names.FindAllStringIndex(m, -1) {
			if isSentence(m) && insideSentence(m[:at[0]]) {
				found[m[at[0]:at[1]]] = true
			}
		}
		label := strings.TrimSpace(sentinels.ReplaceAllString(m, ""))
		if isLabel(label) {
			found[label] = true
		}
	}
	maps.DeleteFunc(found, func(term string, _ bool) bool { return slices.ContainsFunc(strings.Fields(term), isNoName) })
	count := make(map[string]int)
	for term := range found {
		for _, m := range masked {
			if hasWord(m, term) {
				count[term]++
			}
		}
	}
	terms := slices.DeleteFunc(slices.Sorted(maps.Keys(count)), func(term string) bool { return count[term] < 2 })
	slices.SortStableFunc(terms, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	return terms[:min(len(terms), mostTerms)]
}

// isNoName says whether a word is none of a name, wherever a text writes it with a
// capital.
func isNoName(word string) bool {
	return slices.Contains([]string{"A", "An", "And", "But", "Each", "If", "Invalid", "It", "No", "Not", "Or", "Please", "Since", "The", "Then", "They", "This", "When", "You", "Your"}, word)
}

// isSentence says whether a text is longer than a name: of Three of a Kind no word is
// a name of its own.
func isSentence(text string) bool { return len(strings.Fields(text)) > 4 }

// insideSentence says whether a sentence goes on behind what is in front.
func insideSentence(front string) bool {
	lead := strings.TrimRight(front, " ")
	last, _ := utf8.DecodeLastRuneInString(lead)
	return lead != front && (unicode.IsLetter(last) || last == ',')
}

// isLabel says whether a text is a name: up to three words of letters, the first
// with a capital.
func isLabel(text string) bool {
	words := strings.Fields(text)
	first, _ := utf8.DecodeRuneInString(text)
	return len(words) > 0 && len(words) <= 3 && unicode.IsUpper(first) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' })
}

// hasWord says whether a text has a term as words of their own.
func hasWord(text, term string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], term)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		after, _ := utf8.DecodeRuneInString(text[at+i+len(term):])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return true
		}
		at += i + len(term)
	}
}

// A Term is a name and what it is called in the language.
type Term struct{ English, Called string }

// A Glossary is that of one game.
type Glossary []Term

// in are the terms that stand in a text.
func (g Glossary) in(text string) (terms Glossary) {
	for _, t := range g {
		if hasWord(text, t.English) {
			terms = append(terms, t)
		}
	}
	return terms
}

// isCalled says whether a text has a term as the glossary calls it. Languages
// change words at both ends: three fifths of the letters of a word of it are enough.
func (t Term) isCalled(text string) bool {
	text = strings.ToLower(text)
	for _, word := range strings.Fields(strings.ToLower(t.Called)) {
		letters := []rune(word)
		n := max(min(2, len(letters)), (3*len(letters)+4)/5)
		for i := 0; i+n <= len(letters); i++ {
			if strings.Contains(text, string(letters[i:i+n])) {
				return true
			}
		}
	}
	return false
}
