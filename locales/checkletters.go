package locales

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// checkInvisible looks for characters that nobody sees.
func (c *textCheck) checkInvisible() {
	runes := []rune(c.text)
	var told []rune
	for i, r := range runes {
		if r < 0x7f && r >= ' ' || r == '\n' || !isInvisible(r) || mayBeInvisible(runes, i) || slices.Contains(told, r) {
			continue
		}
		if r == '\t' && strings.ContainsRune(c.original.text, '\t') {
			continue
		}
		told = append(told, r)
		severity := Error
		if unicode.Is(unicode.Bidi_Control, r) && r < '\u202a' {
			severity = Warning // marks that many writers set; they only spoil what is copied
		}
		c.find(KindInvisible, severity, "%U, %s, after %q; remove it", r, describe(r), excerptBefore(runes, i))
	}
}

// isInvisible reports whether a character leaves no mark of its own.
func isInvisible(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u3164', '\uffa0', '\ufffd':
		return true
	}
	return !unicode.IsGraphic(r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

func describe(r rune) string {
	switch {
	case r == '\u200b' || r == '\u2060':
		return "a space without width"
	case r == '\u200c' || r == '\u200d':
		return "a joiner where nothing joins"
	case r == '\u00ad':
		return "a soft hyphen"
	case r == '\ufeff':
		return "a byte order mark"
	case r == '\ufffd':
		return "the mark of a character that was lost"
	case unicode.Is(unicode.Bidi_Control, r):
		return "a mark of the writing direction"
	case unicode.Is(unicode.Co, r):
		return "a private character"
	case unicode.IsControl(r):
		return "a control character"
	case r == '\u2028' || r == '\u2029':
		return "a line separator; use a line break"
	case unicode.Is(unicode.Cn, r):
		return "no character at all"
	}
	return "an invisible character"
}

// Joiners shape the letters of these scripts, and a space without width parts
// words in those.
var (
	joining = []*unicode.RangeTable{unicode.Arabic, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
		unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Meetei_Mayek}
	unspaced = []*unicode.RangeTable{unicode.Khmer, unicode.Lao, unicode.Thai, unicode.Myanmar, unicode.Tibetan}
)

// mayBeInvisible reports whether the script around it needs the character.
func mayBeInvisible(runes []rune, i int) bool {
	before, after := rune(' '), rune(' ')
	if i > 0 {
		before = runes[i-1]
	}
	if i+1 < len(runes) {
		after = runes[i+1]
	}
	switch runes[i] {
	case '\u200c', '\u200d':
		return unicode.In(before, joining...) && !isInvisible(after) || runes[i] == '\u200d' && unicode.In(before, unicode.So, unicode.Variation_Selector)
	case '\u200b':
		return unicode.In(before, unspaced...) || unicode.In(after, unspaced...)
	}
	return false
}

func excerptBefore(runes []rune, i int) string {
	return strings.Join(strings.Fields(string(runes[max(0, i-12):i])), " ")
}

// checkLetters goes through the words. Of a kind of fault the first is named.
func (c *textCheck) checkLetters() {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }
	var mixed, foreign wordFault
	for word := range strings.FieldsFuncSeq(c.prose, func(r rune) bool { return !isWord(r) }) {
		if isASCII(word) {
			continue
		}
		if letter := mixedIn(word); letter != 0 && !c.isEnding(word) {
			mixed.add(word, letter)
		} else if letter := foreignIn(word, c.scripts); letter != 0 && !strings.Contains(c.original.text, word) {
			foreign.add(word, letter)
		}
	}
	if m := mixed; m.n > 0 {
		c.find(KindLookAlike, Error, "%s mixes two scripts: %c is %s (%U); write each word in one", m.words(), m.letter, scriptName(m.letter), m.letter)
	}
	if f := foreign; f.n > 0 {
		c.find(KindScript, Warning, "%s is not written as the language is: %c is %s; write it in %s", f.words(), f.letter, scriptName(f.letter), c.scripts[0].name)
	}
}

// A wordFault counts the words that have the same fault.
type wordFault struct {
	n      int
	word   string // the first
	letter rune   // what is wrong in it
}

func (w *wordFault) add(word string, letter rune) {
	if w.n++; w.n == 1 {
		w.word, w.letter = word, letter
	}
}

func (w *wordFault) words() string {
	if w.n == 1 {
		return strconv.Quote(w.word)
	}
	return fmt.Sprintf("%q (and %d more)", w.word, w.n-1)
}

// isEnding reports whether a word is an English one, such as a name or a mark,
// with an ending of the language joined to it. The English text may have the
// plural.
func (c *textCheck) isEnding(word string) bool {
	at := strings.IndexFunc(word, func(r rune) bool { return !unicode.Is(unicode.Latin, r) })
	if at <= 0 || strings.ContainsFunc(word[at:], func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
		return false
	}
	noLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	for w := range strings.FieldsFuncSeq(c.original.text, noLetter) {
		if strings.EqualFold(w, word[:at]) || strings.EqualFold(w, word[:at]+"s") {
			return true
		}
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// foreignIn gives a letter that a language is not written in, 0 for none.
func foreignIn(word string, scripts []script) rune {
	for _, r := range word {
		if len(scripts) > 0 && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) && !in(r, scripts) && scriptName(r) != "" {
			return r
		}
	}
	return 0
}

// mixable are the scripts of which some letters look alike.
var mixable = [...]script{latin, cyrillic, greek, armenian}

// mixedIn gives a letter of the rarer script in a word of two, 0 for others.
func mixedIn(word string) (letter rune) {
	var n [len(mixable)]int
	var first [len(mixable)]rune
	for _, r := range word {
		for s := range mixable {
			if unicode.Is(mixable[s].letters, r) {
				if n[s]++; n[s] == 1 {
					first[s] = r
				}
			}
		}
	}
	most := 0
	for s := range n {
		if n[s] > n[most] {
			most = s
		}
	}
	for s := range n {
		if s != most && n[s] > 0 {
			letter = first[s]
		}
	}
	return letter
}

// englishRun is how many words in a row, as in the English text, can no longer
// be a name.
const englishRun = 5

// isEnglish reports whether a word is certainly English. A row of others may be
// a name, or a format to keep.
func isEnglish(word string) bool {
	return slices.Contains([]string{"and", "are", "from", "has", "have", "must", "not", "that", "the", "there", "they", "this", "to", "with", "you", "your"}, word)
}

// checkEnglish looks for what was left in English.
func (c *textCheck) checkEnglish() {
	if c.lang == english || len(c.words) < englishRun {
		return
	}
	words := wordsOf(c.prose)
	for i, w := range words {
		for _, j := range c.starts[w] {
			if n := commonRun(words[i:], c.words[j:]); n >= englishRun && slices.ContainsFunc(words[i:i+n], isEnglish) {
				c.find(KindEnglish, Warning, "%q is English; translate it", excerpt(strings.Join(words[i:i+n], " "), 0))
				return
			}
		}
	}
}

func wordsOf(prose string) []string { return strings.Fields(strings.ToLower(prose)) }

// commonRun is the number of words that two texts begin with. What has digits
// or quotes is a command.
func commonRun(a, b []string) (n int) {
	isPlain := func(w string) bool {
		return !strings.ContainsAny(w, "0123456789\"'`") && strings.ContainsFunc(w, unicode.IsLetter)
	}
	for n < len(a) && n < len(b) && a[n] == b[n] && isPlain(a[n]) {
		n++
	}
	return n
}
