package inference

import (
	"context"
	"math"
	"testing"

	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/model"
	"github.com/ollama/ollama/model/input"
	_ "github.com/ollama/ollama/model/models/gemma4"
	_ "github.com/ollama/ollama/model/models/llama"
	_ "github.com/ollama/ollama/model/models/mistral3"
	_ "github.com/ollama/ollama/model/models/qwen3"
)

// ollamaModel is ollama's own graph on its own cache, where all sequences share
// the cells and a mask hides the others': the same kernels as ours, another
// graph around them.
type ollamaModel struct {
	model.Model
	vocab int
}

func openOllama(t *testing.T, path string, kind ml.DType, slots, cells int) *ollamaModel {
	t.Helper()
	m, err := model.New(path, ml.BackendParams{AllocMemory: true, NumThreads: 1, FlashAttention: ml.FlashAttentionEnabled})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Backend().Close)
	if err := m.Backend().Load(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	m.Config().Cache.Init(m.Backend(), kind, slots, cells, 512)
	t.Cleanup(m.Config().Cache.Close)
	return &ollamaModel{m, len(m.Backend().Config().Strings("tokenizer.ggml.tokens"))}
}

// logits computes a batch as Model.Logits does. A row at position 0 starts its
// slot anew.
func (m *ollamaModel) logits(t *testing.T, rows []Row) [][]float32 {
	t.Helper()
	var b input.Batch
	var tokens, outputs []int32
	for _, r := range rows {
		if r.Pos == 0 {
			if err := m.Config().Cache.Remove(r.Slot, 0, math.MaxInt32); err != nil {
				t.Fatal(err)
			}
		}
		for i, token := range r.Tokens {
			tokens = append(tokens, token)
			b.Positions = append(b.Positions, int32(r.Pos+i))
			b.Sequences = append(b.Sequences, r.Slot)
		}
		outputs = append(outputs, int32(len(tokens)-1)) // also where nothing is drawn: dropped below
	}
	ctx := m.Backend().NewContext()
	defer ctx.Close()
	ctx.SetBatchSize(len(tokens))
	b.Inputs = ctx.Input().FromInts(tokens, len(tokens))
	b.Outputs = ctx.Input().FromInts(outputs, len(outputs))
	out, err := model.Forward(ctx, m.Model, b)
	if err != nil {
		t.Fatal(err)
	}
	ctx.Compute(out)
	flat, all := out.Floats(), make([][]float32, len(rows))
	for i, r := range rows {
		if r.Sample {
			all[i] = flat[i*m.vocab : (i+1)*m.vocab]
		}
	}
	return all
}

// An ollamaStep is a batch that is computed on both sides.
type ollamaStep struct {
	what string
	copy [3]int // dst, src, n of a copy before it; none if n is 0
	rows []Row
}

// ollamaScript is steps over four prompts of at least 110 tokens, in three slots
// of 128 cells. No sequence's cells in ollama's cache are ever out of order in
// it, which would add up its attention in another order.
func ollamaScript(a, b, c, d []int32) []ollamaStep {
	return []ollamaStep{
		{what: "two chunks", rows: []Row{row(0, 0, a[:70], false), row(1, 0, b[:40], true)}},
		{what: "a whole prompt beside chunks", rows: []Row{row(0, 70, a[70:101], true), row(1, 40, b[40:41], true), row(2, 0, c[:30], true)}},
		{what: "decode in slots of different lengths", rows: []Row{row(0, 101, a[101:102], true), row(1, 41, b[41:42], true), row(2, 30, c[30:31], true)}},
		{what: "slot 1 after another, shorter prompt", rows: []Row{row(1, 0, d[:60], true)}},
		{what: "decode beside a chunk, out of order", rows: []Row{row(2, 31, c[31:32], true), row(1, 60, d[60:93], true), row(0, 102, a[102:103], true)}},
		{what: "decode with a gap", rows: []Row{row(0, 103, a[103:104], true), row(2, 32, c[32:33], true)}},
		{what: "one row", rows: []Row{row(1, 93, d[93:94], true)}},
		{what: "decode", rows: []Row{row(0, 104, a[104:105], true), row(1, 94, d[94:95], true), row(2, 33, c[33:34], true)}},
		{what: "a chunk after a copied prefix", copy: [3]int{2, 0, 50}, rows: []Row{row(2, 50, b[50:63], true)}},
		{what: "decode after a copied prefix", rows: []Row{row(2, 63, b[63:64], true)}},
	}
}

// An ollamaCheck plays a script on our streams and on ollama's cache.
type ollamaCheck struct {
	ours, theirs string   // paths
	cells        int      // of three slots
	cache        ml.DType // of keys and values
	tolerance    float64  // 0: the logits must have the same bits
}

func (o ollamaCheck) run(t *testing.T, script []ollamaStep) {
	t.Helper()
	m, err := Open(o.ours, Options{Slots: 3, Cells: o.cells, Threads: 1, Weights: WeightsFile})
	if err != nil {
		t.Fatal(err)
	}
	m.useCache(o.cache)
	m.streams.fused = true // as theirs
	var ours [][][]float32
	for _, s := range script {
		if err := copied(m, s.copy[0], s.copy[1], s.copy[2]); err != nil {
			t.Fatal(err)
		}
		ours = append(ours, mustLogits(t, m, s.rows...))
	}
	if err := m.Close(); err != nil { // devices are shared: one model at a time
		t.Fatal(err)
	}
	theirs, most := openOllama(t, o.theirs, o.cache, 3, o.cells), 0.0
	for i, s := range script {
		if s.copy[2] > 0 {
			theirs.Config().Cache.CopyPrefix(s.copy[1], s.copy[0], int32(s.copy[2]))
		}
		for j, want := range theirs.logits(t, s.rows) {
			d := farthest(ours[i][j], want)
			if most = max(most, d); !(d <= o.tolerance) {
				t.Errorf("%s: the logits of slot %d differ by up to %g", s.what, s.rows[j].Slot, d)
			}
		}
	}
	t.Logf("logits differ by %g at most", most)
}

// TestOllamasGraph computes the small model with ollama's graph.
func TestOllamasGraph(t *testing.T) {
	goldens := readGoldens(t)
	ollamaCheck{modelPath(t), modelPath(t), 128, ml.DTypeF16, 0}.run(t, ollamaScript(goldens[0].PromptIDs, goldens[9].PromptIDs, goldens[15].PromptIDs, goldens[4].PromptIDs))
}
