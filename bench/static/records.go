package static

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// A value is what a record has in a column.
type value struct {
	text string
	none bool // it has none: null
}

// A take is told each record's values of the columns that are read, in their
// order, and where in the file it is.
type take func(where string, values []value) error

// readJSONL reads a file of a JSON object a line. A value is a string or a whole
// number.
func readJSONL(path string, columns []string, each take) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<16), mostLine)
	n := 0
	for lines.Scan() {
		n++
		where := fmt.Sprintf("line %d", n)
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		values, err := fromJSON(lines.Bytes(), columns)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", path, where, err)
		}
		if err := each(where, values); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s: line %d is longer than %d MB: this is no file of the set", path, n+1, mostLine>>20)
	}
	if lines.Err() != nil {
		return fmt.Errorf("cannot read %s: %w", path, cause(lines.Err()))
	}
	return nil
}

func fromJSON(line []byte, columns []string) ([]value, error) {
	if !utf8.Valid(line) {
		return nil, errors.New("not UTF-8")
	}
	var record map[string]json.RawMessage
	if err := json.Unmarshal(line, &record); err != nil {
		return nil, fmt.Errorf("no JSON object: %w", err)
	}
	values := make([]value, len(columns))
	for i, column := range columns {
		raw, ok := record[column]
		if !ok {
			return nil, fmt.Errorf("column %s is missing", column)
		}
		if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			values[i].text = string(raw)
			continue
		}
		if values[i].none = string(raw) == "null"; values[i].none {
			continue
		}
		if raw[0] != '"' {
			return nil, fmt.Errorf("column %s is %.20q: a text is expected", column, raw)
		}
		if err := json.Unmarshal(raw, &values[i].text); err != nil {
			return nil, fmt.Errorf("column %s: %w", column, err)
		}
	}
	return values, nil
}

// readParquet reads a Parquet file. The library panics on some broken files.
func readParquet(path string, columns []string, each take) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s is a damaged Parquet file (%.100v): fetch it again", path, p)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, st.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("%s is no Parquet file (%w): fetch it again", path, err)
	}
	p := &parquetFile{path: path, columns: columns, each: each}
	if p.leaves, err = leaves(file.Schema(), columns); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, group := range file.Metadata().RowGroups {
		if group.TotalByteSize < 0 || group.TotalByteSize > mostBytes {
			return fmt.Errorf("%s: a group of rows has %d MB: no file of the set is so large", path, group.TotalByteSize>>20)
		}
	}
	for _, group := range file.RowGroups() {
		if err := p.read(group.Rows()); err != nil {
			return err
		}
	}
	return nil
}

type parquetFile struct {
	path    string
	columns []string
	leaves  map[int]int // the file's columns -> those that are read
	each    take
	row     int // rows read so far
}

// leaves finds the columns in the file.
func leaves(schema *parquet.Schema, columns []string) (map[int]int, error) {
	found := map[int]int{}
	for i, column := range columns {
		leaf, ok := schema.Lookup(column)
		if !ok || leaf.MaxRepetitionLevel > 0 {
			return nil, fmt.Errorf("column %s is missing", column)
		}
		switch kind := leaf.Node.Type().Kind(); kind {
		case parquet.ByteArray, parquet.Int32, parquet.Int64:
		default:
			return nil, fmt.Errorf("column %s has the type %v: a text is expected", column, kind)
		}
		found[leaf.ColumnIndex] = i
	}
	return found, nil
}

func (p *parquetFile) read(rows parquet.Rows) error {
	defer rows.Close()
	buffer := make([]parquet.Row, 64)
	for {
		n, err := rows.ReadRows(buffer)
		for _, r := range buffer[:n] {
			p.row++
			where := fmt.Sprintf("row %d", p.row)
			values, err := p.values(r)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", p.path, where, err)
			}
			if err := p.each(where, values); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: behind row %d: %w: fetch the file again", p.path, p.row, err)
		case n == 0:
			return fmt.Errorf("%s ends behind row %d: fetch it again", p.path, p.row)
		}
	}
}

func (p *parquetFile) values(r parquet.Row) ([]value, error) {
	values := make([]value, len(p.columns))
	for _, v := range r {
		i, ok := p.leaves[v.Column()]
		switch {
		case !ok:
			continue
		case v.IsNull():
			values[i].none = true
		case v.Kind() == parquet.ByteArray:
			values[i].text = string(v.ByteArray())
		case v.Kind() == parquet.Int32:
			values[i].text = strconv.Itoa(int(v.Int32()))
		default:
			values[i].text = strconv.FormatInt(v.Int64(), 10)
		}
		if !utf8.ValidString(values[i].text) {
			return nil, fmt.Errorf("column %s is not UTF-8", p.columns[i])
		}
	}
	return values, nil
}
