package locales

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Message is one text that the rules say.
type Message struct {
	Key  string   // its place in the file, such as "invalid_move.out_of_range"
	Args []string // the names of the values, in the order in which Write takes them

	// Unfilled are names that the text may hold although the rules have no
	// values for them. TextArena formats a text only when it has values, so they
	// are shown as they are written.
	Unfilled []string
}

// Texts are the messages of one game in one language. They are read only, and
// so may be used by many goroutines.
type Texts struct {
	templates []template // in the order of the messages asked for
}

// Write appends message id, with the values of its Args filled in.
func (t *Texts) Write(b *strings.Builder, id int, args ...string) {
	t.templates[id].write(b, args)
}

// String is the text of message id.
func (t *Texts) String(id int, args ...string) string {
	var b strings.Builder
	t.Write(&b, id, args...)
	return b.String()
}

// Texts reads a game's messages in one language; game may be Common. The same
// game must always be asked for the same messages. Files are not trusted: a
// text that could not be rendered is an error here and never later.
func (s *Set) Texts(game, lang string, messages []Message) (*Texts, error) {
	key := textKey{game, lang}
	s.mu.RLock()
	texts := s.texts[key]
	s.mu.RUnlock()
	if texts != nil {
		return texts, nil
	}
	texts, err := s.load(game, lang, messages)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = make(map[textKey]*Texts)
	}
	s.texts[key] = texts
	return texts, nil
}

func (s *Set) load(game, lang string, messages []Message) (*Texts, error) {
	tree, err := s.tree(game, lang)
	if err != nil {
		return nil, err
	}
	_, shown := s.file(game, lang)
	texts := &Texts{templates: make([]template, len(messages))}
	for i, m := range messages {
		text, err := lookup(tree, m.Key)
		if err == nil {
			texts.templates[i], err = compile(text, m)
		}
		if err != nil {
			return nil, fmt.Errorf("locales: %s: key %s: %w", shown, m.Key, err)
		}
	}
	return texts, nil
}

// tree decodes a file.
func (s *Set) tree(game, lang string) (map[string]any, error) {
	data, err := s.read(game, lang)
	if err != nil {
		return nil, err
	}
	_, shown := s.file(game, lang)
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("locales: %s is not UTF-8; save it as UTF-8", shown)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, fmt.Errorf("locales: %s is not a JSON object of strings: %w; correct the file", shown, err)
	}
	return tree, nil
}

// lookup finds the text at a dotted key.
func lookup(tree map[string]any, key string) (string, error) {
	var node any = tree
	for name := range strings.SplitSeq(key, ".") {
		branch, ok := node.(map[string]any)
		if ok {
			node, ok = branch[name]
		}
		if !ok {
			return "", fmt.Errorf("missing; add it as the English file has it")
		}
	}
	text, ok := node.(string)
	if !ok {
		return "", fmt.Errorf("not a string; put the text in quotes")
	}
	return text, nil
}

// compile parses a message's text. One without values is shown as it is
// written, doubled braces too, since TextArena does not format it.
func compile(text string, m Message) (template, error) {
	if len(m.Args) > 0 {
		return parse(text, m.Args)
	}
	_, err := parse(text, m.Unfilled)
	return template{{text, noValue}}, err
}
