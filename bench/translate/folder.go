package translate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"selfplay/bench/asking"
	"selfplay/locales"
)

// LogName is the file of entries.
const LogName = translatedName

const (
	translatedName = "translated.jsonl"
	judgedName     = "judged.jsonl"
	backName       = "back.jsonl"
)

// A Folder holds locale files that this program translated, and how they came
// about. One process at a time has it.
type Folder struct {
	Dir string

	log     *asking.Log[Entry]
	entries map[textKey]Entry

	judging  *asking.Log[Verdict]
	verdicts map[verdictKey]Verdict

	backward *asking.Log[Back]
	backs    map[backKey]Back
}

// OpenFolder opens a folder, and makes it if it is not there.
func OpenFolder(dir string) (*Folder, error) {
	if set, err := locales.Open(dir); err == nil && !set.Ours() {
		return nil, fmt.Errorf("%s is a TextArena checkout, whose files lie otherwise: choose another folder", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("the folder %s cannot be made: %w", dir, err)
	}
	f := &Folder{Dir: dir, entries: make(map[textKey]Entry), verdicts: make(map[verdictKey]Verdict), backs: make(map[backKey]Back)}
	if err := f.open(); err != nil {
		f.Close() // those of the logs that are open
		return nil, err
	}
	return f, nil
}

// open opens the logs and takes up what they hold.
func (f *Folder) open() (err error) {
	var entries []Entry
	if f.log, entries, err = asking.OpenLog(filepath.Join(f.Dir, translatedName), Entry.check); err != nil {
		return err
	}
	var verdicts []Verdict
	if f.judging, verdicts, err = asking.OpenLog(filepath.Join(f.Dir, judgedName), Verdict.check); err != nil {
		return err
	}
	var backs []Back
	if f.backward, backs, err = asking.OpenLog(filepath.Join(f.Dir, backName), Back.check); err != nil {
		return err
	}
	for _, e := range entries {
		f.entries[e.key()] = e
	}
	for _, v := range verdicts {
		f.verdicts[v.key()] = v
	}
	for _, b := range backs {
		f.backs[b.key()] = b
	}
	return nil
}

// OpenTranslated opens a folder that has translations.
func OpenTranslated(dir string) (*Folder, error) {
	if _, err := os.Stat(filepath.Join(dir, translatedName)); err != nil {
		return nil, fmt.Errorf("%s has no %s: it is no folder of `selfplay locales translate`, which takes texts from elsewhere, too, with --candidates", dir, translatedName)
	}
	return OpenFolder(dir)
}

// Close makes all durable and lets others use the folder.
func (f *Folder) Close() error {
	var errs []error
	if f.log != nil {
		errs = append(errs, f.log.Close())
	}
	if f.judging != nil {
		errs = append(errs, f.judging.Close())
	}
	if f.backward != nil {
		errs = append(errs, f.backward.Close())
	}
	return errors.Join(errs...)
}

// entry is what is known of a text, or of a term, which has no key.
func (f *Folder) entry(lang string, t Text) (Entry, bool) {
	e, ok := f.entries[textKey{lang, t.Game, t.Key, t.English}]
	return e, ok
}

// Finished says whether a model need not be asked for a text.
func (f *Folder) Finished(lang string, t Text) bool {
	e, ok := f.entry(lang, t)
	return ok && !e.missing()
}

func (f *Folder) add(e Entry) error {
	if err := f.log.Add(e); err != nil {
		return err
	}
	f.entries[e.key()] = e
	return nil
}

// Langs are the languages of the folder's translations.
func (f *Folder) Langs() (langs []string) {
	for k := range f.entries {
		langs = append(langs, k.lang)
	}
	slices.Sort(langs)
	return slices.Compact(langs)
}

// Texts are those of the games that the folder has files of in a language, all of
// them finished and none written by hand.
func (f *Folder) Texts(set *locales.Set, lang string) ([]Text, error) {
	var games []string
	for _, game := range set.Games() {
		if slices.Contains(set.Langs(game), lang) {
			games = append(games, game)
		}
	}
	texts, err := TextsOf(set, games)
	if err != nil {
		return nil, err
	}
	for _, t := range texts {
		if _, ok := f.entry(lang, t); !ok {
			return nil, fmt.Errorf("%s: %s of %s/%s.json is not in %s: it was changed by hand, or its English was; translate it, or put back what was there", f.Dir, t.Key, t.Game, lang, translatedName)
		}
	}
	return texts, f.Check(lang, texts)
}
