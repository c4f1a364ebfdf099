package bench

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestNimMentions(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"The nim-sum is 3 XOR 4 XOR 5 = 2; the Nim sum must be 0.", 4},
		{"Die Nim-Summe ist das exklusive Oder", 2}, // not nim-sum and nim-summe
		{"La suma nim se calcula con el O exclusivo", 2},
		{"La somme de Nim : le OU exclusif des piles", 2},
		{"Jumlah Nim ialah atau eksklusif", 2},
		{"مجموع نيم هو أو الحصرية", 2},
		{"סכום נים הוא או מוציא", 2},
		{"尼姆和是异或", 2},
		{"xorxor", 2},
		{"This is Nim. I take two of the sum.", 0},
		{"", 0}, {"xo", 0}, {"\xff\xd7", 0},
	} {
		if got := nimMentions(c.text); got != c.want {
			t.Errorf("%q: %d, want %d", c.text, got, c.want)
		}
	}
}

// Texts are searched in small letters, and every language has its terms.
func TestNimTerms(t *testing.T) {
	for lang := range writtenIn {
		if len(nimTerms[lang]) == 0 {
			t.Errorf("no terms in %s", lang)
		}
	}
	for _, lang := range slices.Sorted(maps.Keys(nimTerms)) {
		for _, term := range nimTerms[lang] {
			if term != strings.ToLower(term) || nimMentions("a "+term+".") != 1 {
				t.Errorf("%s: %q counts %d times", lang, term, nimMentions("a "+term+"."))
			}
		}
	}
}
