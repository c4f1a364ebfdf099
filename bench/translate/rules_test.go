package translate

import (
	"slices"
	"strings"
	"testing"

	"selfplay/bench/asking"
	"selfplay/locales"
	"selfplay/locales/verify"
)

// A ruleCase is an answer that one rule refuses and no other would.
type ruleCase struct {
	kind, says    string // what is told of it
	lang, english string
	answer        string // a model's, with signs
	candidate     string // in its place: somebody else's text, in which nothing is hidden
}

const lastObject = "Whoever takes the very last object wins the game."

// What each rule is there for. Package verify has more such rows, for each of its
// findings, and package mask for each sort of piece.
var ruleCases = []ruleCase{
	{kind: "cut", says: "<translation> was not closed", answer: "<translation>Nimm eins."},
	{kind: "empty", says: "empty", answer: "<translation> </translation>"},
	{kind: "sentinel", says: "「1」 missing", english: "Put it on A7.", answer: "Setz es auf B7."},
	{kind: "sentinel", says: "「1」 too often", english: "Put it on A7.", answer: "Setz es auf 「1」 oder 「1」."},
	{kind: "placeholder", says: "{id} is missing", english: "Player {id} wins.", candidate: "Der Spieler gewinnt."},
	{kind: "placeholder", says: "{id} stands more often", english: "Player {id} wins.", candidate: "Spieler {id} gewinnt, {id}."},
	{kind: "brace", says: "a wide brace", lang: "zh", english: "Player {id} wins.", answer: "玩家 「1」｛｝ 赢了。"},
	{kind: "brace", says: "a single '}'", english: "Player {id} wins.", candidate: "Spieler {id}} gewinnt."},
	{kind: "token", says: "[eins] is not in the English text", answer: "Nimm [eins]."},
	{kind: "token", says: "[pass] is missing", english: "Say [pass].", candidate: "Sage passe."},
	{kind: "token", says: `"down" is missing`, english: "Say 'up', 'down' or 'left'.", candidate: "Sage „up“, „runter“ oder „left“."},
	{kind: "token", says: `"X" is missing`, english: "Your pieces: 'X' on A7", candidate: "Deine Figuren: 'Y' auf A7"},
	{kind: "number", says: "4 stands where the English text has 3", english: "Take 3 stones.", answer: "Nimm 4 Steine."},
	{kind: "invisible", says: "U+200B", answer: "Nimm\u200b eins."},
	{kind: "look-alike", says: "mixes two scripts", lang: "ru", answer: "Bозьми один."},
	{kind: "script", says: "х is Cyrillic", answer: "Nimm eins хорошо."},
	{kind: "script", says: `"khudh" is not written`, lang: "ar", answer: "khudh wahidan."},
	{kind: "english", says: "is English", english: lastObject, answer: "Wer gewinnt: whoever takes the very last object wins."},
	{kind: "length", says: "see what is lost", english: lastObject, answer: "Ja."},
	{kind: "length", says: "see what was added", answer: "Nimm eins, und wenn sie nicht gestorben sind, dann leben sie noch heute."},
	{kind: "leak", says: "speaks of the translation", answer: "Here is the text: Nimm eins."},
	{kind: "leak", says: "stand around the whole text", answer: "„Nimm eins.“"},
	{kind: "thinking", says: "a mark of reasoning", answer: "<reasoning>eins</reasoning> Nimm eins."},
	{kind: "term", says: `"Player" is not called "Zocker"`, english: "The Player wins.", answer: "Der Mitspieler gewinnt."},
	{kind: "example", says: `the rules refuse the answer "A:5, B:10, C:10"`, english: "Write A:5, B:10, C:5.", candidate: "Schreib A:5, B:10, C:5.\nFalsch: A:5, B:10, C:10."},
	{kind: "example", says: `the answer "A:5, B:10, C:5" of the English text is missing`, english: "Write A:5, B:10, C:5.", candidate: "Schreib A:10, B:5, C:5."},
	{answer: "<translation>Nimm eins.</translation>"},
	{english: "Player {id} wins.", answer: "Spieler 「1」 gewinnt."},
	{english: "The Player wins.", answer: "Der Zocker gewinnt."},
	{english: "Write A:5, B:10, C:5.", candidate: "Schreib A:5, B:10, C:5."},
}

// TestRules: each rule refuses what it is there for, and nothing else would.
func TestRules(t *testing.T) {
	tested := []string{kindForm, kindMissing, KindJudged} // TestCheckTerm, TestCandidates, TestJudges
	for _, test := range ruleCases {
		tested = append(tested, test.kind)
		if test.lang == "" {
			test.lang = "de"
		}
		if test.english == "" {
			test.english = "Take one."
		}
		c := newChecker(Text{"ColonelBlotto", "key", test.english}, test.lang)
		c.glossary = Glossary{{"Player", "Zocker"}}
		if test.kind != "term" && !strings.Contains(test.answer, "Zocker") {
			c.glossary = nil
		}
		faults, without := c.check(test.candidate), []Fault(nil)
		if test.answer != "" {
			_, faults = c.answered(says(test.answer))
			if test.kind == kindCut || test.kind == kindSentinel { // these end it: what would the rest find?
				said := strings.TrimPrefix(test.answer, openMark)
				without = c.check(unhidden(c.masked, said))
			}
		}
		switch {
		case test.kind == "" && len(faults) > 0, len(faults) > 1, len(without) > 0:
			t.Errorf("%q: %s; without the rule %s", test.answer+test.candidate, dump(faults), dump(without))
		case test.kind != "" && (len(faults) == 0 || faults[0].Kind != test.kind || !strings.Contains(faults[0].What, test.says)):
			t.Errorf("%q: %s, want %s: %s", test.answer+test.candidate, dump(faults), test.kind, test.says)
		}
	}
	c := newChecker(Text{"", "key", "Take one."}, "de")
	if _, faults := c.answered(asking.Answer{Text: "Nimm eins.", Cut: "the thinking did not end"}); len(faults) != 1 || faults[0] != (Fault{kindCut, "the thinking did not end"}) {
		t.Error(faults)
	}
	all := []string{kindCut, kindSentinel, kindTerm, kindForm, kindMissing, KindJudged, string(locales.KindExample)}
	for _, kind := range verify.Kinds {
		all = append(all, string(kind))
	}
	for _, kind := range all {
		if !slices.Contains(tested, kind) {
			t.Errorf("no test of %q", kind)
		}
	}
}
