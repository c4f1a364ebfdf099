package inference

import (
	"errors"
	"fmt"
	"io"

	"github.com/nikolalohinski/gonja/v2"
	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
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
	t        *exec.Template
	bos, eos string
}

func newTemplate(path, source, bos, eos string) (_ *chatTemplate, err error) {
	if source == "" {
		return nil, fmt.Errorf("%s: no chat template (key tokenizer.chat_template): use an instruction-tuned model", path)
	}
	defer templatePanic(&err, path)
	gonja.SetLoggerOutput(io.Discard)
	c := config.New()
	c.TrimBlocks, c.LeftStripBlocks = true, true
	// Only the template itself can be loaded: it comes from a file that may be anyone's.
	loader, err := loaders.NewMemoryLoader(map[string]string{"/chat": source})
	if err != nil {
		return nil, err
	}
	env := &exec.Environment{
		Context: exec.EmptyContext().Update(builtins.GlobalFunctions).Update(builtins.GlobalVariables).Update(
			exec.NewContext(map[string]any{"raise_exception": raiseException})),
		Filters: builtins.Filters, Tests: builtins.Tests, ControlStructures: builtins.ControlStructures, Methods: builtins.Methods,
	}
	t, err := exec.NewTemplate("/chat", c, loader, env)
	if err != nil {
		return nil, fmt.Errorf("%s: chat template (key tokenizer.chat_template): %w", path, err)
	}
	return &chatTemplate{path: path, t: t, bos: bos, eos: eos}, nil
}

func raiseException(message string) (string, error) { return "", errors.New(message) }

// render gives the text up to where the assistant's answer begins.
func (c *chatTemplate) render(messages []Message) (text string, err error) {
	defer templatePanic(&err, c.path)
	list := make([]map[string]any, len(messages))
	for i, m := range messages {
		list[i] = map[string]any{"role": m.Role, "content": m.Content}
	}
	text, err = c.t.ExecuteToString(exec.NewContext(map[string]any{
		"messages": list, "add_generation_prompt": true, "bos_token": c.bos, "eos_token": c.eos,
	}))
	if err != nil {
		return "", fmt.Errorf("%s: chat template: %w", c.path, err)
	}
	return text, nil
}

// templatePanic turns a panic of the template library into an error.
func templatePanic(err *error, path string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: chat template: %v", path, p)
	}
}
