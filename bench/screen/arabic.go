package screen

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The forms of an Arabic letter: alone, at the end of a word, at its beginning, in
// its middle. Letters that never join the next one have two.
type forms []rune

// arabic are the letters, and lam with alef, that Unicode has such forms of. In its
// two blocks the forms of a letter follow each other in this order, but for two of
// alef maksura, which stand in the block that is therefore read last.
var arabic = func() map[string]forms {
	all := map[string]forms{}
	for _, block := range [][2]rune{{'\ufe80', '\ufefc'}, {'\ufb50', '\ufbff'}} {
		for r := block[0]; r <= block[1]; r++ {
			letter := norm.NFKC.String(string(r))
			all[letter] = append(all[letter], r)
		}
	}
	return all
}()

const (
	tatweel   = 'ـ' // joins on both sides
	joiner    = '\u200d'
	lam       = 'ل'
	notJoined = -1
)

// joined puts the form that it has in its word for each Arabic letter: terminals
// that don't turn text do not join letters either, and once turned they could not.
// A letter that Unicode has no forms of, as some of Kurdish and Uyghur, stays alone.
func joined(line string) string {
	runes := []rune(line)
	var out []rune
	before := notJoined // where in out the letter before is, if it joins this one
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if unicode.In(r, unicode.Mn) { // vowel signs stand on a letter
			out = append(out, r)
			continue
		}
		letter := string(r)
		if r == lam && i+1 < len(runes) && arabic[string(runes[i:i+2])] != nil {
			letter = string(runes[i : i+2])
			i++
		}
		f := arabic[letter]
		joins := r == tatweel || r == joiner
		if (len(f) >= 2 || joins) && before != notJoined {
			out[before] = joinNext(out[before])
			if len(f) >= 2 {
				letter = string(f[1])
			}
		} else if len(f) > 0 {
			letter = string(f[0])
		}
		before = notJoined
		if len(f) == 4 || joins {
			before = len(out)
		}
		out = append(out, []rune(letter)...)
	}
	return string(out)
}

// joinNext is the form of a letter, given in another form, that joins the next one.
func joinNext(r rune) rune {
	f := arabic[norm.NFKC.String(string(r))]
	if len(f) != 4 || strings.ContainsRune(string(f[2:]), r) {
		return r
	}
	if r == f[1] {
		return f[3]
	}
	return f[2]
}
