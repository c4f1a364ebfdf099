package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/language"
)

// checkPair gives what is found in a text against its English original, each
// finding as "severity kind: what".
func checkPair(lang, english, text string) (found []string) {
	for _, f := range NewOriginal(english).Check(text, Of(lang, text)) {
		found = append(found, fmt.Sprintf("%s %s: %s", f.Severity, f.Kind, f.What))
	}
	return found
}

// Each row is one finding; its text must contain want. An empty want means that
// nothing is found.
var textFaults = []struct{ lang, english, text, want string }{
	// Placeholders.
	{"de", "Player {id}, {n}", "{n} von Spieler {id}", ""},
	{"de", "Player {id}", "Spieler", "error placeholder: {id} is missing"},
	{"de", "Player {id}", "Spieler {id} {name}", "error placeholder: {name} is not in the English text"},
	{"de", "{id} takes {id}", "{id} nimmt", "warning placeholder: {id} stands less often"},
	{"de", "{id} takes", "{id}: {id} nimmt", "warning placeholder: {id} stands more often"},
	{"fr", "{id!r}", "{id!r}", ""},
	// Braces.
	{"de", "in \\boxed{{}} now", "in \\boxed{{}} jetzt", ""},
	{"de", "in \\boxed{{}} now", "in \\boxed{} jetzt", "error brace: 0 doubled braces, the English text has 2"},
	{"de", "Fields: {f}", "Felder }}: {f}", "error brace: 1 doubled braces, the English text has 0"},
	{"de", "Player {id}", "Spieler {id", "error brace: a single '{'"},
	{"de", "Player {id}", "Spieler {{id}", "error brace: a single '}'"},
	{"de", "a set: {1, 2", "eine Menge: {1, 2", ""}, // never formatted
	{"zh", "Player {id}", "玩家 {id}｛｝", "error brace: a wide brace"},
	// Tokens.
	{"de", "Say '[check]' or '[bet]'.", "Sage '[bet]' oder '[check]'.", ""},
	{"de", "Say '[check]'.", "Sage '[schieben]'.", "error token: [check] is missing"},
	{"zh", "Say '[4]'.", "回答【4】。", "error token: [4] is missing"},
	{"de", "[a] or [a]", "[a]", "warning token: [a] stands less often"},
	{"de", "Say so.", "Sage [so].", "warning token: [so] is not in the English text; write it as there, or without the brackets"},
	{"ru", "Answer [row col], such as [1 2].", "Ответ [ряд столбец], например [1 2].", ""},
	{"ru", "Answer [row col].", "Ответ.", "warning token: [row col] is missing"},
	{"ru", "Answer [bet X].", "Ответ [bet ставка].", ""},
	{"ru", "Answer [bet X].", "Ответ [ставка X].", "error token: [bet X] is missing"},
	{"ru", "Answer [X 4].", "Ответ [Х 4].", "error token: [X 4] is missing"},
	{"de", "[{r}, {c}]", "[{r}; {c}]", ""},
	{"de", "Write `a` or `[1 b]`.", "Schreib `[1 b]`.", "error token: `a` is missing"},
	{"de", "Write `[1 a]` or `[1 b]`.", "Schreib `[1 a]` oder `[1 b]`.", ""},
	{"de", "inside \\boxed", "im Kasten", "error token: \\boxed is missing"},
	{"de", "a\nb", `a\nb`, `warning token: \nb is not in the English text; write it as there, or without the backslash`},
	// Cards.
	{"de", "K beats Q, and Q beats J.", "K schlägt Q und Q schlägt J.", ""},
	{"tr", "K beats Q.", "K'yi Q yener.", ""},
	{"ky", "K beats Q.", "Kны Q утат.", ""},
	{"de", "K beats Q.", "König schlägt Q.", "error token: the card K is missing"},
	{"sr", "K beats Q.", "К јаче од Q.", "error look-alike: the card K is written К (U+041A, Cyrillic)"},
	// Invisible characters.
	{"de", "a\n\tb", "a\n\tb", ""},
	{"de", "a b", "a\tb", "error invisible: U+0009, a control character"},
	{"de", "a b", "a\u00a0b", ""},
	{"de", "a b", "a\u200bb", "error invisible: U+200B, a space without width"},
	{"de", "a b", "\ufeffa b", "error invisible: U+FEFF, a byte order mark"},
	{"de", "a b", "a\u00adb", "error invisible: U+00AD, a soft hyphen"},
	{"de", "a b", "a\ue000b", "error invisible: U+E000, a private character"},
	{"de", "a b", "a\u0008b", "error invisible: U+0008, a control character"},
	{"de", "a b", "a\u2028b", "error invisible: U+2028, a line separator"},
	{"de", "a b", "a\ufffdb", "error invisible: U+FFFD, the mark of a character that was lost"},
	{"or", "a b", "\u0b15\u0df7", "error invisible: U+0DF7, no character at all"},
	{"he", "a b", "א\u200fב", "warning invisible: U+200F, a mark of the writing direction"},
	{"ar", "a b", "ا\u202eب", "error invisible: U+202E, a mark of the writing direction"},
	{"de", "a b", "a\u200cb", "error invisible: U+200C, a joiner where nothing joins"},
	{"fa", "a b", "می\u200cشود", ""},
	{"si", "a b", "ක්\u200dර", ""},
	{"km", "a b", "ក\u200bខ", ""},
	{"de", "a 👨\u200d👩 b", "a 👨\u200d👩 b", ""},
	{"ar", "a b", "\u06dd", ""},
	// Scripts within a word.
	{"ru", "take", "бepи", "error look-alike: \"бepи\" mixes two scripts: "},
	{"tr", "take", "аl", "error look-alike: \"аl\" mixes two scripts: а is Cyrillic (U+0430)"},
	{"aka", "take", "sε sε", "error look-alike: \"sε\" (and 1 more) mixes two scripts: ε is Greek (U+03B5)"},
	{"kk", "Play Nim.", "Nimді ойна.", ""},
	{"kk", "Miners!", "Minerлер!", ""},
	{"kk", "Play.", "Nimді ойна.", "error look-alike"},
	{"ja", "Play Nim.", "Nimを遊ぶ。", ""},
	// Scripts of a language.
	{"ja", "a b", "漢字とカタカナー", ""},
	{"de", "a b", "gut хорошо ясно", "warning script: \"хорошо\" (and 1 more) is not written as the language is: х is Cyrillic; write it in Latin"},
	{"uig", "a b", "ياخشىлا", "warning script: \"ياخشىлا\" is not written as the language is: л is Cyrillic; write it in Arabic"},
	{"ru", "a b", "Nim, TicTacToe и 三", "warning script: \"三\""},
	{"kas", "a b", "अख", ""}, // either script, but one of them
	{"kas", "a b", "ترٛے अख ؤنہ", "warning script: \"अख\""},
	{"tlh", "a b", "三", ""}, // nobody knows
	{"sr", "a b", "jeдан", "error look-alike"},
	{"sr", "a b", "један dva", ""}, // a name
	{"sr", "a b", "jedan", ""},     // either
	{"sr-Latn", "a b", "један", "warning script: \"један\" is not written as the language is: ј is Cyrillic; write it in Latin"},
	{"sr_Cyrl", "a b", "jedan", "warning script: \"jedan\" is not written as the language is; write it in Cyrillic"},
	{"ar", "You win {n}", "fuzta {n}", "warning script: \"fuzta\" is not written as the language is; write it in Arabic"},
	{"ar", "Nim and Kuhn", "Kuhn Nim", ""},
	{"ar", "2 by 3 cells", "2 km × 3", ""}, // a unit
	{"zh-Hant", "You win", "ni ying le", "warning script: \"ying\""},
	{"zh-Hant", "You win", "你贏了", ""},
	{"zh-Latn", "You win", "ni ying le", ""},
	{"zh", "You win", "你贏了，再來", `warning script: "你贏了" (and 1 more) is not written as the language is: 贏 is no simplified character`},
	{"zh-TW", "You win", "你赢了", `warning script: "你赢了" is not written as the language is: 赢 is no traditional character`},
	{"zh_Hant", "You win", "你赢了", "warning script"},
	{"zh-CN", "You win", "你赢了，裡", "warning script"},
	{"zh-HK", "You win", "你贏了，在台北的後面乾杯", ""}, // those in both are of either
	{"zh", "You win", "你赢了，在台北的后面干杯", ""},
	{"zh", "The sign 贏", "符号贏", ""},
	{"yue", "You win", "你贏咗㗎，嗰個係我嘅。", ""},
	{"zh", "You win", "刘䶮赢了", ""}, // 䶮 is in neither
	{"yue", "You win", "nei yeng zo", "warning script: \"nei\" is not written as the language is; write it in Han"},
	{"ja", "You win", "学校で發見", ""},
	// Languages that are in the Unicode consortium's table and not in ours.
	{"haw", "You win", "Lanakila ʻoe хорошо", "warning script: \"хорошо\""},
	{"cv", "You win", "esĕ vyljană", "warning script: \"esĕ\" is not written as the language is; write it in Cyrillic"},
	{"de", "The sign 三", "Das Zeichen 三", ""},
	{"pt-BR", "a b", "não", ""},
	// Left in English.
	{"de", "You have to take the last one", "Du musst: take the last one, you", ""},
	{"de", "You have to take the last one", "Hallo! You have to take the last one", "warning english: \"You have to take the last one\""},
	{"it", "You play in Quantum Tic Tac Toe.", "Giochi in Quantum Tic Tac Toe.", ""},
	{"de", "'move w t1', 'move t1 f2' to you", "'move w t1', 'move t1 f2' für dich", ""},
	{"en", "You have to take the last one", "You have to take the last one", ""},
	{"de", "Illegal move.", "Illegal move.", "warning english: \"Illegal move.\" is English"},
	{"de", "Royal Flush", "Royal Flush", ""}, // a name
	{"de", "Cell {n}", "Cell {n}", ""},
	{"de", "Illegal move.", "Illegal.", ""},
	{"de", "{a} | stacks {b}>{c}", "{a} | Stacks {b}>{c}", ""}, // one word
	// Numbers.
	{"de", "from 0 to 8", "von 0 bis 8", ""},
	{"de", "from 0 to 8", "von 0 bis 9", "error number: 9 stands where the English text has 8; write that"},
	{"de", "60 moves", "Züge", "warning number: 60 is missing"},
	{"de", "3 cards", "drei Karten", ""},
	{"de", "three cards, 1 chip", "3 Karten, 1 Chip", ""},
	{"de", "a move", "in 7 Zügen ziehen", "warning number: 7 is not in the English text"},
	{"de", "take 3 of 3", "nimm 3", ""},
	{"de", "1,000 rounds", "1.000 Runden", ""},
	{"fr", "1000 rounds", "1\u202f000 manches", ""},
	{"de", "0, 1 and 234", "0, 1 und 234", ""},
	{"ar", "from 0 to 18", "من ٠ إلى ١٨", ""},
	{"ar", "from 0 to 18", "من ٠ إلى ١٧", "error number: 17 stands where the English text has 18"},
	{"mr", "13 cards", "१३ पत्ते", ""},
	{"zh", "9 rounds, 20 units, 105 coins", "九轮，二十个单位，一百零五枚", ""},
	{"zh", "9 rounds of 20", "九轮，三十个", "warning number: 20 is missing"},
	{"am", "25 rounds", "፳፭ ዙሮች", ""},
	{"de", "Player {player_0} of {n}", "Spieler {player_0} von {n}", ""},
	// Length.
	{"de", "(TRUMP)", "(TRUMPF) Und wenn sie nicht gestorben sind, dann leben sie noch heute", "warning length: 55 letters, the English text has 5"},
	{"de", "────", "Strich", "warning length: there are no words in the English text"},
	{"de", "{a}\n", "{a}\n", ""},
	{"de", "You hold the cards of one suit, each exactly once, and play one of them in each round.", "Du hast.", "warning length: 6 letters, the English text has 66"},
	{"zh", "You hold the cards of one suit, each exactly once.", "你拥有一个花色的牌，每张恰好一张。", ""},
	// What a model leaves.
	{"de", "You win.", "<think>Hm.</think> Du gewinnst.", "error thinking: \"<think>\" is a mark of reasoning"},
	{"de", "You win.", "Du gewinnst.</think>", "error thinking"},
	{"de", "You win.", "Du gewinnst.<|im_end|>", "error leak: \"<|im_end|>\" is a mark of a chat"},
	{"de", "You win.", "```\nDu gewinnst.\n```", "error leak"},
	{"de", "You win.", "assistant: Du gewinnst.", "error leak: \"assistant:\" speaks of"},
	{"de", "You win.", "Translation: Du gewinnst.", "error leak: \"Translation:\" speaks of the translation"},
	{"sw", "You win.", "Here is the translation: Umeshinda.", "error leak: \"Here is\" speaks of the translation"},
	{"sw", "You win.", "**Sure!** Umeshinda.", "error leak: \"**Sure\" speaks of the translation"},
	{"sw", "You win.", "Umeshinda. (Translated into Swahili)", "error leak: \"Translated\" speaks of the translation"},
	{"sw", "You win.", "\"Umeshinda.\"", "error leak: \" and \" stand around the whole text"},
	{"fr", "You win.", "«Tu gagnes.»", "error leak: « and » stand around"},
	{"sw", "\"You win.\"", "\"Umeshinda.\"", ""},
	{"fr", "'X' and 'O'", "'X' et 'O'", ""},
	{"de", "{a} wins 1 chip", "「1」 gewinnt {a}", "error leak: \"「1」\" was not put back"},
	{"ja", "Set!", "「セット」だ!", ""},
	{"de", "Translate it.", "Translate heißt übersetze es.", ""},
	{"es", "You have it.", "Sur tienes", ""},
	// Nothing there.
	{"de", "You win", " \n", "error empty: empty"},
	{"de", "", "", ""},
}

