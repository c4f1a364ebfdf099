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
		return nil, fmt.Errorf("%s: no chat template (key tokenizer.chat_template): use an instruction-tuned model; files of Ollama's often lack it: then use the model's public GGUF file or its Hugging Face folder", path)
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

// note says what render does that a user would not expect.
func (c *chatTemplate) note() string {
	if c != nil && c.merged {
		return "the chat template takes no system message: the system prompt is put in front of the user's message"
	}
	return ""
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

// oneLine is a foreign message fit for an error of ours.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
