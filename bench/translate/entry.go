package translate

import (
	"errors"
	"slices"
)

// An Entry is a text that is done with: one line of translated.jsonl. Of several
// of one text the last counts.
type Entry struct {
	Lang    string `json:"lang"`
	Game    string `json:"game"`
	Key     string `json:"key,omitempty"` // none: a term of the glossary
	English string `json:"english"`
	Text    string `json:"text,omitempty"` // none: it stays in English
	Copied  bool   `json:"copied,omitempty"`
	By      string `json:"by"` // a model's name, or a file's
	Tries   []Try  `json:"tries,omitempty"`
}

// A Try is one answer and why it was refused.
type Try struct {
	Seed   int     `json:"seed"` // from 1; 0: a candidate
	Answer string  `json:"answer"`
	Faults []Fault `json:"faults,omitempty"`
}

// textKey finds an entry.
type textKey struct{ lang, game, key, english string }

func (e Entry) key() textKey { return textKey{e.Lang, e.Game, e.Key, e.English} }

// check refuses what was not written by this program.
func (e Entry) check() error {
	switch {
	case e.Lang == "" || e.Game == "" || e.By == "":
		return errors.New("it names no language, game or translator")
	case e.Key == "" && e.English == "":
		return errors.New("it names no text")
	case e.Copied && e.Text != "":
		return errors.New("it is copied and translated")
	}
	return nil
}

// missing says that nobody has translated the text yet: others had candidates. It stays
// in English, and a model may still be asked for it.
func (e Entry) missing() bool {
	return len(e.Tries) > 0 && !slices.ContainsFunc(e.Tries, func(t Try) bool {
		return !slices.ContainsFunc(t.Faults, func(f Fault) bool { return f.Kind == kindMissing })
	})
}

// tried are the answers that a text got.
func (e Entry) tried(answer string) bool {
	return slices.ContainsFunc(e.Tries, func(t Try) bool { return t.Answer == answer })
}
