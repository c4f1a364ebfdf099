package inference

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

var tinyOptions = Options{Slots: 2, Cells: 64, Tokens: 64, Threads: 1, Weights: WeightsFile}

// tryModel opens a file and computes a few tokens, if it can.
func tryModel(path string) error {
	m, err := Open(path, tinyOptions)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.Forward(&Batch{Rows: inBlocks(m.limits, []Row{row(0, 0, []int32{1, 5, 7}, true), row(1, 0, []int32{2}, true)})})
}

func TestTinyModel(t *testing.T) {
	if err := tryModel(newTiny(fsggml.TensorTypeF32).write(t)); err != nil {
		t.Fatal(err)
	}
}

// TestBrokenModels: whatever is wrong with a file, opening it gives an error of
// one line that names the file and what is wrong.
func TestBrokenModels(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(m *tinyModel)
		want   string
	}{
		{"architecture", func(m *tinyModel) { m.kv["general.architecture"] = "mamba" }, `architecture "mamba" is not supported`},
		{"pre-tokenizer", func(m *tinyModel) { m.kv["tokenizer.ggml.pre"] = "tekken-9" }, `unknown pre-tokenizer "tekken-9"`},
		{"no pre-tokenizer", func(m *tinyModel) { delete(m.kv, "tokenizer.ggml.pre") }, `tokenizer.ggml.pre`},
		{"vocabulary kind", func(m *tinyModel) { m.kv["tokenizer.ggml.model"] = "bert" }, `vocabularies of kind "bert" are not supported`},
		{"no vocabulary", func(m *tinyModel) { delete(m.kv, "tokenizer.ggml.tokens") }, "tokenizer.ggml.tokens"},
		{"types of tokens", func(m *tinyModel) { m.kv["tokenizer.ggml.token_type"] = []int32{1, 1} }, "2 types"},
		{"no merges", func(m *tinyModel) { delete(m.kv, "tokenizer.ggml.merges") }, "tokenizer.ggml.merges is missing"},
		{"merge of one part", func(m *tinyModel) { m.kv["tokenizer.ggml.merges"] = []string{"th"} }, "merge 0"},
		{"merge of no tokens", func(m *tinyModel) { m.kv["tokenizer.ggml.merges"] = []string{"xx yy"} }, "vocabulary"},
		{"no end of turn", func(m *tinyModel) { delete(m.kv, "tokenizer.ggml.eos_token_id") }, "tokenizer.ggml.eos_token_id is missing"},
		{"end of turn beyond the vocabulary", func(m *tinyModel) { m.kv["tokenizer.ggml.eos_token_id"] = uint32(9999) }, "token 9999 of 261"},
		{"no chat template", func(m *tinyModel) { delete(m.kv, "tokenizer.chat_template") }, "no chat template"},
		{"broken chat template", func(m *tinyModel) { m.kv["tokenizer.chat_template"] = "{% for m in\n messages %}" }, "chat template"},
		{"no context length", func(m *tinyModel) { delete(m.kv, "llama.context_length") }, "llama.context_length is missing"},
		{"no rope base", func(m *tinyModel) { delete(m.kv, "llama.rope.freq_base") }, "llama.rope.freq_base is missing"},
		{"rope base of another type", func(m *tinyModel) { m.kv["llama.rope.freq_base"] = uint32(10000) }, "llama.rope.freq_base is missing"},
		{"no rope size", func(m *tinyModel) { delete(m.kv, "llama.rope.dimension_count") }, "llama.rope.dimension_count is missing"},
		{"rope size", func(m *tinyModel) { m.kv["llama.rope.dimension_count"] = uint32(17) }, "do not fit together"},
		{"rope scaling", func(m *tinyModel) { m.kv["llama.rope.scaling.type"] = "yarn" }, `"yarn" is not supported`},
		{"no heads", func(m *tinyModel) { delete(m.kv, "llama.attention.head_count") }, "llama.attention.head_count is missing"},
		{"heads", func(m *tinyModel) { m.kv["llama.attention.head_count"] = uint32(5) }, "do not fit together"},
		{"more heads than values", func(m *tinyModel) { m.kv["llama.attention.head_count"] = uint32(1 << 20) }, "do not fit together"},
		{"no layers", func(m *tinyModel) { delete(m.kv, "llama.block_count") }, "llama.block_count is missing"},
		{"layers", func(m *tinyModel) { m.kv["llama.block_count"] = uint32(2) }, "blk.1.attn_norm.weight is missing"},
		{"millions of layers", func(m *tinyModel) { m.kv["llama.block_count"] = uint32(1 << 24) }, "llama.block_count"},
		{"experts", func(m *tinyModel) { m.kv["llama.expert_count"] = uint32(8) }, "mixture of 8 experts"},
		{"embedding length", func(m *tinyModel) { m.kv["llama.embedding_length"] = uint32(128) }, "token_embd.weight has shape [64 261]"},
		{"missing tensor", func(m *tinyModel) {
			m.tensors = slices.DeleteFunc(m.tensors, func(t *fsggml.Tensor) bool { return t.Name == "blk.0.ffn_up.weight" })
		}, "tensor blk.0.ffn_up.weight is missing"},
		{"shape", func(m *tinyModel) { m.tensor("attn_q.weight").Shape = []uint64{32, 128} }, "tensor blk.0.attn_q.weight has shape [32 128]"},
		{"dimensions", func(m *tinyModel) { m.tensor("attn_q.weight").Shape = []uint64{64, 64, 1} }, "tensor blk.0.attn_q.weight has shape [64 64 1]"},
		{"empty tensor", func(m *tinyModel) { m.tensor("attn_q.weight").Shape = []uint64{0, 64} }, `tensor "blk.0.attn_q.weight" has shape [0 64]`},
		{"shape that overflows", func(m *tinyModel) { m.tensor("attn_q.weight").Shape = []uint64{1 << 32, 1 << 32, 1 << 32} }, `"blk.0.attn_q.weight"`},
		{"unknown type", func(m *tinyModel) { m.tensor("attn_q.weight").Kind = 77 }, `tensor "blk.0.attn_q.weight" has type 77`},
		{"type that cannot be multiplied", func(m *tinyModel) { m.tensor("attn_q.weight").Kind = uint32(fsggml.TensorTypeI8) }, "tensor blk.0.attn_q.weight has type"},
		{"type of a norm", func(m *tinyModel) { m.tensor("ffn_norm.weight").Kind = uint32(fsggml.TensorTypeF16) }, "tensor blk.0.ffn_norm.weight has type F16"},
		{"type of a block that rows do not fill", func(m *tinyModel) { m.tensor("attn_q.weight").Kind = uint32(fsggml.TensorTypeQ4_K) }, "no multiple of the 256"},
		{"layer beyond the last", func(m *tinyModel) {
			m.add(rand.New(rand.NewPCG(1, 1)), fsggml.TensorTypeF32, "blk.7.attn_norm.weight", 64)
		}, `"blk.7.attn_norm.weight" belongs to a layer beyond`},
		{"tensor twice", func(m *tinyModel) {
			m.add(rand.New(rand.NewPCG(1, 1)), fsggml.TensorTypeF32, "output_norm.weight", 128)
		}, `two tensors are named "output_norm.weight"`},
		{"name that is too long for the runtime", func(m *tinyModel) {
			m.add(rand.New(rand.NewPCG(1, 1)), fsggml.TensorTypeF32, strings.Repeat("x", 100), 64)
		}, "unassigned tensor"},
	} {
		m := newTiny(fsggml.TensorTypeF32)
		test.change(m)
		checkBroken(t, test.name, m.write(t), test.want)
	}
}

