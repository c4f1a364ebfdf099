package inference

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/ml"
)

// TestLikeGPU plays random steps on each architecture as on a GPU, the runtime's
// CPU kernels computing them: with fused attention alone, blocks and views of
// whole grains, steps of few shapes, and the best picked by the graph. The logits
// have the same bits as without the last two, and the tokens drawn are what they
// say.
func TestLikeGPU(t *testing.T) {
	for _, name := range []string{"qwen3-tiny:f32", "llama-tiny:f32", "mistral3-tiny:f32", "gemma4-tiny:f32"} {
		t.Run(name, func(t *testing.T) {
			o := Options{Slots: 12, Cells: 1024, Tokens: 300, Threads: 1}
			o.as = &manner{fused: true, grain: onGPU.grain}
			cpu := openSynthetic(t, name, o)
			o.as = &onGPU
			gpu := openSynthetic(t, name, o)
			if gpu.limits.Least != 256 || !gpu.picks || !gpu.streams.fused {
				t.Fatalf("blocks from %d cells, picks %v, fused %v", gpu.limits.Least, gpu.picks, gpu.streams.fused)
			}
			rng := rand.New(rand.NewPCG(5, 7))
			at := make([]int, 12) // tokens of each slot so far
			built, steps := 0, 0
			var last *graph
			for range 24 {
				rows := randomStep(rng, at, gpu.vocab)
				for i := range rows {
					rows[i].Block = Block{rows[i].Slot * 1024, 1024}
				}
				a, b := mustLogits(t, cpu, rows...), mustLogits(t, gpu, rows...)
				want := make([]int32, len(rows))
				for i := range rows {
					if !rows[i].Sample {
						continue
					}
					if d := maxDifference(a[i], b[i]); d > 0 {
						t.Fatalf("logits differ by %v", d)
					}
					var err error
					if want[i], err = Sample(b[i], rows[i].Draw); err != nil {
						t.Fatal(err)
					}
				}
				gpu.forget()
				for range 2 { // computed anew, and again
					if err := gpu.Forward(&Batch{Rows: rows}); err != nil {
						t.Fatal(err)
					}
					for i := range rows {
						if rows[i].Sample && rows[i].Token != want[i] {
							t.Fatalf("row %d: drew %d, the logits say %d", i, rows[i].Token, want[i])
						}
					}
					if steps++; gpu.last != last {
						built++
					}
					last = gpu.last
				}
			}
			if built != steps/2 {
				t.Errorf("%d graphs built in %d steps, of which every second has the shape of the one before", built, steps)
			}
		})
	}
}

// randomStep is a step of some slots: those that begin read a prompt, others
// decode or, now and then, read on.
func randomStep(rng *rand.Rand, at []int, vocab int) (rows []Row) {
	left := 300
	only := rng.IntN(2) == 0 // those that decode
	for _, slot := range rng.Perm(len(at))[:1+rng.IntN(len(at))] {
		n := 1
		decode := at[slot] > 0 && rng.IntN(8) > 0
		if !decode {
			n = 1 + rng.IntN(150)
		}
		if n > left || at[slot]+n > 1024 || only && !decode {
			continue
		}
		r := Row{Slot: slot, Pos: at[slot], Decode: decode, Sample: rng.IntN(4) > 0, Draw: rng.Float64()}
		for range n {
			r.Tokens = append(r.Tokens, int32(rng.IntN(vocab)))
		}
		at[slot] += n
		left -= n
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return randomStep(rng, at, vocab)
	}
	return rows
}

// TestFewShapes: while games come and go, steps that only decode keep their shape.
func TestFewShapes(t *testing.T) {
	s := &streams{spans: []span{{}, {window: 300, cells: 768}}, most: 9, manner: onGPU, limits: Limits{Slots: 64, Pool: 64 * 256}}
	shape := func(slots ...int) *layout {
		var rows []Row
		for _, i := range slots {
			rows = append(rows, Row{Slot: i, Block: Block{256 * i, 256}, Pos: 10 + i, Tokens: []int32{int32(i)}, Decode: true, Sample: true})
		}
		return s.lay(rows, false, false, nil)
	}
	all := shape(8, 9, 10, 11, 12, 13, 14, 15)
	for _, slots := range [][]int{{8}, {15}, {14, 9}, {15, 12, 8}, {9, 10, 11, 12, 13, 14, 15}} {
		if l := shape(slots...); !l.sameShape(all) || len(l.tokens) != 8 || len(l.outputs) != 8 {
			t.Errorf("slots %v have another shape than all:\n%s", slots, l.draw())
		}
	}
	for _, slots := range [][]int{{7}, {16}, {8, 9, 10, 11, 12, 13, 14, 15, 16}} {
		if shape(slots...).sameShape(all) {
			t.Errorf("slots %v have the shape of others", slots)
		}
	}
	if l := shape(63); l.spans[0].groups[0].first+l.spans[0].groups[0].count*256 > 64*256 {
		t.Error("a group goes beyond the pool")
	}
}

