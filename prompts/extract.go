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
	p := cutThinking(completion, open)
	thinking := join(p.thoughts)
	if !p.ended {
		return Answer{Thinking: thinking, Status: Truncated}
	}
	text := p.said.String()
	box, ok := lastBox(text)
	if !ok {
		return Answer{Action: text, Thinking: thinking, Status: Raw}
	}
	if !strings.Contains(box, "[") {
		box = "[" + box + "]"
	}
	return Answer{Action: box, Thinking: thinking, Status: Boxed}
}

// A Span is a part of a text: its first byte and the one behind its last.
type Span struct{ From, To int }

// ThinkSpans gives the parts of a completion that are thinking, with their
// marks. ended is false if the last one is not closed.
func ThinkSpans(completion string, open bool) (spans []Span, ended bool) {
	p := cutThinking(completion, open)
	return p.spans, p.ended
}

// ThinkMarks are the marks with which models set their thinking apart.
var ThinkMarks = []struct{ Open, Close string }{
	{"<think>", "</think>"},             // Qwen3 and many others
	{"[THINK]", "[/THINK]"},             // Ministral 3
	{"<|channel>thought", "<channel|>"}, // Gemma 4
}

// parts are what is said in a completion and what is thought.
type parts struct {
	said     strings.Builder
	thoughts []string
	spans    []Span // of the thoughts
	ended    bool   // no block is left open
}

// cutThinking parts a completion. Blanks behind a block go with it. A closing
// mark that nothing opened ends thinking too: all before it is thought, since
// the completion began inside a block.
func cutThinking(completion string, open bool) *parts {
	var p parts
	s := completion
	place := func() int { return len(completion) - len(s) }
	if open {
		at, mark, _ := nextMark(s, onlyClosing)
		if at < 0 {
			return &parts{thoughts: []string{s}, spans: []Span{{0, len(s)}}}
		}
		p.think(s[:at], Span{0, at + len(mark)})
		s = skipBlanks(s[at+len(mark):])
	}
	for {
		at, mark, closing := nextMark(s, anyMark)
		if at < 0 {
			p.said.WriteString(s)
			p.ended = true
			return &p
		}
		from := place() + at
		rest := s[at+len(mark):]
		p.said.WriteString(s[:at])
		if closing == "" { // a stray closing mark
			thought := p.said.String()
			p.said.Reset()
			p.spans = nil
			p.think(thought, Span{0, from + len(mark)})
			s = skipBlanks(rest)
			continue
		}
		thought, after, closed := strings.Cut(rest, closing)
		p.think(thought, Span{from, len(completion) - len(after)})
		if !closed {
			return &p
		}
		s = skipBlanks(after)
	}
}

func (p *parts) think(thought string, where Span) {
	p.thoughts = append(p.thoughts, thought)
	p.spans = append(p.spans, where)
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
		for _, t := range ThinkMarks {
			if strings.HasPrefix(s[i:], t.Close) {
				return i, t.Close, ""
			}
			if !onlyClosing && strings.HasPrefix(s[i:], t.Open) {
				return i, t.Open, t.Close
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
