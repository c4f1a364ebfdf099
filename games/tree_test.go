package games

import (
	"archive/tar"
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"selfplay/locales"
	"selfplay/locales/mask"
	"selfplay/locales/verify"
)

// treeFindings is the table in package locales: how many findings of a kind the
// whole reference tree has, and how many of them are errors.
var treeFindings = map[locales.Kind][2]int{
	verify.Empty:        {2, 2},
	verify.Brace:        {1, 1},
	verify.Token:        {483, 415},
	locales.KindExample: {6, 6},
	verify.Number:       {107, 10},
	verify.Invisible:    {66, 62},
	verify.LookAlike:    {389, 389},
	verify.Script:       {1645, 0},
	verify.English:      {1437, 0},
	verify.Length:       {198, 0},
}

// A treeFile is one locale file of the reference.
type treeFile struct {
	game, lang string
	texts      map[string]string
}

// referenceTree reads the reference's strings of all games and languages, and
// packs them into a set. The test is skipped without them.
func referenceTree(t *testing.T) (files []treeFile, set *locales.Set) {
	t.Helper()
	archive := filepath.Join(reference(t), "all-locales.tar.xz")
	if _, err := os.Stat(archive); err != nil {
		t.Skip("no strings of all games beside the reference")
	}
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("no xz to unpack the reference's strings")
	}
	unpack := exec.Command("xz", "-dc", archive)
	pipe, err := unpack.StdoutPipe()
	if err == nil {
		err = unpack.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "set.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packed := zip.NewWriter(f)
	for in := tar.NewReader(pipe); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		game, lang, ok := placeOf(h.Name)
		if !ok {
			continue
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		w, err := packed.CreateHeader(&zip.FileHeader{Name: game + "/" + lang + ".json"})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]any
		if err := json.Unmarshal(data, &tree); err != nil {
			t.Fatal(h.Name, err)
		}
		file := treeFile{game, lang, make(map[string]string)}
		flatten(tree, "", file.texts)
		files = append(files, file)
	}
	if err := unpack.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if set, err = locales.Open(name); err != nil {
		t.Fatal(err)
	}
	return files, set
}

// placeOf says what a file of the archive is.
func placeOf(name string) (game, lang string, ok bool) {
	parts := strings.Split(name, "/")
	lang, isJSON := strings.CutSuffix(parts[len(parts)-1], ".json")
	if !isJSON || len(parts) < 3 || lang[0] == '_' || parts[len(parts)-2] != "locales" {
		return "", "", false
	}
	if game = parts[len(parts)-3]; game == "utils" {
		game = locales.Common
	}
	return game, lang, true
}

func flatten(tree map[string]any, prefix string, into map[string]string) {
	for key, node := range tree {
		if prefix == "" && key[0] == '_' {
			continue
		}
		switch node := node.(type) {
		case string:
			into[prefix+key] = node
		case map[string]any:
			flatten(node, prefix+key+".", into)
		}
	}
}

// Every text of the reference, in all its languages: what is masked comes back,
// no text holds what could be taken for a sentinel, and the findings are those
// that the documentation names.
func TestWholeReferenceTree(t *testing.T) {
	files, set := referenceTree(t)
	texts := 0
	for _, f := range files {
		for key, text := range f.texts {
			texts++
			checkMask(t, f, key, text)
		}
	}
	if texts < 150_000 {
		t.Errorf("only %d texts", texts)
	}
	rep := locales.Checker{Set: set, Play: PlayExamples}.Run()
	errors := make(map[locales.Kind]int)
	for _, f := range rep.Findings {
		if f.Severity == locales.Error {
			errors[f.Kind]++
		}
	}
	for _, kind := range locales.Kinds {
		if got := [2]int{rep.Counts[kind], errors[kind]}; got != treeFindings[kind] {
			t.Errorf("%s: %d findings, %d of them errors, want %v", kind, got[0], got[1], treeFindings[kind])
		}
	}
}

func checkMask(t *testing.T, f treeFile, key, text string) {
	m := mask.Mask(text)
	if back, err := m.Unmask(m.Text); back != text || err != nil {
		t.Errorf("%s/%s %s: %q masked as %q: %q, %v", f.game, f.lang, key, text, m.Text, back, err)
	}
	for _, s := range m.Slots {
		if s.Kind == mask.Corner {
			t.Errorf("%s/%s %s: %q could be a sentinel", f.game, f.lang, key, s.Text)
		}
	}
	if strings.ContainsAny(m.Text, "{}") {
		t.Errorf("%s/%s %s: %q keeps a brace", f.game, f.lang, key, m.Text)
	}
}
