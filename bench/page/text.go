package page

import (
	"strings"

	"selfplay/bench/screen"
)

// A block is a piece of a text that is shown in one direction.
type block struct {
	Text  string
	Dir   string // ltr or rtl
	Lang  string // "": unknown
	Board bool   // drawn with characters: each must keep its column
}

// tag is a language in HTML's spelling.
func tag(lang string) string { return strings.ReplaceAll(lang, "_", "-") }

func direction(lang string) string { return dirName(screen.RightToLeft(lang)) }

func dirName(right bool) string {
	if right {
		return "rtl"
	}
	return "ltr"
}

// blocks cuts a text of a language into lines of one direction each.
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

func lineBlock(line, lang string) block {
	d := screen.DirectionOf(line, lang)
	b := block{Text: line, Dir: dirName(d.Right), Board: d.Board}
	if d.Own {
		b.Lang = clean(tag(lang))
	}
	return b
}

// clean makes a text harmless to look at.
func clean(s string) string { return screen.Clean(s) }

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