// TestPlain: what is asked no chats needs no chat template.
func TestPlain(t *testing.T) {
	var scores [2][][]float64
	for i := range scores {
		tiny := newTiny(fsggml.TensorTypeF32)
		if i == 1 {
			delete(tiny.kv, "tokenizer.chat_template")
		}
		m, err := Open(tiny.write(t), Options{Slots: 1, Cells: 64, Threads: 1, Plain: true})
		if err != nil {
			t.Fatal(err)
		}
		ids, err := m.Codec.Document("thin")
		if err != nil || m.Codec.TemplateNote() != "" {
			t.Fatal(err, m.Codec.TemplateNote())
		}
		scores[i], err = m.Score(&Batch{Rows: []Row{{Block: Block{Cells: m.Limits().BlockFor(64)}, Tokens: ids, Sample: true}}}, [][]int32{{1, 2, 3}})
		if err != nil || len(scores[i][0]) != 3 {
			t.Fatal(scores[i], err)
		}
		if _, _, err := m.Codec.Prompt("s", "u"); (err == nil) != (i == 0) {
			t.Error(err)
		}
		m.Close()
	}
	if !reflect.DeepEqual(scores[0], scores[1]) {
		t.Errorf("%v with a chat template, %v without", scores[0], scores[1])
	}
}

