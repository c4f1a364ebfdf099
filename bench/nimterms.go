package bench

import (
	"slices"
	"strings"
)

// nimTerms name the optimal strategy of Nim: the nim-sum, and the exclusive or
// that it is, in the eight languages. In small letters.
var nimTerms = map[string][]string{
	"en": {"nim-sum", "nim sum", "nimsum", "xor", "exclusive or", "exclusive-or", "⊕"},
	"ar": {"مجموع نيم", "مجموع النيم", "مجموع nim", "جمع نيم", "نيم-سوم", "نيم سوم", "أو الحصرية", "أو الحصري", "أو الاستبعادية", "أو الإقصائية"},
	"de": {"nim-summe", "nimsumme", "nim summe", "exklusives oder", "exklusiv-oder", "exklusive oder", "exklusivem oder"},
	"es": {"suma nim", "suma-nim", "suma de nim", "nim-suma", "o exclusivo", "o exclusiva", "o-exclusivo", "disyunción exclusiva"},
	"fr": {"somme nim", "somme-nim", "somme de nim", "nim-somme", "ou exclusif", "ou-exclusif"},
	"he": {"סכום נים", "סכום הנים", "סכום-נים", "סכום nim", "או מוציא", "או בלעדי", "או אקסקלוסיבי", "קסור"},
	"ms": {"jumlah nim", "jumlah-nim", "hasil tambah nim", "nim-jumlah", "atau eksklusif"},
	"zh": {"尼姆和", "尼姆总和", "尼姆數", "尼姆数", "nim和", "nim 和", "异或", "異或", "互斥或"},
}

// nimStarts are the terms of all languages by their first byte, the longest
// first: of "nim-summe" nothing is counted twice.
var nimStarts = func() (starts [256][]string) {
	for _, terms := range nimTerms {
		for _, t := range terms {
			starts[t[0]] = append(starts[t[0]], t)
		}
	}
	for _, terms := range starts {
		slices.SortFunc(terms, func(a, b string) int { return len(b) - len(a) })
	}
	return starts
}()

// nimMentions counts how often a text names the optimal strategy of Nim, in any
// language, in capital or small letters.
func nimMentions(text string) int {
	text = strings.ToLower(text)
	n := 0
next:
	for i := 0; i < len(text); {
		for _, t := range nimStarts[text[i]] {
			if strings.HasPrefix(text[i:], t) {
				n++
				i += len(t)
				continue next
			}
		}
		i++
	}
	return n
}
