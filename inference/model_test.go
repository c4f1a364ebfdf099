package inference

import (
	"github.com/ollama/ollama/ml"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain quiets the runtime, which tells of every model it loads.
//
// Where a test computes much or in many steps it does so on one thread: on a
// busy machine the runtime's threads wait for each other longer than they work.
func TestMain(m *testing.M) {
	slog.SetLogLoggerLevel(slog.LevelWarn)
	os.Exit(m.Run())
}

const smallModel = "SmolLM2-135M-Instruct.Q4_1.gguf"

// modelPath is the small real model, which `make model` fetches.
func modelPath(t testing.TB) string {
	t.Helper()
	return cached(t, "model", filepath.Join("models", smallModel))
}

func openModel(t testing.TB, o Options) *Model {
	t.Helper()
	m, err := Open(modelPath(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// useCache gives an empty model a cache of another type.
func (m *Model) useCache(kind ml.DType) {
	m.streams.close()
	most := m.streams.most
	m.streams.open(m.be, m.arch.streams(), kind, m.limits, devices{manner: onCPU})
	m.streams.most = most
}

// row is a chunk of a prompt for a slot, or one token after it.
func row(slot, pos int, tokens []int32, sample bool) Row {
	return Row{Slot: slot, Pos: pos, Tokens: tokens, Decode: len(tokens) == 1 && pos > 0, Sample: sample}
}

// chunk is one of a prompt, also where it is a single token.
func chunk(slot, pos int, tokens []int32, sample bool) Row {
	return Row{Slot: slot, Pos: pos, Tokens: tokens, Sample: sample}
}

// block is the slot-th of the largest blocks.
func (l Limits) block(slot int) Block {
	n := l.BlockFor(l.Cells)
	return Block{slot * n, n}
}

// inBlocks gives each row that has no block that of its slot.
func inBlocks(l Limits, rows []Row) []Row {
	for i := range rows {
		if r := &rows[i]; r.Block.Cells == 0 {
			r.Block = l.block(r.Slot)
		}
	}
	return rows
}

// copied is Copy between the blocks of two slots.
func copied(m *Model, dst, src, n int) error {
	return m.Copy(Copy{dst, src, m.limits.block(dst), m.limits.block(src), n})
}

// TestBatchIndependence feeds the same prompts alone and whole, then cut into
// random chunks beside each other in random slots: every logit must have the
// same bits.
func TestBatchIndependence(t *testing.T) {
	for _, weights := range []Weights{WeightsFile, WeightsBF16} {
		t.Run(string(weights), func(t *testing.T) {
			m := openModel(t, Options{Slots: 7, Cells: 128, Tokens: 512, Threads: 1, Weights: weights})
			var prompts [][]int32
			for i, g := range readGoldens(t)[:5] {
				prompts = append(prompts, g.PromptIDs[100:125+15*i])
			}
			checkBatchIndependence(t, m, prompts, 1, 60)
		})
	}
}

// checkBatchIndependence computes the prompts alone and, in some rounds, mixed
// and cut into chunks of up to a size.
func checkBatchIndependence(t *testing.T, m *Model, prompts [][]int32, rounds, chunk int) {
	t.Helper()
	const decoded = 2 // tokens fed one by one at the end, as decoding does
	alone := make([][]float32, len(prompts))
	for i, p := range prompts {
		n := len(p) - decoded
		mustLogits(t, m, row(0, 0, p[:n], false))
		for j := range decoded {
			alone[i] = mustLogits(t, m, row(0, n+j, p[n+j:n+j+1], true))[0]
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		slots := rng.Perm(m.Limits().Rows)[:len(prompts)]
		at := make([]int, len(prompts))
		for left := len(prompts); left > 0; {
			var rows []Row
			var who []int
			for i, p := range prompts {
				if at[i] == len(p) || rng.IntN(4) == 0 {
					continue
				}
				n := 1
				if prefill := len(p) - decoded - at[i]; prefill > 0 {
					n = 1 + rng.IntN(min(prefill, chunk))
				}
				r := row(slots[i], at[i], p[at[i]:at[i]+n], at[i]+n == len(p))
				r.Decode = at[i] >= len(p)-decoded
				rows = append(rows, r)
				who = append(who, i)
				at[i] += n
			}
			for j, logits := range mustLogits(t, m, rows...) {
				if logits == nil {
					continue
				}
				left--
				if i := who[j]; !slices.Equal(logits, alone[i]) {
					t.Fatalf("round %d: prompt %d differs from the same one alone by up to %g", round, i, farthest(logits, alone[i]))
				}
			}
		}
	}
}

func mustLogits(t testing.TB, m *Model, rows ...Row) [][]float32 {
	t.Helper()
	logits, err := m.Logits(&Batch{Rows: inBlocks(m.limits, rows)})
	if err != nil {
		t.Fatal(err)
	}
	return logits
}

func farthest(a, b []float32) (d float64) {
	for i := range a {
		d = max(d, math.Abs(float64(a[i]-b[i])))
	}
	return d
}

func TestCopiedPrefix(t *testing.T) {
	m := openModel(t, Options{Slots: 3, Cells: 256, Tokens: 512, Threads: 1, Weights: WeightsFile})
	p := readGoldens(t)[0].PromptIDs[:130]
	mustLogits(t, m, row(2, 0, readGoldens(t)[1].PromptIDs[100:160], false)) // what slot 2 held before
	want := mustLogits(t, m, row(0, 0, p, true))[0]
	if err := copied(m, 2, 0, 100); err != nil {
		t.Fatal(err)
	}
	if got := mustLogits(t, m, row(2, 100, p[100:], true))[0]; !slices.Equal(got, want) {
		t.Fatalf("after copying the first 100 cells the logits differ by up to %g", farthest(got, want))
	}
	if err := copied(m, 3, 0, 1); err == nil {
		t.Fatal("copying to a slot that is not there is no error")
	}
}

func TestForwardRefusesBadRows(t *testing.T) {
	m := openModel(t, Options{Slots: 2, Cells: 64, Tokens: 64, Weights: WeightsFile})
	for name, rows := range map[string][]Row{
		"slot":       {row(2, 0, []int32{1}, true)},
		"slot below": {row(-1, 0, []int32{1}, true)},
		"twice":      {row(0, 0, []int32{1}, true), row(0, 1, []int32{1}, true)},
		"too long":   {row(0, 60, []int32{1, 1, 1, 1, 1}, true)},
		"empty":      {row(0, 0, nil, true)},
		"token":      {row(0, 0, []int32{49152}, true)},
		"below zero": {row(0, 0, []int32{-1}, true)},
	} {
		if err := m.Forward(&Batch{Rows: inBlocks(m.limits, rows)}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := m.Forward(&Batch{}); err != nil {
		t.Errorf("an empty batch: %v", err)
	}
}

// TestManyLongRows asks for more attentions than one graph has room for.
func TestManyLongRows(t *testing.T) {
	m := openModel(t, Options{Slots: 80, Cells: 64, Tokens: 512, Threads: 1, Weights: WeightsFile})
	var rows []Row
	for i := range 80 {
		rows = append(rows, row(i, 0, []int32{int32(100 + i), 7, 8}, true))
	}
	logits := mustLogits(t, m, rows...)
	for _, i := range []int{0, 41, 79} {
		if want := mustLogits(t, m, rows[i])[0]; !slices.Equal(logits[i], want) {
			t.Errorf("row %d among 80 differs from itself alone", i)
		}
	}
}

// TestLoadTwice loads, frees, and loads again in one process, with another
// number of threads: the bits stay the same.
func TestLoadTwice(t *testing.T) {
	var first []float32
	for threads := 1; threads <= 2; threads++ {
		m, err := Open(modelPath(t), Options{Slots: 1, Cells: 64, Threads: threads, Weights: WeightsFile})
		if err != nil {
			t.Fatal(err)
		}
		logits := mustLogits(t, m, row(0, 0, []int32{1, 2, 3}, true))[0]
		if first == nil {
			first = logits
		}
		if !slices.Equal(logits, first) {
			t.Errorf("on %d threads the logits differ by up to %g", threads, farthest(logits, first))
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
