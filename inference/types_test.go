package inference

import (
	"math/rand/v2"
	"slices"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// TestWeightTypes opens tiny models of every type of weights that the runtime
// can compute with: their logits must have the same bits whatever else is computed
// in the same step.
func TestWeightTypes(t *testing.T) {
	names := map[fsggml.TensorType]string{
		typeIQ2XXS: "IQ2_XXS", typeIQ2XS: "IQ2_XS", typeIQ1S: "IQ1_S", typeIQ3XXS: "IQ3_XXS", typeIQ4NL: "IQ4_NL", typeIQ3S: "IQ3_S", typeIQ2S: "IQ2_S", typeIQ4XS: "IQ4_XS", typeIQ1M: "IQ1_M",
	}
	for kind := range multiplied {
		name := names[kind]
		if name == "" {
			name = kind.String()
		}
		t.Run(name, func(t *testing.T) {
			m, err := Open(newTiny(kind).write(t), Options{Slots: 16, Cells: 96, Tokens: 512, Threads: 1, Weights: WeightsFile})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { m.Close() })
			t.Logf("a lone token is doubled: %v", m.padTokens)
			rng := rand.New(rand.NewPCG(11, 12))
			var prompts [][]int32
			for range 16 {
				p := make([]int32, 20+rng.IntN(60))
				for i := range p {
					p[i] = int32(rng.IntN(m.vocab))
				}
				prompts = append(prompts, p)
			}
			checkRowCounts(t, m, prompts)
			checkBatchIndependence(t, m, prompts[:10], 2, 40)
		})
	}
}

// checkRowCounts decodes the same token alone and among 1, 2, 4 and 15 others.
func checkRowCounts(t *testing.T, m *Model, prompts [][]int32) {
	t.Helper()
	var rows []Row
	for slot, p := range prompts {
		mustLogits(t, m, row(slot, 0, p, false))
		rows = append(rows, row(slot, len(p), []int32{int32(slot)}, true))
	}
	alone := mustLogits(t, m, rows[0])[0]
	if other := mustLogits(t, m, rows[1])[0]; farthest(alone, other) == 0 {
		t.Error("two prompts have the same logits: this shows nothing")
	}
	for _, n := range []int{2, 3, 5, 16} {
		if got := mustLogits(t, m, rows[:n]...)[0]; !slices.Equal(got, alone) {
			t.Errorf("among %d rows the logits differ from those alone by up to %g", n, farthest(got, alone))
		}
	}
}

// TestExpandedTypes: every type that is expanded to bf16 computes nearly the
// same either way.
func TestExpandedTypes(t *testing.T) {
	for kind := range multiplied {
		if !grows(&fsggml.Tensor{Kind: uint32(kind), Shape: []uint64{256, 256}}) {
			continue
		}
		path := newTiny(kind).write(t)
		logits := map[Weights][]float32{}
		for _, weights := range []Weights{WeightsFile, WeightsBF16} {
			m, err := Open(path, Options{Slots: 1, Cells: 64, Threads: 1, Weights: weights})
			if err != nil {
				t.Fatal(err)
			}
			logits[weights] = mustLogits(t, m, row(0, 0, []int32{10, 20, 30, 40, 50}, true))[0]
			m.Close()
		}
		largest := farthest(logits[WeightsFile], make([]float32, len(logits[WeightsFile])))
		if d := farthest(logits[WeightsFile], logits[WeightsBF16]); d == 0 || d > largest/10 {
			t.Errorf("%s: expanded to bf16 the logits, up to %g, differ by up to %g", kind, largest, d)
		} else {
			t.Logf("%s: %g of %g", kind, d, largest)
		}
	}
}
