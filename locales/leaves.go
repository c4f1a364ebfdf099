package locales

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Text is one text of a locale file.
type Text struct {
	Key  string // dotted
	Text string
}

// Strings gives all texts of a game in one language, in the order of the file;
// game may be Common. What the rules do not ask for is among them.
func (s *Set) Strings(game, lang string) ([]Text, error) {
	data, err := s.read(game, lang)
	if err != nil {
		return nil, err
	}
	texts, faults, err := readLeaves(data)
	_, shown := s.file(game, lang)
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("key %q: %s", faults[0].Key, faults[0].What)
	}
	if err != nil {
		return nil, fmt.Errorf("locales: %s: %w", shown, err)
	}
	return texts, nil
}

// maxDepth is how deep objects may stand in each other; real files have two
// levels.
const maxDepth = 16

// A leafReader walks through a file. What a map would hide is seen here: the
// order of the keys, and a key that stands twice.
type leafReader struct {
	in     *json.Decoder
	leaves []Text
	places map[string]int // index in leaves, or branch
	faults []Finding
}

// readLeaves gives the texts of a file in its order, and what is wrong with
// it; an error if it is no JSON object. Names that start with "_" at the top
// are notes to translators.
func readLeaves(data []byte) ([]Text, []Finding, error) {
	if !utf8.Valid(data) {
		return nil, nil, errors.New("not UTF-8; save it as UTF-8")
	}
	r := &leafReader{in: json.NewDecoder(bytes.NewReader(data)), places: make(map[string]int)}
	start, err := r.in.Token()
	if err == nil && start != json.Delim('{') {
		err = errors.New("something else comes first")
	}
	if err == nil {
		err = r.object("", 1)
	}
	if err == nil {
		if _, err = r.in.Token(); err == io.EOF {
			return r.leaves, r.faults, nil
		}
		err = errors.New("more text after its end")
	}
	return nil, nil, fmt.Errorf("not a JSON object of strings: %w; correct the file", oneLine(err))
}

// object reads what follows a "{".
func (r *leafReader) object(prefix string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("objects stand %d deep in each other", depth)
	}
	for r.in.More() {
		name, err := r.in.Token()
		if err != nil {
			return err
		}
		if prefix == "" && strings.HasPrefix(name.(string), "_") {
			err = r.in.Decode(new(json.RawMessage))
		} else {
			err = r.value(prefix+name.(string), depth)
		}
		if err != nil {
			return err
		}
	}
	_, err := r.in.Token()
	return err
}

// branch is the place of a key that has no text of its own.
const branch = -1

// value reads what stands at a key. Of several values the last counts, as it
// does in Python.
func (r *leafReader) value(key string, depth int) error {
	at, twice := r.places[key]
	if twice {
		r.fault(key, "stands twice, and only the last one counts; remove the other")
	} else {
		at = branch
	}
	token, err := r.in.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case string:
		if at == branch {
			at = len(r.leaves)
			r.leaves = append(r.leaves, Text{Key: key})
		}
		r.leaves[at].Text, r.places[key] = token, at
		return nil
	case json.Delim:
		if token == '{' {
			r.places[key] = at
			return r.object(key+".", depth+1)
		}
		err = r.skipList()
	}
	r.fault(key, "not a string; put the text in quotes")
	return err
}

func (r *leafReader) fault(key, what string) {
	r.faults = append(r.faults, Finding{Key: key, Kind: KindKey, Severity: Error, What: what})
}

// skipList reads up to the "]" that ends a list.
func (r *leafReader) skipList() error {
	for r.in.More() {
		if err := r.in.Decode(new(json.RawMessage)); err != nil {
			return err
		}
	}
	_, err := r.in.Token()
	return err
}

// oneLine is an error whose text has no line breaks.
func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
