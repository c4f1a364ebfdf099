package games

import (
	"strings"
	"testing"

	"selfplay/locales"
)

func TestReplayTrace(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"no step",
			`{"langs": ["en", "de"], "env": "TicTacToe-v0", "seed": 5, "steps": []}`,
			`{"env": "TicTacToe-v0", "seed": 5, "langs": ["en", "de"], "steps": [], "rewards": null, "info": {"0": {"role": "Player 0", "invalid_move": false, "turn_count": 0}, "1": {"role": "Spieler 1", "invalid_move": false, "turn_count": 0}}}`},
		{"stops before the end",
			`{"env":"Nim","seed":-1,"langs":["en","en"],"steps":[{"action":"[0 1]"},{"action":"[0 1]"},{"action":"?"}]}`,
			`"rewards": null, "info": {"0": {"role": "Player 0", "invalid_move": false, "turn_count": 1}, "1": {"role": "Player 1", "invalid_move": false, "turn_count": 1}}}`},
		{"seat 1 wins",
			`{"env":"Nim","seed":0,"langs":["en","zh"],"steps":[{"action":"[0 3]"},{"action":"[1 4]"},{"action":"[2 4]"},{"action":"[2 1]"}]}`,
			`"rewards": {"1": 1, "0": -1}, "info": {"0": {"role": "Player 0", "invalid_move": false, "turn_count": 2, "reason": "Nothing is left: Player 1 made the last move and wins."}, "1": {"role": "玩家 1",`},
		{"seat 0 forfeits",
			`{"env":"Nim","seed":0,"langs":["en","en"],"steps":[{"action":"<&>\u2028\u0001\b\f\r\t\"\\/"},{"action":"é"}]}`,
			`"action": "<&>` + "\u2028" + `\u0001\b\f\r\t\"\\/"}, {"player": 0, `},
		{"order of a forfeit",
			`{"env":"Nim","seed":0,"langs":["en","en"],"steps":[{"action":"?"},{"action":"?"}]}`,
			`"rewards": {"0": -1, "1": 1}, "info": {"0": {"role": "Player 0", "invalid_move": true, "turn_count": 1,`},
		{"a draw",
			`{"env":"TicTacToe","seed":0,"langs":["en","en"],"steps":[{"action":"0"},{"action":"1"},{"action":"2"},{"action":"4"},{"action":"3"},{"action":"5"},{"action":"7"},{"action":"6"},{"action":"8"}]}`,
			`"rewards": {"0": 0, "1": 0}, `},
	} {
		got, err := ReplayTrace([]byte(test.line), locales.Embedded())
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if !strings.Contains(string(got), test.want) || strings.Contains(string(got), "\n") {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestReplayTraceRefuses(t *testing.T) {
	const forfeit = `{"env":"Nim-v0","seed":0,"langs":["en","en"],"steps":[{"action":"?"},{"action":"?"},{"action":"[0 1]"},{"action":"[0 1]"}]}`
	for line, want := range map[string]string{
		``:                                       "one JSON object a line",
		`[]`:                                     "one JSON object a line",
		`{"env":"Chess"}`:                        `unknown game "Chess"`,
		`{"env":"Nim","seed":1}`:                 "0 languages",
		`{"env":"Nim","seed":1e30}`:              "one JSON object a line",
		`{"env":"Nim","langs":["en","en","en"]}`: "3 languages",
		`{"env":"Nim","langs":["en","../en"]}`:   `"../en"`,
		forfeit:                                  "trace of Nim-v0: the game ended before step 3 of 4",
	} {
		if _, err := ReplayTrace([]byte(line), locales.Embedded()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", line, err, want)
		}
	}
}