// TestPartOfASplit: package files merges parts; one alone is refused.
func TestPartOfASplit(t *testing.T) {
	m := newTiny(fsggml.TensorTypeF32)
	m.kv["adapter.abc"] = uint32(3) // the runtime's writer allows no key of another beginning
	b := bytes.Replace(m.bytes(t), []byte("adapter.abc"), []byte("split.count"), 1)
	path := filepath.Join(t.TempDir(), "part.gguf")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	checkBroken(t, "split", path, "3 parts of a split GGUF")
}

// TestNotANumber: weights that give no numbers stop the run, and the layer is
// named.
func TestNotANumber(t *testing.T) {
	for _, test := range []struct{ tensor, want string }{
		{"output_norm.weight", "it is the output"},
		{"blk.0.attn_norm.weight", "layer 0 is the first"},
		{"blk.2.attn_norm.weight", "slot 1, positions from 0: layer 2 is the first"},
		{"blk.6.ffn_norm.weight", "layer 6 is the first"}, // computed for the outputs alone
	} {
		model := newGemma4Family(fsggml.TensorTypeF32, true)
		model.tensor(test.tensor).WriterTo = bytes.NewReader(slices.Repeat([]byte{0, 0, 0xc0, 0x7f}, 64)) // NaN
		m, err := Open(model.write(t), Options{Slots: 2, Cells: 64, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		err = m.Forward(&Batch{Rows: inBlocks(m.limits, []Row{row(1, 0, []int32{5, 6, 7}, true)})})
		if err == nil || !strings.Contains(err.Error(), "not a number") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v", test.tensor, err)
		}
		m.Close()
	}
}

func checkBroken(t *testing.T, name, path, want string) {
	t.Helper()
	err := tryModel(path)
	if err == nil {
		t.Errorf("%s: no error", name)
		return
	}
	if s := err.Error(); !strings.Contains(s, path) || !strings.Contains(s, want) || strings.Contains(s, "\n") {
		t.Errorf("%s: error %q, want %q in it", name, s, want)
	}
}

// TestNoModel opens what is no GGUF file at all.
func TestNoModel(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "absent.gguf"), "no such file"},
		{"directory", dir, "not a file"},
		{"empty", file("empty.gguf", ""), "not a GGUF file"},
		{"short", file("short.gguf", "GG"), "not a GGUF file"},
		{"magic alone", file("magic.gguf", "GGUF"), "truncated"},
		{"text", file("text.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n"), "not a GGUF file"},
		{"version", file("version.gguf", "GGUF\x01\x00\x00\x00"+strings.Repeat("\x00", 16)), "GGUF version 1"},
		{"nothing in it", file("nothing.gguf", "GGUF\x03\x00\x00\x00"+strings.Repeat("\x00", 16)), "architecture"},
	} {
		checkBroken(t, test.name, test.path, test.want)
	}
}

