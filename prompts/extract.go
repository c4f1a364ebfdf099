package prompts

import (
	"strings"
	"unicode"
)

// Status says how an action was found in a completion.
type Status string

const (
	Boxed     Status = "boxed"     // the last non-empty \boxed{...}
	Raw       Status = "raw"       // no box: the text itself
	Truncated Status = "truncated" // thinking that never ended: there is no answer
)

// An Answer is a completion taken apart.
type Answer struct {
	Action   string
	Thinking string
	Status   Status
}

// Extract takes a completion apart. Thinking is removed first, so that nothing
// in it can be taken for the move. Then the action is the content of the last
// box that is not blank, put in brackets if it holds none; without such a box
// it is the text itself. open says that the prompt already opened a think block.
func Extract(completion string, open bool) Answer {
	text, thinking, ended := cutThinking(completion, open)
	if !ended {
		return Answer{Thinking: thinking, Status: Truncated}
	}
	box, ok := lastBox(text)
	if !ok {
		return Answer{Action: text, Thinking: thinking, Status: Raw}
	}
	if !strings.Contains(box, "[") {
		box = "[" + box + "]"
	}
	return Answer{Action: box, Thinking: thinking, Status: Boxed}
}

// thinkTags are the marks with which models set their thinking apart.
var thinkTags = []struct{ open, close string }{
	{"<think>", "</think>"},             // Qwen3 and many others
	{"[THINK]", "[/THINK]"},             // Ministral 3
	{"<|channel>thought", "<channel|>"}, // Gemma 4
}

// cutThinking parts a completion into what is said and what is thought; ended
// is false if a think block is not closed. Blanks behind a block go with it. A
// closing mark that nothing opened ends thinking too: all before it is thought,
// since the completion began inside a block.
func cutThinking(s string, open bool) (text, thinking string, ended bool) {
	var said strings.Builder
	var thoughts []string
	if open {
		at, mark, _ := nextMark(s, onlyClosing)
		if at < 0 {
			return "", strip(s), false
		}
		thoughts = append(thoughts, s[:at])
		s = skipBlanks(s[at+len(mark):])
	}
	for {
		at, mark, closing := nextMark(s, anyMark)
		if at < 0 {
			said.WriteString(s)
			return said.String(), join(thoughts), true
		}
		rest := s[at+len(mark):]
		if closing == "" { // a stray closing mark
			thoughts = append(thoughts, said.String()+s[:at])
			said.Reset()
			s = skipBlanks(rest)
			continue
		}
		said.WriteString(s[:at])
		thought, after, closed := strings.Cut(rest, closing)
		thoughts = append(thoughts, thought)
		if !closed {
			return "", join(thoughts), false
		}
		s = skipBlanks(after)
	}
}

const (
	anyMark     = false
	onlyClosing = true
)

// nextMark finds the first mark in s, or -1. For an opening one it gives the
// mark that closes it.
func nextMark(s string, onlyClosing bool) (at int, mark, closing string) {
	for i := 0; i < len(s); i++ {
		next := strings.IndexAny(s[i:], "<[")
		if next < 0 {
			break
		}
		i += next
		for _, t := range thinkTags {
			if strings.HasPrefix(s[i:], t.close) {
				return i, t.close, ""
			}
			if !onlyClosing && strings.HasPrefix(s[i:], t.open) {
				return i, t.open, t.close
			}
		}
	}
	return -1, "", ""
}

// lastBox gives the stripped content of the last \boxed{...} that is not blank.
// Braces inside it must balance: a box that is never closed is none, and the
// one before it counts. Blanks between \boxed and its brace are let pass, as in
// TeX. Of a box within a box the inner one is the last.
func lastBox(s string) (string, bool) {
	const command = `\boxed`
	var open []int // for each open brace where a box's content starts, or 0
	best, content := 0, ""
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if !strings.HasPrefix(s[i:], command) {
				continue
			}
			rest := skipBlanks(s[i+len(command):])
			if strings.HasPrefix(rest, "{") {
				i = len(s) - len(rest)
				open = append(open, i+1)
			}
		case '{':
			open = append(open, 0)
		case '}':
			if len(open) == 0 {
				continue
			}
			start := open[len(open)-1]
			open = open[:len(open)-1]
			if start > best {
				if c := strip(s[start:i]); c != "" {
					best, content = start, c
				}
			}
		}
	}
	return content, best > 0
}

// join puts the thoughts together, without the blanks around them.
func join(thoughts []string) string {
	var kept []string
	for _, t := range thoughts {
		if t = strip(t); t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n\n")
}

// isBlank is Python's str.isspace for one character: the actions go to rules
// that were written in Python.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f
}

func strip(s string) string { return strings.TrimFunc(s, isBlank) }

func skipBlanks(s string) string { return strings.TrimLeftFunc(s, isBlank) }
