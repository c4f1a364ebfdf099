package inference

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
)

// TestBlocks cuts prompts into random chunks in random blocks, and moves slots
// to other blocks and other slots between any two steps: the logits have the
// same bits as those of each prompt alone.
func TestBlocks(t *testing.T) {
	for name, path := range map[string]string{
		"plain":   newTiny(fsggml.TensorTypeQ4_K).write(t),
		"windows": newGemma4Family(fsggml.TensorTypeF32, true).write(t),
	} {
		for _, cache := range []Cache{CacheF16, CacheQ8} {
			for _, test := range []struct {
				cells int
				as    *manner
			}{{512, nil}, {250, nil}, {512, &onGPU}} {
				cells := test.cells
				t.Run(fmt.Sprintf("%s/%s/%d/as on GPUs %v", name, cache, cells, test.as != nil), func(t *testing.T) {
					m, err := Open(path, Options{Slots: 6, Cells: cells, Pool: 5 * cells, Cache: cache, Threads: 1, Weights: WeightsFile, as: test.as})
					if err != nil {
						t.Fatal(err)
					}
					defer m.Close()
					b := &mover{m: m, rng: rand.New(rand.NewPCG(3, uint64(cells)))}
					for i, p := range randomPrompts(cells) {
						b.prompts = append(b.prompts, p[:40+i*(cells-40)/3])
					}
					b.play(t)
				})
			}
		}
	}
}

// A mover computes prompts, the last tokens of each one by one as decoding does,
// in blocks that it changes.
type mover struct {
	m       *Model
	rng     *rand.Rand
	prompts [][]int32
	at      []int   // how many tokens of each prompt are computed
	slots   []int   // of each prompt
	blocks  []Block // of each prompt
	moves   int
}

const moverDecodes = 4

func (b *mover) play(t *testing.T) {
	t.Helper()
	var alone [][]float32
	for _, p := range b.prompts {
		n := len(p) - moverDecodes
		mustLogits(t, b.m, chunk(0, 0, p[:n], false))
		for i := n; i < len(p); i++ {
			alone = append(alone, mustLogits(t, b.m, row(0, i, p[i:i+1], true))[0])
		}
	}
	b.at, b.blocks = make([]int, len(b.prompts)), make([]Block, len(b.prompts))
	b.slots = b.rng.Perm(b.m.limits.Slots)[:len(b.prompts)]
	got := make([][][]float32, len(b.prompts))
	for left := len(b.prompts); left > 0; {
		var rows []Row
		var who []int
		for i, p := range b.prompts {
			if b.at[i] == len(p) || b.rng.IntN(4) == 0 {
				continue
			}
			n, decode := 1, b.at[i] >= len(p)-moverDecodes
			if !decode {
				n = 1 + b.rng.IntN(min(len(p)-moverDecodes-b.at[i], 200))
			}
			if !b.find(t, i, b.at[i]+n) {
				continue // until another has moved away
			}
			rows = append(rows, Row{Slot: b.slots[i], Block: b.blocks[i], Pos: b.at[i], Tokens: p[b.at[i] : b.at[i]+n], Decode: decode, Sample: decode})
			who = append(who, i)
			b.at[i] += n
		}
		for j, logits := range mustLogits(t, b.m, rows...) {
			if i := who[j]; logits != nil {
				got[i] = append(got[i], logits)
				if b.at[i] == len(b.prompts[i]) {
					b.blocks[i] = Block{} // free
					left--
				}
			}
		}
	}
	if b.moves == 0 {
		t.Error("nothing moved")
	}
	for i, logits := range slices.Concat(got...) {
		if !slices.Equal(logits, alone[i]) {
			t.Errorf("token %d differs from the one of the same prompt alone by up to %g", i, farthest(logits, alone[i]))
		}
	}
}

