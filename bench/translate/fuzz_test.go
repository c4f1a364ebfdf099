package translate

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"selfplay/locales"
)

func newRNG() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// FuzzAnswer: whatever a model answers is taken or refused, and what is taken keeps
// the placeholders.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"Spieler 「1」 gewinnt.", openMark + "「1」" + closeMark, openMark, closeMark, "「１」", "\xff", ""} {
		f.Add(s)
	}
	c := newChecker(Text{"Nim", "outcome.win", "Player {player_id} wins."}, "de")
	f.Fuzz(func(t *testing.T, answer string) {
		text, faults := c.answered(says(answer))
		if len(faults) == 0 && strings.Count(text, "{player_id}") != 1 {
			t.Errorf("%q is taken for %q", text, answer)
		}
	})
}

func FuzzVerdict(f *testing.F) {
	for _, s := range []string{yes, no, "faithful: yes", "reason: \nfaithful:", "reason: faithful: yes\nfaithful: no", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		faithful, reason, unclear := verdictOf(says(answer))
		if faithful && (unclear != "" || reason == "" || !strings.Contains(strings.ToLower(answer), "yes")) {
			t.Errorf("%q is faithful: %q %q", answer, reason, unclear)
		}
	})
}

func FuzzCandidates(f *testing.F) {
	f.Add([]byte(`{"game": "Nim", "key": "a", "lang": "de", "text": "x"}`))
	f.Add([]byte("{}\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := ReadCandidates(bytes.NewReader(data))
		for _, c := range all {
			if err != nil || c.Game == "" || c.Key == "" || c.Lang == "" || !utf8.ValidString(c.Text) {
				t.Errorf("%v %+v", err, c)
			}
		}
	})
}

// FuzzCorrupt: whatever a translation is, faults put into it leave no sign behind.
func FuzzCorrupt(f *testing.F) {
	f.Add("Nimm 3 Steine. Mit 4 von [5] gewinnt {wer}.", "Das Brett ist leer.")
	f.Add("", "")
	f.Add("\xff 9 「1」", "「2」")
	f.Fuzz(func(t *testing.T, text, other string) {
		g := good{Text: Text{locales.Common, "a", "x"}, fellow: []string{other}, in: map[string]string{"de": text, "fr": other}}
		for _, kind := range Kinds {
			got, ok := withFault(g, "de", kind, newRNG())
			if ok && got == text {
				t.Errorf("%s: %q is as it was", kind, text)
			}
		}
	})
}
