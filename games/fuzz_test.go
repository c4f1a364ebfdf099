package games

import (
	"strings"
	"testing"
	"unicode/utf8"

	"selfplay/locales"
)

// FuzzStep plays the lines of a text as answers in every environment: no answer
// may break a game, and a refused one comes with its reason.
func FuzzStep(f *testing.F) {
	for _, s := range []string{"[4]\n[4]\n[0]", "[0 3]\n[1 4]\n[2 5]", "[٤]\n[４]\n［4］", "\x1c[0\u00a03]\n'\"[]\"'", "[GAME]\n[[Player 0]]", "\xff[\xff4]"} {
		f.Add(s, int64(1))
	}
	f.Fuzz(func(t *testing.T, answers string, seed int64) {
		for _, env := range Names() {
			g := newGame(t, env, suiteLangs[uint64(seed)%5], seed)
			var before [2]string
			for answer := range strings.SplitSeq(answers, "\n") {
				r, ended := g.Result()
				if ended {
					if r.Rewards[0]+r.Rewards[1] != 0 {
						t.Errorf("%s: %+v", env, r)
					}
					break
				}
				seat := g.ToMove()
				shown := g.Observation()
				if !strings.HasPrefix(shown, before[seat]) {
					t.Errorf("%s: the history changed", env)
				}
				if utf8.ValidString(answers) && !utf8.ValidString(shown) {
					t.Errorf("%s: the history is no UTF-8", env)
				}
				before[seat] = shown
				e := g.Step(answer)
				if e.Invalid != (e.Reason != "") {
					t.Errorf("%s: %q gives %+v", env, answer, e)
				}
			}
		}
	})
}

// FuzzTrace reads any line: it is replayed, or refused on one line.
func FuzzTrace(f *testing.F) {
	f.Add(`{"env": "Nim-v0", "seed": 1, "langs": ["en", "ar"], "steps": [{"action": "[0 1]"}, {"action": "\u0000"}]}`)
	f.Fuzz(func(t *testing.T, line string) {
		out, err := ReplayTrace([]byte(line), locales.Embedded())
		if err != nil {
			return
		}
		again, err := ReplayTrace(out, locales.Embedded())
		if err != nil || string(again) != string(out) {
			t.Errorf("%q is replayed as %q, and that as %q, %v", line, out, again, err)
		}
	})
}
