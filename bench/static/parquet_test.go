package static

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// readBack writes rows with the library and reads two columns, as text; "-" has
// no value.
func readBack[Row any](t *testing.T, rows []Row, options ...parquet.WriterOption) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := parquet.WriteFile(path, rows, options...); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	err := readParquet(path, []string{"b", "a"}, func(where string, values []value) error {
		b.WriteString(where + ":")
		for _, v := range values {
			if v.none {
				v.text = "-"
			}
			b.WriteString(" " + v.text)
		}
		b.WriteString("\n")
		return nil
	})
	return b.String(), err
}

// TestParquet: whatever pages, groups and compressions there are, rows come out.
func TestParquet(t *testing.T) {
	type nested struct {
		A string `parquet:"a"`
		C string `parquet:"c"`
	}
	type row struct {
		First nested  `parquet:"first"` // its a is not the column a
		A     *string `parquet:"a,optional,plain"`
		List  []int   `parquet:"list,list"`
		B     int32   `parquet:"b,plain"`
		D     string  `parquet:"d,delta"`
	}
	rows := []row{{A: new("x"), B: -7, List: []int{1, 2}}, {B: 2147483647}, {A: new(""), B: 0, D: "d"}, {A: new("é中"), B: 4}}
	want := "row 1: -7 x\nrow 2: 2147483647 -\nrow 3: 0 \nrow 4: 4 é中\n"
	for name, options := range map[string][]parquet.WriterOption{
		"none":       nil,
		"pages v1":   {parquet.DataPageVersion(1), parquet.Compression(&parquet.Snappy)},
		"pages v2":   {parquet.DataPageVersion(2), parquet.Compression(&parquet.Snappy)},
		"zstd":       {parquet.Compression(&parquet.Zstd)},
		"gzip":       {parquet.Compression(&parquet.Gzip), parquet.DataPageVersion(1)},
		"groups":     {parquet.MaxRowsPerRowGroup(3)},
		"small page": {parquet.PageBufferSize(1)},
	} {
		if got, err := readBack(t, rows, options...); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if got, err := readBack(t, rows[:0]); got != "" || err != nil {
		t.Errorf("without rows: %q, %v", got, err)
	}
	type dictionary struct {
		A string `parquet:"a,dict"`
		B *int64 `parquet:"b,optional,dict"`
	}
	var many []dictionary
	var text strings.Builder
	for i := range 5000 {
		d := dictionary{A: strings.Repeat("a", i%300), B: new(int64(i / 7))}
		if i%11 == 3 {
			d.B = nil
		}
		many = append(many, d)
		b := "-"
		if d.B != nil {
			b = fmt.Sprint(*d.B)
		}
		fmt.Fprintf(&text, "row %d: %s %s\n", i+1, b, d.A)
	}
	if got, err := readBack(t, many, parquet.PageBufferSize(500), parquet.MaxRowsPerRowGroup(1700)); got != text.String() || err != nil {
		t.Errorf("with a dictionary: %d bytes, %v; want %d", len(got), err, text.Len())
	}
}

func TestParquetRefuses(t *testing.T) {
	type plain struct {
		A string `parquet:"a,plain"`
		B string `parquet:"b,plain"`
	}
	for name, c := range map[string]struct {
		read func() (string, error)
		want string
	}{
		"compression": {func() (string, error) { return readBack(t, []plain{{"x", "y"}}, parquet.Compression(&parquet.Brotli)) }, "behind row 0: column b has the compression brotli, which is not read"},
		"encoding": {func() (string, error) {
			return readBack(t, []struct {
				A string `parquet:"a,plain"`
				B string `parquet:"b,delta"`
			}{{"x", "y"}})
		}, "column b is encoded in a way that is not read (Parquet's number"},
		"a list": {func() (string, error) {
			return readBack(t, []struct {
				A []string `parquet:"a"`
				B string   `parquet:"b,plain"`
			}{{[]string{"x"}, "y"}})
		}, "column a has another type"},
		"a number": {func() (string, error) {
			return readBack(t, []struct {
				A float64 `parquet:"a"`
				B string  `parquet:"b,plain"`
			}{{1, "y"}})
		}, "column a has another type"},
		"a missing one": {func() (string, error) {
			return readBack(t, []struct {
				B string `parquet:"b,plain"`
			}{{"y"}})
		}, "column a is missing"},
		"not UTF-8": {func() (string, error) { return readBack(t, []plain{{"x", "y"}, {"\xff", "y"}}) }, "column a is not UTF-8"},
	} {
		if _, err := c.read(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
	}
}

// TestParquetDamaged: a file that was cut off anywhere is refused, and one with
// any byte changed brings nothing down.
func TestParquetDamaged(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "Global-MMLU", "fr", "test-00000-of-00001.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	read := func(data []byte) error {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		err := readParquet(path, []string{"subject", "question", "answer"}, func(string, []value) error { return nil })
		if !oneLine(err, path) {
			t.Errorf("%q", err)
		}
		return err
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 37 {
		if read(whole[:n]) == nil {
			t.Errorf("%d of %d bytes are read", n, len(whole))
		}
		changed := bytes.Clone(whole)
		changed[n] ^= byte(1 << (n % 8))
		read(changed)
	}
}
