package translate

import (
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"selfplay/locales"
	"selfplay/locales/mask"
	"selfplay/locales/verify"
)

// Kinds are the faults that are put into good translations to see whether a judge
// finds them.
var Kinds = []string{"number", "negation", "quantifier", "term", "sentence", "language"}

// A Case is a pair whose fault is known.
type Case struct {
	Pair
	Kind string // of the fault; "": there is none
}

// reversed are words with which an aim or an amount turns into its opposite. The
// languages are those whose strings come with the program.
type reversed struct{ negation, quantifier []string } // old, new, old, new, ...

var reversals = map[string]reversed{
	"ar": {[]string{"يفوز", "يخسر", "تفوز", "تخسر", "الفائز", "الخاسر"}, []string{"على الأقل", "على الأكثر", "أكثر", "أقل"}},
	"de": {[]string{"gewinnt", "verliert", "gewinnst", "verlierst", "gewonnen", "verloren"}, []string{"mindestens", "höchstens", "oder mehr", "oder weniger", "mehr Chips", "weniger Chips", "mehr Runden", "weniger Runden"}},
	"es": {[]string{"gana", "pierde", "Gana", "Pierde", "Ganas", "Pierdes"}, []string{"al menos", "como mucho", "más", "menos"}},
	"fr": {[]string{"gagne", "perd", "Gagne", "Perd", "gagnez", "perdez"}, []string{"au moins", "au plus", "le plus de", "le moins de", "plus de jetons", "moins de jetons"}},
	"he": {[]string{"מנצח", "מפסיד", "וניצח", "והפסיד", "ניצח", "הפסיד"}, []string{"לפחות", "לכל היותר", "יותר", "פחות"}},
	"ms": {[]string{"menang", "kalah", "Menang", "Kalah"}, []string{"sekurang-kurangnya", "selebih-lebihnya", "Sekurang-kurangnya", "Selebih-lebihnya", "lebih banyak", "lebih sedikit"}},
	"zh": {[]string{"获胜", "落败", "赢得", "输掉"}, []string{"至少", "至多", "更多", "更少"}},
}

// CasesOf are pairs of a set that is known to be good: of each language up to n
// as they are, and up to n with each fault that can be put into its texts. The
// same set and seed give the same cases.
func CasesOf(set *locales.Set, langs []string, n int, seed uint64) (cases []Case, err error) {
	for _, lang := range langs {
		name, err := NameOf(lang)
		if err != nil {
			return nil, err
		}
		good, err := goodTexts(set, lang)
		if err != nil {
			return nil, err
		}
		for _, kind := range append([]string{""}, Kinds...) {
			cases = append(cases, casesOf(good, lang, name, kind, n, seed)...)
		}
	}
	return cases, nil
}

// A good text is one with its translations.
type good struct {
	Text
	in     map[string]string // by language
	fellow []string          // the other texts of the game in the language
}

func goodTexts(set *locales.Set, lang string) (all []good, err error) {
	for _, game := range set.Games() {
		if !slices.Contains(set.Langs(game), lang) {
			continue
		}
		texts, err := TextsOf(set, []string{game})
		if err != nil {
			return nil, err
		}
		texts = slices.DeleteFunc(texts, func(t Text) bool { return t.Game != game || t.Empty() })
		in := make(map[string]map[string]string)
		for _, l := range set.Langs(game) {
			strings, err := set.Strings(game, l)
			if err != nil {
				return nil, err
			}
			in[l] = make(map[string]string)
			for _, s := range strings {
				in[l][s.Key] = s.Text
			}
		}
		for _, t := range texts {
			g := good{Text: t, in: make(map[string]string)}
			for l := range in {
				if text := in[l][t.Key]; text != "" {
					g.in[l] = text
				}
			}
			for _, other := range texts {
				if other.Key != t.Key {
					g.fellow = append(g.fellow, in[lang][other.Key])
				}
			}
			if g.in[lang] != "" {
				all = append(all, g)
			}
		}
	}
	return all, nil
}

// casesOf are up to n cases of one kind.
func casesOf(all []good, lang, name, kind string, n int, seed uint64) (cases []Case) {
	h := fnv.New64a()
	h.Write([]byte(lang + "/" + kind))
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	for _, i := range rng.Perm(len(all)) {
		text, ok := withFault(all[i], lang, kind, rng)
		if !ok {
			continue
		}
		if cases = append(cases, Case{Pair{lang, name, all[i].English, text}, kind}); len(cases) == n {
			break
		}
	}
	return cases
}

