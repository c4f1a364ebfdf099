package screen

import (
	"strings"
	"unicode"
)

// rightToLeft holds the languages, by their first subtag, that are written so.
var rightToLeft = map[string]bool{"ar": true, "arc": true, "ckb": true, "dv": true, "fa": true, "he": true,
	"iw": true, "ps": true, "sd": true, "syr": true, "ug": true, "ur": true, "yi": true}

// RightToLeft says whether a language, such as ar or fa_IR, is written so.
func RightToLeft(lang string) bool {
	first, _, _ := strings.Cut(strings.ReplaceAll(lang, "_", "-"), "-")
	return rightToLeft[strings.ToLower(first)]
}

// A Direction says how one line of a text runs.
type Direction struct {
	Right bool // to the left, from the right
	Board bool // drawn with characters: each must keep its column
	Own   bool // it may be of the text's language
}

// DirectionOf gives a line of a text in a language that language's direction if
// any letter of it has that direction, or if it has no letters; else the other one,
// which is then not the language's text. To go by the first letter, or by the whole
// text, would turn an Arabic line that begins with '[check]' the wrong way, and
// mirror an empty board inside Arabic text.
func DirectionOf(line, lang string) Direction {
	if isBoard(line) {
		return Direction{Board: true}
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
	own := RightToLeft(lang)
	switch {
	case own && left && !right:
		return Direction{}
	case !own && right && !left:
		return Direction{Right: true}
	}
	return Direction{Right: own, Own: true}
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
