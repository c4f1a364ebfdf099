package inference

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// realTemplates is the folder of chat templates that llama.cpp's source carries,
// which make fixtures fetches.
func realTemplates(t testing.TB) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "selfplay", "fixtures", "llama.cpp-0.3.36", "models", "templates")
	if files, err := filepath.Glob(filepath.Join(dir, "*.jinja")); err != nil || len(files) == 0 {
		t.Fatalf("no real chat templates in %s: run make fixtures", dir)
	}
	return dir
}

func realTemplate(t testing.TB, name string) *chatTemplate {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(realTemplates(t), name+".jinja"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := newTemplate(name, string(source), "<BOS>", "<EOS>")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	goldSystem = Message{"system", "  Be brief. <|im_end|> & \"ü\"\n"}
	goldUser   = Message{"user", "  Größe: 3 < 4 & \"x\"\n\n[A] {{ b }} {% c %} \\n  "}
	goldChats  = map[string][]Message{
		"system+user": {goldSystem, goldUser},
		"user":        {goldUser},
		"history":     {goldSystem, goldUser, {"assistant", "<think>\nhm\n</think>\n\n I take [2]. "}, {"user", "Next."}},
	}
)

// refusedTemplates cannot be used for a plain chat in Python either.
var refusedTemplates = map[string]string{
	"CohereForAI-c4ai-command-r-plus-tool_use":      "line 142: None cannot be gone through", // no tools
	"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": "line 38: None cannot be gone through",
	"NousResearch-Hermes-3-Llama-3.1-8B-tool_use":   "line 38: None cannot be gone through",
	"fireworks-ai-llama-3-firefunction-v2":          "the undefined 'functions'",
}

// TestRealTemplates renders chats with every template, as they are and with
// thinking on and off. The goldens are of Python's jinja2 3.1.6, set up as in
// Hugging Face's transformers, on the day that templates are told here. A line
// holds template, chat, thinking, length in bytes and SHA-256.
func TestRealTemplates(t *testing.T) {
	goldens, err := os.ReadFile("testdata/templates.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(goldens)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		name, chat, mode := f[0], f[1], f[2]
		seen[name] = true
		c := realTemplate(t, name)
		if err := c.setThink(mode); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		text, err := c.render(goldChats[chat])
		if f[3] == "refused" {
			if want := refusedTemplates[name]; want == "" || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s, %s: error %v, want %q; text %q", name, chat, mode, err, want, text)
			}
			continue
		}
		sum := sha256.Sum256([]byte(text))
		if err != nil || strconv.Itoa(len(text)) != f[3] || hex.EncodeToString(sum[:]) != f[4] {
			t.Errorf("%s, %s, %s: error %v, another text of %d bytes, want %s: %q", name, chat, mode, err, len(text), f[3], text)
		}
	}
	files, _ := filepath.Glob(filepath.Join(realTemplates(t), "*.jinja"))
	if len(files) != len(seen) {
		t.Errorf("%d templates are there, %d have goldens", len(files), len(seen))
	}
}

// TestRealThinking: what the four families' templates and others do about
// thinking, and whether the answer begins within it.
func TestRealThinking(t *testing.T) {
	const refused = "renders the same"
	for _, test := range []struct {
		name, mode string
		end        string // of the text, or the error
		open       bool
	}{
		{"Qwen-Qwen3-0.6B", "auto", "<|im_start|>assistant\n", false},
		{"Qwen-Qwen3-0.6B", "on", "<|im_start|>assistant\n", false},
		{"Qwen-Qwen3-0.6B", "off", "<|im_start|>assistant\n<think>\n\n</think>\n\n", false},
		{"Qwen3.5-4B", "on", "<think>\n", true},
		{"Qwen-QwQ-32B", "on", "<think>\n", true},
		{"google-gemma-4-31B-it", "auto", "<|turn>model\n<|channel>thought\n<channel|>", false},
		{"google-gemma-4-31B-it", "on", "<|turn>model\n", false},
		{"google-gemma-4-31B-it", "off", "<|turn>model\n<|channel>thought\n<channel|>", false},
		{"mistralai-Ministral-3-14B-Reasoning-2512", "auto", "[/INST]", false},
		{"mistralai-Ministral-3-14B-Reasoning-2512", "on", "[/INST]", false},
		{"mistralai-Ministral-3-14B-Reasoning-2512", "off", "[/INST]", false},
		{"meta-llama-Llama-3.2-3B-Instruct", "auto", "assistant<|end_header_id|>\n\n", false},
		{"meta-llama-Llama-3.2-3B-Instruct", "on", refused, false},
		{"meta-llama-Llama-3.2-3B-Instruct", "off", refused, false},
		{"deepseek-ai-DeepSeek-V3.1", "on", "<think>", true},
		{"deepseek-ai-DeepSeek-V3.1", "off", "</think>", false},
		{"openai-gpt-oss-120b", "on", refused, false}, // it can only be told how much
	} {
		c := realTemplate(t, test.name)
		if err := c.setThink(test.mode); test.end == refused {
			if err == nil || !strings.Contains(err.Error(), refused) {
				t.Errorf("%s %s: error %v", test.name, test.mode, err)
			}
			continue
		} else if err != nil {
			t.Errorf("%s %s: %v", test.name, test.mode, err)
			continue
		}
		text, err := c.render(goldChats["system+user"])
		if err != nil || !strings.HasSuffix(text, test.end) || opens(text) != test.open {
			t.Errorf("%s %s: error %v, open %v, text %q", test.name, test.mode, err, opens(text), text)
		}
	}
	c := realTemplate(t, "google-gemma-4-31B-it")
	if err := c.setThink("on"); err != nil {
		t.Fatal(err)
	}
	if text, _ := c.render(goldChats["system+user"]); !strings.Contains(text, "<|think|>") {
		t.Errorf("Gemma 4 is not told to think: %q", text)
	}
}

