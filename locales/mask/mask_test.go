package mask

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"selfplay/locales/verify"
)

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		"Player {id}, say '[check]'.":           "Player 「1」, say '「2」'.",
		"{a} and {b} and {a}":                   "「1」 and 「2」 and 「1」",
		"{a}{b} then {a}":                       "「1」 then 「2」", // touching: one piece
		"Use [bet X] or [call].":                "Use 「1」 or 「2」.",
		"in \\boxed{{}} now":                    "in 「1」 now",
		"pays ${{self.ante * 500}}":             "pays $「1」",
		"a set {1, 2} }} or } {{":               "a set 「1」 「2」 or 「3」 「4」",
		"`[7 8]` or `x`":                        "「1」 or 「2」",
		"K beats Q, a J is the worst":           "「1」 beats 「2」, a 「3」 is the worst",
		"A player. A=11, tower A to B":          "A player. 「1」=11, tower 「1」 to 「2」",
		"I win as I/O":                          "I win as 「1」/「2」",
		"7 to A, 7 to B, A:5":                   "7 to 「1」, 7 to 「2」, 「1」:5",
		"from a2 to e2e4 on 8x8, the 1st, 2048": "from 「1」 to 「2」 on 「3」, the 1st, 2048",
		"'X', \"#\" or ' '; it's":               "「1」, 「2」 or 「3」; it's",
		"say 'up', 'down' or 'left', we don't":  "say 「1」, 「2」 or 「3」, we don't",
		"say 'up', 'down', 'up' or 'down'":      "say 'up', 'down', 'up' or 'down'",
		"'up', 'down', 'Left', 'a b', it's":     "'up', 'down', 'Left', 'a b', it's",
		"10♠ beats 9♥♦, ♣ none":                 "「1」 beats 「2」, ♣ none",
		" \n{x} wins!\n\n":                      "「1」 wins!",
		"Board:\n ---+---\n  | X\nEnd":          "Board:\n「1」\n  | 「2」\nEnd",
		"──────":                                "「1」",
		"=== Round {n} ===":                     "=== Round 「1」 ===",
		"say 「1」 to {x}":                        "say 「1」 to 「2」",
		"「 ２ 」 is taken {x}":                    "「1」 is taken 「2」",
		"「so」":                                  "「so」",
		"":                                      "",
		" \n":                                   "",
	} {
		m := Mask(text)
		if m.Text != want {
			t.Errorf("%q: %q, want %q; %v", text, m.Text, want, m.Slots)
		}
		identity(t, text)
	}
}

