package games

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The reference is written in Python, where blanks and digits are those of
// Unicode: "[٤]" and "[4\u00a0]" are moves. These scanners follow it.

// isSpace reports whether Python's str.isspace holds, which its \s and strip
// follow too. Unlike Go it counts the separators U+001C to U+001F.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f
}

// strip is Python's str.strip.
func strip(s string) string { return strings.TrimFunc(s, isSpace) }

// skipSpace gives the index of the first character from i on that is no blank.
func skipSpace(s string, i int) int {
	for i < len(s) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if !isSpace(r) {
			break
		}
		i += size
	}
	return i
}

// skipDigits gives the index of the first character from i on that Python's \d
// does not take.
func skipDigits(s string, i int) int {
	for i < len(s) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if !unicode.IsDigit(r) {
			break
		}
		i += size
	}
	return i
}

// bracketed finds the first "[d]" (or for two numbers "[d d]") in s and gives
// its digits and what follows it. Blanks may stand around the numbers.
func bracketed(s string, numbers int) (digits [2]string, rest string, ok bool) {
	for {
		open := strings.IndexByte(s, '[')
		if open < 0 {
			return digits, "", false
		}
		s = s[open+1:]
		i := skipSpace(s, 0)
		for n := range numbers {
			end := skipDigits(s, i)
			digits[n] = s[i:end] // empty where the pattern fails
			i = skipSpace(s, end)
		}
		if digits[0] != "" && digits[numbers-1] != "" && i < len(s) && s[i] == ']' {
			return digits, s[i+1:], true
		}
	}
}

// bracketedWord finds the first of some lower-case words that stands in
// brackets, in capital or small letters.
func bracketedWord(s string, words ...string) (string, bool) {
	const longest = 16 // a word with its bracket, some letters being of three bytes
	for {
		_, rest, ok := strings.Cut(s, "[")
		if !ok {
			return "", false
		}
		if end := strings.IndexByte(rest[:min(len(rest), longest)], ']'); end > 0 {
			for _, w := range words {
				if strings.EqualFold(rest[:end], w) {
					return w, true
				}
			}
		}
		s = rest
	}
}

// maxDigits is Python's limit: int() of more digits raises ValueError.
const maxDigits = 4300

// A number is an integer of any size that a player wrote.
type number struct {
	value int    // math.MaxInt stands for everything too large
	large string // the decimal digits, where value cannot tell
}

func (n number) String() string {
	if n.large != "" {
		return n.large
	}
	return strconv.Itoa(n.value)
}

// toNumber is Python's int() of decimal digits of any script; false where it
// raises ValueError.
func toNumber(digits string) (number, bool) {
	if utf8.RuneCountInString(digits) > maxDigits {
		return number{}, false
	}
	decimal := make([]byte, 0, 20)
	for _, r := range digits {
		if d := digitValue(r); d > 0 || len(decimal) > 0 {
			decimal = append(decimal, '0'+d)
		}
	}
	if len(decimal) > 18 { // may not fit
		return number{value: math.MaxInt, large: string(decimal)}, true
	}
	n := 0
	for _, d := range decimal {
		n = n*10 + int(d-'0')
	}
	return number{value: n}, true
}

// digitValue is the value of a decimal digit. Unicode keeps the ten digits of a
// script together, so it follows from the place within the table's range.
func digitValue(r rune) byte {
	if r <= '9' {
		return byte(r - '0')
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	return 0
}
