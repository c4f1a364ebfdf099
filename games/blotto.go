package games

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"selfplay/locales"
)

// What is said in Colonel Blotto.
const (
	blottoIntro = iota
	blottoAlpha
	blottoBeta
	blottoRound
	blottoResult
	blottoRoundAlpha
	blottoRoundBeta
	blottoRoundTie
	blottoWrongFormat
	blottoWrongField
	blottoWrongSum
	blottoWinAlpha
	blottoWinBeta
	blottoDraw
	blottoEarlyAlpha
	blottoEarlyBeta
)

var blottoMessages = []locales.Message{
	blottoIntro: {Key: "player_prompt.intro", Args: []string{"role", "num_total_units", "field_names"}},
	blottoAlpha: {Key: "player_prompt.commander_alpha"},
	blottoBeta:  {Key: "player_prompt.commander_beta"},
	blottoRound: {Key: "game_state.header_round", Args: []string{"current_round", "num_rounds",
		"alpha_score", "beta_score", "field_names", "num_total_units"}},
	blottoResult:      {Key: "round_battle.field_result", Args: []string{"current_round", "p0_allocations", "p1_allocations"}},
	blottoRoundAlpha:  {Key: "round_battle.winner_alpha", Args: []string{"message"}},
	blottoRoundBeta:   {Key: "round_battle.winner_beta", Args: []string{"message"}},
	blottoRoundTie:    {Key: "round_battle.tie", Args: []string{"message"}},
	blottoWrongFormat: {Key: "invalid_move.wrong_format"},
	blottoWrongField:  {Key: "invalid_move.invalid_field", Args: []string{"field_names"}},
	blottoWrongSum:    {Key: "invalid_move.incorrect_total_units", Args: []string{"num_total_units", "current_sum"}},
	blottoWinAlpha:    {Key: "outcome.winner_alpha", Args: []string{"score_0", "score_1", "num_rounds"}},
	blottoWinBeta:     {Key: "outcome.winner_beta", Args: []string{"score_1", "score_0", "num_rounds"}},
	blottoDraw:        {Key: "outcome.draw", Args: []string{"score_0", "score_1", "num_rounds"}},
	blottoEarlyAlpha:  {Key: "outcome.early_winner_alpha", Args: []string{"scores_0", "scores_1"}},
	blottoEarlyBeta:   {Key: "outcome.early_winner_beta", Args: []string{"scores_1", "scores_0"}},
}

// blotto is Colonel Blotto: both players spread units over the same fields,
// seat 1 without knowing how seat 0 did.
type blotto struct {
	match
	fields, total, rounds int
	names                 string // the fields: A, B, C

	round  int // from 1
	scores [2]int
	units  [2][]int // each seat's allocation in this round, nil before it is made
}

// blottoOf starts games with these parameters.
func blottoOf(fields, total, rounds int) func(setting, int64) Game {
	names := fieldNames(fields)
	return func(s setting, _ int64) Game {
		g := &blotto{fields: fields, total: total, rounds: rounds, names: names, round: 1}
		g.open(s, 4<<10)
		roles := [2]int{blottoAlpha, blottoBeta}
		g.rename(roles)
		for seat, role := range roles {
			g.tell(seat, blottoIntro, g.texts[seat].String(role), strconv.Itoa(total), g.names)
		}
		g.showRound()
		return g
	}
}

// fieldNames lists fields: A, B, C.
func fieldNames(fields int) string {
	names := make([]string, fields)
	for f := range names {
		names[f] = string(rune('A' + f))
	}
	return strings.Join(names, ", ")
}

func (g *blotto) showRound() {
	g.tellBoth(blottoRound, strconv.Itoa(g.round), strconv.Itoa(g.rounds),
		strconv.Itoa(g.scores[0]), strconv.Itoa(g.scores[1]), g.names, strconv.Itoa(g.total))
}

// Step takes the mover's allocation; the second one of a round decides it.
func (g *blotto) Step(answer string) Event {
	action := g.begin(answer)
	g.echo(g.mover, action)
	if g.allocate(action) && g.units[1-g.mover] != nil {
		g.battle()
		g.showRound()
		g.checkEnd()
	}
	return g.finish()
}

// An allocation is what one answer says of one field.
type allocation struct {
	field rune
	units number
}

// allocate parses and validates an answer; false if it is refused.
func (g *blotto) allocate(action string) bool {
	parsed, ok := parseAllocations(action)
	if !ok {
		g.refuse(blottoWrongFormat)
		return false
	}
	units := make([]int, g.fields)
	for _, a := range parsed {
		field := int(a.field - 'A')
		if field < 0 || field >= g.fields {
			g.refuse(blottoWrongField, g.names)
			return false
		}
		units[field] = a.units.value
	}
	if sum := sumUnits(parsed); sum.value != g.total {
		g.refuse(blottoWrongSum, strconv.Itoa(g.total), sum.String())
		return false
	}
	g.units[g.mover] = units
	return true
}

