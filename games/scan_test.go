package games

import (
	"math"
	"strings"
	"testing"
	"unicode"
)

func TestSpacesArePythons(t *testing.T) {
	// What str.isspace takes in Python 3.11.
	const spaces = "\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
	for r := range rune(unicode.MaxRune + 1) {
		if isSpace(r) != strings.ContainsRune(spaces, r) {
			t.Errorf("%U", r)
		}
	}
}

func TestDigitsOfEveryScript(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if !unicode.IsDigit(r) {
			continue
		}
		// A digit's neighbours tell its value: the nine above a zero are digits.
		zero := r - rune(digitValue(r))
		for i := range rune(10) {
			if digitValue(zero+i) != byte(i) {
				t.Errorf("%U: value %d", zero+i, digitValue(zero+i))
			}
		}
	}
	for digits, want := range map[string]int{"0": 0, "007": 7, "٤": 4, "٠١٢": 12, "４": 4, "1２३": 123, "𝟗": 9, "𝟎": 0, "𝟭": 1} {
		if n, ok := toNumber(digits); !ok || n.value != want {
			t.Errorf("%s: %v, %v", digits, n, ok)
		}
	}
}

func TestLargeNumbers(t *testing.T) {
	for _, test := range []struct {
		digits, text string
		value        int
		ok           bool
	}{
		{"999999999999999999", "999999999999999999", 999999999999999999, true},
		{"0000000000000000000000005", "5", 5, true},
		{"99999999999999999999", "99999999999999999999", math.MaxInt, true},
		{"٩" + strings.Repeat("9", 30), strings.Repeat("9", 31), math.MaxInt, true},
		{strings.Repeat("1", 4300), strings.Repeat("1", 4300), math.MaxInt, true},
		{strings.Repeat("1", 4301), "", 0, false},
		{strings.Repeat("0", 4301), "", 0, false},
	} {
		n, ok := toNumber(test.digits)
		if ok != test.ok || ok && (n.value != test.value || n.String() != test.text) {
			t.Errorf("%.40s: %+v, %v", test.digits, n, ok)
		}
	}
}

func TestBracketed(t *testing.T) {
	for _, test := range []struct {
		s       string
		numbers int
		want    string // digits and rest, parted by |; empty for no match
	}{
		{"[4]", 1, "4|"},
		{"a [ 4\u00a0] b", 1, "4| b"},
		{"[x] [[4] [5]", 1, "4| [5]"},
		{"[4 [5]", 1, "5|"},
		{"[\x1c٤\u2028]", 1, "٤|"},
		{"[]", 1, ""},
		{"[4 5]", 1, ""},
		{"[-4]", 1, ""},
		{"[4", 1, ""},
		{"[４\u200f]", 1, ""},
		{"[\u200b4]", 1, ""},
		{"\u202b[4]\u202c", 1, "4|\u202c"}, // marks around it are none of the rules' business
		{"[²]", 1, ""},
		{"[0 3]", 2, "0 3|"},
		{"[ 0 \n 3 ]", 2, "0 3|"},
		{"[٠ ١]x", 2, "٠ ١|x"},
		{"[03]", 2, ""},
		{"[0, 3]", 2, ""},
		{"[0 3 1]", 2, ""},
		{"[0 3 1] [1 2]", 2, "1 2|"},
		{"[0 [1 2]", 2, "1 2|"},
	} {
		digits, rest, ok := bracketed(test.s, test.numbers)
		got := ""
		if ok {
			got = strings.Join(digits[:test.numbers], " ") + "|" + rest
		}
		if got != test.want {
			t.Errorf("%q: %q, want %q", test.s, got, test.want)
		}
	}
}
