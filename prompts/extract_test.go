package prompts

import (
	"strings"
	"testing"
)

func TestExtract(t *testing.T) {
	for _, test := range []struct {
		name       string
		completion string
		action     string
		status     Status
		thinking   string
	}{
		// Boxes.
		{"box", `I take \boxed{[4]}.`, "[4]", Boxed, ""},
		{"brackets added", `\boxed{4}`, "[4]", Boxed, ""},
		{"blanks around", "\\boxed{\n 0 3\u00a0\x1f}", "[0 3]", Boxed, ""},
		{"last box wins", `\boxed{[3]} no, \boxed{[4]}`, "[4]", Boxed, ""},
		{"nested braces", `\boxed{\text{[4]}}`, `\text{[4]}`, Boxed, ""},
		{"nested braces without brackets", `\boxed{\text{take {4}}} and so on}`, `[\text{take {4}}]`, Boxed, ""},
		{"box in a box", `\boxed{\boxed{4}}`, "[4]", Boxed, ""},
		{"braces around", `{{\boxed{4}}`, "[4]", Boxed, ""},
		{"empty box is passed over", `\boxed{4} within \boxed{}`, "[4]", Boxed, ""},
		{"blank box is passed over", "\\boxed{4} \\boxed{ \n\u3000}", "[4]", Boxed, ""},
		{"box never closed", `\boxed{[3]} or \boxed{[4]`, "[3]", Boxed, ""},
		{"blank before the brace", "\\boxed {4} and \\boxed\n{5}", "[5]", Boxed, ""},
		{"doubled backslash", `\\boxed{4}`, "[4]", Boxed, ""},
		{"quotes are left to the game", `\boxed{'[4]'}`, "'[4]'", Boxed, ""},
		{"bracket inside", `\boxed{put [4]}`, "put [4]", Boxed, ""},
		{"other scripts", `\boxed{[٤]}`, "[٤]", Boxed, ""},
		{"fullwidth brackets", `\boxed{【4】}`, "[【4】]", Boxed, ""},
		{"invisible marks stay", "\\boxed{\u200f4\u200b}", "[\u200f4\u200b]", Boxed, ""},
		{"marks around a box", "\u200f\\boxed{[4]}\u200b", "[4]", Boxed, ""},
		{"a mark within the command", "\\box\u200bed{4}", "\\box\u200bed{4}", Raw, ""},
		{"marks in a message", "\\boxed{می\u200cروم [4]}", "می\u200cروم [4]", Boxed, ""},
		{"a message", `\boxed{Let us cooperate.}`, "[Let us cooperate.]", Boxed, ""},

		// No box.
		{"raw", "I take [4].\n", "I take [4].\n", Raw, ""},
		{"nothing", "", "", Raw, ""},
		{"raw with marks", "\u202b[4]\u202c \ufeff", "\u202b[4]\u202c \ufeff", Raw, ""},
		{"only empty boxes", `put it in \boxed{}`, `put it in \boxed{}`, Raw, ""},
		{"only an open box", `\boxed{4`, `\boxed{4`, Raw, ""},
		{"no command", `\boxed4 boxed{4}`, `\boxed4 boxed{4}`, Raw, ""},
		{"another command", `\boxedx{4}`, `\boxedx{4}`, Raw, ""},

		// Thinking.
		{"removed first", "<think>[0] or \\boxed{[1]}?</think>\n\n[4]", "[4]", Raw, `[0] or \boxed{[1]}?`},
		{"removed before a box", "<think>\n\\boxed{[1]}\n</think>\n\\boxed{[4]}", "[4]", Boxed, `\boxed{[1]}`},
		{"empty pair", "<think>\n\n</think>\n\n[4]", "[4]", Raw, ""},
		{"Ministral", "[THINK]Is it [0]?[/THINK][4]", "[4]", Raw, "Is it [0]?"},
		{"Gemma", "<|channel>thought\nIs it [0]?<channel|>[4]", "[4]", Raw, "Is it [0]?"},
		{"Gemma, empty pair", "<|channel>thought\n<channel|>\\boxed{4}", "[4]", Boxed, ""},
		{"text before", "Well. <think>a</think> [4]", "Well. [4]", Raw, "a"},
		{"several blocks", "<think>a</think>[4]<think>b</think>", "[4]", Raw, "a\n\nb"},
		{"began inside", "is it [0]?</think>\n\n[4]", "[4]", Raw, "is it [0]?"},
		{"began inside, Ministral", "is it [0]?[/THINK][4]", "[4]", Raw, "is it [0]?"},
		{"began inside, Gemma", "is it [0]?<channel|>[4]", "[4]", Raw, "is it [0]?"},
		{"nested", "<think>a<think>b</think>c</think>[4]", "[4]", Raw, "a<think>b\n\nc"},
		{"closed twice", "<think>a</think>[0]</think>[4]", "[4]", Raw, "a\n\n[0]"},
		{"thinking in a box", `\boxed{<think>[0]</think>4}`, "[4]", Boxed, "[0]"},
		{"box only in thinking", `<think>\boxed{[1]}</think>`, "", Raw, `\boxed{[1]}`},
		{"two models' marks", "<think>a</think>[THINK]b[/THINK][4]", "[4]", Raw, "a\n\nb"},
		{"another channel", "<|channel>final\n[4]", "<|channel>final\n[4]", Raw, ""},
		{"an invisible mark in a mark", "<think\u200b>[4]", "<think\u200b>[4]", Raw, ""},
		{"box across the end of thinking", `<think>\boxed{</think>4}`, "4}", Raw, `\boxed{`},
		{"never closed", "<think>\nIs it \\boxed{[4]}?", "", Truncated, `Is it \boxed{[4]}?`},
		{"opened again", "<think>a</think>\\boxed{[4]}<think>b", "", Truncated, "a\n\nb"},
		{"never closed, Ministral", "[THINK]a", "", Truncated, "a"},
		{"never closed, Gemma", "<|channel>thought\na", "", Truncated, "a"},
		{"closed by another model's mark", "<think>a[/THINK]b", "", Truncated, "a[/THINK]b"},
		{"cut in the closing mark", "<think>a</thi", "", Truncated, "a</thi"},
		{"marks in capitals are text", "<THINK>[4]", "<THINK>[4]", Raw, ""},
		{"brackets and signs", "a < b [4] <|im_end|>", "a < b [4] <|im_end|>", Raw, ""},
	} {
		got := Extract(test.completion, false)
		if want := (Answer{test.action, test.thinking, test.status}); got != want {
			t.Errorf("%s: %+v, want %+v", test.name, got, want)
		}
	}
}

