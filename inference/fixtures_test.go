package inference

import (
	"os"
	"path/filepath"
	"testing"
)

// cached is a file in the user's cache folder, where make leaves what it fetched
// or built.
func cached(t testing.TB, made, name string) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "selfplay", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not there: run make %s (%v)", filepath.Base(name), made, err)
	}
	return path
}

// fixture is a file that `make fixtures` fetched, by its path among them.
func fixture(t testing.TB, name string) string {
	t.Helper()
	return cached(t, "fixtures", filepath.Join("fixtures", name))
}
