package inference

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/backend/ggml"
)

// A golden is what llama.cpp computed for one prompt of a game, and what exact
// arithmetic gives there.
type golden struct {
	Game, Lang string
	PromptIDs  []int32 `json:"prompt_ids"`
	GreedyIDs  []int32 `json:"greedy_ids"`
	// The likeliest tokens after the prompt and the first ExactAfter of
	// GreedyIDs, by llama.cpp, and the exact log-probability of each.
	FirstTokenTop []Scored  `json:"first_token_top"`
	ExactAfter    int       `json:"exact_after"`
	Exact         []float64 `json:"exact"`
}

func (g *golden) name() string { return g.Game + "-" + g.Lang }

// logProbs are the log-probabilities of the tokens of FirstTokenTop.
func (g *golden) logProbs(logits []float32) []float64 {
	var at []Candidate
	for _, s := range g.FirstTokenTop {
		at = append(at, Candidate{s.ID, logits[s.ID]})
	}
	return LogProb(logits, at)
}

// readGoldens reads the goldens of 16 prompts in eight languages.
func readGoldens(t testing.TB) []golden {
	t.Helper()
	b, err := os.ReadFile("testdata/smollm2.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []golden }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 16 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, g := range file.Cases {
		if len(g.Exact) != 8 || len(g.FirstTokenTop) != 8 || len(g.GreedyIDs) != 32 {
			t.Fatalf("%s is incomplete", g.name())
		}
	}
	return file.Cases
}

// alongGoldens feeds each golden's prompt and then llama.cpp's own choices, one
// by one, and hands on the logits before each of the first n of these. The
// goldens decode beside each other, each in the slot of its number.
func alongGoldens(t testing.TB, m *Model, goldens []golden, n int, seen func(g *golden, step int, logits []float32)) {
	t.Helper()
	for i := range goldens {
		seen(&goldens[i], 0, mustLogits(t, m, row(i, 0, goldens[i].PromptIDs, true))[0])
	}
	for step := 1; step < n; step++ {
		var rows []Row
		for i, g := range goldens {
			rows = append(rows, row(i, len(g.PromptIDs)+step-1, g.GreedyIDs[step-1:step], true))
		}
		for i, logits := range mustLogits(t, m, rows...) {
			seen(&goldens[i], step, logits)
		}
	}
}

// noise is the size of differences between log-probabilities.
type noise struct {
	squares, max float64
	n            int
}

func (x *noise) add(d float64) {
	x.squares += d * d
	x.max = max(x.max, math.Abs(d))
	x.n++
}

func (x *noise) rms() float64 { return math.Sqrt(x.squares / float64(x.n)) }

// TestGoldens holds the Q4_1 model to llama.cpp's results. They cannot agree to
// many digits: such weights are multiplied with activations rounded to 8 bits,
// and there a difference in the last bit of a float decides which way a value is
// rounded, so that the errors of two correct programs have nothing in common.
// llama.cpp against itself, with other batch sizes or without flash attention,
// differs by 0.04 to 0.22 in these log-probabilities, and by 0.19 from exact
// arithmetic on the same weights. TestExactWeights is the strict test of the
// graph; this one makes sure that ours is no worse an approximation than
// llama.cpp, and that it chooses the same tokens wherever the choice is clear.
func TestGoldens(t *testing.T) {
	const (
		// Between the two programs the difference of two log-probabilities has
		// an rms of 0.12 and a maximum of 0.40 over the pairs of the top eight.
		// Two tokens farther apart than four times that rms must keep their order.
		clear = 0.5
		// How many of the 512 choices are that clear: 458 when this was written.
		fewest = 430
	)
	m := openModel(t, Options{Slots: 16, Cells: 512, Tokens: 512, Threads: 1, Weights: WeightsFile})
	var ours, theirs, pairs noise
	decided := 0
	alongGoldens(t, m, readGoldens(t), 32, func(g *golden, step int, logits []float32) {
		if step == g.ExactAfter {
			between := make([]float64, len(g.Exact))
			for i, p := range g.logProbs(logits) {
				golden := g.FirstTokenTop[i].LogProb
				ours.add(p - g.Exact[i])
				theirs.add(golden - g.Exact[i])
				between[i] = p - golden
				for _, other := range between[:i] {
					pairs.add(between[i] - other)
				}
			}
		}
		best, err := Best(logits, 2)
		if err != nil {
			t.Fatal(err)
		}
		if best[0].Logit-best[1].Logit > clear {
			decided++
			if best[0].ID != g.GreedyIDs[step] {
				t.Errorf("%s: token %d is %d by %.2f, llama.cpp says %d", g.name(), step, best[0].ID, best[0].Logit-best[1].Logit, g.GreedyIDs[step])
			}
		}
	})
	t.Logf("against exact: rms %.4f, max %.4f; llama.cpp: rms %.4f, max %.4f; between the two, pairs: rms %.4f, max %.4f; %d clear choices",
		ours.rms(), ours.max, theirs.rms(), theirs.max, pairs.rms(), pairs.max, decided)
	// Of 128 values the rms is good to about a tenth, the maximum only roughly.
	if ours.rms() > 1.5*theirs.rms() || ours.max > 2.5*theirs.max {
		t.Errorf("log-probabilities are off by rms %.4f, max %.4f; llama.cpp's by %.4f, %.4f", ours.rms(), ours.max, theirs.rms(), theirs.max)
	}
	if 4*pairs.rms() > 1.25*clear || pairs.max > 1.25*clear {
		t.Errorf("between the programs pairs of tokens differ by rms %.4f, max %.4f", pairs.rms(), pairs.max)
	}
	if decided < fewest {
		t.Errorf("only %d of 512 choices are clear: this test shows too little", decided)
	}
}