// withFault puts a fault into a good translation; false if it has no place there.
func withFault(g good, lang, kind string, rng *rand.Rand) (text string, ok bool) {
	right := g.in[lang]
	switch kind {
	case "":
		return right, true
	case "number":
		text = otherNumber(right, rng)
	case "negation":
		text = reverse(right, lang, reversals[lang].negation)
	case "quantifier":
		text = reverse(right, lang, reversals[lang].quantifier)
	case "term":
		text = otherTerm(right, g.fellow, rng)
	case "sentence":
		text = withoutSentence(right, rng)
	case "language":
		text = otherLanguage(g, lang, rng)
	}
	return text, text != "" && text != right
}

var (
	digits    = regexp.MustCompile(`\p{Nd}+`)
	sentences = regexp.MustCompile(`[^.!?。！？؟।\n]*[.!?。！？؟।\n]+['"»”’)]*\s*|[^.!?。！？؟।\n]+$`)
)

// unhidden puts back what is hidden, in a text that need not have all of it.
func unhidden(m mask.Masked, text string) string {
	for i, s := range m.Slots {
		text = strings.ReplaceAll(text, mask.Sentinel(i+1), s.Text)
	}
	return text
}

// otherNumber makes one number of a text another one, in the same digits.
func otherNumber(text string, rng *rand.Rand) string {
	m := mask.Mask(text)
	places := slices.DeleteFunc(digits.FindAllStringIndex(m.Text, -1), func(at []int) bool {
		return strings.HasSuffix(m.Text[:at[0]], "「") // of a sign
	})
	if len(places) == 0 {
		return ""
	}
	at := places[rng.IntN(len(places))]
	number := []rune(m.Text[at[0]:at[1]])
	last := &number[len(number)-1]
	if d := verify.Digit(*last); d == 9 {
		*last--
	} else {
		*last++
	}
	return unhidden(m, m.Text[:at[0]]+string(number)+m.Text[at[1]:])
}

// reverse puts the opposite for the first word of a list that a text has.
func reverse(text, lang string, words []string) string {
	for i := 0; i+1 < len(words); i += 2 {
		if lang == "zh" && strings.Contains(text, words[i]) || hasWord(text, words[i]) {
			return strings.Replace(text, words[i], words[i+1], 1)
		}
	}
	return ""
}

// longWords are those that carry meaning, as far as their length tells.
func longWords(text string) []string {
	words := strings.FieldsFunc(sentinels.ReplaceAllString(mask.Mask(text).Text, " "), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	return slices.DeleteFunc(words, func(w string) bool { return len([]rune(w)) < 4 })
}

// otherTerm puts a word of another text of the game in the place of one.
func otherTerm(text string, others []string, rng *rand.Rand) string {
	mine := longWords(text)
	if len(mine) == 0 || len(others) == 0 {
		return ""
	}
	old := mine[rng.IntN(len(mine))]
	for _, i := range rng.Perm(len(others)) {
		for _, word := range longWords(others[i]) {
			if !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
				return strings.Replace(text, old, word, 1)
			}
		}
	}
	return ""
}

// withoutSentence leaves one sentence out.
func withoutSentence(text string, rng *rand.Rand) string {
	m := mask.Mask(text)
	var parts []string
	var said []int // those with words
	for _, part := range sentences.FindAllString(m.Text, -1) {
		if strings.ContainsFunc(part, unicode.IsLetter) {
			said = append(said, len(parts))
		}
		parts = append(parts, part)
	}
	if len(said) < 2 {
		return ""
	}
	at := said[rng.IntN(len(said))]
	return unhidden(m, strings.Join(slices.Delete(parts, at, at+1), ""))
}

// otherLanguage is the same text in another language, if there is one in the same
// letters.
func otherLanguage(g good, lang string, rng *rand.Rand) string {
	var near, far []string
	for _, l := range sortedKeys(g.in) {
		switch {
		case l == lang || l == english:
		case verify.Of(l).Script() == verify.Of(lang).Script():
			near = append(near, l)
		default:
			far = append(far, l)
		}
	}
	if len(near) == 0 {
		near = far
	}
	if len(near) == 0 {
		return ""
	}
	return g.in[near[rng.IntN(len(near))]]
}

func sortedKeys(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
