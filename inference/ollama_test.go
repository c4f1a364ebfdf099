package inference

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ollama/ollama/kvcache"
	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
	"github.com/ollama/ollama/model/input"
)

// ollamaLlama is ollama's own llama (its model/models/llama) on its own cache,
// where all sequences share the cells and a mask hides the others': the same
// kernels as ours, another graph around them.
type ollamaLlama struct {
	be                      ml.Backend
	cache                   *kvcache.Causal
	layers, heads, kvHeads  int
	headDim, ropeDim, vocab int
	eps, ropeBase           float32
}

func openOllamaLlama(t *testing.T, path string, slots, cells int) *ollamaLlama {
	t.Helper()
	be, err := ml.NewBackend(path, ml.BackendParams{AllocMemory: true, NumThreads: 1, FlashAttention: ml.FlashAttentionEnabled})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(be.Close)
	if err := be.Load(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	c := be.Config()
	m := &ollamaLlama{
		be:     be,
		cache:  kvcache.NewCausalCache(nil),
		layers: int(c.Uint("block_count")), heads: int(c.Uint("attention.head_count")), kvHeads: int(c.Uint("attention.head_count_kv")),
		ropeDim: int(c.Uint("rope.dimension_count")), vocab: len(c.Strings("tokenizer.ggml.tokens")),
		eps: c.Float("attention.layer_norm_rms_epsilon"), ropeBase: c.Float("rope.freq_base"),
	}
	m.headDim = int(c.Uint("embedding_length")) / m.heads
	m.cache.Init(be, ml.DTypeF16, slots, cells, 512)
	t.Cleanup(m.cache.Close)
	return m
}

func (m *ollamaLlama) linear(ctx ml.Context, layer int, name string, x ml.Tensor) ml.Tensor {
	return (&nn.Linear{Weight: m.be.Get(fmt.Sprintf("blk.%d.%s.weight", layer, name))}).Forward(ctx, x)
}

func (m *ollamaLlama) norm(ctx ml.Context, name string, x ml.Tensor) ml.Tensor {
	return (&nn.RMSNorm{Weight: m.be.Get(name + ".weight")}).Forward(ctx, x, m.eps)
}

func (m *ollamaLlama) forward(ctx ml.Context, b input.Batch) ml.Tensor {
	n := len(b.Positions)
	positions := ctx.Input().FromInts(b.Positions, n)
	h := m.be.Get("token_embd.weight").Rows(ctx, b.Inputs)
	for i := range m.layers {
		m.cache.SetLayer(i)
		residual := h
		h = m.norm(ctx, fmt.Sprintf("blk.%d.attn_norm", i), h)
		q := m.linear(ctx, i, "attn_q", h).Reshape(ctx, m.headDim, m.heads, n)
		k := m.linear(ctx, i, "attn_k", h).Reshape(ctx, m.headDim, m.kvHeads, n)
		v := m.linear(ctx, i, "attn_v", h).Reshape(ctx, m.headDim, m.kvHeads, n)
		q = nn.RoPE(ctx, q, positions, m.ropeDim, m.ropeBase, 1)
		k = nn.RoPE(ctx, k, positions, m.ropeDim, m.ropeBase, 1)
		h = nn.Attention(ctx, q, k, v, 1/math.Sqrt(float64(m.headDim)), m.cache)
		h = m.linear(ctx, i, "attn_output", h.Reshape(ctx, m.headDim*m.heads, n))
		if i == m.layers-1 {
			h, residual = h.Rows(ctx, b.Outputs), residual.Rows(ctx, b.Outputs)
		}
		h = h.Add(ctx, residual)
		residual = h
		h = m.norm(ctx, fmt.Sprintf("blk.%d.ffn_norm", i), h)
		h = m.linear(ctx, i, "ffn_gate", h).SILU(ctx, m.linear(ctx, i, "ffn_up", h))
		h = m.linear(ctx, i, "ffn_down", h).Add(ctx, residual)
	}
	output := m.be.Get("output.weight") // the runtime's name for tied embeddings too
	return output.Mulmat(ctx, m.norm(ctx, "output_norm", h))
}

// logits computes a batch as Model.Logits does. A row at position 0 starts its
// slot anew.
func (m *ollamaLlama) logits(t *testing.T, rows []Row) [][]float32 {
	t.Helper()
	var b input.Batch
	var tokens, outputs []int32
	for _, r := range rows {
		if r.Pos == 0 {
			if err := m.cache.Remove(r.Slot, 0, math.MaxInt32); err != nil {
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
	ctx := m.be.NewContext()
	defer ctx.Close()
	ctx.SetBatchSize(len(tokens))
	b.Inputs = ctx.Input().FromInts(tokens, len(tokens))
	b.Outputs = ctx.Input().FromInts(outputs, len(outputs))
	if err := m.cache.StartForward(ctx, b, false); err != nil {
		t.Fatal(err)
	}
	out := m.forward(ctx, b)
	ctx.Forward(out).Compute(out)
	flat, all := out.Floats(), make([][]float32, len(rows))
	for i, r := range rows {
		if r.Sample {
			all[i] = flat[i*m.vocab : (i+1)*m.vocab]
		}
	}
	return all
}

// TestOllamasGraph plays one script of batches on our streams and on ollama's
// cache: the logits must have the same bits. In the script no sequence's cells
// in ollama's cache are ever out of order, which would add up its attention in
// another order.
func TestOllamasGraph(t *testing.T) {
	goldens := readGoldens(t)
	a, b, c, d := goldens[0].PromptIDs, goldens[9].PromptIDs, goldens[15].PromptIDs, goldens[4].PromptIDs
	script := []struct {
		what string
		rows []Row
	}{
		{"two chunks", []Row{row(0, 0, a[:70], false), row(1, 0, b[:40], true)}},
		{"a whole prompt beside chunks", []Row{row(0, 70, a[70:101], true), row(1, 40, b[40:41], true), row(2, 0, c[:30], true)}},
		{"decode in slots of different lengths", []Row{row(0, 101, a[101:102], true), row(1, 41, b[41:42], true), row(2, 30, c[30:31], true)}},
		{"slot 1 after another, shorter prompt", []Row{row(1, 0, d[:60], true)}},
		{"decode beside a chunk, out of order", []Row{row(2, 31, c[31:32], true), row(1, 60, d[60:93], true), row(0, 102, a[102:103], true)}},
		{"decode with a gap", []Row{row(0, 103, a[103:104], true), row(2, 32, c[32:33], true)}},
		{"one row", []Row{row(1, 93, d[93:94], true)}},
		{"decode", []Row{row(0, 104, a[104:105], true), row(1, 94, d[94:95], true), row(2, 33, c[33:34], true)}},
	}
	m, err := Open(modelPath(t), Options{Slots: 3, Cells: 128, Threads: 1, Weights: WeightsFile})
	if err != nil {
		t.Fatal(err)
	}
	var ours [][][]float32
	for _, s := range script {
		ours = append(ours, mustLogits(t, m, s.rows...))
	}
	if err := m.Close(); err != nil { // devices are shared: one model at a time
		t.Fatal(err)
	}
	theirs := openOllamaLlama(t, modelPath(t), 3, 128)
	for i, s := range script {
		for j, want := range theirs.logits(t, s.rows) {
			if !slices.Equal(ours[i][j], want) {
				t.Errorf("%s: the logits of slot %d differ by up to %g", s.what, s.rows[j].Slot, farthest(ours[i][j], want))
			}
		}
	}
}
