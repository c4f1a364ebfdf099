package verify

import (
	"slices"
	"strings"
	"unicode"
)

// englishRun is how many words in a row, as in the English text, can no longer
// be a name.
const englishRun = 5

// isEnglish reports whether a word is certainly English. A row of others may be
// a name, or a format to keep.
func isEnglish(word string) bool {
	return slices.Contains([]string{"and", "are", "from", "has", "have", "must", "not", "that", "the", "there", "they", "this", "to", "with", "you", "your"}, word)
}

// checkEnglish looks for what was left in English.
func (c *check) checkEnglish() {
	if c.Code == "en" || len(c.words) == 0 {
		return
	}
	words := wordsOf(c.prose)
	for i, w := range words {
		for _, j := range c.starts[w.text] {
			n := commonRun(words[i:], c.words[j:])
			row := words[i : i+n]
			long := n >= englishRun && slices.ContainsFunc(row, func(w word) bool { return isEnglish(w.text) })
			if long || n == len(words) && n == len(c.words) && c.isSentence() {
				at := span{from: row[0].from, to: row[n-1].to}
				c.find(English, Warning, at, "%q is English; translate it", Excerpt(c.prose[at.from:at.to], 0))
				return
			}
		}
	}
}

// isSentence reports whether the English text is more than names and numbers:
// in several words, one of them in small letters.
func (c *check) isSentence() bool {
	if len(c.words) < 2 {
		return false
	}
	prose := proseOf(c.Original.text)
	return slices.ContainsFunc(c.words, func(w word) bool {
		return len(w.text) > 2 && w.text == prose[w.from:w.to]
	})
}

// A word is one in lower case, with the punctuation at it.
type word = span

func wordsOf(prose string) (words []word) {
	for w := range fields(prose, func(r rune) bool { return !unicode.IsSpace(r) }) {
		words = append(words, word{strings.ToLower(w.text), w.from, w.to})
	}
	return words
}

// commonRun is the number of words that two texts begin with. What has digits
// or quotes is a command.
func commonRun(a, b []word) (n int) {
	isPlain := func(w string) bool {
		return !strings.ContainsAny(w, "0123456789\"'`") && strings.ContainsFunc(w, unicode.IsLetter)
	}
	for n < len(a) && n < len(b) && a[n].text == b[n].text && isPlain(a[n].text) {
		n++
	}
	return n
}
