package games

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"selfplay/locales"
)

var update = flag.Bool("update", false, "write testdata anew; the golden games come from the reference")

// reference is the folder of a TextArena checkout with golden.py beside it. The
// test is skipped without one, or without Python to run it.
func reference(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SELFPLAY_TEXTARENA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "textarena")
	}
	if _, err := os.Stat(filepath.Join(dir, "golden.py")); err != nil {
		t.Skip("no reference: set SELFPLAY_TEXTARENA to a checkout with golden.py")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 to run the reference")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// playReference lets the reference play games and gives a line of JSON for
// each. An empty folder of strings means the reference's own.
func playReference(t testing.TB, dir, texts, env string, games, seed int) [][]byte {
	t.Helper()
	lines, _ := timeReference(t, dir, texts, env, games, seed)
	return lines
}

// timeReference also gives the time of a processor that it took, all of it.
func timeReference(t testing.TB, dir, texts, env string, games, seed int) ([][]byte, time.Duration) {
	t.Helper()
	args := []string{filepath.Join(dir, "golden.py"), "--envs", env, "--games", strconv.Itoa(games), "--seed", strconv.Itoa(seed)}
	if texts != "" {
		args = append(args, "--locales", texts)
	}
	cmd := exec.Command("python3", args...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, errors.Bytes())
	}
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n")), took
}

// ourStrings is the folder of our strings, as anyone may give it to golden.py.
func ourStrings(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "locales"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Many games, in the reference's strings and in ours, are the reference's to
// the byte.
func TestAgainstReference(t *testing.T) {
	dir := reference(t)
	theirs, err := locales.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ours := ourStrings(t)
	for _, env := range Names() {
		games := 3
		if strings.HasSuffix(env, "-v0") && !testing.Short() {
			games = 40
		}
		t.Run(env, func(t *testing.T) {
			compare(t, playReference(t, dir, "", env, games, 7), theirs)
			compare(t, playReference(t, dir, ours, env, games, 8), locales.Embedded())
		})
	}
}

func compare(t *testing.T, lines [][]byte, set *locales.Set) {
	t.Helper()
	if len(lines) == 0 {
		t.Error("the reference played no game")
	}
	for _, line := range lines {
		got, err := ReplayTrace(line, set)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, line) {
			t.Fatalf("differs from the reference%s", difference(got, line))
		}
	}
}

// difference shows where two texts part.
func difference(got, want []byte) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(b []byte) string {
		return strconv.Quote(string(b[max(0, at-80):min(len(b), at+160)]))
	}
	return " at byte " + strconv.Itoa(at) + "\n got " + around(got) + "\nwant " + around(want)
}