func TestExtractFromOpenBlock(t *testing.T) {
	for _, test := range []struct {
		completion string
		want       Answer
	}{
		{"is it [0]?</think>\n\n\\boxed{4}", Answer{"[4]", "is it [0]?", Boxed}},
		{"</think>[4]", Answer{"[4]", "", Raw}},
		{"a[/THINK][4]", Answer{"[4]", "a", Raw}},
		{"a</think>b</think>[4]", Answer{"[4]", "a\n\nb", Raw}},
		{"a</think>b<think>c</think>[4]", Answer{"b[4]", "a\n\nc", Raw}},
		{"a</think>b<think>c", Answer{"", "a\n\nc", Truncated}},
		{`is it \boxed{[4]}?`, Answer{"", `is it \boxed{[4]}?`, Truncated}},
		{"", Answer{"", "", Truncated}},
	} {
		if got := Extract(test.completion, true); got != test.want {
			t.Errorf("%q: %+v, want %+v", test.completion, got, test.want)
		}
	}
}

// TestThinkSpans: in the texts, what is thinking is written in capitals.
func TestThinkSpans(t *testing.T) {
	for _, test := range []struct {
		shown string
		open  bool
		ended bool
	}{
		{"said", false, true},
		{"", false, true},
		{"a <THINK>B</THINK> c", false, true},
		{"<THINK>A</THINK>b<THINK>C</THINK>", false, true},
		{"A</THINK>b", false, true},
		{"A <THINK>B</THINK> C</THINK> d", false, true},
		{"a [THINK]B[/THINK]c", false, true},
		{"a <|CHANNEL>THOUGHT\nB<CHANNEL|>c", false, true},
		{"a <THINK>B", false, false},
		{"A <B</THINK> c <THINK>D</THINK>", true, true},
		{"</THINK>a", true, true},
		{"A", true, false},
		{"", true, false},
	} {
		marks := strings.NewReplacer("<THINK>", "<think>", "</THINK>", "</think>", "<|CHANNEL>THOUGHT", "<|channel>thought", "<CHANNEL|>", "<channel|>")
		completion := marks.Replace(test.shown)
		spans, ended := ThinkSpans(completion, test.open)
		shown, from := "", 0
		for _, s := range spans {
			shown += completion[from:s.From] + strings.ToUpper(completion[s.From:s.To])
			from = s.To
		}
		if shown += completion[from:]; shown != test.shown || ended != test.ended {
			t.Errorf("%q: %v, ended %v", test.shown, spans, ended)
		}
	}
}

