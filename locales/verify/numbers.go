package verify

import (
	"slices"
	"strings"
	"unicode"
)

// A number is one that stands in digits.
type number struct {
	value int
	at    span
}

// largest is above every number in a text; larger ones are all the same.
const largest = 1 << 30

// Digit is the value of a decimal digit of any script, -1 for what is none.
// Unicode keeps the ten digits of a script together.
func Digit(r rune) int {
	if r < 0x80 {
		if '0' <= r && r <= '9' {
			return int(r - '0')
		}
		return -1
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	return -1
}

// numbersOf lists the numbers of a text, each where it stands first. A mark
// between thousands is no end of one: 1,000 is 1000, as are 1.000 and 1 000.
func numbersOf(text string) []number {
	var numbers []number
	var runs []number
	for run := range fields(text, unicode.IsDigit) {
		n := number{at: run}
		for _, r := range run.text {
			n.value = min(n.value*10+Digit(r), largest)
		}
		runs = append(runs, n)
	}
	for _, n := range runs {
		if last := len(numbers) - 1; last >= 0 && len([]rune(n.at.text)) == 3 && isThousands(text[numbers[last].at.to:n.at.from]) && numbers[last].value > 0 && numbers[last].value < 1000 {
			numbers[last].value = numbers[last].value*1000 + n.value
			numbers[last].at.to = n.at.to
			continue
		}
		numbers = append(numbers, n)
	}
	seen := make(map[int]bool)
	return slices.DeleteFunc(numbers, func(n number) bool {
		twice := seen[n.value]
		seen[n.value] = true
		return twice
	})
}

// isThousands reports whether what stands between two groups of digits makes
// them one number.
func isThousands(between string) bool {
	return slices.Contains([]string{",", ".", "'", "’", "\u00a0", "\u202f", " ", "٬", "،"}, between)
}

// checkNumbers compares the numbers, wherever in the text they stand and however
// often. What is a word in one text may be in digits in the other.
func (c *check) checkNumbers() {
	if len(c.numbers) == 0 && !strings.ContainsFunc(c.text, unicode.IsDigit) {
		return
	}
	have := numbersOf(withoutFields(c.text))
	lost := without(c.numbers, have, c.spells)
	added := without(have, c.numbers, c.englishSpells)
	for i, n := range lost {
		if i < len(added) {
			c.find(Number, Error, added[i].at, "%d stands where the English text has %d; write that", added[i].value, n.value)
		} else if n.value > spelled {
			c.find(Number, Warning, span{}, "%d is missing; see whether something is lost", n.value)
		}
	}
	for _, n := range added[min(len(lost), len(added)):] {
		c.find(Number, Warning, n.at, "%d is not in the English text; see where it comes from", n.value)
	}
}

// spelled is up to where a translation may well have a word for a number.
const spelled = 12

// without lists the numbers that others do not have, and that are not spelled.
func without(numbers, others []number, spelled func(int) bool) (only []number) {
	has := make(map[int]bool)
	for _, n := range others {
		has[n.value] = true
	}
	for _, n := range numbers {
		if !has[n.value] && !spelled(n.value) {
			only = append(only, n)
		}
	}
	return only
}

// numberWords are English words behind which there may be digits in another
// language.
var numberWords = [...]string{
	0:  "zero no none empty nothing",
	1:  "one single once a an each another first",
	2:  "two both twice pair double doubling second half other",
	3:  "three third triple",
	4:  "four fourth quarter",
	5:  "five fifth",
	6:  "six sixth",
	7:  "seven seventh",
	8:  "eight eighth",
	9:  "nine ninth",
	10: "ten tenth",
	11: "eleven eleventh",
	12: "twelve dozen",
}

// englishSpells reports whether the English text has a word for a number.
func (c *check) englishSpells(value int) bool {
	if value >= len(numberWords) {
		return false
	}
	words := strings.Fields(numberWords[value])
	return slices.ContainsFunc(c.words, func(w word) bool {
		return slices.ContainsFunc(strings.FieldsFunc(w.text, func(r rune) bool { return !unicode.IsLetter(r) }), func(p string) bool { return slices.Contains(words, p) })
	})
}

// Signs for numbers that are no digits: Chinese ones, and Ethiopic ones, which
// have a sign for each ten. A unit multiplies what stands before it.
var (
	signs = map[rune]int{'〇': 0, '零': 0, '一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	units = map[rune]int{'十': 10, '百': 100, '千': 1000, '万': 10_000, '萬': 10_000, '፻': 100, '፼': 10_000}
)

func signOf(r rune) (value int, ok bool) {
	switch {
	case '፩' <= r && r <= '፱':
		return int(r-'፩') + 1, true
	case '፲' <= r && r <= '፺':
		return (int(r-'፲') + 1) * 10, true
	}
	value, ok = signs[r]
	return value, ok
}

// spells reports whether the text writes a number in such signs.
func (c *check) spells(value int) bool {
	isSign := func(r rune) bool {
		_, ok := signOf(r)
		return ok || units[r] > 0
	}
	for run := range fields(c.text, isSign) {
		total, last := 0, 0
		for _, r := range run.text {
			if v, ok := signOf(r); ok {
				last += v
			} else {
				total, last = total+max(last, 1)*units[r], 0
			}
		}
		if total+last == value {
			return true
		}
	}
	return false
}
