package inference

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/nikolalohinski/gonja/v2"
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

var quietTemplates = sync.OnceFunc(func() { gonja.SetLoggerOutput(io.Discard) })

func newTemplate(path, source, bos, eos string) (_ *chatTemplate, err error) {
	if source == "" {
		return nil, fmt.Errorf("%s: no chat template (key tokenizer.chat_template): use an instruction-tuned model", path)
	}
	defer templatePanic(&err, path)
	quietTemplates()
	c := config.New()
	c.TrimBlocks, c.LeftStripBlocks = true, true
	source = plainJinja(source)
	loader, err := loaders.NewMemoryLoader(map[string]string{"/chat": source})
	if err != nil {
		return nil, err
	}
	env, err := templateEnvironment()
	if err != nil {
		return nil, err
	}
	t, err := exec.NewTemplate("/chat", c, loader, env)
	if err != nil { // it quotes the whole source
		return nil, fmt.Errorf("%s: chat template (key tokenizer.chat_template): %s", path, oneLine(strings.Replace(err.Error(), "'"+source+"'", "", 1)))
	}
	return &chatTemplate{path: path, t: t, bos: bos, eos: eos}, nil
}

// render gives the text up to where the assistant's answer begins.
func (c *chatTemplate) render(messages []Message) (text string, err error) {
	defer templatePanic(&err, c.path)
	list := make([]map[string]any, len(messages))
	for i, m := range messages {
		list[i] = map[string]any{"role": m.Role, "content": m.Content}
	}
	var refusal error
	text, err = c.t.ExecuteToString(exec.NewContext(map[string]any{
		"messages": list, "add_generation_prompt": true, "bos_token": c.bos, "eos_token": c.eos,
		"raise_exception": func(message string) (string, error) {
			refusal = errors.New(message)
			return "", refusal
		},
	}))
	if refusal != nil {
		return "", fmt.Errorf("%s: the chat template refuses the chat: %s", c.path, oneLine(refusal.Error()))
	}
	if err != nil {
		return "", fmt.Errorf("%s: chat template: %s", c.path, oneLine(err.Error()))
	}
	return text, nil
}

// templatePanic turns a panic of the template library into an error.
func templatePanic(err *error, path string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: chat template: %s", path, oneLine(fmt.Sprint(p)))
	}
}

// oneLine is a foreign message fit for an error of ours.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
