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
	if slices.EqualFunc(words, c.words, sameWord) && c.isSentence() {
		c.leftEnglish(words)
		return
	}
	sure := make([]int, len(words)+1) // how many before a word are certainly English
	for i, w := range words {
		sure[i+1] = sure[i]
		if isEnglish(w.text) {
			sure[i+1]++
		}
	}
	for i, w := range words {
		for _, j := range c.starts[w.text] {
			if i > 0 && j > 0 && commonRun(words[i-1:i], c.words[j-1:j]) > 0 {
				continue // within a row that was looked at
			}
			if n := commonRun(words[i:], c.words[j:]); n >= englishRun && sure[i+n] > sure[i] {
				c.leftEnglish(words[i : i+n])
				return
			}
		}
	}
}

func (c *check) leftEnglish(row []word) {
	at := span{from: row[0].from, to: row[len(row)-1].to}
	c.find(English, Warning, at, "%q is English; translate it", Excerpt(c.prose[at.from:at.to], 0))
}

func sameWord(a, b word) bool { return a.text == b.text }

// isSentence reports whether the English text is more than names and numbers, and
// more than one word, which languages may share: one of them is all in small
// letters.
func (c *check) isSentence() bool {
	words, small := 0, false
	prose := proseOf(c.Original.text)
	for _, w := range c.words {
		letters := strings.TrimFunc(prose[w.from:w.to], func(r rune) bool { return !unicode.IsLetter(r) })
		if letters != "" {
			words++
		}
		small = small || len(letters) > 2 && strings.IndexFunc(letters, func(r rune) bool { return !unicode.IsLower(r) }) < 0
	}
	return words > 1 && small
}

// A word is one in lower case, with the punctuation at it.
type word = span

func wordsOf(prose string) (words []word) {
	for w := range fields(prose, func(r rune) bool { return !unicode.IsSpace(r) }) {
		words = append(words, word{strings.ToLower(w.text), w.from, w.to})
	}
	return words
}

// These bound the search in texts that repeat themselves.
const (
	mostPlaces = 50 // of one word in the English text
	longestRun = 50
)

// commonRun is the number of words that two texts begin with. What has digits
// or quotes is a command.
func commonRun(a, b []word) (n int) {
	isPlain := func(w string) bool {
		return !strings.ContainsAny(w, "0123456789\"'`") && strings.ContainsFunc(w, unicode.IsLetter)
	}
	for n < min(len(a), len(b), longestRun) && a[n].text == b[n].text && isPlain(a[n].text) {
		n++
	}
	return n
}
