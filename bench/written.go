package bench

import (
	"strings"
	"unicode"
)

// A Script is what a text is mainly written in.
type Script string

const (
	Latin  Script = "Latin"
	Arabic Script = "Arabic"
	Hebrew Script = "Hebrew"
	Han    Script = "Han"
)

// writtenIn are the languages that can be told, and their scripts. Those in
// Latin letters are told by small words that are frequent in them and rare in
// the other four: a full identifier of languages knows a hundred, of which most
// could only be mistakes here. Languages that are not in this table are asked
// for without being checked.
var writtenIn = map[string]struct {
	script Script
	words  string
}{
	"ar": {script: Arabic},
	"he": {script: Hebrew},
	"zh": {script: Han},
	"en": {Latin, "the and is of to that it this for with are be have will you my not if would should which can they was so we what or there then"},
	"de": {Latin, "der die das und ist nicht ich ein eine den dem zu mit auf für wir sie es wenn dann auch kann muss oder aber wird mein sind von dass habe hat einen"},
	"es": {Latin, "el los las que y en una para por con del es mi si pero como más puede está lo su voy ganar mejor hay tiene este esta al juego yo ya"},
	"fr": {Latin, "le les des et est une je pour dans pas du qui sur avec ce il mais si ou donc nous vous peut mon jouer cette au sont plus être il ai suis"},
	"ms": {Latin, "yang dan saya untuk di ini dengan adalah tidak akan pada itu kita boleh dalam jika ke dari oleh lebih atau ada kerana supaya anda bagi perlu maka sudah mereka pemain permainan"},
}

// smallWords are the languages of each small word.
var smallWords = func() map[string][]string {
	words := map[string][]string{}
	for lang, in := range writtenIn {
		seen := map[string]bool{}
		for _, w := range strings.Fields(in.words) {
			if !seen[w] {
				seen[w] = true
				words[w] = append(words[w], lang)
			}
		}
	}
	return words
}()

const (
	// enoughLetters tell a script: more than "[cooperate]" in a box, which is
	// English in every language.
	enoughLetters = 20
	// enoughWords tell a language: small words of it.
	enoughWords = 3
	// hanWeight makes up for words being shorter in Chinese.
	hanWeight = 3
)

// identify tells in which script and, by its small words, in which language a
// text is mainly written. Either is empty where the text is too short to tell or
// no language leads. Formulas such as \boxed count for no language.
func identify(text string) (Script, string) {
	var letters [4]int // in the order of scripts below
	scores := map[string]int{}
	var word []byte
	command := false // within \boxed and the like
	flush := func() {
		if !command && len(word) > 0 {
			for _, lang := range smallWords[string(word)] {
				scores[lang]++
			}
			letters[0] += runes(word)
		}
		word, command = word[:0], false
	}
	for _, r := range text {
		switch {
		case r < 0x80 && (r|0x20 < 'a' || r|0x20 > 'z'):
			flush()
			command = r == '\\'
		case r < 0x80:
			word = append(word, byte(r|0x20))
		case r < 0x300 && unicode.IsLetter(r):
			word = append(word, string(unicode.ToLower(r))...)
		default:
			flush()
			switch {
			case unicode.Is(unicode.Arabic, r) && unicode.IsLetter(r):
				letters[1]++
			case unicode.Is(unicode.Hebrew, r) && unicode.IsLetter(r):
				letters[2]++
			case unicode.Is(unicode.Han, r):
				letters[3] += hanWeight
			}
		}
	}
	flush()
	best, sum := 0, 0
	for i, n := range letters {
		sum += n
		if n > letters[best] {
			best = i
		}
	}
	if sum < enoughLetters {
		return "", ""
	}
	script := [...]Script{Latin, Arabic, Hebrew, Han}[best]
	if script != Latin {
		return script, map[Script]string{Arabic: "ar", Hebrew: "he", Han: "zh"}[script]
	}
	return script, leader(scores)
}

func runes(word []byte) (n int) {
	for _, b := range word {
		if b&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

// leader is the language with the most small words, if they are enough and no
// other has as many.
func leader(scores map[string]int) string {
	first, most, second := "", 0, 0
	for lang, n := range scores {
		if n > most {
			first, most, second = lang, n, most
		} else {
			second = max(second, n)
		}
	}
	if most < enoughWords || most == second {
		return ""
	}
	return first
}

// written counts what an answer in a language asked for is written in.
func (c *AnswerCounts) written(asked, text string) {
	want, known := writtenIn[asked]
	if !known {
		return
	}
	script, lang := identify(text)
	switch {
	case script == "":
		return
	case script != want.script:
		c.OtherScript++
		c.OtherLanguage++
	case lang == "": // the script is right, the language can't be told
		return
	case lang != asked:
		c.OtherLanguage++
	}
	c.Told++
}
