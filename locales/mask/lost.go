package mask

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"selfplay/locales/verify"
)

// Lost checks a translation in which nothing was hidden: whether what would have
// been survives. Most of it package verify compares by itself; what is left are
// words and marks that stand in quotes, and drawings. The quotes may be those of
// the language.
func (m Masked) Lost(translated string) (findings []verify.Finding) {
	for i, s := range m.Slots {
		piece, have := s.Text, 0
		quoted := piece[0] == '\'' || piece[0] == '"'
		switch {
		case s.Kind == Art:
			have = strings.Count(translated, piece)
		case s.Kind == Command && quoted:
			piece = piece[1 : len(piece)-1]
			have = strings.Count(translated, piece)
		case s.Kind == Label && quoted:
			piece = piece[1 : len(piece)-1]
			have = countAlone(translated, piece)
		default:
			continue
		}
		if have >= m.want[i] {
			continue
		}
		f := verify.Finding{Kind: verify.Token, Severity: verify.Error, What: fmt.Sprintf("%q is missing; it must stand as in the English text", piece)}
		if have > 0 {
			f.Severity, f.What = verify.Warning, fmt.Sprintf("%q stands less often than in the English text; see whether something is lost", piece)
		}
		findings = append(findings, f)
	}
	return findings
}

// countAlone counts where one character stands by itself: a letter or digit with no
// such Latin one at it, any other between signs.
func countAlone(text, piece string) (n int) {
	r, _ := utf8.DecodeRuneInString(piece)
	joins := func(o rune) bool { return unicode.Is(unicode.Latin, o) || unicode.IsDigit(o) || o == '_' }
	if !isWord(r) {
		joins = func(o rune) bool { return isWord(o) || unicode.IsSpace(o) }
	}
	for at := 0; ; {
		i := strings.Index(text[at:], piece)
		if i < 0 {
			return n
		}
		from, to := at+i, at+i+len(piece)
		after, _ := utf8.DecodeRuneInString(text[to:])
		if !(from > 0 && joins(before(text, from))) && !(to < len(text) && joins(after)) {
			n++
		}
		at = to
	}
}