func TestTextFaults(t *testing.T) {
	for _, test := range textFaults {
		found := checkPair(test.lang, test.english, test.text)
		// A token that was changed is both missing and new.
		found = slices.DeleteFunc(found, func(f string) bool {
			return strings.HasPrefix(f, "warning token") && strings.HasPrefix(test.want, "error token")
		})
		switch {
		case test.want == "" && len(found) > 0, len(found) > 1:
			t.Errorf("%s %q: found %q", test.lang, test.text, found)
		case test.want != "" && (len(found) == 0 || !strings.Contains(found[0], test.want)):
			t.Errorf("%s %q: found %q, want %q", test.lang, test.text, found, test.want)
		}
	}
}

// Where a fault is said to be, there it is.
func TestPlaces(t *testing.T) {
	for _, test := range []struct {
		kind                Kind
		lang, english, text string
		want                string
	}{
		{Invisible, "de", "a b", "größer\u200bb", "\u200b"},
		{LookAlike, "ru", "a b", "[x] {y} хорошо бepи", "бepи"},
		{LookAlike, "sr", "K", "jе К", "К"},
		{Script, "de", "a b", "ä {y} ясно", "ясно"},
		{English, "de", "You have to take the last one", "Ä: You have to take the last one!", "You have to take the last"},
		{Number, "de", "8 cells", "ä [x] 9", "9"},
		{Token, "de", "Say so.", "ö [so]", "[so]"},
		{Brace, "de", "so", "ö {so", "{"},
		{Placeholder, "de", "so", "ö {so}", "{so}"},
		{Leak, "de", "so", "ö <|x|>", "<|x|>"},
		{Token, "de", "Say [so].", "ö", ""},
	} {
		findings := NewOriginal(test.english).Check(test.text, Of(test.lang, test.text))
		i := slices.IndexFunc(findings, func(f Finding) bool { return f.Kind == test.kind })
		if i < 0 {
			t.Errorf("%q: %+v", test.text, findings)
		} else if f := findings[i]; test.text[f.From:f.To] != test.want {
			t.Errorf("%q: %+v is at %q, want %q", test.text, f, test.text[f.From:f.To], test.want)
		}
	}
}

