package screen

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/bidi"
)

// A Screen is a terminal, or a part of one.
type Screen struct {
	Width int  // columns, at least 1
	Turn  bool // it shows characters from left to right as they come, see Turns
}

// Turns says by a terminal's environment whether right-to-left text must be turned
// for it, as most want it. These turn it themselves: GNOME's and others on VTE,
// Konsole, iTerm2, Apple's Terminal, and mlterm. tmux and screen hide which one it
// is, so that SELFPLAY_BIDI decides: terminal, if that does it, or program.
func Turns(getenv func(string) string) bool {
	switch strings.ToLower(getenv("SELFPLAY_BIDI")) {
	case "terminal":
		return false
	case "program":
		return true
	}
	if getenv("TMUX") != "" || getenv("STY") != "" {
		return true
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "Apple_Terminal":
		return false
	}
	return getenv("VTE_VERSION") == "" && getenv("KONSOLE_VERSION") == "" && getenv("MLTERM") == ""
}

// Lines cuts a text in a language, which it cleans, into lines for the screen, as
// Wrap does. Right-to-left lines are turned if need be, with Arabic letters joined,
// and end at the right edge.
func (s Screen) Lines(text, lang string) []string {
	width := max(s.Width, 1)
	var lines []string
	for line := range strings.SplitSeq(Clean(text), "\n") {
		d := DirectionOf(line, lang)
		switch {
		case s.Turn && !d.Board && (d.Right || strings.ContainsFunc(line, isRight)):
			lines = append(lines, aligned(turned(line, d.Right, width), d.Right, width)...)
		default:
			lines = append(lines, Wrap(line, width)...)
		}
	}
	return lines
}

func aligned(lines []string, right bool, width int) []string {
	if right {
		for i, line := range lines {
			if line = strings.TrimLeft(line, " "); line != "" {
				line = strings.Repeat(" ", max(0, width-Width(line))) + line
			}
			lines[i] = line
		}
	}
	return lines
}

func isRight(r rune) bool { return classOf(r) == bidi.R || classOf(r) == bidi.AL }

func classOf(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

// turned cuts a clean line into lines in the order in which they are seen.
func turned(line string, right bool, width int) []string {
	line = joined(line)
	cells := cellsOf(line, width)
	setLevels(cells, line, right)
	var lines []string
	for _, p := range pieces(cells, width) {
		part := slices.Clone(cells[p[0]:p[1]])
		reorder(part)
		lines = append(lines, marks.Replace(text(part)))
	}
	return lines
}

// marks have done their work once a line is turned.
var marks = strings.NewReplacer("\u200e", "", "\u200f", "", "\u061c", "", "\u200c", "")

// setLevels gives each cell of a line its level by Unicode's bidirectional algorithm.
// The package bidi tells only which way each run of characters goes. Since no text
// here has embeddings, that is enough: the levels are 1 and 2 in a line from the right,
// and 0, 1, and 2 for numbers behind right-to-left text in one from the left.
func setLevels(cells []cell, line string, right bool) {
	first, direction := "\u200e", bidi.LeftToRight // a mark, since else the first letter would decide
	if right {
		first, direction = "", bidi.RightToLeft
	}
	var p bidi.Paragraph
	p.SetString(first+string(withBrackets([]rune(line), right)), bidi.DefaultDirection(direction))
	o, err := p.Order()
	if err != nil {
		return // not of a clean line; it stays as it is
	}
	var levels []int // of characters
	for i := range o.NumRuns() {
		run := o.Run(i)
		runes := []rune(run.String())
		numbers := 0
		if run.Direction() == bidi.LeftToRight && i > 0 {
			numbers = numberAtStart(runes)
		}
		for at := range runes {
			switch {
			case run.Direction() == bidi.RightToLeft:
				levels = append(levels, 1)
			case right || at < numbers:
				levels = append(levels, 2)
			default:
				levels = append(levels, 0)
			}
		}
	}
	levels = levels[len([]rune(first)):]
	at := 0
	for i := range cells {
		cells[i].level = levels[at]
		at += cells[i].runes
	}
}

// numberAtStart is how many characters a number takes that a text begins with.
func numberAtStart(text []rune) int {
	end := 0
	for i, r := range text {
		switch classOf(r) {
		case bidi.EN, bidi.AN, bidi.ET, bidi.NSM:
			end = i + 1
		case bidi.ES, bidi.CS:
		default:
			return end
		}
	}
	return end
}

// reorder puts the cells of one line into the order in which they are seen: from the
// highest level to the lowest odd one, whatever has at least that level is reversed.
func reorder(cells []cell) {
	for level := 2; level >= 1; level-- {
		for i := 0; i < len(cells); i++ {
			from := i
			for i < len(cells) && cells[i].level >= level {
				i++
			}
			slices.Reverse(cells[from:i])
		}
	}
	for i, c := range cells {
		if c.level == 1 {
			cells[i].text = mirrored(c.text)
		}
	}
}

// unpaired are the usual characters with a mirror image that are no brackets.
var unpaired = map[string]string{"<": ">", ">": "<", "«": "»", "»": "«", "‹": "›", "›": "‹", "≤": "≥", "≥": "≤"}

func mirrored(s string) string {
	if m, ok := unpaired[s]; ok {
		return m
	}
	if r := []rune(s); len(r) == 1 {
		return bidi.ReverseString(s)
	}
	return s
}
