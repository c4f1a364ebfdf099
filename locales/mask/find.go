package mask

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"selfplay/locales/verify"
)

// A Kind says what a hidden piece is.
type Kind string

const (
	Placeholder Kind = "placeholder" // {name}: the program puts a value there
	Brace       Kind = "brace"       // doubled or stray ones
	Action      Kind = "action"      // [in brackets]: what a player answers
	Code        Kind = "code"        // `in back-ticks`
	Command     Kind = "command"     // \boxed, and words in quotes where a text lists such: 'up', 'down', 'left'
	Label       Kind = "label"       // of a card, piece, field or square: K, 'X', A7
	Art         Kind = "art"         // a line of a drawing
	Corner      Kind = "corner"      // what looks like a sentinel itself
)

// A Span is a piece text[From:To] that must survive.
type Span struct {
	From, To int
	Kind     Kind
}

// Find lists the pieces of a text that must survive, in their order. Such that
// touch each other are one.
func Find(text string) (spans []Span) {
	listed := listsCommands(text)
	for at := 0; at < len(text); {
		size, kind := piece(text, at)
		if size == 0 && listed {
			size, kind = commandLen(text, at), Command
		}
		if size == 0 {
			at += skip(text[at:])
			continue
		}
		if last := len(spans) - 1; last >= 0 && spans[last].To == at {
			spans[last].To += size
		} else {
			spans = append(spans, Span{at, at + size, kind})
		}
		at += size
	}
	return spans
}

// skip is how far it is to where the next piece may begin: past one word, or
// past one other character.
func skip(s string) int {
	n := wordLen(s)
	if n == 0 {
		_, n = utf8.DecodeRuneInString(s)
	}
	return n
}

// piece is the length and kind of the piece that begins at a place, 0 for none.
func piece(text string, at int) (size int, kind Kind) {
	s := text[at:]
	if at == 0 || text[at-1] == '\n' {
		if size := artLen(s); size > 0 {
			return size, Art
		}
	}
	switch s[0] {
	case '{', '}':
		return braceLen(s)
	case '[', '`', '\\':
		if size := verify.TokenEnd(s); size > 0 {
			return size, map[byte]Kind{'[': Action, '`': Code, '\\': Command}[s[0]]
		}
		return 0, ""
	case '\'', '"':
		return quotedLen(s), Label
	}
	if size, _ := sentinel(s); size > 0 {
		return size, Corner
	}
	return labelLen(text, at), Label
}

// braceLen is for what begins with a brace: {name}, {{all that}}, or one brace.
func braceLen(s string) (int, Kind) {
	if name, ok := verify.Field(s); ok && !strings.Contains(name, "\n") {
		return len("{") + len(name) + len("}"), Placeholder
	}
	if inside, ok := strings.CutPrefix(s, "{{"); ok {
		if end := strings.IndexAny(inside, "{}\n"); end >= 0 && strings.HasPrefix(inside[end:], "}}") {
			return len("{{") + end + len("}}"), Brace
		}
		return len("{{"), Brace
	}
	return len("{"), Brace
}

// quotedLen is for one character in quotes, such as 'X' or '#'.
func quotedLen(s string) int {
	r, size := utf8.DecodeRuneInString(s[1:])
	if r == rune(s[0]) || r == '\n' || r == utf8.RuneError || strings.ContainsRune("{}[]`\\"+openings, r) || !strings.HasPrefix(s[1+size:], s[:1]) {
		return 0
	}
	return 1 + size + 1
}

// leastCommands is how many words in quotes make a list of commands. Fewer may be
// anything: what the program answers, such as 'higher' and 'lower', or a form.
const leastCommands = 3

// listsCommands reports whether a text names so many.
func listsCommands(text string) bool {
	var found []string
	for at := range len(text) {
		if size := commandLen(text, at); size > 0 && !slices.Contains(found, text[at:at+size]) {
			if found = append(found, text[at:at+size]); len(found) == leastCommands {
				return true
			}
		}
	}
	return false
}

// commandLen is for one word of small letters in single quotes, such as 'up'.
func commandLen(text string, at int) int {
	if text[at] != '\'' || at > 0 && isWord(before(text, at)) {
		return 0
	}
	size := strings.IndexFunc(text[at+1:], func(r rune) bool { return r < 'a' || r > 'z' })
	if size < 2 || text[at+1+size] != '\'' {
		return 0
	}
	end := at + 1 + size + 1
	if after, _ := utf8.DecodeRuneInString(text[end:]); end < len(text) && isWord(after) {
		return 0
	}
	return end - at
}

// isWord reports whether a character belongs to words.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '_'
}

// wordLen is the length of the word that s begins with.
func wordLen(s string) int {
	if end := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) }); end >= 0 {
		return end
	}
	return len(s)
}

// labelLen is for the name of a card, piece, field or square: a capital letter
// that stands alone (K), letters mixed with digits (A7, e2e4, 4x4), and either
// with the suit of a card (10♠).
func labelLen(text string, at int) int {
	s := text[at:]
	size := wordLen(s)
	word := s[:size]
	if size == 0 || size > 8 || at > 0 && isWord(before(text, at)) {
		return 0
	}
	suit := strings.IndexFunc(s[size:], func(r rune) bool { return !strings.ContainsRune("♠♥♦♣", r) })
	if suit < 0 {
		suit = len(s) - size
	}
	switch {
	case suit > 0 && len(word) <= 2 && isASCII(word):
		return size + suit
	case len(word) == 1 && 'A' <= word[0] && word[0] <= 'Z' && !isArticle(text, at), isMixed(word):
		return size
	}
	return 0
}

// isArticle reports whether a lone A or I is a word: an I is, unless a sign is at
// it, and an A where a sentence begins and goes on.
func isArticle(text string, at int) bool {
	rest := text[at+1:]
	sign := rest != "" && strings.ContainsRune("=:-/)|+,", rune(rest[0]))
	switch text[at] {
	case 'I':
		return !sign
	case 'A':
		lead := strings.TrimRight(text[:at], " ")
		inside := lead != "" && lead != text[:at] && (isWord(before(lead, len(lead))) || strings.HasSuffix(lead, ","))
		return !sign && !inside
	}
	return false
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// isMixed reports whether a word is of Latin letters and digits. Ordinals such as
// 1st are words.
func isMixed(word string) bool {
	if !isASCII(word) || !strings.ContainsAny(word, "0123456789") {
		return false
	}
	letters := strings.Trim(word, "0123456789")
	for _, ending := range []string{"", "_", "st", "nd", "rd", "th"} {
		if letters == ending {
			return false
		}
	}
	return true
}

// artLen is for lines of a drawing from the beginning of a line on: such without
// words that have three of its strokes.
func artLen(s string) (size int) {
	for size < len(s) {
		line, _, more := strings.Cut(s[size:], "\n")
		if !isArt(line) {
			break
		}
		size += len(line)
		if !more || size+1 >= len(s) {
			return size
		}
		size++
	}
	if size > 0 && s[size-1] == '\n' {
		size-- // it ends the last line
	}
	return size
}

func isArt(line string) bool {
	strokes, letters := 0, 0
	for _, r := range line {
		switch {
		case unicode.IsLetter(r):
			if letters++; letters > 1 {
				return false
			}
			continue
		case '\u2500' <= r && r <= '\u259f' || strings.ContainsRune("|+-_=#*/\\~^.", r):
			strokes++
		}
		letters = 0
	}
	return strokes >= 3
}
