package dist

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPages: a release has every page that the README leads to, where it leads to it,
// with what the pages show, and no link to what it has not.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("./pages.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{"README.md"}
	for _, m := range regexp.MustCompile(`\]\(([\w/]+\.md)`).FindAllStringSubmatch(string(readme), -1) {
		pages = append(pages, m[1])
	}
	slices.Sort(pages)
	pages = slices.Compact(pages)
	files := filesBelow(t, dir)
	if got := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return filepath.Ext(name) != ".md" }); !slices.Equal(got, pages) {
		t.Errorf("the release has %q of the pages %q", got, pages)
	}
	for _, want := range []string{"bench/cluster/shards.yaml", "bench/page/report.png"} {
		if !slices.Contains(files, want) {
			t.Errorf("%s is missing in %q", want, files)
		}
	}
	source := regexp.MustCompile("\\[(`\\w+(?:\\.go)?`)\\]\\([\\w.]+\\)")
	for _, page := range pages {
		ours, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join(dir, page))
		if want := source.ReplaceAllString(string(ours), "$1"); err != nil || string(theirs) != want {
			t.Errorf("%s: %v: %s, want %s", page, err, theirs, want)
		}
	}
}

// TestDanglingPage: a release whose pages lead to what it has not is no release.
func TestDanglingPage(t *testing.T) {
	for _, c := range []struct {
		pages map[string]string
		says  string
	}{
		{nil, "has no README.md"},
		{map[string]string{"README.md": "[a](LICENSE) [b](bench/A.md#top)"}, "./README.md leads to LICENSE, which is not in"},
		{map[string]string{"README.md": "[b](bench/A.md#top)", "bench/A.md": "[c](B.md)", "B.md": ""}, "./bench/A.md leads to B.md, which is not in"},
		{map[string]string{"README.md": "[b](bench/A.md#top) [x](https://example.org/x)", "bench/A.md": "[c](../README.md) [d](#here)"}, "bin/selfplay"}, // is looked for next
	} {
		dir := t.TempDir()
		lay(t, dir, c.pages)
		if out, err := exec.Command("./check.sh", dir).CombinedOutput(); err == nil || !strings.Contains(string(out), c.says) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%v: %v: %s, want %s", c.pages, err, out, c.says)
		}
	}
}
