package inference

import (
	"errors"
	"fmt"
	"strings"

	"selfplay/inference/jinja"
)

// A Message is one part of a chat.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// chatTemplate is a model's own Jinja template, set up as Hugging Face's
// libraries do.
type chatTemplate struct {
	path     string
	t        *jinja.Template
	bos, eos string
	merged   bool           // it has no place for a system message: its text goes in front of the user's
	think    map[string]any // what it is told of thinking; empty: nothing, its own default
	ownWords string         // put in front of the system message; see setThink
}

func newTemplate(path, source, bos, eos string) (*chatTemplate, error) {
	if source == "" {
		return nil, fmt.Errorf("%s: no chat template (key tokenizer.chat_template): use an instruction-tuned model", path)
	}
	t, err := jinja.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("%s: chat template (key tokenizer.chat_template): %w", path, err)
	}
	c := &chatTemplate{path: path, t: t, bos: bos, eos: eos}
	c.merged = c.hasNoSystem()
	return c, nil
}

// The chat with which a template is probed.
var (
	probeSystem = Message{"system", "Probe of the system."}
	probeUser   = Message{"user", "Probe of the user."}
)

// hasNoSystem tells whether the template refuses or drops a system message, and
// takes the chat without it.
func (c *chatTemplate) hasNoSystem() bool {
	text, err := c.write([]Message{probeSystem, probeUser})
	if err == nil && strings.Contains(text, probeSystem.Content) {
		return false
	}
	if e, ok := errors.AsType[*jinja.Error](err); ok && !e.Raised {
		return false
	}
	_, err = c.write([]Message{probeUser})
	return err == nil
}

// render gives the text up to where the assistant's answer begins.
func (c *chatTemplate) render(messages []Message) (string, error) {
	if len(messages) > 0 && messages[0].Role == "system" {
		first, rest := messages[0], messages[1:]
		switch {
		case c.merged && len(rest) > 0 && rest[0].Role == "user":
			messages = append([]Message{{"user", first.Content + "\n\n" + rest[0].Content}}, rest[1:]...)
		case c.ownWords != "":
			messages = append([]Message{{"system", c.ownWords + "\n\n" + first.Content}}, rest...)
		}
	}
	return c.write(messages)
}

// write renders a chat as it is.
func (c *chatTemplate) write(messages []Message) (string, error) {
	list := make([]any, len(messages))
	for i, m := range messages {
		list[i] = jinja.NewDict("role", m.Role, "content", m.Content)
	}
	variables := map[string]any{
		"messages": list, "tools": nil, "documents": nil, "add_generation_prompt": true,
		"bos_token": c.bos, "eos_token": c.eos,
	}
	for name, v := range c.think {
		variables[name] = v
	}
	text, err := c.t.Render(variables)
	switch e, _ := errors.AsType[*jinja.Error](err); {
	case err == nil:
		return text, nil
	case e.Raised:
		return "", fmt.Errorf("%s: the chat template refuses the chat: %w", c.path, err)
	}
	return "", fmt.Errorf("%s: chat template: %w", c.path, err)
}

// thinkSwitches are the variables by which templates are told to think or not.
// Others exist that set how much, or that have no value for off.
var thinkSwitches = []struct {
	name    string
	on, off any
}{
	{"enable_thinking", true, false}, // Qwen3, Gemma 4 and most others
	{"thinking", true, false},        // DeepSeek, Granite
	{"thinking_mode", "enabled", "disabled"},
	{"thinking_budget", int64(-1), int64(0)},
}

// setThink switches thinking on or off; auto leaves it to the template. A
// template without a switch may have a system prompt of its own that tells the
// model how to think, as Ministral 3's has, which a system message replaces:
// then on puts its words in front of the message. A template that renders the
// same either way cannot do what was asked for.
func (c *chatTemplate) setThink(mode string) error {
	switch mode {
	case "", "auto":
		return nil
	case "on", "off":
	default:
		return fmt.Errorf("--think %s: give auto, on or off", mode)
	}
	chat := []Message{probeSystem, probeUser}
	for _, s := range thinkSwitches {
		c.think = map[string]any{s.name: s.off}
		off, err := c.render(chat)
		if err != nil {
			return err
		}
		c.think = map[string]any{s.name: s.on}
		on, err := c.render(chat)
		if err != nil {
			return err
		}
		if on != off {
			if mode == "off" {
				c.think = map[string]any{s.name: s.off}
			}
			return nil
		}
	}
	c.think = nil
	words, err := c.thinkingPrompt()
	if err != nil {
		return err
	}
	if words == "" {
		return fmt.Errorf("--think %s: the chat template of %s has no such switch: it renders the same with thinking on and off", mode, c.path)
	}
	if mode == "on" {
		c.ownWords = words
	}
	return nil
}

// thinkingPrompt is the system prompt that the template writes into a chat
// without one, if it shows the marks of thinking; else "".
func (c *chatTemplate) thinkingPrompt() (string, error) {
	with, err := c.render([]Message{probeSystem, probeUser})
	if err != nil {
		return "", err
	}
	without, err := c.render([]Message{probeUser})
	if err != nil {
		return "", err
	}
	before, after, _ := strings.Cut(with, probeSystem.Content)
	words, ok := strings.CutPrefix(without, before)
	words, also := strings.CutSuffix(words, after)
	if !ok || !also {
		return "", nil
	}
	for _, m := range ThinkMarks {
		if strings.Contains(words, m.Open) && strings.Contains(words, m.Close) {
			return words, nil
		}
	}
	return "", nil
}

// opens tells whether the rendered text ends within a block of thinking.
func opens(text string) bool {
	text = strings.TrimSpace(text)
	for _, m := range ThinkMarks {
		if strings.HasSuffix(text, m.Open) {
			return true
		}
	}
	return false
}

// ThinkMarks are the marks with which models set their thinking apart from the
// answer. They are control tokens in some vocabularies, and kept in the text of
// an answer all the same.
var ThinkMarks = []struct{ Open, Close string }{
	{"<think>", "</think>"},             // Qwen3 and many others
	{"[THINK]", "[/THINK]"},             // Ministral 3
	{"<|channel>thought", "<channel|>"}, // Gemma 4; the first token is <|channel>
}

// inThinkMark tells whether a control token is a mark of thinking, or the part
// of one that is a token.
func inThinkMark(token string) bool {
	for _, m := range ThinkMarks {
		if token == m.Close || token != "" && strings.HasPrefix(m.Open, token) {
			return true
		}
	}
	return false
}

// oneLine is a foreign message fit for an error of ours.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
