package verify

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkInvisible looks for characters that nobody sees.
func (c *check) checkInvisible() {
	runes := []rune(c.text)
	var told []rune
	i := -1
	for at, r := range c.text {
		i++
		if r < 0x7f && r >= ' ' || r == '\n' || !isInvisible(r) || mayBeInvisible(runes, i) || slices.Contains(told, r) {
			continue
		}
		if r == '\t' && strings.ContainsRune(c.Original.text, '\t') {
			continue
		}
		told = append(told, r)
		severity := Error
		if unicode.Is(unicode.Bidi_Control, r) && r < '\u202a' {
			severity = Warning // marks that many writers set; they only spoil what is copied
		}
		_, size := utf8.DecodeRuneInString(c.text[at:])
		c.find(Invisible, severity, span{from: at, to: at + size}, "%U, %s, after %q; remove it", r, describe(r), excerptBefore(runes, i))
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
func (c *check) checkLetters() {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }
	var mixed, foreign, other wordFault
	for w := range fields(c.prose, isWord) {
		word := w.text
		if isASCII(word) {
			continue
		}
		if letter := mixedIn(word); letter != 0 && !c.isEnding(word) {
			mixed.add(w, letter)
		} else if letter := foreignIn(word, c.scripts); letter != 0 && !strings.Contains(c.Original.text, word) {
			foreign.add(w, letter)
		} else if letter := c.otherStyle(word); letter != 0 {
			other.add(w, letter)
		}
	}
	if m := mixed; m.n > 0 {
		c.find(LookAlike, Error, m.first, "%s mixes two scripts: %c is %s (%U); write each word in one", m.words(), m.letter, scriptName(m.letter), m.letter)
	}
	if f := foreign; f.n > 0 {
		c.find(Script, Warning, f.first, "%s is not written as the language is: %c is %s; write it in %s", f.words(), f.letter, scriptName(f.letter), c.scripts[0].name)
	} else if o := other; o.n > 0 {
		c.find(Script, Warning, o.first, "%s is not written as the language is: %c is no %s character; write it in those", o.words(), o.letter, c.style.name)
	} else if w, ok := c.inLatin(); ok {
		c.find(Script, Warning, w, "%q is not written as the language is; write it in %s", Excerpt(w.text, 0), c.scripts[0].name)
	}
}

// otherStyle gives a Han character that is not of the language's style, 0 for none. The
// English text may show one.
func (c *check) otherStyle(word string) rune {
	for _, r := range word {
		if c.style != nil && c.style.foreign(r) && !strings.ContainsRune(c.Original.text, r) {
			return r
		}
	}
	return 0
}

// inLatin finds a word of a text that is all in Latin letters where the language has
// others: a transcription, or another language. Words of the English text are names.
func (c *check) inLatin() (word span, ok bool) {
	if len(c.scripts) == 0 || in('a', c.scripts) || strings.ContainsFunc(c.prose, func(r rune) bool { return in(r, c.scripts) }) {
		return span{}, false
	}
	english := strings.ToLower(c.Original.text)
	for w := range fields(c.prose, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
		if len(w.text) >= shortestWord && !strings.Contains(english, strings.ToLower(w.text)) {
			return w, true
		}
	}
	return span{}, false
}

// shortestWord has as many letters as are too many for a mark or a unit.
const shortestWord = 3

// A wordFault counts the words that have the same fault.
type wordFault struct {
	n      int
	first  span
	letter rune // what is wrong in it
}

func (w *wordFault) add(word span, letter rune) {
	if w.n++; w.n == 1 {
		w.first, w.letter = word, letter
	}
}

func (w *wordFault) words() string {
	if w.n == 1 {
		return strconv.Quote(w.first.text)
	}
	return fmt.Sprintf("%q (and %d more)", w.first.text, w.n-1)
}

// isEnding reports whether a word is an English one, such as a name or a mark,
// with an ending of the language joined to it. The English text may have the
// plural.
func (c *check) isEnding(word string) bool {
	at := strings.IndexFunc(word, func(r rune) bool { return !unicode.Is(unicode.Latin, r) })
	if at <= 0 || strings.ContainsFunc(word[at:], func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
		return false
	}
	noLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	for w := range strings.FieldsFuncSeq(c.Original.text, noLetter) {
		if strings.EqualFold(w, word[:at]) || strings.EqualFold(w, word[:at]+"s") {
			return true
		}
	}
	return false
}

// fields goes through the longest pieces of a text whose characters are all of
// one sort.
func fields(text string, is func(rune) bool) iter.Seq[span] {
	return func(yield func(span) bool) {
		for from := 0; from < len(text); {
			start := strings.IndexFunc(text[from:], is)
			if start < 0 {
				return
			}
			start += from
			from = len(text)
			if n := strings.IndexFunc(text[start:], func(r rune) bool { return !is(r) }); n >= 0 {
				from = start + n
			}
			if !yield(span{text[start:from], start, from}) {
				return
			}
		}
	}
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
