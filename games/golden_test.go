package games

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"selfplay/locales"
)

// A golden is a game that the reference played in our strings: a line of
// golden.py in which each observation is cut down to what is new since the
// player's last one. Written out, a game's history would grow with its square.
type golden struct {
	Env     string          `json:"env"`
	Seed    int64           `json:"seed"`
	Langs   []string        `json:"langs"`
	Steps   []goldenStep    `json:"steps"`
	Rewards json.RawMessage `json:"rewards"`
	Info    json.RawMessage `json:"info"`
}

type goldenStep struct {
	Player int    `json:"player"`
	New    string `json:"new"`
	Action string `json:"action"`
}

// shorten turns a line of golden.py into a line of testdata.
func shorten(t *testing.T, line []byte) []byte {
	t.Helper()
	var g golden
	var trace Trace
	if err := json.Unmarshal(line, &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &trace); err != nil {
		t.Fatal(err)
	}
	var seen [2]string
	for i, s := range trace.Steps {
		fresh, ok := strings.CutPrefix(s.Observation, seen[s.Player])
		if !ok {
			t.Fatalf("%s: step %d: the history of player %d changed", g.Env, i+1, s.Player)
		}
		g.Steps[i].New = fresh
		seen[s.Player] = s.Observation
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if err := out.Encode(g); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// goldenGames is how many games of an environment are kept.
func goldenGames(env string) int {
	if strings.HasSuffix(env, "-v0") {
		return 12
	}
	return 3 // another size of the same rules
}

// Every environment plays its golden games again, line for line.
func TestGoldens(t *testing.T) {
	for _, env := range Names() {
		t.Run(env, func(t *testing.T) {
			file := filepath.Join("testdata", env+".jsonl")
			if *update {
				writeGoldens(t, file, env)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v: every environment needs golden games; make them with -update", err)
			}
			lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
			if len(lines) != goldenGames(env) {
				t.Errorf("%d golden games, want %d", len(lines), goldenGames(env))
			}
			for _, want := range lines {
				full, err := ReplayTrace(want, locales.Embedded())
				if err != nil {
					t.Fatal(err)
				}
				if got := shorten(t, full); !bytes.Equal(got, want) {
					t.Fatalf("differs from the golden game%s", difference(got, want))
				}
			}
		})
	}
}

func writeGoldens(t *testing.T, file, env string) {
	var b bytes.Buffer
	for _, line := range playReference(t, reference(t), ourStrings(t), env, goldenGames(env), 1) {
		b.Write(shorten(t, line))
		b.WriteByte('\n')
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
