package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"selfplay/inference/files"
	"selfplay/locales/wholefile"
)

// Data is what a benchmark's set has in one language, in the order of its files.
type Data struct {
	Questions []Question
	Examples  []Question // that are not asked themselves
	SHA256    string     // of all files
	None      int        // choices without a value

	examplesFrom string
}

// The sets are far smaller.
const (
	mostBytes   = 1 << 30 // of a file
	mostText    = 1 << 28 // of all that is kept of a file
	mostRecords = 1 << 17 // of a file
	mostLine    = 1 << 22 // bytes of a line
)

// Read reads a language's questions from a folder that holds the published
// files. Examples are read where they are wanted.
func (b *Benchmark) Read(dir, lang string, examples bool) (*Data, error) {
	d := &Data{}
	sum := sha256.New()
	files, err := b.find(dir, lang, b.tests)
	if err != nil {
		return nil, err
	}
	if d.Questions, err = d.readAll(b, files, sum); err != nil {
		return nil, err
	}
	if len(d.Questions) == 0 {
		return nil, fmt.Errorf("%s holds no questions", files[0])
	}
	if examples && b.examples != nil {
		if files, err = b.find(dir, lang, b.examples); err != nil {
			return nil, err
		}
		d.examplesFrom = files[0]
		if d.Examples, err = d.readAll(b, files, sum); err != nil {
			return nil, err
		}
	}
	d.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return d, nil
}

// find gives the files of one of the layouts that a set is published in.
func (b *Benchmark) find(dir, lang string, layouts []string) (files []string, err error) {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, fmt.Errorf("--data %s is no folder: give the one that holds the files of %s", dir, b.set)
	}
	var tried []string
	for _, below := range []string{"", "data/"} {
		for _, layout := range layouts {
			pattern := below + fmt.Sprintf(layout, b.langs[lang])
			tried = append(tried, pattern)
			found, err := fs.Glob(os.DirFS(dir), pattern) // in order of their names
			if err != nil {
				return nil, err
			}
			if len(found) > 0 && len(files) > 0 {
				return nil, fmt.Errorf("--data %s: both %s and %s are there: keep one of them", dir, files[0], filepath.Join(dir, found[0]))
			}
			for _, f := range found {
				files = append(files, filepath.Join(dir, f))
			}
		}
	}
	if st, err := os.Stat(filepath.Join(dir, "snapshots")); len(files) == 0 && err == nil && st.IsDir() {
		return nil, fmt.Errorf("--data %s is a cache of the hub's: give a folder in its snapshots", dir)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("--data %s holds none of %s: give the folder that holds the files of %s, or other --langs", dir, strings.Join(tried, ", "), b.set)
	}
	return files, nil
}

// readAll reads the files' questions, and adds the files to the sum.
func (d *Data) readAll(b *Benchmark, files []string, sum io.Writer) (all []Question, err error) {
	for _, path := range files {
		if err := addFile(sum, path); err != nil {
			return nil, err
		}
		read := readJSONL
		if strings.HasSuffix(path, ".parquet") {
			read = readParquet
		}
		text := 0
		err := read(path, b.columns, func(where string, values []value) error {
			for _, v := range values {
				text += len(v.text)
			}
			if len(all) >= mostRecords || text > mostText {
				return fmt.Errorf("%s: this is no set of questions: there are too many, or they are too long", path)
			}
			q, err := d.question(b, values)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", path, where, err)
			}
			all = append(all, q)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// question makes one of a record. A choice without a value, as tables lose those
// that read "None" or "NA", is None, which is how the harness writes it.
func (d *Data) question(b *Benchmark, values []value) (Question, error) {
	texts := make([]string, len(values))
	for i, v := range values {
		switch {
		case !v.none:
			texts[i] = v.text
		case isChoice(i):
			texts[i] = "None"
			d.None++
		default:
			return Question{}, fmt.Errorf("column %s has no value", b.columns[i])
		}
	}
	q, err := b.question(texts)
	if err == nil && strip(q.Text) == "" {
		err = errors.New("column question is empty")
	}
	return q, err
}

func addFile(sum io.Writer, path string) error {
	f, size, err := files.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", path, wholefile.Cause(err))
	}
	defer f.Close()
	if size > mostBytes {
		return fmt.Errorf("%s has %d MB: no file of the set is so large", path, size>>20)
	}
	begin := make([]byte, len(pointer))
	n, err := io.ReadFull(f, begin)
	if string(begin[:n]) == pointer {
		return fmt.Errorf("%s only says where Git LFS has the file: fetch it with git lfs pull", path)
	}
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		_, err = io.Copy(sum, io.MultiReader(bytes.NewReader(begin[:n]), f))
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", path, wholefile.Cause(err))
	}
	return nil
}

// pointer is how a file begins that a clone without Git LFS has in place of the
// set's own.
const pointer = "version https://git-lfs.github.com/spec/"
