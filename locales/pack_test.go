package locales

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pack writes a set to a file and gives its bytes, too.
func pack(t *testing.T, s *Set) (string, []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "set.zip")
	if _, err := s.Pack(name); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return name, data
}

// What is packed reads as what it was packed from, whatever its layout, and
// packs to the same bytes again.
func TestPack(t *testing.T) {
	ours, err := Open(copyEmbedded(t, "%s", "common"))
	if err != nil {
		t.Fatal(err)
	}
	arena, err := Open(copyEmbedded(t, "textarena/envs/%s/locales", "textarena/utils/locales"))
	if err != nil {
		t.Fatal(err)
	}
	name, data := pack(t, Embedded())
	packed, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []*Set{ours, arena, packed} {
		if _, again := pack(t, set); !bytes.Equal(again, data) {
			t.Errorf("%s packs to other bytes", set.Name())
		}
	}
	if !slices.Equal(packed.Games(), Embedded().Games()) || !slices.Equal(packed.Langs("Nim"), languages) {
		t.Errorf("games %v, languages %v", packed.Games(), packed.Langs("Nim"))
	}
	want, _ := Embedded().Hash([]string{"Nim"}, languages)
	if got, err := packed.Hash([]string{"Nim"}, languages); got != want || err != nil {
		t.Errorf("hash %s, %v, want %s", got, err, want)
	}
}

func TestPackRefuses(t *testing.T) {
	for want, spoil := range map[string]func(dir string) error{
		"Nim/de.json is a symbolic link": func(dir string) error {
			file := filepath.Join(dir, "Nim", "de.json")
			os.Remove(file)
			return os.Symlink(filepath.Join(dir, "Nim", "en.json"), file)
		},
		"Nim is a symbolic link": func(dir string) error {
			os.RemoveAll(filepath.Join(dir, "Nim"))
			return os.Symlink(filepath.Join(dir, "KuhnPoker"), filepath.Join(dir, "Nim"))
		},
		"Nim/de.json is not JSON": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "Nim", "de.json"), []byte(`{"a`), 0o644)
		},
		"Nim/de.json is not a file of at most": func(dir string) error {
			return os.Truncate(filepath.Join(dir, "Nim", "de.json"), maxFile+1)
		},
	} {
		dir := copyEmbedded(t, "%s", "common")
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		set, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		out := t.TempDir()
		if _, err := set.Pack(filepath.Join(out, "set.zip")); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, want)
		}
		if left, _ := os.ReadDir(out); len(left) > 0 {
			t.Errorf("%s: %v is left", want, left)
		}
	}
	if _, err := Embedded().Pack(filepath.Join(t.TempDir(), "none", "set.zip")); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}

// A failed Pack leaves the file that was there, and a good one replaces it.
func TestPackReplaces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "set.zip")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := setOf(map[string]string{"G/en.json": "{"}).Pack(name); err == nil {
		t.Error("no error")
	}
	if data, _ := os.ReadFile(name); string(data) != "old" {
		t.Errorf("the old file is %q", data)
	}
	if _, err := Embedded().Pack(name); err != nil {
		t.Error(err)
	}
	if _, err := Open(name); err != nil {
		t.Error(err)
	}
}

// A packedFile is an entry of an archive.
type packedFile struct {
	zip.FileHeader
	text string
}

// archive makes a packed file by hand.
func archive(t *testing.T, files ...*packedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range files {
		f, err := w.CreateHeader(&file.FileHeader)
		if err == nil {
			_, err = io.WriteString(f, file.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func entry(name, text string) *packedFile {
	return &packedFile{zip.FileHeader{Name: name, Method: zip.Deflate}, text}
}

func TestOpenPackedRefuses(t *testing.T) {
	link := entry("G/en.json", "../../etc/passwd")
	link.SetMode(fs.ModeSymlink | 0o777)
	many := make([]*packedFile, maxEntries+1)
	for i := range many {
		many[i] = entry("x", "")
		many[i].Method = zip.Store
	}
	for want, data := range map[string][]byte{
		"no set packed by":                 []byte("not a zip"),
		`the name "../en.json"`:            archive(t, entry("../en.json", "{}")),
		`the name "../G/en.json"`:          archive(t, entry("../G/en.json", "{}")),
		`the name "/en.json"`:              archive(t, entry("/en.json", "{}")),
		`the name "G/../en.json"`:          archive(t, entry("G/../en.json", "{}")),
		`the name "G\\en.json"`:            archive(t, entry(`G\en.json`, "{}")),
		`the name "a/b/en.json"`:           archive(t, entry("a/b/en.json", "{}")),
		`the name "G/"`:                    archive(t, entry("G/", "")),
		`the name "G/run.sh"`:              archive(t, entry("G/run.sh", "")),
		"G/en.json is there twice":         archive(t, entry("G/en.json", "{}"), entry("G/en.json", "{}")),
		"G/en.json is no plain file":       archive(t, link),
		"G/en.json has 1048577 bytes":      archive(t, entry("G/en.json", strings.Repeat(" ", maxFile+1))),
		"100001 files, more than 100000":   archive(t, many...),
		"has no common/<lang>.json":        archive(t, entry("G/en.json", "{}")),
		"more than the 67108864 of any pa": make([]byte, maxPacked+1),
	} {
		name := filepath.Join(t.TempDir(), "set.zip")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, want)
		}
	}
}

// An entry may unpack to more than it says: little is read beyond that.
func TestPackedBomb(t *testing.T) {
	data := archive(t, entry("G/en.json", strings.Repeat(" ", 8<<20)), entry("common/en.json", "{}"))
	// Its size stands in the directory, as four bytes.
	size := binary.LittleEndian.AppendUint32(nil, 8<<20)
	if bytes.Count(data, size) < 1 {
		t.Fatal("the size is not there")
	}
	data = bytes.ReplaceAll(data, size, binary.LittleEndian.AppendUint32(nil, 100))
	name := filepath.Join(t.TempDir(), "set.zip")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Texts("G", "en", nil); err == nil || !strings.Contains(err.Error(), "G/en.json: ") {
		t.Errorf("error %v", err)
	}
	if rep := (Checker{Set: set}).Run(); rep.Counts[KindFile] != 1 {
		t.Errorf("%+v", rep)
	}
}

// Whatever a file holds, it opens as a set or is refused on one line.
func FuzzOpenPacked(f *testing.F) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"G/en.json", "common/en.json", "common/_trackb_confidence.json"} {
		file, _ := w.Create(name)
		io.WriteString(file, `{"a": {"tier": "x"}}`)
	}
	w.Close()
	f.Add(b.Bytes())
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "set.zip")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		set, err := Open(name)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		Checker{Set: set}.Run()
		set.List()
	})
}