func TestKinds(t *testing.T) {
	m := Mask("{p} {{ [a] `c` \\boxed K 「9」\n---+---")
	var kinds []Kind
	for _, s := range m.Slots {
		kinds = append(kinds, s.Kind)
	}
	if want := []Kind{Placeholder, Brace, Action, Code, Command, Label, Corner, Art}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
	for text, want := range map[string]bool{"{a}\n": false, "──────": false, "{a}: {b}.": false, "1. {a}": false, "{a} wins": true, "": false} {
		if Mask(text).HasProse() != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestUnmask(t *testing.T) {
	const text = "\nPlayer {id}: [bet X], {id} has {n}.\n "
	// Player 「1」: 「2」, 「1」 has 「3」.
	for answer, want := range map[string]string{
		"Spieler 「1」: 「2」, 「1」 hat 「3」.":     "\nSpieler {id}: [bet X], {id} hat {n}.\n ",
		" 「3」「2」「1」「1」 \n":                   "\n{n}[bet X]{id}{id}\n ",
		"「１」 「 2 」 ｢1｣ 「٣」":                  "\n{id} [bet X] {id} {n}\n ",
		"『1』﹁2﹂「\u200f1\u00a0」「०३」":          "\n{id}[bet X]{id}{n}\n ",
		"「1」 「2」 「1」 「3」 「x」 「":              "\n{id} [bet X] {id} {n} 「x」 「\n ",
		"「1」: 「2」, 「1」.":                     "「3」 missing",
		"「1」: 「2」, 「3」.":                     "「1」 missing",
		"「1」: 「2」, 「1」 「3」 「3」":              "「3」 too often",
		"「1」: 「2」, 「1」 「3」 「4」":              "「4」 too often",
		"「1」: 「2」, 「1」 「3」 「0」":              "「0」 too often",
		"「1」: 「2」, 「1」 「3」 {n}":              "braces of its own",
		"「1: 2」, [1] (3)":                    "「1」 「2」 「3」 missing",
		"「1」「2」「1」「3":                        "「3」 missing",
		"":                                   "「1」 「2」 「3」 missing",
		"「1」「1」「3」「1 2」":                     "「2」 missing",
		"「1」「2」「1」「3」「99999999999999999999」": "\n{id}[bet X]{id}{n}「99999999999999999999」\n ",
	} {
		got, err := Mask(text).Unmask(answer)
		var r *Refusal
		switch {
		case err == nil && got != want:
			t.Errorf("%q: %q, want %q", answer, got, want)
		case err != nil && (got != "" || !errors.As(err, &r) || err.Error() != "sentinels changed: "+want):
			t.Errorf("%q: %q, %v, want %q", answer, got, err, want)
		}
	}
}

// What is looked for in a translation that nothing was hidden in, and by nothing but
// this: each loss is no finding of package verify's.
func TestLost(t *testing.T) {
	const keys, marks = "Say 'up', 'down' or 'left', then 'up'.", "Boxes are 'X', walls \"#\", free cells '.'."
	for _, test := range []struct{ lang, text, translated, want string }{
		{"de", keys, "Sage „up“, „down“ oder „left“, dann «up».", ""},
		{"de", keys, "Sage „up“, „runter“ oder „left“, dann «up».", `error "down" is missing`},
		{"de", keys, "Sage „up“, „down“ oder „left“.", `warning "up" stands less often`},
		{"de", marks, "Kisten sind X, Mauern „#“, freie Felder „.“.", ""},
		{"zh", marks, "箱子是X，墙是“#”，空格是“.”。", ""},
		{"kk", marks, "Жәшіктер — Xтер, қабырғалар «#», бос ұяшықтар «.».", ""},
		{"de", marks, "Kisten sind „Y“, Mauern „#“, freie Felder „.“.", `error "X" is missing`},
		{"de", marks, "Kisten sind Xe, Mauern „#“, freie Felder „.“.", `error "X" is missing`},
		{"de", marks, "Kisten sind X, Mauern „Mauer#“, freie Felder „.“.", `error "#" is missing`},
		{"de", marks, "Kisten sind X, Mauern „#“, freie Felder Punkte.", `error "." is missing`},
		{"de", "The board is\n+---+\nand has one cell.", "Das Brett ist\n+---+\nund hat ein Feld.", ""},
		{"de", "The board is\n+---+\nand has one cell.", "Das Brett ist\n+--+\nund hat ein Feld.", `error "+---+" is missing`},
		{"de", "{a} says [b] `c` K 「9」 A7", "", ""}, // verify compares what of these can be
	} {
		if found := verify.NewOriginal(test.text).Check(test.translated, verify.Of(test.lang)); test.translated != "" && len(found) > 0 {
			t.Errorf("%q: verify finds %v", test.translated, found)
		}
		var got string
		for _, f := range Mask(test.text).Lost(test.translated) {
			got += string(f.Severity) + " " + f.What
		}
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%q: %q, want %q", test.translated, got, test.want)
		}
	}
}

// identity is what must hold for every text. No sentinel of a translator's can
// be one of the text's own: those are hidden, too.
func identity(t testing.TB, text string) {
	t.Helper()
	m := Mask(text)
	if got, err := m.Unmask(m.Text); got != text || err != nil {
		t.Errorf("%q: masked %q, back %q, %v", text, m.Text, got, err)
	}
	total := 0
	for _, n := range m.want {
		total += n
	}
	if seen := strings.Count(m.Text, "「") - strings.Count(strings.Join(prose(text), " "), "「"); seen != total {
		t.Errorf("%q: %d sentinels for %d pieces", text, seen, total)
	}
}

// prose is what Find leaves of a text.
func prose(text string) (pieces []string) {
	text = strings.TrimFunc(text, unicode.IsSpace)
	last := 0
	for _, s := range Find(text) {
		pieces = append(pieces, text[last:s.From])
		last = s.To
	}
	return append(pieces, text[last:])
}

// Every text of ours comes back, and keeps nothing that a translator could break.
func TestOurTexts(t *testing.T) {
	files, _ := filepath.Glob("../*/*.json")
	texts := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(data, &tree); err != nil {
			t.Fatal(err)
		}
		eachText(tree, func(text string) {
			texts++
			identity(t, text)
			if m := Mask(text); strings.ContainsAny(m.Text, "{}[]`\\") {
				t.Errorf("%s: %q masked as %q", name, text, m.Text)
			}
		})
	}
	if texts < 500 {
		t.Errorf("only %d texts", texts)
	}
}

func eachText(node any, found func(string)) {
	switch node := node.(type) {
	case string:
		found(node)
	case map[string]any:
		for _, child := range node {
			eachText(child, found)
		}
	}
}

// Whatever a text holds, it comes back; whatever is answered, it is refused, or
// all hidden pieces are in it.
func FuzzMask(f *testing.F) {
	f.Add("Player {id}, say '[check]'.", "「1」 「2」")
	f.Add("{a}{{b}} `c` 「1」 ---\n|||", "「 １ 」「2」")
	f.Add("\\boxed{{}} K A7 'X' 10♠", "『1』｢2｣{x}")
	f.Add("\xff「\xe3\x80 {", "「1」\xff")
	f.Fuzz(func(t *testing.T, text, answer string) {
		identity(t, text)
		m := Mask(text)
		got, err := m.Unmask(answer)
		if err != nil {
			return
		}
		for _, s := range m.Slots {
			if !strings.Contains(got, s.Text) {
				t.Errorf("%q: no %q in %q", answer, s.Text, got)
			}
		}
		if strings.Count(got, "{") != strings.Count(text, "{") {
			t.Errorf("%q: other braces in %q", text, got)
		}
	})
}

func Example() {
	m := Mask("Player {id}, say '[check]'.\n")
	fmt.Println(m.Text)
	_, err := m.Unmask("Spieler 「1」, sag '[schieben]'.")
	fmt.Println(err)
	text, _ := m.Unmask("Sag '「2」', Spieler 「1」!")
	fmt.Printf("%q\n", text)
	// Output:
	// Player 「1」, say '「2」'.
	// sentinels changed: 「2」 missing
	// "Sag '[check]', Spieler {id}!\n"
}