// The table of languages agrees with the Unicode consortium's, where that knows
// the language. What differs is how the reference writes.
func TestScriptsAgree(t *testing.T) {
	ours := map[string]string{"Latn": "Latin", "Cyrl": "Cyrillic", "Grek": "Greek", "Armn": "Armenian", "Arab": "Arabic", "Hebr": "Hebrew", "Ethi": "Ethiopic",
		"Geor": "Georgian", "Tfng": "Tifinagh", "Deva": "Devanagari", "Beng": "Bengali", "Gujr": "Gujarati", "Guru": "Gurmukhi", "Orya": "Oriya", "Olck": "Ol Chiki",
		"Knda": "Kannada", "Mlym": "Malayalam", "Taml": "Tamil", "Telu": "Telugu", "Sinh": "Sinhala", "Tibt": "Tibetan", "Khmr": "Khmer", "Laoo": "Lao", "Thai": "Thai",
		"Mymr": "Myanmar", "Hans": "Han", "Jpan": "Han", "Kore": "Hangul", "Mtei": "Meetei Mayek"}
	differs := map[string]string{"crh": "Latin", "taq": "Tifinagh", "tzm": "Tifinagh", "sat": "Ol Chiki"}
	known := 0
	for _, w := range writings {
		for _, code := range strings.Fields(w.langs) {
			tag, err := language.Parse(code)
			if err != nil {
				continue
			}
			script, confidence := tag.Script()
			want, ok := ours[script.String()]
			if confidence == language.No || !ok {
				continue
			}
			known++
			if got := Of(code).Script(); got != want && differs[code] != got {
				t.Errorf("%s: %s, x/text says %s", code, got, script)
			}
		}
	}
	if known < 150 {
		t.Errorf("x/text knows only %d of the languages", known)
	}
}

// Whatever the texts hold, what is found stands in them, and is the same again.
func FuzzVerify(f *testing.F) {
	for _, test := range textFaults {
		f.Add(test.lang, test.english, test.text)
	}
	f.Add("zh", "\xff{", "三十\xff「1」")
	f.Fuzz(func(t *testing.T, lang, english, text string) {
		o := NewOriginal(english)
		findings := o.Check(text, Of(lang, text))
		for _, found := range findings {
			if found.From < 0 || found.To < found.From || found.To > len(text) || found.What == "" || !slices.Contains(Kinds, found.Kind) {
				t.Errorf("%q: %+v", text, found)
			}
		}
		if again := NewOriginal(english).Check(text, Of(lang, text)); !slices.Equal(again, findings) {
			t.Errorf("%q: %v, and then %v", text, findings, again)
		}
	})
}
