package translate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"selfplay/inference/files"
	"selfplay/locales"
	"selfplay/locales/wholefile"
)

// aliases are where TextArena's wrappers look for their strings.
var aliases = []string{"ActionWrappers", "ObservationWrappers"}

// Check refuses a folder in which a file would be lost: English ones that are
// other than those that are translated, and what somebody wrote by hand.
func (f *Folder) Check(lang string, texts []Text) error {
	set, err := locales.Open(f.Dir)
	if err != nil {
		return nil // nothing is there
	}
	for game, texts := range byGame(texts) {
		if exists(filepath.Join(f.Dir, game, english+".json")) {
			there, err := set.Strings(game, english)
			if err != nil {
				return err
			}
			if !slices.EqualFunc(there, texts, func(a locales.Text, b Text) bool { return a.Key == b.Key && a.Text == b.English }) {
				return fmt.Errorf("%s has other English texts of %s: choose another folder", f.Dir, game)
			}
		}
		if err := f.checkHand(set, game, lang, texts); err != nil {
			return err
		}
	}
	return nil
}

// checkHand refuses texts that are neither from here nor English.
func (f *Folder) checkHand(set *locales.Set, game, lang string, texts []Text) error {
	if !exists(filepath.Join(f.Dir, game, lang+".json")) {
		return nil
	}
	there, err := set.Strings(game, lang)
	if err != nil {
		return err
	}
	for _, t := range there {
		at := slices.IndexFunc(texts, func(o Text) bool { return o.Key == t.Key })
		if at >= 0 && t.Text == texts[at].English {
			continue
		}
		if at >= 0 {
			if e, ok := f.entry(lang, texts[at]); ok && e.Text == t.Text {
				continue
			}
		}
		return fmt.Errorf("%s was written by hand (%s): it would be lost; choose another folder, and give such texts with --candidates", filepath.Join(f.Dir, game, lang+".json"), t.Key)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Write writes the files of a language, beside the English ones, which are as Check
// found them or not there: what is not good is English. All texts must be finished.
func (f *Folder) Write(lang string, texts []Text) error {
	for game, texts := range byGame(texts) {
		dir := filepath.Join(f.Dir, game)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		var original, translated []locales.Text
		for _, t := range texts {
			e, ok := f.entry(lang, t)
			if !ok {
				return fmt.Errorf("%s: %s of %s is not finished in %s", f.Dir, t.Key, t.Game, lang)
			}
			original = append(original, locales.Text{Key: t.Key, Text: t.English})
			text := t.English
			if e.Text != "" && len(f.against(e)) == 0 {
				text = e.Text
			}
			translated = append(translated, locales.Text{Key: t.Key, Text: text})
		}
		if source := filepath.Join(dir, english+".json"); !exists(source) {
			if err := writeFile(source, original); err != nil {
				return err
			}
		}
		if err := writeFile(filepath.Join(dir, lang+".json"), translated); err != nil {
			return err
		}
	}
	for _, alias := range aliases {
		if err := os.Symlink(locales.Common, filepath.Join(f.Dir, alias)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// mostFile is far beyond any locale file, in bytes.
const mostFile = 1 << 20

// writeFile writes a locale file, if it has to be changed.
func writeFile(path string, texts []locales.Text) error {
	var b bytes.Buffer
	writeBranch(&b, texts, 1)
	b.WriteByte('\n')
	if there, err := files.Read(path, mostFile); err == nil && bytes.Equal(there, b.Bytes()) {
		return nil
	}
	return wholefile.Bytes(path, b.Bytes())
}

// writeBranch writes texts as an object, those with the same first name in one of
// their own. What belongs together need not stand together.
func writeBranch(b *bytes.Buffer, texts []locales.Text, depth int) {
	var order []string
	leaves, branches := make(map[string]string), make(map[string][]locales.Text)
	for _, t := range texts {
		name, rest, deeper := strings.Cut(t.Key, ".")
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		if deeper {
			branches[name] = append(branches[name], locales.Text{Key: rest, Text: t.Text})
		} else {
			leaves[name] = t.Text
		}
	}
	b.WriteByte('{')
	for i, name := range order {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + strings.Repeat("  ", depth) + quoted(name) + ": ")
		if inside := branches[name]; inside != nil {
			writeBranch(b, inside, depth+1)
		} else {
			b.WriteString(quoted(leaves[name]))
		}
	}
	b.WriteString("\n" + strings.Repeat("  ", depth-1) + "}")
}

// quoted is a JSON string in which letters are themselves.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(text) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
