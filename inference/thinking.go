package inference

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

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

// SetThink switches the thinking of prompts on or off; auto leaves it to the
// chat template.
func (c *Codec) SetThink(mode string) error {
	if c.noTemplate != nil && mode != "" && mode != "auto" {
		return c.noTemplate
	}
	return c.template.setThink(mode)
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
		if token == m.Close || token == m.Open || strings.HasPrefix(m.Open, token) && strings.HasSuffix(token, ">") {
			return true
		}
	}
	return false
}

// Cuts tells for places in Text(ids), in bytes and in order, how many of the
// tokens hold the text before each.
func (c *Codec) Cuts(ids []int32, places []int) []int {
	var b []byte
	ends := make([]int, len(ids)) // of each token, in b
	for i, id := range ids {
		if id >= 0 && int(id) < len(c.texts) {
			b = append(b, c.texts[id]...)
		}
		ends[i] = len(b)
	}
	cuts := make([]int, len(places))
	read, written := 0, 0 // bytes of b, and of the text that they make
	for i, place := range places {
		for written < place && read < len(b) {
			r, n := nextRune(b[read:])
			read += n
			written += utf8.RuneLen(r)
		}
		if read > 0 {
			at, _ := slices.BinarySearch(ends, read)
			cuts[i] = at + 1
		}
	}
	return cuts
}
