package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func sha(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func in(t testing.TB, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestSum: a file that was summed is not read again, a changed one is.
func TestSum(t *testing.T) {
	f, ctx := finder(t), context.Background()
	path := filepath.Join(t.TempDir(), "a.gguf")
	write := func(text string, when time.Time) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	sum := func() string {
		size, s, err := f.Sum(ctx, Model{Path: path})
		if err != nil || size != 3 {
			t.Fatal(size, err)
		}
		return s
	}
	old := time.Unix(1e9, 0)
	write("abc", old)
	first := sum()
	if first != sha(t, path) {
		t.Error("another sum")
	}
	write("xyz", old) // of the same size and time: it cannot be told from the first
	if sum() != first {
		t.Error("the file was read again")
	}
	write("xyz", old.Add(time.Nanosecond))
	if sum() != sha(t, path) {
		t.Error("a change went unseen")
	}
	// One that has changed just now may change again within the same tick.
	now := time.Now().Add(time.Hour)
	write("abc", now)
	sum()
	write("xyz", now)
	if sum() != sha(t, path) {
		t.Error("a change within a tick went unseen")
	}
	link := filepath.Join(t.TempDir(), "link.gguf")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, s, err := f.Sum(ctx, Model{Path: link}); err != nil || s != sha(t, path) {
		t.Error(s, err)
	}
	// A record that is damaged, and a cache that cannot be written, cost time only.
	for _, record := range in(t, f.Cache, "sums/*") {
		if err := os.WriteFile(record, []byte("{"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("abc", old)
	if sum() != sha(t, path) {
		t.Error("a damaged record was believed")
	}
	f.Cache = path
	write("xyz", old)
	if sum() != sha(t, path) {
		t.Error("no sum without a cache")
	}
}

// TestConvertOnce: the same contents are converted once, wherever they lie, and
// other contents anew; what is left is whole files only.
func TestConvertOnce(t *testing.T) {
	f, ctx := finder(t), context.Background()
	var told []string
	f.Progress = func(doing string, share float64) {
		if !slices.Contains(told, doing) {
			told = append(told, doing)
		}
		if share < 0 || share > 1 {
			t.Errorf("%s: share %g", doing, share)
		}
	}
	find := func(dir string) string {
		m, err := f.Find(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, sum, err := f.Sum(ctx, m); err != nil || sum != sha(t, m.Path) {
			t.Error(sum, err)
		}
		return m.Path
	}
	path := find(newLlama().write(t))
	if len(told) != 1 || told[0] != "converting tiny-model" {
		t.Errorf("progress: %q", told)
	}
	told = nil
	other := newLlama().write(t)
	if moved := filepath.Join(filepath.Dir(other), "of another name"); os.Rename(other, moved) != nil || find(moved) != path || len(told) > 0 {
		t.Error("the same contents were converted again")
	}
	if err := os.Truncate(path, 1000); err != nil { // someone damages the cache
		t.Fatal(err)
	}
	if find(newLlama().write(t)) != path || len(told) != 1 {
		t.Error("a damaged conversion was used")
	}
	changed := newLlama()
	changed.tensors["model.norm.weight"].data[3] ^= 1
	if find(changed.write(t)) == path {
		t.Error("other contents have the same conversion")
	}
	changed = newLlama()
	changed.texts["chat_template.jinja"] = "x"
	if find(changed.write(t)) == path {
		t.Error("another template has the same conversion")
	}
	if files := in(t, f.Cache, "converted/*"); len(files) != 3 {
		t.Errorf("left: %q", files)
	}
	if name := filepath.Base(path); !strings.HasPrefix(name, "tiny-model-") {
		t.Errorf("file %s", name)
	}
	for dir, want := range map[string]string{"/a/models--Qwen--Qwen3-4B/snapshots/1cfa": "Qwen3-4B", "/a/Qwen3-4B/": "Qwen3-4B", "/snapshots/x": "x"} {
		if got := folderName(dir); got != want {
			t.Errorf("%s is called %s", dir, got)
		}
	}
}

// TestConvertAtOnce: several that convert the same folder do not disturb each
// other.
func TestConvertAtOnce(t *testing.T) {
	f := finder(t)
	dir := newGemma4().write(t)
	var wg sync.WaitGroup
	paths, errs := make([]string, 6), make([]error, 6)
	for i := range paths {
		wg.Go(func() {
			one := *f
			m, err := one.Find(context.Background(), dir)
			paths[i], errs[i] = m.Path, err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	compareTensors(t, newGemma4(), decode(t, paths[0]), true, false)
	if files := in(t, f.Cache, "converted/*"); len(files) != 1 || slices.ContainsFunc(paths, func(p string) bool { return p != paths[0] }) {
		t.Errorf("left %q, found %q", files, paths)
	}
}

// TestInterrupted: a conversion that is stopped leaves nothing, and one whose
// process died is cleared away, but not one that goes on.
func TestInterrupted(t *testing.T) {
	f := finder(t)
	ctx, cancel := context.WithCancel(context.Background())
	f.Progress = func(string, float64) { cancel() }
	dir := newLlama().write(t)
	_, err := f.Find(ctx, dir)
	checkError(t, "interrupted", err, "converting tiny-model was interrupted")
	if files := in(t, f.Cache, "converted/*"); len(files) > 0 {
		t.Errorf("left: %q", files)
	}
	f.Progress = nil
	alive, err := createPart(filepath.Join(f.Cache, "converted"))
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	dead := strings.Replace(alive.Name(), "unfinished-", "unfinished-0", 1)
	if err := os.WriteFile(dead, []byte("GG"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := f.Find(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{m.Path, alive.Name()}
	slices.Sort(want)
	if files := in(t, f.Cache, "converted/*"); !slices.Equal(files, want) {
		t.Errorf("left %q, want %q", files, want)
	}
}

// TestNoRoom: where a file cannot be written to its end, none is left.
func TestNoRoom(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	big := newLlama()
	big.config["intermediate_size"] = 4000
	for _, i := range []string{"0", "1", "2"} {
		big.replace("BF16", "model.layers."+i+".mlp.gate_proj.weight", 4000, 24)
		big.replace("BF16", "model.layers."+i+".mlp.up_proj.weight", 4000, 24)
		big.replace("BF16", "model.layers."+i+".mlp.down_proj.weight", 24, 4000)
	}
	dir := big.write(t)
	f := finder(t)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	_, err := f.Find(context.Background(), dir)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	checkError(t, "no room", err, "converting tiny-model: no room in "+f.Cache, "XDG_CACHE_HOME")
	if files := in(t, f.Cache, "converted/*"); len(files) > 0 {
		t.Errorf("left: %q", files)
	}
	f.Cache = filepath.Join(dir, "config.json")
	_, err = f.Find(context.Background(), dir)
	checkError(t, "no folder", err, "set XDG_CACHE_HOME to a folder that can be written")
}

// TestFiles: what Find takes as it is, and what it refuses.
func TestFiles(t *testing.T) {
	f, dir := finder(t), t.TempDir()
	path := filepath.Join(dir, "model.gguf")
	m := &metadata{}
	m.set("general.architecture", "llama")
	var b bytes.Buffer
	if err := writeGGUF(&b, m.n, bytes.NewReader(m.bytes.Bytes()), 32, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Find(context.Background(), path); err != nil || got.Path != path || got.Name != "model.gguf" {
		t.Error(got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.safetensors"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "none.gguf"):     "no such file",
		filepath.Join(dir, "x.safetensors"): "name the folder that it lies in",
		dir:                                 "a folder of GGUF files: name one of them, such as model.gguf",
		t.TempDir():                         "not a Hugging Face folder, which has a config.json: name",
		"/dev/null":                         "neither a file nor a folder",
	} {
		_, err := f.Find(context.Background(), name)
		checkError(t, name, err, name, want)
	}
}

// TestHalves: an F16 is widened exactly.
func TestHalves(t *testing.T) {
	for half, want := range map[uint16]float32{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 0x7bff: 65504, 0x0001: 1.0 / (1 << 24), 0x03ff: 1023.0 / (1 << 24), 0x0400: 1.0 / (1 << 14), 0x8001: -1.0 / (1 << 24),
	} {
		if got := halfToFloat(half); got != want {
			t.Errorf("%#04x is %g, want %g", half, got, want)
		}
	}
	if x := halfToFloat(0x7c00); x <= 65504*2 || x != x {
		t.Errorf("infinity is %g", x)
	}
	if x := halfToFloat(0x7e00); x == x {
		t.Errorf("NaN is %g", x)
	}
}

// TestTypes: F16 and F32 folders keep their types, vectors become F32.
func TestTypes(t *testing.T) {
	for dtype, want := range map[string]uint32{"F16": kindF16, "F32": kindF32} {
		m, err := finder(t).Find(context.Background(), plainFolder(plainConfig("LlamaForCausalLM", "llama"), dtype, "model.", "").write(t))
		if err != nil {
			t.Fatal(err)
		}
		got := decode(t, m.Path)
		if x := got.tensors["blk.1.ffn_up.weight"]; x.Kind != want {
			t.Errorf("%s: a matrix of type %d", dtype, x.Kind)
		}
		if x := got.tensors["blk.1.attn_norm.weight"]; x.Kind != kindF32 || x.Size() != 24*4 {
			t.Errorf("%s: a vector of type %d", dtype, x.Kind)
		}
		if n := map[string]uint32{"F16": 1, "F32": 0}[dtype]; got.kv["general.file_type"] != n {
			t.Errorf("%s: general.file_type is %v", dtype, got.kv["general.file_type"])
		}
	}
}