// TestOwnThinkingPrompt: where a system message takes the place of the words by
// which the template makes a model think, thinking on keeps those in front.
func TestOwnThinkingPrompt(t *testing.T) {
	const name = "mistralai-Ministral-3-14B-Reasoning-2512"
	alone, err := realTemplate(t, name).render([]Message{goldUser})
	if err != nil {
		t.Fatal(err)
	}
	words, _, ok := strings.Cut(strings.TrimPrefix(alone, "<BOS>[SYSTEM_PROMPT]"), "[/SYSTEM_PROMPT]")
	if !ok || !strings.Contains(words, "[THINK]") {
		t.Fatalf("the template has no such words: %q", alone)
	}
	c := realTemplate(t, name)
	if err := c.setThink("on"); err != nil {
		t.Fatal(err)
	}
	text, err := c.render(goldChats["system+user"])
	if want := "<BOS>[SYSTEM_PROMPT]" + words + "\n\n" + goldSystem.Content + "[/SYSTEM_PROMPT]"; err != nil || !strings.HasPrefix(text, want) {
		t.Errorf("error %v, text %q", err, text)
	}
}

// TestNoSystemMessage: a template that refuses or drops a system message is
// given its text with the user's.
func TestNoSystemMessage(t *testing.T) {
	const (
		refuses = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}"
		drops   = "{% for m in messages if m.role == 'user' %}{{ m.role }}:{{ m.content }};{% endfor %}"
		takes   = "{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}"
		never   = "{{ raise_exception('nothing') }}"
	)
	for template, want := range map[string]string{
		refuses: "user:s\n\nu;", drops: "user:s\n\nu;", takes: "system:s;user:u;", never: "",
	} {
		c, err := newTemplate("model.gguf", template, "", "")
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.render([]Message{{"system", "s"}, {"user", "u"}})
		if text != want || (err == nil) != (want != "") || c.merged != strings.HasPrefix(want, "user") {
			t.Errorf("%s: error %v, merged %v, text %q", template, err, c.merged, text)
		}
		if c.merged != (c.note() != "") {
			t.Errorf("%s: note %q", template, c.note())
		}
	}
	if c := realTemplate(t, "google-gemma-2-2b-it"); !c.merged {
		t.Error("Gemma 2 is given a system message")
	}
}

// TestTemplateDate: a prompt is the same on every day.
func TestTemplateDate(t *testing.T) {
	for name, want := range map[string]string{
		"meta-llama-Llama-3.2-3B-Instruct":    "Today Date: 26 Jul 2024\n",
		"meta-llama-Llama-3.1-8B-Instruct":    "Today Date: 26 Jul 2024\n",
		"openai-gpt-oss-120b":                 "Current date: 2024-07-26\n",
		"ibm-granite-granite-3.3-2B-Instruct": "Today's Date: July 26, 2024.",
	} {
		chat := goldChats["system+user"]
		if strings.HasPrefix(name, "ibm") {
			chat = goldChats["user"]
		}
		if text, err := realTemplate(t, name).render(chat); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: error %v, text %q", name, err, text)
		}
	}
}