// Extraction reads each byte a few times at most, whatever a model repeats.
func TestExtractIsLinear(t *testing.T) {
	for _, piece := range []string{`\boxed{`, "{", "}", `\boxed{}`, `\boxed `, "<think></think>", "</think>", "<", "[", "<think>"} {
		Extract(strings.Repeat(piece, 200_000), false)
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{`<think>a</think>\boxed{[4]}`, `\boxed{\text{4}}`, "[THINK]", "</think>", "<|channel>thought\na<channel|>[4]", `\boxed {`} {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, completion string, open bool) {
		a := Extract(completion, open)
		switch a.Status {
		case Boxed:
			if inside := strings.Trim(a.Action, "[]"); !strings.Contains(a.Action, "[") || !strings.Contains(completion, inside) {
				t.Errorf("%q: %+v", completion, a)
			}
		case Raw:
			if len(a.Action) > len(completion) {
				t.Errorf("%q: %+v", completion, a)
			}
		case Truncated:
			if a.Action != "" {
				t.Errorf("%q: %+v", completion, a)
			}
		default:
			t.Errorf("%q: status %q", completion, a.Status)
		}
		spans, ended := ThinkSpans(completion, open)
		said, from := "", 0
		for _, s := range spans {
			if s.From < from || s.To < s.From || s.To > len(completion) {
				t.Fatalf("%q: spans %v", completion, spans)
			}
			said += completion[from:s.From]
			from = s.To
		}
		said += completion[from:]
		if ended == (a.Status == Truncated) || a.Status == Raw && len(spans) == 0 && said != a.Action || a.Status == Boxed && !strings.Contains(said, strings.Trim(a.Action, "[]")) && len(spans) < 2 && !strings.Contains(a.Action, "[") {
			t.Errorf("%q: %+v, spans %v", completion, a, spans)
		}
		if a.Status != Truncated && !open && !strings.ContainsAny(completion, "<[") && a.Thinking != "" {
			t.Errorf("%q: thinking %q", completion, a.Thinking)
		}
	})
}

func TestReasonIn(t *testing.T) {
	for lang, want := range map[string]string{"ms": "reason in Malay, and", "zh": "reason in Chinese, and"} {
		got, err := ReasonIn(lang)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v", lang, got, err)
		}
		if strings.Replace(got, strings.TrimSuffix(want, ", and"), "reason in the language provided", 1) != LanguageConditioned {
			t.Errorf("%s: %q is not the published sentence with the language named", lang, got)
		}
	}
	if _, err := ReasonIn("xx"); err == nil {
		t.Error("no error for an unknown language")
	}
	for lang := range languageNames {
		text, _ := ReasonIn(lang)
		if got := ReasonsIn(text); got != lang {
			t.Errorf("%q says to reason in %q, want %s", text, got, lang)
		}
	}
	for _, text := range []string{"", Default, LanguageConditioned, beforeName + afterName, beforeName + "Klingon" + afterName, beforeName + "French"} {
		if got := ReasonsIn(text); got != "" {
			t.Errorf("%q names %s", text, got)
		}
	}
}