// TestBehindMasks: behind the mask of a lone token nothing is seen, for as many
// rows as kernels look at, in every stream and wherever the mask lies.
func TestBehindMasks(t *testing.T) {
	m := openSynthetic(t, "gemma4-tiny", Options{Slots: 12, Cells: 1024, Threads: 1, as: &onGPU})
	var rows []Row
	for i := range 12 {
		rows = append(rows, Row{Slot: i, Block: m.limits.block(i), Pos: 100 + 70*i, Tokens: []int32{5}, Decode: true, Sample: true})
	}
	m.lowest = make([]int, m.limits.Slots)
	m.step(rows, true).wait()
	masks := 0
	for _, st := range []*step{m.last.step, m.last.step.tail} {
		for _, sp := range st.spans {
			for _, g := range sp.groups {
				ctx := m.be.NewContext()
				row := g.mask.Stride(1) / 2
				for j := 1; j < 8; j++ {
					at := g.mask.View(ctx, 2*j*row, g.cells, g.mask.Stride(3), g.count).Cast(ctx, ml.DTypeF32)
					ctx.Forward(at).Compute(at)
					for i, x := range at.Floats() {
						if !math.IsInf(float64(x), -1) {
							t.Fatalf("row %d of stream %d sees cell %d", j, i/g.cells, i%g.cells)
						}
					}
				}
				own := g.mask.View(ctx, 0, g.cells, g.mask.Stride(3), g.count).Cast(ctx, ml.DTypeF32)
				ctx.Forward(own).Compute(own)
				if !slices.Contains(own.Floats(), 0) {
					t.Error("a mask shows nothing at all")
				}
				ctx.Close()
				masks++
			}
		}
	}
	if masks < 4 {
		t.Errorf("%d masks", masks)
	}
}

// TestPickTies: of equal logits the lower token comes first, as in Best.
func TestPickTies(t *testing.T) {
	m := openSynthetic(t, "qwen3-tiny", Options{Slots: 2, Cells: 256, Threads: 1, as: &onGPU})
	rng := rand.New(rand.NewPCG(1, 9))
	const outputs = 3
	for _, values := range []int{2000, 70, 1} { // that there are
		logits := make([]float32, outputs*m.vocab)
		for i := range logits {
			logits[i] = float32(rng.IntN(values)) - 5
		}
		ctx := m.be.NewContext()
		p := pick(ctx, ctx.Input().FromFloats(logits, m.vocab, outputs))
		ctx.Forward(p.tensors()...).Compute(p.tensors()...)
		got, err := p.read()
		ctx.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i := range outputs {
			all := logits[i*m.vocab : (i+1)*m.vocab]
			want, _ := Best(all, TopK)
			for j, c := range got[i] {
				if c.Logit != want[j].Logit || all[c.ID] != c.Logit {
					t.Fatalf("%d values: candidate %d is %v, best is %v", values, j, c, want[j])
				}
			}
			if !slices.IsSortedFunc(got[i], byLogit) {
				t.Error("not in order")
			}
			ids := map[int32]bool{}
			for _, c := range got[i] {
				ids[c.ID] = true
			}
			if len(ids) != TopK {
				t.Errorf("%d values: %d different tokens", values, len(ids))
			}
		}
	}
}

// TestPickNaN: a single logit that is not a number is noticed, wherever it is.
func TestPickNaN(t *testing.T) {
	m := openSynthetic(t, "qwen3-tiny", Options{Slots: 2, Cells: 256, Threads: 1, as: &onGPU})
	for _, bad := range []float32{nan, float32(math.Inf(1)), float32(math.Inf(-1))} {
		for _, at := range []int{0, 127, 300, 511, 512, 1023} {
			logits := make([]float32, 2*m.vocab)
			logits[at] = bad
			ctx := m.be.NewContext()
			p := pick(ctx, ctx.Input().FromFloats(logits, m.vocab, 2))
			ctx.Forward(p.tensors()...).Compute(p.tensors()...)
			if _, err := p.read(); !errors.Is(err, errNaN) {
				t.Errorf("logit %d is %v: error %v", at, bad, err)
			}
			ctx.Close()
		}
	}
}

// TestStepBack: where the device refuses the memory there are fewer slots, and
// the plan says so.
func TestStepBack(t *testing.T) {
	tried := []int{}
	m := openSynthetic(t, "qwen3-tiny", Options{Slots: 12, Cells: 512, Threads: 1, as: &onGPU, refuses: func(l Limits) bool {
		tried = append(tried, l.Rows)
		return l.Rows > 3
	}})
	if !slices.Equal(tried, []int{12, 6, 3}) || m.Plan.Slots != 3 || m.limits.Rows != 3 || len(m.lowest) != m.limits.Slots {
		t.Errorf("tried %v, went on with %d slots", tried, m.Plan.Slots)
	}
	if want := "the device refused the memory for 12 slots: going on with 3"; m.Plan.Note != want {
		t.Errorf("note %q, want %q", m.Plan.Note, want)
	}
	mustLogits(t, m, Row{Block: m.limits.block(0), Tokens: []int32{5}, Sample: true})
	_, err := Open("synthetic:qwen3-tiny", Options{Slots: 4, Cells: 512, Threads: 1, refuses: func(Limits) bool { return true }})
	if err == nil || !strings.Contains(err.Error(), "out of memory: use fewer --slots") {
		t.Errorf("a device that refuses everything: %v", err)
	}
}

func openSynthetic(t *testing.T, name string, o Options) *Model {
	t.Helper()
	m, err := Open("synthetic:"+name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func maxDifference(a, b []float32) (d float32) {
	for i := range a {
		d = max(d, a[i]-b[i], b[i]-a[i])
	}
	return d
}
