package games

import (
	"strings"
	"unicode/utf8"
)

// inBrackets is TextArena's ActionFormattingWrapper: blanks and then quotes are
// stripped, and an answer without any bracket is put in brackets.
func inBrackets(answer string) string {
	answer = strings.Trim(strip(answer), `'"`)
	if strings.ContainsAny(answer, "[]") {
		return answer
	}
	return "[" + answer + "]"
}

// clipped is TextArena's ClipCharactersActionWrapper: of an answer that is too
// long the last 1,000 characters are kept.
func clipped(answer string) string {
	const limit = 1000
	start := len(answer)
	for range limit {
		if start == 0 {
			return answer
		}
		_, size := utf8.DecodeLastRuneInString(answer[:start])
		start -= size
	}
	return answer[start:]
}
