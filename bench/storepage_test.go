package bench

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the page of the store anew")

// TestStorePage: the page explains the tables and views that there are, in the
// words of their own comments.
func TestStorePage(t *testing.T) {
	const page, mark = "STORE.md", "<!-- tables -->\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text, listed, ok := strings.Cut(string(data), mark)
	if !ok {
		t.Fatalf("%s has no line %s", page, mark)
	}
	want := "\n" + strings.Join(append(tablesAsMarkdown(schema), viewsAsMarkdown(views)...), "\n")
	if *update {
		if err := os.WriteFile(page, []byte(text+mark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if listed != want {
		t.Errorf("%s does not say what the schema says: run go test ./bench -run StorePage -update", page)
	}
	if tables, rows := strings.Count(want, "\n## "), strings.Count(want, "\n| `"); tables != 7 || rows < 70 {
		t.Errorf("%d headings and %d columns and views are listed", tables, rows)
	}
}

var (
	createTable = regexp.MustCompile(`^CREATE TABLE (\w+) \(`)
	columnLine  = regexp.MustCompile(`^\t([a-z]\w*) +([A-Z]+)[^-]*?,?\s*(?:-- (.*))?$`)
	reference   = regexp.MustCompile(`REFERENCES (\w+) \((\w+)\)`)
	createView  = regexp.MustCompile(`^CREATE VIEW (\w+) AS`)
)

// tablesAsMarkdown has a table for each of the schema's, with what stands above it.
func tablesAsMarkdown(schema string) (page []string) {
	var above []string
	for line := range strings.Lines(schema) {
		line = strings.TrimRight(line, "\n")
		if text, ok := strings.CutPrefix(line, "-- "); ok {
			above = append(above, text)
		} else if m := createTable.FindStringSubmatch(line); m != nil {
			page = append(page, "## "+m[1], "")
			if m[1] != "games" && len(above) > 0 { // the file's head stands above that one
				page = append(page, strings.Join(above, " "), "")
			}
			page, above = append(page, "| column | type | |", "|---|---|---|"), nil
		} else if m := columnLine.FindStringSubmatch(line); m != nil {
			says := m[3]
			if of := reference.FindStringSubmatch(line); of != nil && says == "" {
				says = "`" + of[1] + "." + of[2] + "`"
			}
			page = append(page, fmt.Sprintf("| `%s` | %s | %s |", m[1], strings.ToLower(m[2]), says))
		} else if strings.HasPrefix(line, ")") {
			page = append(page, "")
		}
	}
	return page
}

// viewsAsMarkdown lists the views with what stands above them.
func viewsAsMarkdown(views string) []string {
	page := []string{"## Views", "", "| view | |", "|---|---|"}
	var above []string
	for line := range strings.Lines(views) {
		line = strings.TrimRight(line, "\n")
		if text, ok := strings.CutPrefix(line, "-- "); ok {
			above = append(above, text)
		} else if m := createView.FindStringSubmatch(line); m != nil {
			page = append(page, fmt.Sprintf("| `%s` | %s |", m[1], strings.Join(above, " ")))
		} else if line == "" {
			above = nil
		}
	}
	return append(page, "")
}
