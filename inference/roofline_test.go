package inference

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write bench/gpu/shapes.json anew")

// A shape says what the GPU must read and multiply for a model with bf16 weights
// and an f16 cache: what bounds its speed on any machine.
type shape struct {
	Held   uint64      `json:"held_bytes"`        // of weights on the GPU
	Read   uint64      `json:"step_bytes"`        // of weights that a step reads, however many rows it has
	Matrix uint64      `json:"matrix_flop"`       // for a token by the weights, the output head among them
	Head   uint64      `json:"head_flop"`         // the output head, which only sampled tokens pass
	Layers []attending `json:"attention"`         // layers by kind
	Token  uint64      `json:"kept_token_bytes"`  // that a token takes in the pool
	Ring   uint64      `json:"kept_window_bytes"` // that a slot takes for windows, once they are full
}

// attending are layers of one kind: each reads so many bytes of keys and values
// of each cell that a token looks back on, and does so many operations with them.
type attending struct {
	Layers int    `json:"layers"`
	Window int    `json:"window"` // cells at most; 0: all
	Bytes  uint64 `json:"cell_bytes"`
	FLOP   uint64 `json:"cell_flop"`
}

// cells are those that a token with so many before it, itself among them, sees.
func (a attending) cells(context int) uint64 {
	if a.Window > 0 {
		context = min(context, a.Window)
	}
	return uint64(context)
}

