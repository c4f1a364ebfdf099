package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var tunedFor = TunedKey{Model: Model{"a", 5, "abc"}, Device: Device{CPU: "a CPU", Cores: 2}, Context: 2048}

func testTuned() Tuned {
	points := slices.Concat(curve(10, 20), chunks(30), with(curve(40), "bf16", 2), with(chunks(50), "bf16", 2))
	return NewTuned(tunedFor, points, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "v1")
}

// TestTunedIsFound by the same model under any name, on the same device, with the
// same context.
func TestTunedIsFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "tuned")
	if _, found, err := ReadTuned(dir, tunedFor); found || err != nil {
		t.Fatal(found, err)
	}
	want := testTuned()
	for range 2 { // again in place of the old one
		if _, err := want.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
		t.Errorf("the folder holds %v", names)
	}
	for name, change := range map[string]func(*TunedKey){
		"":        func(k *TunedKey) { k.Model.Name = "b" },
		"model":   func(k *TunedKey) { k.Model.SHA256 = "abd" },
		"size":    func(k *TunedKey) { k.Model.Size++ },
		"cpu":     func(k *TunedKey) { k.Device.CPU = "another" },
		"cores":   func(k *TunedKey) { k.Device.Cores++ },
		"context": func(k *TunedKey) { k.Context++ },
	} {
		key := tunedFor
		change(&key)
		got, found, err := ReadTuned(dir, key)
		if err != nil || found != (name == "") || found && !reflect.DeepEqual(got, want) {
			t.Errorf("another %q: found %v, %v: %+v", name, found, err, got)
		}
	}
	for weights, slots := range map[string]int{"auto": 1, "bf16": 1, "file": 2} {
		if c, ok := want.For(weights); !ok || c.Slots != slots || weights != "auto" && c.Weights != weights {
			t.Errorf("%s: %+v", weights, c)
		}
	}
	if c, ok := (Tuned{Choices: want.Choices[:1]}).For("file"); ok {
		t.Errorf("not measured, but chosen: %+v", c)
	}
}

func TestTunedFaults(t *testing.T) {
	whole, err := json.Marshal(testTuned())
	if err != nil {
		t.Fatal(err)
	}
	choice := `{"slots":1,"chunk":512,"threads":2,"weights":"bf16"`
	if !bytes.Contains(whole, []byte(choice)) {
		t.Fatalf("%s is not in %s", choice, whole)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"empty", string(whole), "", "unexpected end"},
		{"cut off", string(whole[len(whole)/2:]), "", "unexpected end"},
		{"not JSON", "{", "<", "invalid character"},
		{"no such file more than", "{", strings.Repeat(" ", 1<<20) + "{", "no such file more than"},
		{"later format", `"format":1`, `"format":2`, "format 2"},
		{"no format", `"format":1,`, ``, "format 0"},
		{"another model", `"sha256":"abc"`, `"sha256":"abd"`, "another model"},
		{"another context", `"context":2048`, `"context":1024`, "another model, device or context"},
		{"no choices", `"choices":[`, `"choices":[],"others":[`, "choose nothing"},
		{"no slots", choice, strings.Replace(choice, `"slots":1`, `"slots":0`, 1), "0 slots"},
		{"endless slots", choice, strings.Replace(choice, `"slots":1`, `"slots":9000000000`, 1), "9000000000 slots"},
		{"negative chunk", choice, strings.Replace(choice, "512", "-1", 1), "-1 tokens a step"},
		{"half a chunk", choice, strings.Replace(choice, "512", "0.5", 1), "0.5"},
		{"too many threads", choice, strings.Replace(choice, `"threads":2`, `"threads":3`, 1), "3 threads on 2 cores"},
		{"unknown weights", choice, strings.Replace(choice, "bf16", "int3", 1), `weights "int3"`},
	} {
		dir := t.TempDir()
		path := tunedFor.Path(dir)
		write(t, path, strings.Replace(string(whole), c.old, c.new, 1))
		_, found, err := ReadTuned(dir, tunedFor)
		if found {
			t.Errorf("%s: it was taken", c.name)
			continue
		}
		checkLine(t, err, []string{path, c.want, "delete the file", "selfplay tune"})
	}
	dir := t.TempDir()
	if err := os.Mkdir(tunedFor.Path(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	_, _, err = ReadTuned(dir, tunedFor)
	checkLine(t, err, []string{tunedFor.Path(dir), "not a file"})
	file := filepath.Join(dir, "file")
	write(t, file, "")
	if _, err := testTuned().Write(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("written into a file: %v", err)
	}
}

// FuzzTuned: whatever a file holds, what is taken of it can be played with.
func FuzzTuned(f *testing.F) {
	whole, err := json.Marshal(testTuned())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"format":1,"choices":[{}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseTuned(data, tunedFor)
		if err != nil {
			return
		}
		c, ok := got.For("auto")
		if !ok || c.Slots < 1 || c.Chunk < 1 || c.Threads < 1 || c.Threads > 2 || c.ChunkFor(c.Slots) < c.Slots {
			t.Errorf("taken from %s: %+v", data, c)
		}
	})
}