// sumUnits adds up what an answer names, which may be of any size.
func sumUnits(parsed []allocation) number {
	const small = math.MaxInt / 64 // more fields there are not
	sum := 0
	for _, a := range parsed {
		if a.units.value > small {
			return sumLarge(parsed)
		}
		sum += a.units.value
	}
	return number{value: sum}
}

func sumLarge(parsed []allocation) number {
	sum := new(big.Int)
	for _, a := range parsed {
		digits, _ := new(big.Int).SetString(a.units.String(), 10)
		sum.Add(sum, digits)
	}
	return number{value: math.MaxInt, large: sum.String()}
}

// parseAllocations finds "A7", "a: 7" and the like in the first brackets that
// hold anything, or without such brackets in the whole answer. Whatever stands
// between them is let pass. False if there are none, or a field comes twice.
func parseAllocations(action string) ([]allocation, bool) {
	s := strip(action)
	if inner, ok := firstBrackets(s); ok {
		s = strip(inner)
	}
	var found []allocation
	for i := 0; i < len(s); {
		letter, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if !isFieldLetter(letter) {
			continue
		}
		start := skipSpace(s, i)
		if start < len(s) && s[start] == ':' {
			start = skipSpace(s, start+1)
		}
		end := skipDigits(s, start)
		if end == start {
			continue
		}
		units, ok := toNumber(s[start:end])
		field := unicode.ToUpper(letter)
		for _, a := range found {
			ok = ok && a.field != field
		}
		if !ok {
			return nil, false
		}
		found = append(found, allocation{field, units})
		i = end
	}
	return found, len(found) > 0
}

// firstBrackets gives the content of the first [...] that is not empty.
func firstBrackets(s string) (string, bool) {
	for {
		_, rest, ok := strings.Cut(s, "[")
		if !ok {
			return "", false
		}
		inner, _, closed := strings.Cut(rest, "]")
		if closed && inner != "" {
			return inner, true
		}
		s = rest
	}
}

// isFieldLetter reports whether Python's [A-Za-z] takes a letter when case is
// ignored: then also the four others that have one of them as their other case.
func isFieldLetter(r rune) bool {
	switch {
	case 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z':
		return true
	}
	return r == 'İ' || r == 'ı' || r == 'ſ' || r == '\u212a' // Kelvin sign
}

// battle decides the round and shows both allocations.
func (g *blotto) battle() {
	fields := [2]int{}
	for f := range g.fields {
		switch a, b := g.units[0][f], g.units[1][f]; {
		case a > b:
			fields[0]++
		case b > a:
			fields[1]++
		}
	}
	outcome := blottoRoundTie
	switch {
	case fields[0] > fields[1]:
		outcome = blottoRoundAlpha
		g.scores[0]++
	case fields[1] > fields[0]:
		outcome = blottoRoundBeta
		g.scores[1]++
	}
	round, alpha, beta := strconv.Itoa(g.round), showUnits(g.units[0]), showUnits(g.units[1])
	for seat := range 2 {
		g.tell(seat, outcome, g.texts[seat].String(blottoResult, round, alpha, beta))
	}
	g.round++
	g.units = [2][]int{}
}

// showUnits writes an allocation as "A: 7 , B: 10", units two wide.
func showUnits(units []int) string {
	b := make([]byte, 0, 8*len(units))
	for f, n := range units {
		if f > 0 {
			b = append(b, ", "...)
		}
		b = append(b, 'A'+byte(f), ':', ' ')
		start := len(b)
		b = strconv.AppendInt(b, int64(n), 10)
		if len(b)-start == 1 {
			b = append(b, ' ')
		}
	}
	return string(b)
}

// checkEnd ends the game after the last round, or once a player has won the
// greater part of all rounds.
func (g *blotto) checkEnd() {
	first, second := strconv.Itoa(g.scores[0]), strconv.Itoa(g.scores[1])
	rounds, majority := strconv.Itoa(g.rounds), g.rounds/2+1
	switch over := g.round > g.rounds; {
	case over && g.scores[0] > g.scores[1]:
		g.win(0, blottoWinAlpha, first, second, rounds)
	case over && g.scores[1] > g.scores[0]:
		g.win(1, blottoWinBeta, second, first, rounds)
	case over:
		g.draw(blottoDraw, first, second, rounds)
	case g.scores[0] >= majority:
		g.win(0, blottoEarlyAlpha, first, second)
	case g.scores[1] >= majority:
		g.win(1, blottoEarlyBeta, second, first)
	}
}

// RandomAction is any allocation of all units; each is as likely.
func (g *blotto) RandomAction(intn func(n int) int) string {
	// Units and the fields-1 bars between them stand in a row in any order.
	bars, places := g.fields-1, g.total+g.fields-1
	b := append(make([]byte, 0, 5*g.fields), "[A"...)
	units, field := 0, byte('A')
	for ; places > 0; places-- {
		if intn(places) >= bars {
			units++
			continue
		}
		bars--
		field++
		b = append(strconv.AppendInt(b, int64(units), 10), ' ', field)
		units = 0
	}
	return string(append(strconv.AppendInt(b, int64(units), 10), ']'))
}
