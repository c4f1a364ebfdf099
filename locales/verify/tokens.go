package verify

import (
	"slices"
	"strings"
	"unicode"
)

// checkTokens compares what must not be translated.
func (c *check) checkTokens() {
	tokens, english := tokensOf(c.text), textsOf(c.tokens)
	have := textsOf(tokens)
	missing, extra := difference(english, have)
	for _, t := range missing {
		// The words of a form may be translated: [row col], [bet amount].
		if at := slices.IndexFunc(extra, func(e string) bool { return sameForm(t, e) }); at >= 0 {
			extra = slices.Delete(extra, at, at+1)
			continue
		}
		c.missToken(t, have)
	}
	for _, t := range slices.Compact(extra) {
		if !slices.Contains(english, t) {
			c.find(Token, Warning, tokens[slices.Index(have, t)], "%s is not in the English text; write it as there, or without the %s", t, marksOf(t))
		}
	}
	c.checkCards()
}

func marksOf(token string) string {
	switch token[0] {
	case '\\':
		return "backslash"
	case '`':
		return "back-ticks"
	}
	return "brackets"
}

func (c *check) checkCards() {
	if len(c.cards) == 0 {
		return
	}
	have := cardsOf(c.prose)
	for _, card := range c.cards {
		if slices.Contains(have, card) {
			continue
		}
		if twin := twinOf(card, c.prose); twin != 0 {
			c.find(LookAlike, Error, c.at(string(twin)), "the card %c is written %c (%U, %s); write the Latin letter that the game shows", card, twin, twin, scriptName(twin))
		} else {
			c.find(Token, Error, span{}, "the card %c is missing; write the letter that the game shows", card)
		}
	}
}

func (c *check) missToken(token string, tokens []string) {
	switch {
	case slices.Contains(tokens, token):
		c.find(Token, Warning, c.at(token), "%s stands less often than in the English text; see whether something is lost", token)
	case len(commandOf(token)) == 0:
		c.find(Token, Warning, span{}, "%s is missing; show the form of an answer in brackets as there", token)
	default:
		c.find(Token, Error, span{}, "%s is missing; it must stand as in the English text", token)
	}
}

// formWords stand in a form for what a player fills in; they may be translated.
var formWords = strings.Fields(`action allocation amount card card1 card2 card3 cell center center_index col column
	comm count dest build file filerank guess index number op opp-id pid pile position pts quantity rank requested
	resources offered row source target token value worker_id macro micro i j x y n m p`)

// commandOf lists the words of a token that are no form words, in their order.
// An example, one with a number in it, has none to fill in.
func commandOf(token string) (command []string) {
	words := strings.FieldsFunc(token, func(r rune) bool { return strings.ContainsRune("[]<> ,:$", r) })
	example := slices.ContainsFunc(words, func(w string) bool { return strings.Trim(w, "0123456789") == "" })
	for _, w := range words {
		if w == "->" || strings.HasPrefix(w, "{") || !example && slices.Contains(formWords, strings.ToLower(strings.Trim(w, "→>-"))) {
			continue
		}
		command = append(command, w)
	}
	return command
}

// sameForm reports whether a token of a translation is the English form with
// its words translated: then the placeholders and command words are the same.
func sameForm(token, translated string) bool {
	if token[0] != '[' || translated[0] != '[' {
		return false
	}
	a, _, _, _ := fieldsOf(token)
	b, _, _, _ := fieldsOf(translated)
	words := strings.FieldsFunc(translated, func(r rune) bool { return strings.ContainsRune("[]<> ,:$", r) })
	for _, w := range commandOf(token) {
		at := slices.Index(words, w)
		if at < 0 {
			return false
		}
		words = words[at+1:]
	}
	return slices.Equal(a, b) && len(commandOf(token)) < len(strings.Fields(token))
}

// tokensOf lists what stands in brackets or back-ticks on one line, sorted.
func tokensOf(text string) (tokens []span) {
	eachToken(text, func(from, to int) { tokens = append(tokens, span{text[from:to], from, to}) })
	slices.SortStableFunc(tokens, func(a, b span) int { return strings.Compare(a.text, b.text) })
	return tokens
}

func textsOf(spans []span) []string {
	texts := make([]string, len(spans))
	for i, s := range spans {
		texts[i] = s.text
	}
	return texts
}

// eachToken finds [tokens], `code` and \commands. Of code that holds brackets
// the brackets are the token.
func eachToken(text string, found func(from, to int)) {
	for i := 0; i < len(text); {
		size := strings.IndexAny(text[i:], "[`\\")
		if size < 0 {
			return
		}
		i += size
		end := TokenEnd(text[i:])
		switch token := text[i : i+end]; {
		case end == 0:
			end = 1
		case token[0] == '`' && strings.Contains(token, "["):
			eachToken(token[1:end-1], func(from, to int) { found(i+1+from, i+1+to) })
		default:
			found(i, i+end)
		}
		i += end
	}
}

// TokenEnd is the length of the [token], `code` or \command that a text begins
// with, 0 for none.
func TokenEnd(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '\\':
		end := 1
		for end < len(s) && 'a' <= s[end]|0x20 && s[end]|0x20 <= 'z' {
			end++
		}
		if end > 1 {
			return end
		}
	case '[':
		if end := strings.IndexAny(s[1:], "[]\n"); end > 0 && s[1+end] == ']' {
			return 1 + end + 1
		}
	case '`':
		if end := strings.IndexAny(s[1:], "`\n"); end > 0 && s[1+end] == '`' {
			return 1 + end + 1
		}
	}
	return 0
}

// proseOf is a text with line breaks in place of its placeholders and tokens:
// what is found in it stands at the same place in the text.
func proseOf(text string) string {
	out := []byte(text)
	eachToken(text, func(from, to int) {
		for ; from < to; from++ {
			out[from] = '\n'
		}
	})
	return withoutFields(string(out))
}

// cardsOf lists which of the cards J, Q and K are named by their letters.
func cardsOf(prose string) (cards []rune) {
	eachLone(prose, func(r rune) {
		if (r == 'J' || r == 'Q' || r == 'K') && !slices.Contains(cards, r) {
			cards = append(cards, r)
		}
	})
	return cards
}

// twins look like the letters of the cards.
var twins = map[rune]string{'J': "ЈͿ", 'Q': "ԚⵕႭ", 'K': "КΚ"}

// twinOf finds a letter of another script that stands alone in place of a card.
func twinOf(card rune, prose string) (twin rune) {
	eachLone(prose, func(r rune) {
		if strings.ContainsRune(twins[card], r) {
			twin = r
		}
	})
	return twin
}

// eachLone calls found for the capital letters that stand alone in a text. An
// ending in another script may be joined to one.
func eachLone(prose string, found func(r rune)) {
	runes := []rune(prose)
	joined := func(i int, r rune) bool {
		if i < 0 || i >= len(runes) {
			return false
		}
		return slices.ContainsFunc(mixable[:], func(s script) bool { return unicode.Is(s.letters, r) && unicode.Is(s.letters, runes[i]) })
	}
	for i, r := range runes {
		if unicode.IsUpper(r) && !joined(i-1, r) && !joined(i+1, r) {
			found(r)
		}
	}
}