// TestAlignments: 0 is a division by zero in the runtime's reader.
func TestAlignments(t *testing.T) {
	m := newTiny(fsggml.TensorTypeF32)
	m.kv["general.alignment"] = uint32(64)
	whole := m.bytes(t)
	path := filepath.Join(t.TempDir(), "aligned.gguf")
	at := bytes.Index(whole, []byte("general.alignment")) + len("general.alignment") + 4
	for _, test := range []struct {
		alignment uint32
		want      string
	}{{64, ""}, {0, "broken GGUF"}, {1 << 31, "truncated"}} {
		binary.LittleEndian.PutUint32(whole[at:], test.alignment)
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if test.want != "" {
			checkBroken(t, fmt.Sprint("alignment ", test.alignment), path, test.want)
		} else if err := tryModel(path); err != nil {
			t.Error(err)
		}
	}
}

// TestTruncatedModel cuts a file at every eighth byte of its header, and at
// random ones of its data.
func TestTruncatedModel(t *testing.T) {
	whole := newTiny(fsggml.TensorTypeF32).bytes(t)
	path := filepath.Join(t.TempDir(), "cut.gguf")
	try := func(n int) {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		checkBroken(t, fmt.Sprintf("the first %d of %d bytes", n, len(whole)), path, "")
	}
	header := headerSize(t, whole)
	for n := 0; n < header; n += 8 {
		try(n)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		try(header + rng.IntN(len(whole)-header))
	}
	try(len(whole) - 1)
}

func headerSize(t testing.TB, file []byte) int {
	t.Helper()
	h, err := decodeGGUF(bytes.NewReader(file), uint64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return int(h.offset)
}

// TestFlippedBits flips bits of the header. Most such files cannot be used; none
// may crash the process, which the runtime's asserts would, or make it ask for
// memory that no file of this size needs.
func TestFlippedBits(t *testing.T) {
	whole := newTiny(fsggml.TensorTypeF32).bytes(t)
	header := headerSize(t, whole)
	path := filepath.Join(t.TempDir(), "flipped.gguf")
	rng := rand.New(rand.NewPCG(9, 10))
	opened := 0
	for range 400 {
		flipped := slices.Clone(whole)
		for range 1 + rng.IntN(2) {
			flipped[rng.IntN(header)] ^= 1 << rng.IntN(8)
		}
		if err := os.WriteFile(path, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := tryModel(path)
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 64 {
			t.Errorf("a broken file of %d KB made %d MB of allocations: %v", len(whole)>>10, n, err)
		}
		if err == nil {
			opened++
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
	}
	t.Logf("%d of 400 opened", opened)
}

// FuzzDecodeGGUF reads anything: it must give an error or a header.
func FuzzDecodeGGUF(f *testing.F) {
	whole := newTiny(fsggml.TensorTypeQ4_0).bytes(f)
	f.Add(whole)
	f.Add(whole[:headerSize(f, whole)])
	f.Add([]byte("GGUF\x03\x00\x00\x00"))
	// One key: an array of more strings than any file holds.
	greedy := binary.LittleEndian.AppendUint64([]byte("GGUF\x03\x00\x00\x00"), 0)
	for _, n := range []uint64{1, 1} {
		greedy = binary.LittleEndian.AppendUint64(greedy, n)
	}
	greedy = append(greedy, "k\x09\x00\x00\x00\x08\x00\x00\x00"...)
	f.Add(binary.LittleEndian.AppendUint64(greedy, 1<<60))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := decodeGGUF(bytes.NewReader(data), uint64(len(data)))
		if (h == nil) == (err == nil) {
			t.Errorf("header %v, error %v", h, err)
		}
	})
}
