package inference

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml/backend/ggml"
)

// TestSyntheticParameters counts the parameters of each shape, as published with
// the weights on Hugging Face; of the language model alone where there are
// others. Where output and token embedding are one matrix it is counted once.
func TestSyntheticParameters(t *testing.T) {
	published := map[string]float64{
		"qwen3-0.6b": 596049920, "qwen3-1.7b": 1720574976, "qwen3-4b": 4022468096,
		"qwen3-8b": 8190735360, "qwen3-14b": 14768307200, "qwen3-32b": 32762123264,
		"ministral3-3b": 3.4e9, "ministral3-8b": 8.4e9, "ministral3-14b": 13.5e9,
		"llama3.2-1b": 1235814400, "llama3.2-3b": 3212749824, "llama3.1-8b": 8030261248,
		"gemma4-e2b": 4.65e9, "gemma4-e4b": 7.46e9, // as llama.cpp counts them in public files
	}
	for name, s := range synthetics {
		if strings.HasSuffix(name, "-tiny") {
			continue
		}
		h, err := s.header(name, fsggml.TensorTypeQ4_K, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		n := 0.0
		for _, tensor := range h.tensors {
			if n += float64(tensor.Elements()); checkTensor(tensor, uint64(s.layers)) != nil {
				t.Errorf("%s: %v", name, checkTensor(tensor, uint64(s.layers))) // rows fill the largest blocks
			}
		}
		if off := n/published[name] - 1; !(math.Abs(off) < 0.02) {
			t.Errorf("%s has %.0f parameters, %.0f are published", name, n, published[name])
		} else {
			t.Logf("%s: %.0f, %+.2f %%", name, n, 100*off)
		}
	}
}

// TestSyntheticGemmas: which layers look back over everything, and whose keys and
// values the last layers attend over, as in ollama's own tests of both models.
func TestSyntheticGemmas(t *testing.T) {
	for name, want := range map[string]struct{ every, keeping, mlp, lastMLP int }{
		"gemma4-e2b": {5, 15, 6144, 12288}, "gemma4-e4b": {6, 24, 10240, 10240},
	} {
		s := synthetics[name]
		h, err := s.header(name, fsggml.TensorTypeBF16, nil)
		if err != nil {
			t.Fatal(err)
		}
		arch, err := newGemma4(h, s.vocab)
		if err != nil {
			t.Fatal(err)
		}
		m := arch.(*gemma4)
		for i, l := range m.Layers {
			full, keeper, mlp := i%want.every == want.every-1, i, want.mlp
			if i >= want.keeping {
				keeper, mlp = want.keeping-2, want.lastMLP
				if full {
					keeper = want.keeping - 1
				}
			}
			if (l.window == 0) != full || l.keeper != keeper || l.mlp != mlp || full && l.headDim != 512 || !full && (l.headDim != 256 || l.window != 512) {
				t.Errorf("%s: layer %d is %+v", name, i, l.gemma4LayerSizes)
			}
		}
	}
}

func tinySynthetics(t *testing.T) (names []string) {
	for name := range synthetics {
		if strings.HasSuffix(name, "-tiny") {
			names = append(names, syntheticPrefix+name)
		}
	}
	if len(names) != len(architectures) {
		t.Fatalf("%d tiny models of %d architectures", len(names), len(architectures))
	}
	return slices.Sorted(slices.Values(names))
}

// TestSynthetic: every architecture's tiny model computes, alone as in any batch,
// in every type of weights.
func TestSynthetic(t *testing.T) {
	p := randomPrompts(80)
	for _, name := range tinySynthetics(t) {
		for kind := range fillings {
			t.Run(name+":"+kind, func(t *testing.T) {
				m, err := Open(name+":"+kind, Options{Slots: 4, Cells: 128, Threads: 1, Weights: WeightsFile})
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				logits := mustLogits(t, m, row(0, 0, p[0], true))[0]
				largest := float64(farthest(logits, make([]float32, len(logits))))
				// Rows of length 1 times normed activations of 256 values.
				if !(largest > 1 && largest < 200) {
					t.Errorf("the largest logit is %g", largest)
				}
				checkBatchIndependence(t, m, [][]int32{p[0][:40], p[1][:70], p[2]}, 1, 30)
			})
		}
	}
}

// TestFillings: the values of each type have the mean and the deviation that
// they are to have, and no two rows of a matrix are the same.
func TestFillings(t *testing.T) {
	for name, made := range fillings {
		const row, rows = 1024, 600
		tensor := &fsggml.Tensor{Name: "x", Kind: uint32(made.kind), Shape: []uint64{row, rows}}
		fill(map[string]*fsggml.Tensor{"x": tensor})
		var data bytes.Buffer
		if n, err := tensor.WriteTo(&data); err != nil || uint64(n) != tensor.Size() || uint64(data.Len()) != tensor.Size() {
			t.Fatalf("%s: %d bytes of %d: %v", name, n, tensor.Size(), err)
		}
		values := make([]float32, row*rows)
		if made.kind != fsggml.TensorTypeF32 {
			values = ggml.ConvertToF32(data.Bytes(), tensor.Kind, row*rows)
		} else if err := binary.Read(&data, binary.LittleEndian, values); err != nil {
			t.Fatal(err)
		}
		sum, squares := 0.0, 0.0
		seen := map[string]bool{}
		for i, v := range values {
			sum, squares = sum+float64(v), squares+float64(v)*float64(v)
			if i%row == 0 {
				seen[fmt.Sprint(values[i:i+row])] = true
			}
		}
		mean, deviation := sum/(row*rows), math.Sqrt(squares/(row*rows))*math.Sqrt(row)
		if math.Abs(deviation-1) > 0.01 || math.Abs(mean)*math.Sqrt(row) > 0.12 {
			t.Errorf("%s: mean %g, deviation %g of what it should be", name, mean*math.Sqrt(row), deviation)
		}
		if len(seen) != rows {
			t.Errorf("%s: only %d rows of %d differ", name, len(seen), rows)
		}
	}
}

// TestSyntheticIsDeterministic: the same name gives the same bytes, another
// others, and no file is left behind.
func TestSyntheticIsDeterministic(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	read := func(name string) string {
		h, err := syntheticHeader(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := h.writeSynthetic()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
		b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<30))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	one := read("synthetic:qwen3-tiny")
	if one != read("synthetic:qwen3-tiny") || one != read("synthetic:qwen3-tiny:bf16") {
		t.Error("the same model differs from time to time")
	}
	if one == read("synthetic:qwen3-tiny:f16") {
		t.Error("two types are the same")
	}
}

func TestSyntheticNames(t *testing.T) {
	for name, want := range map[string]string{
		"synthetic:qwen3-5b":          "llama3.1-8b, llama3.2-1b",
		"synthetic:":                  "qwen3-32b",
		"synthetic:qwen3-tiny:q4_2":   "bf16, f16, f32, q4_0",
		"synthetic:qwen3-tiny:":       "q8_0",
		"synthetic:qwen3-tiny:f16:q8": `no such type`,
	} {
		for _, open := range []func() error{
			func() error { _, err := Open(name, Options{}); return err },
			func() error { _, err := OpenCodec(name); return err },
			func() error { _, _, err := SyntheticID(name); return err },
		} {
			if err := open(); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	ids := map[string]bool{}
	for _, name := range []string{"synthetic:qwen3-tiny", "synthetic:qwen3-tiny:f32", "synthetic:llama-tiny"} {
		size, sha, err := SyntheticID(name)
		if err != nil || size < 1<<20 {
			t.Errorf("%s: %d bytes, %v", name, size, err)
		}
		ids[sha] = true
	}
	if len(ids) != 3 {
		t.Errorf("three models share hashes: %v", slices.Collect(maps.Keys(ids)))
	}
}

func TestNoRoom(t *testing.T) {
	dir := t.TempDir()
	if err := roomFor("synthetic:x", 1, dir); err != nil {
		t.Error(err)
	}
	if err := roomFor("synthetic:x", 1<<60, dir); err == nil || !strings.Contains(err.Error(), "synthetic:x: its weights are 1099511627776 MB, but "+dir+" has room for ") {
		t.Error(err)
	}
	if err := roomFor("synthetic:x", 1, filepath.Join(dir, "nowhere")); err == nil || !strings.Contains(err.Error(), "nowhere: no such file") {
		t.Error(err)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "nowhere"))
	if _, _, err := SyntheticID("synthetic:qwen3-tiny"); err == nil || !strings.Contains(err.Error(), "nowhere, or set TMPDIR") {
		t.Error(err)
	}
}
