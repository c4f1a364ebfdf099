package static

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"selfplay/inference/files"
	"selfplay/locales/wholefile"
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
	f, _, err := files.Open(path)
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
		return fmt.Errorf("cannot read %s: %w", path, wholefile.Cause(lines.Err()))
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
