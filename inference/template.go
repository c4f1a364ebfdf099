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
	think    *bool // what the template is told of thinking; nil: nothing, its own default
}

var quietTemplates = sync.OnceFunc(func() { gonja.SetLoggerOutput(io.Discard) })

func newTemplate(path, source, bos, eos string) (_ *chatTemplate, err error) {
	if source == "" {
		return nil, fmt.Errorf("%s: no chat template (key tokenizer.chat_template): use an instruction-tuned model; files of Ollama's often lack it: then use the model's public GGUF file or its Hugging Face folder", path)
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
	values := map[string]any{
		"messages": list, "add_generation_prompt": true, "bos_token": c.bos, "eos_token": c.eos,
		"raise_exception": func(message string) (string, error) {
			refusal = errors.New(message)
			return "", refusal
		},
	}
	if c.think != nil {
		values["enable_thinking"] = *c.think
	}
	text, err = c.t.ExecuteToString(exec.NewContext(values))
	if refusal != nil {
		return "", fmt.Errorf("%s: the chat template refuses the chat: %s", c.path, oneLine(refusal.Error()))
	}
	if err != nil {
		return "", fmt.Errorf("%s: chat template: %s", c.path, oneLine(err.Error()))
	}
	return text, nil
}

// setThink switches thinking on or off; auto leaves it to the template. A
// template that renders the same either way cannot do what was asked for.
func (c *chatTemplate) setThink(mode string) error {
	switch mode {
	case "", "auto":
		return nil
	case "on", "off":
	default:
		return fmt.Errorf("--think %s: give auto, on or off", mode)
	}
	var texts [2]string
	for i, on := range []bool{false, true} {
		c.think = &on
		var err error
		if texts[i], err = c.render([]Message{{"system", "s"}, {"user", "u"}}); err != nil {
			return err
		}
	}
	if texts[0] == texts[1] {
		return fmt.Errorf("--think %s: the chat template of %s has no such switch: it renders the same with thinking on and off", mode, c.path)
	}
	on := mode == "on"
	c.think = &on
	return nil
}

// templatePanic turns a panic of the template library into an error.
func templatePanic(err *error, path string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: chat template: %s", path, oneLine(fmt.Sprint(p)))
	}
}

// oneLine is a foreign message fit for an error of ours.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
