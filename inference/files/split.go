package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// The keys of a GGUF file that is one part of several.
const (
	splitCount   = "split.count"
	splitNo      = "split.no" // from 0
	splitTensors = "split.tensors.count"
)

var splitPattern = regexp.MustCompile(`^(.+)-(\d{5})-of-(\d{5})\.(?:gguf|safetensors)$`)

// splitName takes the name of a part of a model apart: what all parts are
// called, which one it is, from 1, and of how many. A name of another form has 0.
func splitName(path string) (base string, part, parts int) {
	m := splitPattern.FindStringSubmatch(path)
	if m == nil {
		return "", 0, 0
	}
	part, _ = strconv.Atoi(m[2])
	parts, _ = strconv.Atoi(m[3])
	return m[1], part, parts
}

// A part of a split file.
type part struct {
	path string
	size int64
	head *Header
}

func readPart(path string) (part, error) {
	head, err := readHeader(path)
	if err != nil {
		return part{}, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return part{}, err
	}
	return part{path, st.Size(), head}, nil
}

// readParts reads the headers of all parts and makes sure that they belong
// together.
func readParts(base string, n int) ([]part, error) {
	var parts []part
	tensors := uint64(0)
	for i := range n {
		p, err := readPart(fmt.Sprintf("%s-%05d-of-%05d.gguf", base, i+1, n))
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("part %d of %d is missing: %w", i+1, n, err)
		}
		if err != nil {
			return nil, err
		}
		if count, no := p.head.Uint(splitCount), p.head.Uint(splitNo); count != uint64(n) || no != uint64(i) {
			return nil, fmt.Errorf("%s: keys %s and %s say part %d of %d, its name says %d of %d", p.path, splitCount, splitNo, no+1, count, i+1, n)
		}
		tensors += uint64(len(p.head.Tensors))
		parts = append(parts, p)
	}
	for _, p := range parts {
		if want := p.head.Uint(splitTensors); want != tensors {
			return nil, fmt.Errorf("%s: key %s is %d, but the parts hold %d tensors", p.path, splitTensors, want, tensors)
		}
	}
	return parts, noTwins(parts)
}

// noTwins refuses a tensor that two parts hold.
func noTwins(parts []part) error {
	seen := map[string]string{}
	for _, p := range parts {
		for _, t := range p.head.Tensors {
			if other := seen[t.Name]; other != "" {
				return fmt.Errorf("%s: tensor %q is in %s too", p.path, t.Name, other)
			}
			seen[t.Name] = p.path
		}
	}
	return nil
}

// fromParts merges the parts of a split file into one: the runtime loads from
// one file only.
func (f *Finder) fromParts(ctx context.Context, path, base string, no, n int) (Model, error) {
	if no < 1 || no > n {
		return Model{}, fmt.Errorf("%s: there is no part %d of %d", path, no, n)
	}
	parts, err := readParts(base, n)
	if err != nil {
		return Model{}, err
	}
	name := filepath.Base(base)
	if n == 1 {
		return Model{Path: path, Name: filepath.Base(path)}, nil
	}
	key := sha256.New()
	total := int64(0)
	for _, p := range parts {
		s, err := f.sum(ctx, p.path)
		if err != nil {
			return Model{}, err
		}
		fmt.Fprintln(key, s.SHA256)
		total += p.size
	}
	out, exists := f.converted(name, hex.EncodeToString(key.Sum(nil)[:8]))
	if !exists {
		err = f.keep(ctx, out, fmt.Sprintf("merging the %d parts of %s", n, name), total, func(w io.Writer) error { return merge(w, parts) })
	}
	return Model{Path: out, Name: name + ".gguf"}, err
}

// merge writes the parts as one file: the keys of the first without those that
// tell of parts, and all tensors.
func merge(w io.Writer, parts []part) error {
	var tensors []output
	var open []*os.File
	defer func() {
		for _, file := range open {
			file.Close()
		}
	}()
	for _, p := range parts {
		file, _, err := Open(p.path)
		if err != nil {
			return err
		}
		open = append(open, file)
		for _, t := range p.head.Tensors {
			at, size := p.head.Data+t.Offset, t.size()
			tensors = append(tensors, output{t, func(w io.Writer) error { return copyBytes(w, file, at, size) }})
		}
	}
	first := parts[0].head
	var pairs []io.Reader
	for _, k := range first.Keys {
		if !strings.HasPrefix(k.Name, "split.") {
			pairs = append(pairs, io.NewSectionReader(open[0], int64(k.start), int64(k.end-k.start)))
		}
	}
	align, err := first.alignment()
	if err != nil {
		return err
	}
	return writeGGUF(w, uint64(len(pairs)), io.MultiReader(pairs...), align, tensors)
}

// copyBytes copies part of a file, all of it or with an error.
func copyBytes(w io.Writer, file *os.File, at, size uint64) error {
	_, err := io.CopyN(w, io.NewSectionReader(file, int64(at), int64(size)), int64(size))
	if err == io.EOF {
		return fmt.Errorf("%s was cut off while it was read", file.Name())
	}
	return err
}
