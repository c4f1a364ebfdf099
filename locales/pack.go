package locales

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"selfplay/locales/wholefile"
)

// A packed file is a zip archive of a folder laid out like ours. It may come
// from anywhere, so it is held to these bounds: some times what the largest
// known set has, 12,500 files of 29 MB together.
const (
	maxPacked   = 64 << 20  // bytes of the file
	maxUnpacked = 256 << 20 // bytes of all files in it
	maxEntries  = 100_000
)

// openPacked reads a file that Pack wrote.
func openPacked(name string, size int64) (*Set, error) {
	if size > maxPacked {
		return nil, fmt.Errorf("locales: %s has %d bytes, more than the %d of any packed set; name another file", name, size, maxPacked)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("locales: %w; make the file readable", err)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("locales: %s is no set packed by `selfplay locales import`: %w; name such a file, or a folder", name, err)
	}
	if err := checkEntries(archive.File); err != nil {
		return nil, fmt.Errorf("locales: %s: %w; pack the set again with `selfplay locales import`", name, err)
	}
	if !isDir(archive, Common) {
		return nil, fmt.Errorf("locales: %s has no common/<lang>.json; pack the set again with `selfplay locales import`", name)
	}
	return &Set{name: name, files: archive, layout: ourLayout}, nil
}

// checkEntries refuses all that Pack does not write. Sizes are as the archive
// states them; whoever reads a file stops there.
func checkEntries(entries []*zip.File) error {
	if len(entries) > maxEntries {
		return fmt.Errorf("%d files, more than %d", len(entries), maxEntries)
	}
	var total uint64
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		folder, file := path.Split(e.Name)
		lang, isJSON := strings.CutSuffix(file, ".json")
		switch {
		case !isJSON || !isName(lang) || !isName(strings.TrimSuffix(folder, "/")):
			return fmt.Errorf("the name %q is not of the form <Game>/<lang>.json", e.Name)
		case seen[e.Name]:
			return fmt.Errorf("%s is there twice", e.Name)
		case !e.Mode().IsRegular():
			return fmt.Errorf("%s is no plain file", e.Name)
		case e.UncompressedSize64 > maxFile:
			return fmt.Errorf("%s has %d bytes, more than %d", e.Name, e.UncompressedSize64, maxFile)
		}
		seen[e.Name] = true
		if total += e.UncompressedSize64; total > maxUnpacked {
			return fmt.Errorf("more than %d bytes in all", maxUnpacked)
		}
	}
	return nil
}

// Packed says what Pack wrote.
type Packed struct {
	Files, Games, Langs int
	Bytes               int64
}

// Pack writes all files of a set into one, which Open reads. The same set gives
// the same bytes. The file appears whole or not at all.
func (s *Set) Pack(name string) (Packed, error) {
	var p Packed
	err := wholefile.Write(name, func(w io.Writer) error {
		counted := &counter{w: w}
		if err := s.packInto(counted, &p); err != nil {
			return err
		}
		if p.Bytes = counted.n; p.Bytes > maxPacked {
			return fmt.Errorf("locales: %s would have %d bytes, more than %d; pack fewer files", name, p.Bytes, maxPacked)
		}
		return nil
	})
	return p, err
}

func (s *Set) packInto(w io.Writer, p *Packed) error {
	archive := zip.NewWriter(w)
	var langs []string
	games := append(s.Games(), Common)
	slices.Sort(games)
	for _, game := range games {
		files := s.fileLangs(game)
		langs = append(langs, files...)
		for _, record := range []string{RecordFile, confidenceFile} {
			if game == Common && s.has(Common, record) {
				files = append(files, record)
			}
		}
		for _, lang := range files {
			if err := s.packFile(archive, game, lang); err != nil {
				return err
			}
			p.Files++
		}
	}
	slices.Sort(langs)
	p.Games, p.Langs = len(games)-1, len(slices.Compact(langs))
	if p.Files > maxEntries {
		return fmt.Errorf("locales: %s has %d files, more than the %d that can be packed", s.name, p.Files, maxEntries)
	}
	return archive.Close()
}

// packFile adds one file, if it could be used. A link would pack what lies
// somewhere else.
func (s *Set) packFile(archive *zip.Writer, game, lang string) error {
	inside, shown := s.file(game, lang)
	for _, at := range []string{path.Dir(inside), inside} {
		if info, err := fs.Lstat(s.files, at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("locales: %s/%s is a symbolic link; put the files there themselves", s.name, at)
		}
	}
	data, err := s.read(game, lang)
	if err != nil {
		return err
	}
	if !utf8.Valid(data) || !json.Valid(data) {
		return fmt.Errorf("locales: %s is not JSON in UTF-8; correct it (see `selfplay locales check`) and import again", shown)
	}
	// No times and no owners: equal sets give equal archives.
	w, err := archive.CreateHeader(&zip.FileHeader{Name: game + "/" + lang + ".json", Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// A counter counts the bytes that go through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
