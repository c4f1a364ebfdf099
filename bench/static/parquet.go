package static

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"selfplay/inference/files"
	"selfplay/locales/wholefile"
)

// What Parquet has for tables of texts is read here and not by the library that
// writes such files elsewhere, since that one believes what a file says of its own
// lengths: a damaged one of a few bytes makes it ask for gigabytes, which ends the
// program.

// Kinds of columns that are read, and how they are encoded, in Parquet's numbers.
const (
	kindInt32, kindInt64, kindTexts = 1, 2, 6

	encodedPlain, encodedOldDictionary, encodedDictionary = 0, 2, 8

	pageData, pageDictionary, pageDataV2 = 0, 2, 3
)

// A table is a Parquet file.
type table struct {
	data   []byte
	leaves map[string]leaf
	groups []any // of rows: structures
	text   int   // bytes that may yet be unpacked
}

// A leaf is a column that is not part of another.
type leaf struct {
	index    int // among the columns of a group of rows
	kind     int64
	optional bool // it may be null
	repeated bool
}

// readParquet reads a Parquet file.
func readParquet(path string, columns []string, each take) error {
	data, err := files.Read(path, mostBytes)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", path, wholefile.Cause(err))
	}
	t := &table{data: data, text: mostText}
	if err := t.open(); err != nil {
		return fmt.Errorf("%s is no whole Parquet file (%w): fetch it again", path, err)
	}
	for _, name := range columns {
		l, ok := t.leaves[name]
		switch {
		case !ok:
			return fmt.Errorf("%s: column %s is missing", path, name)
		case l.repeated || l.kind != kindTexts && l.kind != kindInt32 && l.kind != kindInt64:
			return fmt.Errorf("%s: column %s has another type: a text is expected", path, name)
		}
	}
	row := 0
	for _, g := range t.groups {
		group := asStructure(g)
		rows := group.int(3)
		if rows < 0 || rows > mostRecords {
			return fmt.Errorf("%s: %d rows in a group: no file of the set has so many", path, rows)
		}
		if rows == 0 { // it need not have pages
			continue
		}
		read := make([][]value, len(columns))
		for i, name := range columns {
			if read[i], err = t.column(group, name, int(rows)); err != nil {
				return fmt.Errorf("%s: behind row %d: column %s %w", path, row, name, err)
			}
		}
		for r := range int(rows) {
			row++
			values := make([]value, len(columns))
			for i := range columns {
				values[i] = read[i][r]
			}
			if err := each(fmt.Sprintf("row %d", row), values); err != nil {
				return err
			}
		}
	}
	return nil
}

// open reads the description at the end of the file.
func (t *table) open() error {
	n := len(t.data)
	if n < 12 || string(t.data[:4]) != "PAR1" || string(t.data[n-4:]) != "PAR1" {
		return errors.New("it does not begin and end as one")
	}
	length := int64(binary.LittleEndian.Uint32(t.data[n-8:]))
	if length > int64(n-12) {
		return errThrift
	}
	meta, _, err := readStructure(t.data[n-8-int(length) : n-8])
	if err != nil {
		return err
	}
	t.leaves, t.groups = leavesOf(meta.list(2)), meta.list(4)
	return nil
}

// leavesOf finds the columns in a schema, which is a tree in preorder. Those
// within others are counted only.
func leavesOf(schema []any) map[string]leaf {
	leaves := map[string]leaf{}
	index, depth := 0, []int64{} // columns so far; how many are to come in each open one
	for i, e := range schema {
		element := asStructure(e)
		children := max(0, element.int(5))
		if children == 0 {
			if len(depth) == 1 {
				repetition := element.int(3)
				leaves[element.text(4)] = leaf{index: index, kind: element.int(1), optional: repetition == 1, repeated: repetition == 2}
			}
			index++
		}
		if i > 0 && len(depth) > 0 {
			depth[len(depth)-1]--
		}
		if children > 0 {
			depth = append(depth, children)
		}
		for len(depth) > 0 && depth[len(depth)-1] == 0 {
			depth = depth[:len(depth)-1]
		}
	}
	return leaves
}

var (
	errPage   = errors.New("has a damaged page: fetch the file again")
	errTooBig = errors.New("holds too much: this is no file of the set")
)