// find has prompt i lie where n tokens have room: where it is, or in another
// free block, at random.
func (b *mover) find(t *testing.T, i, n int) bool {
	l, old := b.m.limits, b.blocks[i]
	if old.Cells >= n && b.rng.IntN(3) > 0 {
		return true
	}
	size := l.BlockFor(n)
	if b.rng.IntN(3) == 0 {
		size = min(2*size, l.BlockFor(l.Cells))
	}
	for _, k := range b.rng.Perm(l.Pool / size) {
		to := Block{k * size, size}
		if slices.ContainsFunc(b.blocks, func(o Block) bool { return o != old && o.First < to.First+to.Cells && to.First < o.First+o.Cells }) {
			continue
		}
		slot := b.slots[i]
		if free := b.rng.IntN(l.Slots); b.rng.IntN(2) == 0 && !slices.Contains(b.slots, free) {
			slot = free
		}
		if old.Cells > 0 {
			if err := b.m.Copy(Copy{slot, b.slots[i], to, old, b.at[i]}); err != nil {
				t.Fatal(err)
			}
			b.moves++
		}
		b.slots[i], b.blocks[i] = slot, to
		return true
	}
	return old.Cells >= n
}

// TestRefusedBlocks: blocks that are none, or that overlap, are errors.
func TestRefusedBlocks(t *testing.T) {
	m, err := Open(newTiny(fsggml.TensorTypeF32).write(t), Options{Slots: 4, Cells: 512, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if l := m.limits; l.Least != 128 || l.Pool != 2048 || l.Slots != 16 || l.Rows != 4 {
		t.Fatalf("limits %+v", l)
	}
	one := func(b Block) Row { return Row{Slot: 1, Block: b, Tokens: []int32{5}} }
	other := func(b Block) Row { return Row{Slot: 2, Block: b, Tokens: []int32{5}} }
	for name, rows := range map[string][]Row{
		"too small":     {one(Block{0, 64})},
		"no power":      {one(Block{0, 384})},
		"too large":     {one(Block{0, 1024})},
		"not at a size": {one(Block{128, 256})},
		"below":         {one(Block{-128, 128})},
		"beyond":        {one(Block{2048, 128})},
		"none":          {one(Block{})},
		"the same":      {one(Block{128, 128}), other(Block{128, 128})},
		"inside":        {one(Block{512, 512}), other(Block{640, 128})},
		"two tokens":    {{Slot: 1, Block: Block{0, 128}, Tokens: []int32{5, 6}, Decode: true}},
		"past its end":  {{Slot: 1, Block: Block{0, 128}, Pos: 128, Tokens: []int32{5}}},
		"too many":      {one(Block{0, 128}), other(Block{128, 128}), {Slot: 3, Block: Block{256, 128}, Tokens: []int32{5}}, {Slot: 4, Block: Block{384, 128}, Tokens: []int32{5}}, {Slot: 5, Block: Block{512, 128}, Tokens: []int32{5}}},
	} {
		if err := m.Forward(&Batch{Rows: rows}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, c := range map[string]Copy{
		"too many": {1, 2, Block{0, 128}, Block{256, 256}, 129},
		"no block": {1, 2, Block{0, 128}, Block{64, 128}, 4},
		"no slot":  {1, 16, Block{0, 128}, Block{128, 128}, 4},
	} {
		if err := m.Copy(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestQ8Cache: a cache of q8_0 gives nearly the logits of one of f16, in about
// half the memory.
func TestQ8Cache(t *testing.T) {
	p := randomPrompts(200)[0]
	var logits [2][]float32
	var size [2]uint64
	for i, cache := range []Cache{CacheF16, CacheQ8} {
		m, err := Open(newTiny(fsggml.TensorTypeQ4_K).write(t), Options{Slots: 1, Cells: 256, Cache: cache, Threads: 1, Weights: WeightsFile})
		if err != nil {
			t.Fatal(err)
		}
		mustLogits(t, m, chunk(0, 0, p[:199], false))
		logits[i], size[i] = mustLogits(t, m, row(0, 199, p[199:], true))[0], m.Plan.Cache
		m.Close()
	}
	largest := farthest(logits[0], make([]float32, len(logits[0])))
	if d := farthest(logits[0], logits[1]); d == 0 || d > largest/20 {
		t.Errorf("the logits, up to %g, differ by up to %g", largest, d)
	}
	if size[0]*34 != size[1]*64 {
		t.Errorf("%d and %d bytes", size[0], size[1])
	}
	if _, err := Open(newTiny(fsggml.TensorTypeF32).write(t), Options{Cache: CacheQ8}); err == nil {
		t.Error("heads of 16 values are no blocks of 32: no error")
	}
}