// TestExactWeights computes with the small model's weights written out as F32,
// where nothing is rounded to 8 bits, and compares with exact arithmetic.
func TestExactWeights(t *testing.T) {
	path := expanded(t)
	goldens := goldensByName(t)
	for _, c := range []struct {
		cache string
		kind  ml.DType
		cases []string
		most  float64
	}{
		// The 10 bits of an f16 cache are the only approximation left: 0.018 at
		// most over all 16 prompts.
		{"f16", ml.DTypeF16, []string{"Nim-en"}, 0.025},
		// Without it the graph is exact: 0.000007 at most over all 16.
		{"f32", ml.DTypeF32, []string{"Nim-en", "Nim-fr", "Nim-es", "Nim-de"}, 0.00005},
	} {
		t.Run(c.cache, func(t *testing.T) {
			m, err := Open(path, Options{Slots: 1, Cells: 512, Threads: 1, Weights: WeightsFile})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { m.Close() })
			m.useCache(c.kind)
			var off noise
			for _, name := range c.cases {
				g, ok := goldens[name]
				if !ok {
					t.Fatal("no golden ", name)
				}
				tokens := append(g.PromptIDs, g.GreedyIDs[:g.ExactAfter]...)
				last := len(tokens) - 1 // alone, as decoding feeds it
				mustLogits(t, m, row(0, 0, tokens[:last], false))
				for i, p := range g.logProbs(mustLogits(t, m, row(0, last, tokens[last:], true))[0]) {
					off.add(p - g.Exact[i])
				}
			}
			t.Logf("rms %.7f, max %.7f", off.rms(), off.max)
			if off.max > c.most {
				t.Errorf("log-probabilities are off by up to %g, more than %g", off.max, c.most)
			}
		})
	}
}

// TestExpandedWeights compares the small model, expanded to bf16, with exact
// arithmetic: it must not be a worse approximation than llama.cpp is with the
// weights as they are.
func TestExpandedWeights(t *testing.T) {
	m := openModel(t, Options{Slots: 1, Cells: 512, Threads: 1, Weights: WeightsBF16})
	goldens := goldensByName(t)
	var ours, theirs noise
	for _, name := range []string{"Nim-en", "Nim-fr", "Nim-es"} {
		g := goldens[name]
		for i, p := range g.logProbs(mustLogits(t, m, row(0, 0, g.PromptIDs, true))[0]) {
			ours.add(p - g.Exact[i])
			theirs.add(g.FirstTokenTop[i].LogProb - g.Exact[i])
		}
	}
	t.Logf("rms %.4f, max %.4f; llama.cpp: rms %.4f, max %.4f", ours.rms(), ours.max, theirs.rms(), theirs.max)
	if ours.rms() > 1.5*theirs.rms() || ours.max > 2.5*theirs.max {
		t.Errorf("log-probabilities are off by rms %.4f, max %.4f; llama.cpp's by %.4f, %.4f", ours.rms(), ours.max, theirs.rms(), theirs.max)
	}
}

func goldensByName(t *testing.T) map[string]golden {
	t.Helper()
	all := map[string]golden{}
	for _, g := range readGoldens(t) {
		all[g.name()] = g
	}
	return all
}

// expanded writes the small model with its weights as F32 and gives the path.
func expanded(t *testing.T) string {
	t.Helper()
	in, err := os.Open(modelPath(t))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	file, err := fsggml.Decode(in, -1)
	if err != nil {
		t.Fatal(err)
	}
	var tensors []*fsggml.Tensor
	for _, w := range file.Tensors().Items() {
		at := io.NewSectionReader(in, int64(file.Tensors().Offset+w.Offset), int64(w.Size()))
		tensors = append(tensors, &fsggml.Tensor{Name: w.Name, Kind: uint32(fsggml.TensorTypeF32), Shape: w.Shape, WriterTo: f32Weights{at, w}})
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "f32.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := fsggml.WriteGGUF(out, file.KV(), tensors); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}

// f32Weights are a tensor's bytes that are written as F32.
type f32Weights struct {
	from io.Reader
	*fsggml.Tensor
}

func (w f32Weights) WriteTo(to io.Writer) (int64, error) {
	b, err := io.ReadAll(w.from)
	if err != nil {
		return 0, err
	}
	if w.Kind != uint32(fsggml.TensorTypeF32) {
		if b, err = binary.Append(nil, binary.LittleEndian, ggml.ConvertToF32(b, w.Kind, w.Elements())); err != nil {
			return 0, err
		}
	}
	n, err := to.Write(b)
	return int64(n), err
}
