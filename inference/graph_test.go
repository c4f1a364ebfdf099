package inference

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/ollama/ollama/ml"
)

// taken is how much of the runtime's room for a graph is taken: by what was made in its
// context, or by the nodes and leaves that it has to place.
func taken(ctx ml.Context) int {
	field := func(name string) unsafe.Pointer { return reflect.ValueOf(ctx).Elem().FieldByName(name).UnsafePointer() }
	// struct ggml_context { size_t; void *; bool; bool; int n_objects; ... }, of which one is the graph
	made := *(*int32)(unsafe.Add(field("ctx"), 20)) - 1
	// struct ggml_cgraph { int size; int n_nodes; int n_leafs; ... }
	graph := (*[3]int32)(field("graph"))
	return int(max(made, graph[1]+graph[2]))
}

// TestGraphs: what fits into a graph by graphSize does, of every architecture and with
// every kind of attention.
func TestGraphs(t *testing.T) {
	for _, name := range []string{"qwen3-tiny", "gemma4-tiny", "mistral3-tiny", "llama-tiny"} {
		for _, cache := range []Cache{CacheF16, CacheQ8} {
			t.Run(name+" "+string(cache), func(t *testing.T) {
				m := openSynthetic(t, name, Options{Slots: 64, Cells: 2048, Tokens: 512, Threads: 1, Cache: cache})
				for _, k := range []int{1, 2, m.streams.most} {
					checkGraphs(t, m, k)
				}
			})
		}
	}
}

// checkGraphs builds graphs with k attentions, or as many as there can be.
func checkGraphs(t *testing.T, m *Model, k int) {
	t.Helper()
	var lone, parts, apart []Row
	for i := range min(k, m.limits.Slots) {
		lone = append(lone, chunk(i, 40, []int32{1}, true))
		parts = append(parts, chunk(i, 0, []int32{1, 2, 3}, i%2 == 0))
		if at := i * (mostIdle + 2); at+2 < m.limits.Slots { // two that an idle slot parts, far from the next two
			apart = append(apart, row(at, 40, []int32{1}, true), row(at+2, 40, []int32{1}, true))
		}
	}
	for _, rows := range [][]Row{lone, parts, apart, {chunk(0, 0, make([]int32, min(k*attentionPart, m.limits.Cells)), true)}} {
		if m.limits.Ring > 0 && len(rows[0].Tokens) > longestPart {
			continue // it is computed part by part
		}
		m.forget()
		g := m.build(m.streams.lay(inBlocks(m.limits, rows), m.padTokens, m.padOutputs, nil), false)
		groups := 0
		for _, sp := range g.layout.spans {
			groups = max(groups, len(sp.groups))
		}
		n, all := taken(g.ctx), g.ctx.MaxGraphNodes()
		if most := m.graphSize(all, groups); n > most || most > all {
			t.Errorf("%d attentions take %d of %d, at most %d were said to be", groups, n, all, most)
		}
		g.ctx.Close()
	}
}

// A step of more attentions than fit into one graph is computed in several, also where
// one row has as many: the runtime would end the process.
func TestManyAttentions(t *testing.T) {
	m := openSynthetic(t, "qwen3-tiny", Options{Slots: 64, Cells: 4096, Tokens: 4096, Threads: 1})
	all := make([]int32, 2800)
	for i := range all {
		all[i] = int32(i % 500)
	}
	var rows []Row
	for slot := range 64 {
		rows = append(rows, chunk(slot, 0, all[:1], true))
	}
	mustLogits(t, m, rows...)
	if parts := m.streams.parts(len(all)); parts != m.streams.most {
		t.Errorf("a row of %d tokens in %d attentions, %d fit", len(all), parts, m.streams.most)
	}
	whole := mustLogits(t, m, chunk(0, 0, all, true))[0]
	mustLogits(t, m, chunk(1, 0, all[:1500], false))
	if cut := mustLogits(t, m, chunk(1, 1500, all[1500:], true))[0]; !slices.Equal(whole, cut) {
		t.Error("one row whose attentions are larger than usual gives other logits than two")
	}
}
