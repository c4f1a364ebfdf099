package page

import (
	"fmt"
	"strings"
	"unicode"
)

// A block is a piece of a text that is shown in one direction.
type block struct {
	Text  string
	Dir   string // ltr or rtl
	Lang  string // "": unknown
	Board bool   // drawn with characters: each must keep its column
}

// rightToLeft holds the languages, by their first subtag, that are written so.
var rightToLeft = map[string]bool{"ar": true, "arc": true, "ckb": true, "dv": true, "fa": true, "he": true,
	"iw": true, "ps": true, "sd": true, "syr": true, "ug": true, "ur": true, "yi": true}

// tag is a language in HTML's spelling.
func tag(lang string) string { return strings.ReplaceAll(lang, "_", "-") }

func direction(lang string) string {
	first, _, _ := strings.Cut(tag(lang), "-")
	if rightToLeft[strings.ToLower(first)] {
		return "rtl"
	}
	return "ltr"
}

// blocks cuts a text of a language into lines of one direction each. A page's
// own rule would turn a line by its first letter, or with the whole text: an
// Arabic line that begins with '[check]' would run the wrong way, and an empty
// board inside Arabic text would be mirrored.
func blocks(text, lang string) []block {
	var all []block
	for line := range strings.SplitSeq(clean(text), "\n") {
		b := lineBlock(line, lang)
		if n := len(all) - 1; n >= 0 && (line == "" || all[n].sameKind(b)) {
			all[n].Text += "\n" + line
		} else {
			all = append(all, b)
		}
	}
	shown := all[:0]
	for _, b := range all {
		if b.Text = trimLines(b.Text); b.Text != "" {
			shown = append(shown, b)
		}
	}
	return shown
}

func (b block) sameKind(other block) bool {
	return b.Dir == other.Dir && b.Lang == other.Lang && b.Board == other.Board
}

// trimLines removes empty lines at both ends, but not the blanks in front of a
// board's first row.
func trimLines(s string) string {
	s = strings.TrimRight(s, " \t\n")
	for {
		line, rest, found := strings.Cut(s, "\n")
		if !found || strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}

// lineBlock gives a line the language's direction if any letter of it has that
// direction, or if it has no letters; else the other one, which is then not the
// language's text.
func lineBlock(line, lang string) block {
	if isBoard(line) {
		return block{Text: line, Dir: "ltr", Board: true}
	}
	left, right := false, false
	for _, r := range line {
		switch {
		case unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko):
			right = right || unicode.IsLetter(r)
		case unicode.IsLetter(r):
			left = true
		}
	}
	own := direction(lang)
	switch {
	case own == "rtl" && left && !right:
		return block{Text: line, Dir: "ltr"}
	case own == "ltr" && right && !left:
		return block{Text: line, Dir: "rtl"}
	}
	return block{Text: line, Dir: own, Lang: tag(lang)}
}

// isBoard: rules or rows of cells, and no word.
func isBoard(line string) bool {
	letters := 0
	for _, r := range line {
		if !unicode.IsLetter(r) {
			letters = 0
			continue
		}
		if letters++; letters > 1 {
			return false
		}
	}
	return strings.Contains(line, "|") || strings.Contains(line, "---")
}

// clean makes a text harmless to look at: what is not UTF-8, control characters
// and invisible ones that could hide or reorder what stands beside them are
// named in their place. Marks that Arabic, Hebrew and Indic spelling need stay.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	if !strings.ContainsFunc(s, mustShow) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !mustShow(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r) // its picture
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

func mustShow(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u200c', '\u200d', '\u200e', '\u200f', '\u061c', '\u00ad': // joiners, marks of direction, soft hyphen
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf) || unicode.Is(unicode.Noncharacter_Code_Point, r)
}

// added is what a player is shown after what it was shown before.
func added(before, now string) string {
	if rest, ok := strings.CutPrefix(now, before); ok {
		return rest
	}
	return now
}

// cut shortens a text that would make the page too long, and says so.
func cut(s string, limit int) (string, int) {
	if len(s) <= limit {
		return s, 0
	}
	end := limit
	for end > 0 && s[end]&0xc0 == 0x80 { // not in the middle of a character
		end--
	}
	return s[:end], len(s) - end
}
