// Package mask hides from a translator what must survive a translation: each
// such piece is replaced by a numbered sentinel, 「1」, and put back afterwards.
//
//	m := mask.Mask("Player {id}, say '[check]'.\n")   // m.Text: "Player 「1」, say '「2」'."
//	text, err := m.Unmask("Sag '「2」', Spieler 「1」!") // "Sag '[check]', Spieler {id}!\n"
//
// Equal pieces have the same number, so a translator may change their order
// freely, and all that counts is how often each number stands there.
package mask

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"selfplay/locales/verify"
)

// A Slot is what one sentinel stands for.
type Slot struct {
	Kind Kind
	Text string
}

// A Masked text is what a translator is given.
type Masked struct {
	Text  string // no blanks around it
	Slots []Slot // of the sentinels 1, 2, ...

	lead, tail string // the blanks around the text
	want       []int  // how often each sentinel stands in it
}

// Sentinel is the sign for slot n, counted from 1.
func Sentinel(n int) string { return fmt.Sprintf("「%d」", n) }

// Mask hides what must survive. Blanks around the text are kept apart.
func Mask(text string) Masked {
	body := strings.TrimLeftFunc(text, unicode.IsSpace)
	m := Masked{lead: text[:len(text)-len(body)]}
	text, body = body, strings.TrimRightFunc(body, unicode.IsSpace)
	m.tail = text[len(body):]
	var b strings.Builder
	last := 0
	for _, s := range Find(body) {
		b.WriteString(body[last:s.From])
		b.WriteString(Sentinel(m.slot(Slot{s.Kind, body[s.From:s.To]})))
		last = s.To
	}
	b.WriteString(body[last:])
	m.Text = b.String()
	return m
}

// slot counts one more use of a piece and gives its number.
func (m *Masked) slot(s Slot) int {
	at := slices.IndexFunc(m.Slots, func(o Slot) bool { return o.Text == s.Text })
	if at < 0 {
		at = len(m.Slots)
		m.Slots, m.want = append(m.Slots, s), append(m.want, 0)
	}
	m.want[at]++
	return at + 1
}

// HasProse reports whether there is anything to translate: a text without
// letters beside its sentinels stays as it is.
func (m Masked) HasProse() bool { return strings.ContainsFunc(m.Text, unicode.IsLetter) }

// A Refusal says why an answer is no translation of a masked text. It can be
// shown to the translator that is asked again.
type Refusal struct {
	Missing, Extra []string // sentinels that stand there too seldom, too often
	Brace          bool     // the answer has braces of its own
}

func (r *Refusal) Error() string {
	var faults []string
	if len(r.Missing) > 0 {
		faults = append(faults, strings.Join(r.Missing, " ")+" missing")
	}
	if len(r.Extra) > 0 {
		faults = append(faults, strings.Join(r.Extra, " ")+" too often")
	}
	if r.Brace {
		faults = append(faults, "braces of its own")
	}
	return "sentinels changed: " + strings.Join(faults, "; ")
}

// Unmask puts back what was hidden. Each sentinel must stand in the answer as
// often as in the text, in whatever order; else the error is a *Refusal. Blanks
// within one, digits of another script, and other corner brackets are forgiven.
func (m Masked) Unmask(answer string) (string, error) {
	answer = strings.TrimFunc(answer, unicode.IsSpace)
	var b strings.Builder
	b.WriteString(m.lead)
	have := make([]int, len(m.Slots))
	var r Refusal
	keep := func(text string) {
		r.Brace = r.Brace || strings.ContainsAny(text, "{}")
		b.WriteString(text)
	}
	last := 0
	for {
		from, to, n := nextSentinel(answer, last)
		if to == 0 {
			break
		}
		keep(answer[last:from])
		last = to
		if n < 1 || n > len(m.Slots) {
			r.Extra = append(r.Extra, Sentinel(n))
			continue
		}
		have[n-1]++
		b.WriteString(m.Slots[n-1].Text)
	}
	keep(answer[last:])
	b.WriteString(m.tail)
	for i, n := range have {
		switch {
		case n < m.want[i]:
			r.Missing = append(r.Missing, Sentinel(i+1))
		case n > m.want[i]:
			r.Extra = append(r.Extra, Sentinel(i+1))
		}
	}
	if len(r.Missing)+len(r.Extra) > 0 || r.Brace {
		return "", &r
	}
	return b.String(), nil
}

const (
	openings = "「『｢﹁﹃"
	closings = "」』｣﹂﹄"
)

// nextSentinel finds the first sentinel from a place on; to is 0 if there is none.
func nextSentinel(s string, at int) (from, to, n int) {
	for {
		i := strings.IndexAny(s[at:], openings)
		if i < 0 {
			return 0, 0, 0
		}
		at += i
		if size, n := sentinel(s[at:]); size > 0 {
			return at, at + size, n
		}
		at += len("「")
	}
}

// maxDigits is above what a text can need, and keeps numbers small.
const maxDigits = 6

// sentinel gives the length and the number of the sentinel that s begins with;
// a length of 0 means that there is none.
func sentinel(s string) (size, n int) {
	digits, closed := 0, false
	for i, r := range s {
		d := verify.Digit(r)
		switch {
		case i == 0:
			if !strings.ContainsRune(openings, r) || r == utf8.RuneError {
				return 0, 0
			}
		case closed:
			return i, n
		case d >= 0 && digits < maxDigits && (digits == 0 || !isGap(before(s, i))):
			n, digits = n*10+d, digits+1
		case digits > 0 && strings.ContainsRune(closings, r) && r != utf8.RuneError:
			closed = true
		case !isGap(r):
			return 0, 0
		}
	}
	if closed {
		return len(s), n
	}
	return 0, 0
}

func before(s string, i int) rune {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return r
}

// isGap reports whether a character may stand beside the number of a sentinel.
func isGap(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }
