package translate

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Candidate is a text from any other translator: a line of a file.
type Candidate struct {
	Game string `json:"game"`
	Key  string `json:"key"`
	Lang string `json:"lang"`
	Text string `json:"text"`
}

const longestLine = 1 << 20 // bytes of a candidate

// ReadCandidates reads a file of JSON lines. No text may have two of them in one
// language.
func ReadCandidates(r io.Reader) (all []Candidate, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	first := make(map[[3]string]int)
	n := 0
	for lines.Scan() {
		n++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		c, err := readCandidate(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		key := [3]string{c.Game, c.Key, c.Lang}
		if first[key] > 0 {
			return nil, fmt.Errorf("line %d: %s of %s has one in line %d already; remove one", n, c.Key, c.Game, first[key])
		}
		first[key] = n
		all = append(all, c)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d bytes", n+1, longestLine)
	}
	return all, lines.Err()
}

func readCandidate(line []byte) (c Candidate, err error) {
	if !utf8.Valid(line) {
		return c, errors.New("not UTF-8; save it as UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(string(line)))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil || d.More() {
		return c, errors.New(`not an object {"game": ..., "key": ..., "lang": ..., "text": ...}`)
	}
	if c.Game == "" || c.Key == "" || c.Lang == "" {
		return c, errors.New("game, key and lang are needed")
	}
	return c, nil
}

// Take finishes texts by candidates in place of a model. A text that was left in
// English gets a new one tried, too. unknown are those of no text, and late those of
// texts that have another translation, which stays.
func (t *Translator) Take(candidates []Candidate) (unknown, late int, err error) {
	if err := t.copy(); err != nil {
		return 0, 0, err
	}
	given := make(map[[2]string]string)
	for _, c := range candidates {
		if c.Lang == t.Lang {
			given[[2]string{c.Game, c.Key}] = c.Text
		}
	}
	unknown = len(given)
	for _, text := range t.Texts {
		candidate, ok := given[[2]string{text.Game, text.Key}]
		if ok {
			unknown--
		}
		if e, _ := t.Folder.entry(t.Lang, text); ok && (e.Text != "" || e.Copied) && candidate != cmp.Or(e.Text, text.English) {
			late++
		}
		if err := t.take(text, candidate, ok); err != nil {
			return unknown, late, err
		}
	}
	return unknown, late, nil
}

// take finishes one text, unless it is.
func (t *Translator) take(text Text, candidate string, ok bool) error {
	e, known := t.Folder.entry(t.Lang, text)
	if known && (e.Copied || e.Text != "" || !ok || e.tried(candidate)) {
		return nil
	}
	if !known {
		e = Entry{Lang: t.Lang, Game: text.Game, Key: text.Key, English: text.English}
	}
	e.By = t.By
	try := Try{Answer: candidate}
	if ok {
		try.Faults = newChecker(text, t.Lang).check(candidate)
	} else {
		try.Faults = []Fault{{kindMissing, "there is no candidate"}}
	}
	e.Tries = append(e.Tries[:len(e.Tries):len(e.Tries)], try)
	if len(try.Faults) == 0 {
		e.Text = candidate
	}
	return t.Folder.add(e)
}
