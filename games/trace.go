package games

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"selfplay/locales"
)

// A Trace is one scripted game: what textarena/golden.py prints as a line.
type Trace struct {
	Env   string      `json:"env"`
	Seed  int64       `json:"seed"`
	Langs []string    `json:"langs"`
	Steps []TraceStep `json:"steps"`

	// How the game stood after the last step. A trace may stop before the end.
	Ended  bool   `json:"-"`
	Result Result `json:"-"`
}

// A TraceStep is one answer, and what its player had been shown before it.
type TraceStep struct {
	Player      int    `json:"player"`
	Observation string `json:"observation"`
	Action      string `json:"action"`
}

// ReplayTrace reads a line of JSON, plays its answers and gives the same object
// with this program's own player and observation for each step, rewards and
// info, in the layout of the reference.
func ReplayTrace(line []byte, set *locales.Set) ([]byte, error) {
	var t Trace
	if err := json.Unmarshal(line, &t); err != nil {
		return nil, fmt.Errorf("games: a trace is one JSON object a line: %w", err)
	}
	if err := t.Replay(set); err != nil {
		return nil, err
	}
	return t.AppendJSON(nil), nil
}

// Replay plays the answers of the steps and fills in everything else.
func (t *Trace) Replay(set *locales.Set) error {
	spec, err := Lookup(t.Env)
	if err != nil {
		return err
	}
	if len(t.Langs) != 2 {
		return fmt.Errorf("games: a trace of %s has %d languages; give one for each of the two players", t.Env, len(t.Langs))
	}
	game, err := spec.New(set, [2]string(t.Langs), t.Seed)
	if err != nil {
		return err
	}
	for i := range t.Steps {
		step := &t.Steps[i]
		if _, ended := game.Result(); ended {
			return fmt.Errorf("games: trace of %s: the game ended before step %d of %d; drop the steps from there on", t.Env, i+1, len(t.Steps))
		}
		step.Player, step.Observation = game.ToMove(), game.Observation()
		game.Step(step.Action)
	}
	t.Result, t.Ended = game.Result()
	return nil
}

// AppendJSON appends the trace as one line, byte for byte as golden.py does.
func (t *Trace) AppendJSON(b []byte) []byte {
	b = appendQuoted(append(b, `{"env": `...), t.Env)
	b = strconv.AppendInt(append(b, `, "seed": `...), t.Seed, 10)
	b = append(b, `, "langs": [`...)
	for i, lang := range t.Langs {
		b = appendQuoted(append(b, separator(i)...), lang)
	}
	b = append(b, `], "steps": [`...)
	// A history mostly begins as the same player's last one did, which stands in
	// the line already.
	var last [2]struct {
		text       string
		start, end int
	}
	for i, s := range t.Steps {
		b = append(append(b, separator(i)...), `{"player": `...)
		b = strconv.AppendInt(b, int64(s.Player), 10)
		b = append(b, `, "observation": "`...)
		l, start := &last[s.Player&1], len(b)
		fresh, grown := strings.CutPrefix(s.Observation, l.text)
		if grown {
			b = append(b, b[l.start:l.end]...)
		}
		b = appendEscaped(b, fresh)
		l.text, l.start, l.end = s.Observation, start, len(b)
		b = appendQuoted(append(b, `", "action": `...), s.Action)
		b = append(b, '}')
	}
	b = t.appendRewards(append(b, `], "rewards": `...))
	b = append(b, `, "info": {`...)
	for seat := range 2 {
		b = t.appendInfo(append(b, separator(seat)...), seat)
	}
	return append(b, `}}`...)
}

// appendRewards writes the winner first, or the seat whose invalid move ended
// the game: the order in which the reference sets them.
func (t *Trace) appendRewards(b []byte) []byte {
	r := &t.Result
	if !t.Ended {
		return append(b, "null"...)
	}
	first := 0
	if r.Invalid[1] || r.Rewards[1] == 1 && !r.Invalid[0] {
		first = 1
	}
	for i, seat := range [2]int{first, 1 - first} {
		b = append(b, [2]string{`{"`, `, "`}[i]...)
		b = strconv.AppendInt(b, int64(seat), 10)
		b = strconv.AppendInt(append(b, `": `...), int64(r.Rewards[seat]), 10)
	}
	return append(b, '}')
}

func (t *Trace) appendInfo(b []byte, seat int) []byte {
	r := &t.Result
	b = strconv.AppendInt(append(b, '"'), int64(seat), 10)
	b = appendQuoted(append(b, `": {"role": `...), r.Roles[seat])
	b = strconv.AppendBool(append(b, `, "invalid_move": `...), r.Invalid[seat])
	b = strconv.AppendInt(append(b, `, "turn_count": `...), int64(r.Turns[seat]), 10)
	if t.Ended {
		b = appendQuoted(append(b, `, "reason": `...), r.Reasons[seat])
	}
	return append(b, '}')
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

// appendQuoted writes a JSON string.
func appendQuoted(b []byte, s string) []byte {
	return append(appendEscaped(append(b, '"'), s), '"')
}

// appendEscaped writes what stands between the quotes, as Python's json does with
// ensure_ascii off: unlike encoding/json it leaves U+2028 and the signs of HTML
// as they are.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	for {
		n := plainPrefix(s)
		b = append(b, s[:n]...)
		if n == len(s) {
			return b
		}
		switch c := s[n]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		s = s[n+1:]
	}
}

// plainPrefix counts the bytes before the first that JSON escapes.
func plainPrefix(s string) int {
	for i := range len(s) {
		if escaped[s[i]] {
			return i
		}
	}
	return len(s)
}

// escaped are the bytes that JSON does not have within quotes.
var escaped = func() (table [256]bool) {
	for c := range 0x20 {
		table[c] = true
	}
	table['"'], table['\\'] = true, true
	return table
}()
