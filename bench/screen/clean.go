// Package screen shows text that nobody vouches for, as models write it, on a
// terminal: nothing in it can steer the terminal or hide, lines keep to a width,
// and right-to-left lines can be read also where the terminal doesn't turn them.
package screen

import (
	"fmt"
	"strings"
	"unicode"
)

// Clean makes a text harmless to look at, on a terminal and on a page: what is
// not UTF-8, control characters and invisible ones that could hide or reorder what
// stands beside them are named in their place. Marks that Arabic, Hebrew and Indic
// spelling need stay. Newlines stay too; a tab becomes the blanks that it stands
// for. What it gives, it gives back unchanged.
func Clean(s string) string {
	s = Harmless(strings.ReplaceAll(s, "\r\n", "\n"))
	if strings.ContainsRune(s, '\t') {
		s = expanded(s)
	}
	return s
}

// Harmless is Clean for a part of a text: tabs stay, as how wide they are hangs on
// what stands before them.
func Harmless(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsFunc(s, mustShow) {
		s = named(s)
	}
	return s
}

func named(s string) string {
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

const tabStop = 8

// expanded puts blanks for tabs.
func expanded(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		for k, part := range parts[:len(parts)-1] {
			parts[k] = part + strings.Repeat(" ", tabStop-Width(part)%tabStop)
		}
		lines[i] = strings.Join(parts, "")
	}
	return strings.Join(lines, "\n")
}