// column reads a column of a group of rows. Its errors go on from the name.
func (t *table) column(group structure, name string, rows int) ([]value, error) {
	l, columns := t.leaves[name], group.list(1)
	if l.index >= len(columns) {
		return nil, errPage
	}
	chunk := asStructure(columns[l.index]).sub(3)
	start, size := chunk.int(9), chunk.int(7)
	if d := chunk.int(11); d > 0 && d < start {
		start = d
	}
	if start < 4 || size < 0 || start > int64(len(t.data)) || size > int64(len(t.data))-start {
		return nil, errPage
	}
	c := &chunkReader{table: t, leaf: l, codec: chunk.int(4), pages: t.data[start : start+size], rows: rows}
	for len(c.values) < rows {
		if err := c.page(); err != nil {
			return nil, err
		}
	}
	return c.values, nil
}

// A chunkReader reads one column of one group of rows.
type chunkReader struct {
	*table
	leaf       leaf
	codec      int64
	pages      []byte // that are left
	dictionary []string
	rows       int
	values     []value
}

// page reads the next page.
func (c *chunkReader) page() error {
	header, n, err := readStructure(c.pages)
	packed, size := header.int(3), header.int(2)
	if err != nil || packed < 0 || packed > int64(len(c.pages)-n) || size < 0 {
		return errPage
	}
	body := c.pages[n : n+int(packed)]
	c.pages = c.pages[n+int(packed):]
	if header.has(4) && uint32(header.int(4)) != crc32.ChecksumIEEE(body) {
		return errPage
	}
	if c.text -= int(min(size, mostText)); c.text < 0 {
		return errTooBig
	}
	switch header.int(1) {
	case pageDictionary:
		count := header.sub(7).int(1)
		if body, err = unpack(c.codec, body, int(size)); err == nil {
			c.dictionary, err = plain(body, c.leaf.kind, count)
		}
		return err
	case pageData:
		h := header.sub(5)
		if body, err = unpack(c.codec, body, int(size)); err != nil {
			return err
		}
		var levels []byte
		if c.leaf.optional {
			if len(body) < 4 || int64(binary.LittleEndian.Uint32(body)) > int64(len(body)-4) {
				return errPage
			}
			end := 4 + int(binary.LittleEndian.Uint32(body))
			levels, body = body[4:end], body[end:]
		}
		return c.add(h.int(1), levels, h.int(2), body)
	case pageDataV2:
		h := header.sub(8)
		defined, repeated := h.int(5), h.int(6)
		if defined < 0 || repeated < 0 || defined > packed || repeated > packed-defined || repeated+defined > size {
			return errPage
		}
		levels := body[repeated : repeated+defined]
		body = body[repeated+defined:]
		if !h.has(7) || h.truth(7) {
			if body, err = unpack(c.codec, body, int(size-repeated-defined)); err != nil {
				return err
			}
		}
		return c.add(h.int(1), levels, h.int(4), body)
	}
	return nil // an index
}

// add takes the values of a data page: n with nulls, of which levels says where.
func (c *chunkReader) add(n int64, levels []byte, encoded int64, body []byte) error {
	if n < 0 || n > int64(c.rows-len(c.values)) {
		return errPage
	}
	present, there := []uint32(nil), n
	if c.leaf.optional {
		var err error
		if present, err = runs(levels, 1, int(n)); err != nil {
			return err
		}
		there = 0
		for _, p := range present {
			there += int64(p)
		}
	}
	texts, err := c.texts(there, encoded, body)
	if err != nil {
		return err
	}
	for i := range int(n) {
		if present != nil && present[i] == 0 {
			c.values = append(c.values, value{none: true})
			continue
		}
		c.values, texts = append(c.values, value{text: texts[0]}), texts[1:]
	}
	return nil
}

func (c *chunkReader) texts(n, encoded int64, body []byte) ([]string, error) {
	switch encoded {
	case encodedPlain:
		return plain(body, c.leaf.kind, n)
	case encodedDictionary, encodedOldDictionary:
		if n == 0 {
			return nil, nil
		}
		if len(body) == 0 || body[0] > 32 {
			return nil, errPage
		}
		places, err := runs(body[1:], int(body[0]), int(n))
		if err != nil {
			return nil, err
		}
		texts := make([]string, len(places))
		for i, place := range places {
			if int64(place) >= int64(len(c.dictionary)) {
				return nil, errPage
			}
			texts[i] = c.dictionary[place]
		}
		return texts, nil
	}
	return nil, fmt.Errorf("is encoded in a way that is not read (Parquet's number %d): write the file again with the defaults of pandas or pyarrow", encoded)
}