func shapeOf(t *testing.T, name string) shape {
	t.Helper()
	s, kind, err := parseSynthetic(name)
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.header(name, kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	arch, err := architectures[s.arch](h, s.vocab)
	if err != nil {
		t.Fatal(err)
	}
	var z shape
	head := h.tensors["output.weight"]
	if head == nil {
		head = h.tensors["token_embd.weight"] // the GPU holds it as the output, whatever the embedding does
	}
	z.Head = 2 * head.Elements()
	z.Held, z.Read, z.Matrix = head.Size(), head.Size(), z.Head
	for name, tensor := range h.tensors {
		if tensor == head || name == "token_embd.weight" { // which the CPU looks up
			continue
		}
		z.Held += tensor.Size()
		if name == "per_layer_token_embd.weight" { // of which a step reads a row for each token
			continue
		}
		z.Read += tensor.Size()
		if len(tensor.Shape) == 2 {
			z.Matrix += 2 * tensor.Elements()
		}
	}
	kept := arch.streams()
	all := kept // the layers that attend: of Gemma 4 also those that keep nothing themselves
	if g, ok := arch.(*gemma4); ok {
		all = nil
		for _, l := range g.Layers {
			all = append(all, streamShape{l.headDim, l.kvHeads, l.window})
		}
	}
	at := map[attending]int{}
	for _, l := range all {
		a := attending{Window: l.window, Bytes: 2 * CacheF16.bytes(l.row()), FLOP: uint64(4 * s.heads * l.headDim)}
		i, ok := at[a]
		if !ok {
			i, at[a] = len(z.Layers), len(z.Layers)
			z.Layers = append(z.Layers, a)
		}
		z.Layers[i].Layers++
	}
	for _, l := range kept {
		if bytes := 2 * CacheF16.bytes(l.row()); l.window == 0 {
			z.Token += bytes
		} else {
			z.Ring += bytes * uint64(onGPU.spanOf(l.window, math.MaxInt32).cells)
		}
	}
	return z
}

// attention is what decoding a token reads of the cache, in bytes, and computes.
func (z shape) attention(context int) (bytes, flop uint64) {
	for _, a := range z.Layers {
		n := uint64(a.Layers) * a.cells(context)
		bytes, flop = bytes+n*a.Bytes, flop+n*a.FLOP
	}
	return bytes, flop
}

// The H200, and what the page reckons with. Memory moves at the vendor's number,
// matrices multiply at four fifths of the vendor's 989e12.
const (
	h200Memory  = 139 << 30
	h200Bytes   = 4.8e12 // a second
	h200FLOP    = 790e12 // a second, bf16
	paperGames  = 28800 / 6.0 / 3600
	pageContext = 1024
	// A game's turns are those of random play, in the mean of the paper's games
	// without the Prisoner's Dilemma; answers and prompts are assumed.
	turnsAGame   = (7.55 + 6.08 + 14.12 + 16.5 + 6.83) / 5
	answerTokens = 200
	promptTokens = 0.3 * 900 // that are left to compute of a turn's prompt
)

var pageModels = []string{"synthetic:qwen3-4b", "synthetic:gemma4-e4b", "synthetic:ministral3-3b"}

// stepTime bounds a decode step of so many games from below: the matrices, which
// are either read or multiplied for longer, then attention, likewise.
func (z shape) stepTime(games int, cache float64) (seconds, read float64) {
	bytes, flop := z.attention(pageContext)
	kv := float64(games) * float64(bytes) * cache
	matrices := max(float64(z.Read)/h200Bytes, float64(games)*float64(z.Matrix)/h200FLOP)
	attention := max(kv/h200Bytes, float64(games)*float64(flop)/h200FLOP)
	return matrices + attention, float64(z.Read) + kv
}

// games bounds the games a second by decoding and by the prompts' matrices, and
// gives the tokens that an answer may have where the aim is to be reached.
func (z shape) games(tokensPerSecond float64) (perSecond, longest float64) {
	prompts := turnsAGame * promptTokens * float64(z.Matrix-z.Head) / h200FLOP
	perSecond = 1 / (turnsAGame*answerTokens/tokensPerSecond + prompts)
	return perSecond, (1/(4*paperGames) - prompts) * tokensPerSecond / turnsAGame
}

// tables are those of the page.
func tables(t *testing.T) (shapes, speeds string) {
	var a, b strings.Builder
	for _, name := range pageModels {
		z := shapeOf(t, name)
		short := strings.TrimPrefix(name, syntheticPrefix)
		bytes, flop := z.attention(pageContext)
		kept := z.Token*pageContext + z.Ring
		fmt.Fprintf(&a, "| %s | %.2f GB | %.2f GB | %.1f MB | %.1f MB | %.2f GFLOP | %.2f GFLOP |\n", short,
			float64(z.Held)/1e9, float64(z.Read)/1e9, float64(kept)/1e6, float64(bytes)/1e6, float64(z.Matrix)/1e9, float64(flop)/1e9)
		for _, games := range []int{64, 256, 1024} {
			for _, cache := range []struct {
				Cache
				share float64
			}{{CacheF16, 1}, {CacheQ8, 34. / 64}} {
				takes := float64(z.Held) + float64(games)*float64(kept)*cache.share
				seconds, read := z.stepTime(games, cache.share)
				written := float64(games) / seconds
				perSecond, longest := z.games(written)
				if takes > h200Memory {
					fmt.Fprintf(&b, "| %s | %d, %s | %.1f GB: no room, %d games at most | | | | | | |\n", short, games, cache.Cache,
						takes/1e9, int((h200Memory-float64(z.Held))/(float64(kept)*cache.share)))
					continue // with the smaller cache
				}
				fmt.Fprintf(&b, "| %s | %d, %s | %.1f GB | %.1f GB | %.2f ms | %.0f | %.0f %% | %.1f | %.0f |\n", short, games, cache.Cache,
					takes/1e9, read/1e9, 1e3*seconds, written, 100*read/seconds/h200Bytes, perSecond, longest)
				break
			}
		}
	}
	return a.String(), b.String()
}

// What bench/PERFORMANCE.md says of H200s on paper, and what the check on a GPU
// box reckons with, is what the shapes give.
func TestRooflinePage(t *testing.T) {
	page, err := os.ReadFile("../bench/PERFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	shapes, speeds := tables(t)
	aims := fmt.Sprintf("%.2f turns a game", turnsAGame)
	for _, want := range []string{shapes, speeds, aims} {
		if !strings.Contains(string(page), want) {
			t.Errorf("bench/PERFORMANCE.md lacks, of the section on H200s:\n%s", want)
		}
	}
	list := map[string]shape{}
	for _, name := range append([]string{"synthetic:qwen3-tiny", "synthetic:gemma4-tiny", "synthetic:mistral3-tiny"}, pageModels...) {
		list[name] = shapeOf(t, name)
	}
	want, err := json.MarshalIndent(list, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	const file = "../bench/gpu/shapes.json"
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != string(want) {
		t.Errorf("%s (%v) is not what the shapes give: go test ./inference -run Roofline -update", file, err)
	}
}

// Numbers worked out by hand from the published shapes.
func TestShapes(t *testing.T) {
	const kib = 1 << 10
	for name, want := range map[string]struct{ token, ring, attention, flop uint64 }{
		// 36 layers of 8 heads of 128 values, keys and values, two bytes each; 32 heads ask
		"synthetic:qwen3-4b": {144 * kib, 0, 1024 * 144 * kib, 1024 * 36 * 4 * 32 * 128},
		// likewise 26 layers
		"synthetic:ministral3-3b": {104 * kib, 0, 1024 * 104 * kib, 1024 * 26 * 4 * 32 * 128},
		// Two heads of 512 values in every sixth layer, of 256 in the others, which see
		// 512 cells. 24 of the 42 layers keep: 4 all, 20 a ring of 768 cells. 7 and 35 attend.
		"synthetic:gemma4-e4b": {4 * 4 * kib, 20 * 768 * 2 * kib, 1024*7*4*kib + 512*35*2*kib, 4 * 8 * (1024*7*512 + 512*35*256)},
	} {
		z := shapeOf(t, name)
		if bytes, flop := z.attention(1024); z.Token != want.token || z.Ring != want.ring || bytes != want.attention || flop != want.flop {
			t.Errorf("%s: %d %d %d %d, want %d", name, z.Token, z.Ring, bytes, flop, want)
		}
		if z.Read < z.Matrix || z.Read-z.Matrix > z.Matrix/1000 {
			t.Errorf("%s: a step reads %d bytes, which should be the two of each of %d weights, and a few vectors", name, z.Read, z.Matrix/2)
		}
	}
	q := shapeOf(t, "synthetic:qwen3-4b")
	hidden, mlp, heads, kv := uint64(2560), uint64(9728), uint64(32*128), uint64(8*128)
	if layer := hidden*(2*heads+2*kv) + 3*hidden*mlp; q.Matrix != 2*(36*layer+151936*hidden) || q.Head != 2*151936*hidden {
		t.Errorf("qwen3-4b multiplies by %d weights, want %d", q.Matrix/2, 36*layer+151936*hidden)
	}
}
