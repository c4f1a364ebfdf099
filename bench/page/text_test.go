package page

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"selfplay/bench"
)

func TestBlocks(t *testing.T) {
	arabic := "[اللعبة] اللوحة الآن:\n\n 0 | X | 2 \n---+---+---\n\nالخالية: '[0]', '[2]'\n- '[check]': لا تراهن\n[Player 1] [4]\n[0]"
	for _, c := range []struct {
		text, lang string
		want       []block
	}{
		{arabic, "ar", []block{
			{"[اللعبة] اللوحة الآن:", "rtl", "ar", false},
			{" 0 | X | 2 \n---+---+---", "ltr", "", true},
			{"الخالية: '[0]', '[2]'\n- '[check]': لا تراهن", "rtl", "ar", false},
			{"[Player 1] [4]", "ltr", "", false},
			{"[0]", "rtl", "ar", false},
		}},
		{"[GAME] Go.\n[اللاعب 0] [0]\nplay X, not אב", "en", []block{
			{"[GAME] Go.", "ltr", "en", false},
			{"[اللاعب 0] [0]", "rtl", "", false},
			{"play X, not אב", "ltr", "en", false},
		}},
		{"\n\n| 0  | 10 |\n+----+----+\nEmpty | cells", "zh_tw", []block{
			{"| 0  | 10 |\n+----+----+", "ltr", "", true},
			{"Empty | cells", "ltr", "zh-tw", false},
		}},
		{" \n\n", "he", nil},
		{"", "he", nil},
	} {
		got := blocks(c.text, c.lang)
		for i := range got {
			got[i].Text = strings.TrimRight(got[i].Text, " ")
		}
		for i := range c.want {
			c.want[i].Text = strings.TrimRight(c.want[i].Text, " ")
		}
		if len(got) == 0 && len(c.want) == 0 {
			continue
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q in %s:\n%+v\nwant\n%+v", c.text, c.lang, got, c.want)
		}
	}
}

func TestLabels(t *testing.T) {
	for label, want := range map[string][3]string{
		"zh+fr": {"zh", "fr", "ltr"}, "ar": {"ar", "ar", "rtl"}, "he+en": {"he", "en", "rtl"}, "FA_IR": {"FA_IR", "FA_IR", "rtl"}, "arn": {"arn", "arn", "ltr"},
	} {
		if got := [3]string{bench.InterfaceOf(label), bench.Experiment{}.ReasonsIn(label), direction(bench.InterfaceOf(label))}; got != want {
			t.Errorf("%s: %v, want %v", label, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		value        float64
		format, want string
	}{
		{-0.4, "%.0f", "0"}, {math.Copysign(0, -1), "%.1f", "0.0"}, {-0.6, "%.0f", "−1"}, {-10, "%.0f", "−10"}, {0.04, "%+.1f", "+0.0"}, {-0.04, "%+.2f", "−0.04"},
		{math.NaN(), "%.0f", none.Text}, {math.Inf(-1), "%.0f", none.Text},
	} {
		if got := number(c.value, c.format).Text; got != c.want {
			t.Errorf("%v as %s: %q, want %q", c.value, c.format, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	for limit, want := range map[int]string{0: "", 1: "a", 2: "a", 3: "aש", 4: "aש", 5: "aשל", 9: "aשל"} {
		got, left := cut("aשל", limit)
		if got != want || left != 5-len(want) {
			t.Errorf("%d: %q and %d left, want %q", limit, got, left, want)
		}
	}
}

// Whatever a model writes: all that can be seen of it is kept, in order, nothing
// that could harm remains, and each block has a direction.
func FuzzBlocks(f *testing.F) {
	f.Add("a\x00\u202e<script>\n 0 | 1 \n[اللاعب 0]", "ar")
	f.Add("\r\n\t|---|\xff", "en")
	f.Fuzz(func(t *testing.T, text, lang string) {
		visible := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
		}
		var all strings.Builder
		for _, b := range blocks(text, lang) {
			if b.Dir != "ltr" && b.Dir != "rtl" || b.Board && b.Dir != "ltr" || b.Text == "" {
				t.Errorf("%+v", b)
			}
			all.WriteString(b.Text)
		}
		got := all.String()
		if !utf8.ValidString(got) || clean(got) != got {
			t.Errorf("%q", got)
		}
		if visible(got) != visible(clean(text)) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
