package screen

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":    "plain\n        text",
		"a\tb\t\nשל\tc":    "a       b       \nשל      c",
		"a\x00b\x1b[31m":   "a␀b␛[31m",
		"win\r\ndows\r":    "win\ndows␍",
		"a\x7f\u0085":      "a⟨U+007F⟩⟨U+0085⟩",
		"a\u202eb\u2066":   "a⟨U+202E⟩b⟨U+2066⟩",
		"\ufeffa\u200b":    "⟨U+FEFF⟩a⟨U+200B⟩",
		"نمی\u200cخواهم":   "نمی\u200cخواهم",
		"\xff\xfe[4]":      "\uFFFD[4]",
		"a\u2028b\uffffc":  "a⟨U+2028⟩b⟨U+FFFF⟩c",
		"שלום\u200f!":      "שלום\u200f!",
		"tag\U000e0041end": "tag⟨U+E0041⟩end",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWidth(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "abc": 3, "井字棋": 6, "e\u0301a\u0301": 2, "שָׁלוֹם": 4, "مَرْحَبًا": 5, "😀": 2, "✔\ufe0f": 2, "नमस्ते": 4, "ｶﾅ": 2, "\u200f": 0,
	} {
		if got := Width(in); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 5, ""},
		{"one two three", 7, "one two|three"},
		{"one two  three", 7, "one two|three"},
		{"one two three", 100, "one two three"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"a bcdefghij", 4, "a|bcde|fghi|j"},
		{"   |   | X ", 11, "   |   | X"},
		{"   deep in", 5, "   de|ep in"},
		{"你好世界", 5, "你好|世界"},
		{"abc你好", 4, "abc|你好"},
		{"你", 1, "?"},
		{"x", 0, "x"},
		{"a\n\nb\n", 5, "a||b|"},
		{"\x1b[2Jx", 9, "␛[2Jx"},
		{"co\u00adop", 9, "coop"},
		{"        x", 3, "||x"},
	} {
		if got := strings.Join(Wrap(c.in, c.width), "|"); got != c.want {
			// A board's own '|' stands in the way of none of these.
			t.Errorf("%q in %d: %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestDirectionOf(t *testing.T) {
	for _, c := range []struct {
		line, lang string
		want       Direction
	}{
		{"[اللعبة] اللوحة:", "ar", Direction{Right: true, Own: true}},
		{"- '[check]': لا تراهن", "ar", Direction{Right: true, Own: true}},
		{"[Player 1] [4]", "ar", Direction{}},
		{"[0]", "ar", Direction{Right: true, Own: true}},
		{" 0 | X | 2 ", "ar", Direction{Board: true}},
		{"---+---", "he", Direction{Board: true}},
		{"Empty | cells", "zh", Direction{Own: true}},
		{"[اللاعب 0] [0]", "en", Direction{Right: true}},
		{"play X, not אב", "en", Direction{Own: true}},
		{"x", "FA_IR", Direction{}},
		{"", "arn", Direction{Own: true}},
	} {
		if got := DirectionOf(c.line, c.lang); got != c.want {
			t.Errorf("%q in %s: %+v, want %+v", c.line, c.lang, got, c.want)
		}
	}
}

// What is seen from left to right, as Unicode's algorithm has it.
func TestTurned(t *testing.T) {
	for _, c := range []struct {
		in    string
		right bool
		want  string
	}{
		{"אבג", true, "גבא"},
		{"אבג abc דה", true, "הד abc גבא"},
		{"אב 12 גד", true, "דג 12 בא"},
		{"אב [12], (ג)", true, "(ג) ,[12] בא"},
		{"[0]", true, "[0]"},
		{"- '[check]': אב", true, "בא :'[check]' -"},
		{"< אב", true, "בא >"},
		{"אב \\boxed{4}", true, "boxed{4}\\ בא"},
		{"אב \\boxed{[0 3]}.", true, ".boxed{[0 3]}\\ בא"},
		{"אב (abc) גד", true, "דג (abc) בא"},
		{"אב (ab גד", true, "דג ab) בא"},
		{"a (בג) (ד", false, "a (גב) (ד"},
		{"a (b גד) ה", false, "a (b דג) ה"},
		{"אב (x ג", true, "ג x) בא"},
		{"שָׁלוֹם", true, "םוֹלשָׁ"}, // signs stay behind their letters
		{"say אבג now", false, "say גבא now"},
		{"say אב 12 now", false, "say 12 בא now"},
		{"say אב 12 גד.", false, "say דג 12 בא."},
		{"אב 1.5% x", false, "1.5% בא x"},
		{"x 12 אב", false, "x 12 בא"},
		{"אב!\u200f", false, "!בא"},
	} {
		if got := strings.Join(turned(c.in, c.right, 80), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
	if got := strings.Join(turned("אבג דהו זחט", true, 7), "|"); got != "והד גבא|טחז" {
		t.Errorf("cut before it is turned: %q", got)
	}
}

func TestJoined(t *testing.T) {
	for in, want := range map[string]string{
		"سلام":       "\ufeb3\ufefc\ufee1",        // seen, lam-alef at the end, meem alone
		"بيت":        "\ufe91\ufef4\ufe96",        // beginning, middle, end
		"بَيت":       "\ufe91\u064e\ufef4\ufe96",  // a sign between
		"دار":        "\ufea9\ufe8d\ufead",        // none joins the next
		"ب":          "\ufe8f",                    // alone
		"می\u200cخ":  "\ufee3\ufbfd\u200c\ufea5",  // what should not join
		"ءب":         "\ufe80\ufe8f",              // hamza joins nothing
		"بـ":         "\ufe91ـ",                   // tatweel joins
		"لا لله":     "\ufefb \ufedf\ufee0\ufeea", // lam-alef alone
		"پگ":         "\ufb58\ufb93",              // Persian
		"ىى":         "\ufbe8\ufef0",              // the two in the other block
		"ۍب abc 12.": "ۍ\ufe8f abc 12.",           // has no forms
	} {
		if got := joined(in); got != want {
			t.Errorf("%q: %+q, want %+q", in, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	in := "שלום\n 0 | X \n---+---\n[Player 1] [4]\n[0]"
	want := "      םולש| 0 | X|---+---|[Player 1]|[4]|       [0]"
	if got := strings.Join(Screen{Width: 10, Turn: true}.Lines(in, "he"), "|"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want = "שלום| 0 | X|---+---|[Player 1]|[4]|[0]"
	if got := strings.Join(Screen{Width: 10}.Lines(in, "he"), "|"); got != want {
		t.Errorf("on a terminal that turns it: %q, want %q", got, want)
	}
}

func TestTurns(t *testing.T) {
	for env, want := range map[string]bool{
		"":                                      true,
		"TERM_PROGRAM=ghostty":                  true,
		"VTE_VERSION=7402":                      false,
		"KONSOLE_VERSION=230804":                false,
		"TERM_PROGRAM=Apple_Terminal":           false,
		"TERM_PROGRAM=iTerm.app":                false,
		"MLTERM=3.9.3":                          false,
		"VTE_VERSION=7402 TMUX=/tmp/tmux,1,0":   true,
		"TMUX=/tmp/tmux SELFPLAY_BIDI=Terminal": false,
		"MLTERM=3.9.3 SELFPLAY_BIDI=program":    true,
	} {
		vars := strings.Fields(env)
		got := Turns(func(name string) string {
			for _, v := range vars {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		})
		if got != want {
			t.Errorf("%s: %v", env, got)
		}
	}
}

// Whatever a model writes: no control character is left, no line is too wide, and
// all that can be seen of the text is there, turned or not.
func FuzzLines(f *testing.F) {
	f.Add("a\x00\u202e\x1b[2J\n 0 | 1 \n[اللاعب 0] سلام\t(x)", "ar", 7, true)
	f.Add("\r\n\t|---|\xff👩‍👩‍👧 नमस्ते \u00ad", "en", 1, false)
	f.Add("אב 12 גד, say אב 1.5% \u200f!", "en", 9, true)
	f.Fuzz(func(t *testing.T, text, lang string, width int, turn bool) {
		if len(text) > 1<<12 {
			return
		}
		width = 1 + max(0, width)%200
		clean := Clean(text)
		if !utf8.ValidString(clean) || strings.ContainsFunc(clean, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) || Clean(clean) != clean {
			t.Fatalf("%q became %q", text, clean)
		}
		lines := Screen{Width: width, Turn: turn}.Lines(text, lang)
		for _, line := range lines {
			if Width(line) > width || strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("%q has the line %q of %d columns, not %d", text, line, Width(line), width)
			}
		}
		if slices.ContainsFunc(cellsOf(clean, 1<<20), func(c cell) bool { return c.width > width }) {
			return // it is not shown
		}
		if got, want := letters(strings.Join(lines, "")), letters(clean); !slices.Equal(got, want) {
			t.Errorf("%q became %q", text, lines)
		}
	})
}

// letters are the visible characters of a text in the order of their code points,
// with Arabic letters as they are written alone and brackets that open.
func letters(s string) []rune {
	var all []rune
	for _, r := range norm.NFKC.String(s) {
		if unicode.IsGraphic(r) && r != ' ' {
			all = append(all, min(r, []rune(mirrored(string(r)))[0]))
		}
	}
	slices.Sort(all)
	return all
}
