package verify

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a model may leave around a translation.
var (
	thinkMarks = regexp.MustCompile(`(?i)</?(think|thinking|thought|reasoning)>|\[/?THINK\]|<\|?channel\|?>`)
	chatMarks  = regexp.MustCompile(`(?i)<\|[a-z0-9_./-]{1,40}\|?>|<(start|end)_of_turn>|\[/?INST\]|</?s>|<(bos|eos|pad|unk)>|` + "```")
	sentinels  = regexp.MustCompile(`[「『｢]\s*\p{Nd}{1,4}\s*[」』｣]`)
	forewords  = regexp.MustCompile(`(?i)^\W*((assistant|user|model|system)\s*[:\n]|(here('s| is| are)|sure\b|certainly\b|of course\b|okay\b|below is|the (following|translation|translated))|((translat(ion|ed text)|output|answer|result|note|text|target)( (to|into|in) [\pL ()]{1,30})?\s*[:：]))`)
	afterwords = regexp.MustCompile(`(?i)\b(translat(e|es|ed|ion|ions|ing)|as an ai|language model|let me know|i (hope|have|cannot|can't))\b`)
)

// begins are the words that forewords begin with, in small letters.
var begins = strings.Fields("here sure certainly of okay below the translat output answer result note text target assistant user model system")

// A remnant is a sort of them. The hints are there to save time: a text that has
// none of them has no such mark.
type remnant struct {
	kind  Kind
	marks *regexp.Regexp
	hints []string // none: it stands at the beginning
	what  string
}

var remnants = []remnant{
	{Thinking, thinkMarks, []string{"<", "HINK]", "hink]"}, "%q is a mark of reasoning; keep only the translation"},
	{Leak, chatMarks, []string{"<", "NST]", "nst]", "```"}, "%q is a mark of a chat; keep only the translation"},
	{Leak, sentinels, []string{"「", "『", "｢"}, "%q was not put back; it stands for a piece of the English text"},
	{Leak, forewords, nil, "%q speaks of the translation; keep only the translation"},
	{Leak, afterwords, []string{"ranslat", "s an AI", "anguage model", "et me know", "I "}, "%q speaks of the translation; keep only the translation"},
}

// in finds the first mark in a text.
func (r remnant) in(text string) (at span, ok bool) {
	if r.hints == nil {
		text = text[:min(len(text), 100)]
		start := strings.ToLower(strings.TrimLeftFunc(text[:min(len(text), 20)], func(r rune) bool { return !unicode.IsLetter(r) }))
		if !slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(start, b) }) {
			return span{}, false
		}
	} else if !slices.ContainsFunc(r.hints, func(h string) bool { return strings.Contains(text, h) }) {
		return span{}, false
	}
	loc := r.marks.FindStringIndex(text)
	if loc == nil {
		return span{}, false
	}
	return span{text[loc[0]:loc[1]], loc[0], loc[1]}, true
}

// checkAnswer looks for what belongs to the making of a translation and not to
// it. What the English text has, too, is no such thing.
func (c *check) checkAnswer() (found bool) {
	if c.Code == "en" {
		return false
	}
	for _, r := range remnants {
		at, ok := r.in(c.text)
		if !ok {
			continue
		}
		if _, too := r.in(c.Original.text); !too {
			c.find(r.kind, Error, at, r.what, Excerpt(at.text, 0))
			return true
		}
	}
	if first, last, ok := quoted(c.text); ok {
		if _, _, too := quoted(c.Original.text); !too {
			c.find(Leak, Error, span{from: 0, to: len(c.text)}, "%c and %c stand around the whole text; remove them", first, last)
			return true
		}
	}
	return false
}

// quoted reports whether one pair of quotes encloses all of a text.
func quoted(text string) (first, last rune, ok bool) {
	text = strings.TrimSpace(text)
	first, a := utf8.DecodeRuneInString(text)
	last, b := utf8.DecodeLastRuneInString(text)
	if len(text) < a+b {
		return 0, 0, false
	}
	inside := text[a : len(text)-b]
	ok = slices.Contains([]string{`""`, "''", "``", "“”", "„“", "„”", "«»", "»«", "‘’", "「」", "『』", "”“", "’‘"}, string([]rune{first, last}))
	return first, last, ok && !strings.ContainsRune(inside, first) && !strings.ContainsRune(inside, last)
}

// sizeOf counts the letters and digits of a prose. A sign of a script that writes
// a syllable or a word in one counts for more.
func sizeOf(prose string) (n int) {
	for _, r := range prose {
		switch {
		case unicode.In(r, unicode.Han):
			n += 3
		case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Ethiopic):
			n += 2
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			n++
		}
	}
	return n
}

// Bounds of what a translation may have more or less than its original.
const (
	longest  = 2.5
	shortest = 0.25
	slack    = 30 // letters by which short texts may be off
)

// checkLength compares how much is said.
func (c *check) checkLength() {
	size, want, all := sizeOf(c.prose), c.size, span{from: 0, to: len(c.text)}
	switch {
	case want == 0 && size > 0:
		c.find(Length, Warning, all, "there are no words in the English text; write what it has")
	case float64(size) > longest*float64(want)+slack:
		c.find(Length, Warning, all, "%d letters, the English text has %d; see what was added", size, want)
	case float64(size) < shortest*float64(want)-slack/4:
		c.find(Length, Warning, all, "%d letters, the English text has %d; see what is lost", size, want)
	}
}
