package inference

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml"
)

// tinyWindow is how far the tiny Gemmas' sliding layers look back.
const tinyWindow = 16

// tinySlides are the layers of the tiny Gemmas that look back over a window.
var tinySlides = []bool{true, false, true, true, false, true, false, true}

// newGemma4Family is a tiny Gemma 4 of eight layers. The small kind is like E2B:
// embeddings of the layers' own, the last three layers without keys and values
// and with an MLP twice as wide. The other is like the largest dense Gemma 4:
// nothing of this, values that are the keys in layers that look back over
// everything, and more key/value heads in the others.
func newGemma4Family(kind fsggml.TensorType, small bool) *tinyModel {
	const layers, hidden, mlp, heads = 8, 64, 96, 4
	perLayer, shared, kvHeads := uint64(32), 3, any(uint32(1))
	if !small {
		perLayer, shared, kvHeads = 0, 0, []int32{2, 1, 2, 2, 1, 2, 1, 2}
	}
	widths := slices.Repeat([]int32{mlp}, layers)
	for i := layers - shared; i < layers; i++ {
		widths[i] *= 2
	}
	m := &tinyModel{kv: synthetic{
		arch: "gemma4", layers: layers, hidden: hidden, heads: heads, headDim: 64, context: 1024, eps: 1e-6, ropeBase: 1e6,
		own: fsggml.KV{
			"embedding_length_per_layer_input": uint32(perLayer), "feed_forward_length": widths, "final_logit_softcapping": float32(15),
			"attention.head_count_kv": kvHeads, "attention.key_length_swa": uint32(32), "attention.value_length_swa": uint32(32),
			"attention.sliding_window": uint32(tinyWindow), "attention.sliding_window_pattern": tinySlides, "attention.shared_kv_layers": uint32(shared),
			"rope.freq_base_swa": float32(1e4), "rope.dimension_count_swa": uint32(32),
		},
	}.keys()}
	maps.Copy(m.kv, madeUpVocab(tinyVocab))
	rng := rand.New(rand.NewPCG(7, 8))
	add := func(name string, shape ...uint64) {
		if len(shape) == 1 {
			m.add(rng, fsggml.TensorTypeF32, name+".weight", shape...)
		} else {
			m.add(rng, kind, name+".weight", shape...)
		}
	}
	add("token_embd", hidden, tinyVocab)
	add("output_norm", hidden)
	if small {
		add("per_layer_token_embd", perLayer*layers, tinyVocab)
		add("per_layer_model_proj", hidden, perLayer*layers)
		add("per_layer_proj_norm", perLayer)
	}
	factors := slices.Repeat([]float32{1}, 8) // a quarter of 32 pairs turns
	m.addFloats("rope_freqs.weight", append(factors, slices.Repeat([]float32{1e30}, 24)...))
	for i, slide := range tinySlides {
		p := "blk." + strconv.Itoa(i) + "."
		headDim, kvRow, width := uint64(64), uint64(64), uint64(widths[i])
		if slide && small {
			headDim, kvRow = 32, 32
		} else if slide {
			headDim = 32
		}
		for _, norm := range []string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"} {
			add(p+norm, hidden)
		}
		add(p+"attn_q", hidden, heads*headDim)
		// Scores are not divided by anything, and so this norm keeps them small.
		norm := make([]float32, headDim)
		for j := range norm {
			norm[j] = float32(1+rng.NormFloat64()/8) / 4
		}
		m.addFloats(p+"attn_q_norm.weight", norm)
		if i < layers-shared {
			add(p+"attn_k", hidden, kvRow)
			add(p+"attn_k_norm", headDim)
			if small || slide {
				add(p+"attn_v", hidden, kvRow)
			}
		}
		add(p+"attn_output", heads*headDim, hidden)
		add(p+"ffn_gate", hidden, width)
		add(p+"ffn_up", hidden, width)
		add(p+"ffn_down", width, hidden)
		add(p+"layer_output_scale", 1)
		if small {
			add(p+"inp_gate", hidden, perLayer)
			add(p+"proj", perLayer, hidden)
			add(p+"post_norm", hidden)
		}
	}
	return m
}

// narrow takes one from a model's sliding window for ollama's cache, which shows
// a token so many others and itself. A window of llama.cpp and of Hugging Face's
// library counts the token itself, and so does ours.
func narrow(m *tinyModel) {
	if m.kv["gemma4.attention.sliding_window"] != nil {
		m.kv["gemma4.attention.sliding_window"] = uint32(tinyWindow - 1)
	}
}

// TestWindowAgainstOllama: prompts that are far longer than the window, and than
// the ring of cells that holds it.
func TestWindowAgainstOllama(t *testing.T) {
	p := randomPrompts(600)
	a, b, c := p[0], p[1], p[2]
	script := []ollamaStep{
		{what: "a row longer than a part", rows: []Row{row(0, 0, a[:500], true), row(1, 0, b[:30], true)}},
		{what: "decode with a ring that came round", rows: []Row{row(0, 500, a[500:501], true), row(1, 30, b[30:31], true)}},
		{what: "chunks over the ring's end", rows: []Row{row(1, 31, b[31:290], true), row(2, 0, c[:250], true), row(0, 501, a[501:560], true)}},
		{what: "decode", rows: []Row{row(0, 560, a[560:561], true), row(1, 290, b[290:291], true), row(2, 250, c[250:251], true)}},
		{what: "a copy of a ring that came round", copy: [3]int{2, 0, 561}, rows: []Row{row(2, 561, c[561:590], true), row(0, 561, a[561:562], true)}},
		{what: "a chunk behind the first end", rows: []Row{row(1, 291, b[291:300], true)}},
	}
	ours, theirs := newGemma4Family(fsggml.TensorTypeF32, true), newGemma4Family(fsggml.TensorTypeF32, true)
	narrow(theirs)
	// Their cache and our ring have cells in different orders, which differ in the
	// last bits of a sum. The runtime's GELU rounds to 10 bits, and so they grow
	// over the layers: 0.0003 when this was written. A window of one more or less
	// makes hundreds of times that.
	ollamaCheck{ours.write(t), theirs.write(t), 1024, ml.DTypeF32, 0.002}.run(t, script)
}

// changed is a tiny Gemma 4 with other keys; a nil one is left out.
func changed(kv fsggml.KV, small bool) *tinyModel {
	m := newGemma4Family(fsggml.TensorTypeF32, small)
	for key, value := range kv {
		if m.kv["gemma4."+key] = value; value == nil {
			delete(m.kv, "gemma4."+key)
		}
	}
	return m
}

// TestGemma4Keys: converters' ways to say the same give the same logits, and
// each number has a part in them.
func TestGemma4Keys(t *testing.T) {
	prompt := randomPrompts(60)[0]
	want := lastLogits(t, changed(nil, false), prompt)
	for _, same := range []fsggml.KV{
		{"rope.freq_base_swa": nil, "rope.local.freq_base": float32(1e4)},
		{"attention.head_count_kv": uint32(2), "attention.global_head_count_kv": uint32(1)},
		{"attention.head_count_kv": []uint32{2, 1, 2, 2, 1, 2, 1, 2}},
		{"rope.dimension_count_swa": nil, "attention.value_length": nil},
		{"feed_forward_length": uint32(96)},
	} {
		if got := lastLogits(t, changed(same, false), prompt); !slices.Equal(got, want) {
			t.Errorf("%v: logits differ by up to %g", same, farthest(got, want))
		}
	}
	for _, other := range []fsggml.KV{
		{"rope.freq_base_swa": float32(2e4)}, {"rope.freq_base": float32(2e6)}, {"rope.dimension_count_swa": uint32(16)},
		{"attention.sliding_window": uint32(tinyWindow + 1)}, {"final_logit_softcapping": float32(16)}, {"final_logit_softcapping": nil},
		{"attention.layer_norm_rms_epsilon": float32(1e-3)},
	} {
		if slices.Equal(lastLogits(t, changed(other, false), prompt), want) {
			t.Errorf("%v changes no logits", other)
		}
	}
}

func TestBrokenGemma4(t *testing.T) {
	for _, test := range []struct {
		kv   fsggml.KV
		want string
	}{
		{fsggml.KV{"attention.sliding_window": nil}, "key gemma4.attention.sliding_window is missing"},
		{fsggml.KV{"attention.sliding_window_pattern": nil}, "sliding_window_pattern holds 0 truth values for 8 layers"},
		{fsggml.KV{"attention.sliding_window_pattern": []bool{true, false}}, "sliding_window_pattern holds 2 truth values for 8 layers"},
		{fsggml.KV{"attention.sliding_window_pattern": slices.Repeat([]bool{true}, 8)}, "blk.1.attn_q.weight has shape [64 256]"},
		{fsggml.KV{"attention.shared_kv_layers": nil}, "key gemma4.attention.shared_kv_layers is missing"},
		{fsggml.KV{"attention.shared_kv_layers": uint32(8)}, "key gemma4.attention.shared_kv_layers leaves none of 8 layers"},
		{fsggml.KV{"attention.shared_kv_layers": uint32(7)}, "key gemma4.attention.shared_kv_layers: no layer keeps keys and values for layer 1"},
		{fsggml.KV{"attention.shared_kv_layers": uint32(2)}, "tensor blk.5.attn_k.weight is missing"},
		{fsggml.KV{"attention.head_count_kv": []int32{1, 1}}, "key gemma4.attention.head_count_kv holds 2 numbers for 8 layers"},
		{fsggml.KV{"attention.head_count_kv": []int32{1, 1, 1, 1, 1, -2, 1, 1}}, "key gemma4.attention.head_count_kv holds 0 for layer 5"},
		{fsggml.KV{"attention.head_count_kv": []int32{1, 1, 1, 1, 1, 2, 1, 1}}, "layer 5 has 2 and attends over layer 3, which has 1"},
		{fsggml.KV{"attention.head_count_kv": []int32{3, 1, 1, 1, 1, 1, 1, 1}}, "4 heads, 3 key/value heads"},
		{fsggml.KV{"attention.value_length": uint32(32)}, "key gemma4.attention.value_length is 32; this architecture has 64 there"},
		{fsggml.KV{"rope.freq_base_swa": nil}, "key gemma4.rope.freq_base_swa is missing"},
		{fsggml.KV{"rope.local.freq_base": float32(5e4)}, "key gemma4.rope.local.freq_base is 50000, but key gemma4.rope.freq_base_swa is 10000"},
		{fsggml.KV{"rope.freq_base": nil}, "key gemma4.rope.freq_base is missing"},
		{fsggml.KV{"rope.dimension_count": nil}, "key gemma4.rope.dimension_count is missing"},
		{fsggml.KV{"rope.dimension_count": uint32(16)}, "rope_freqs.weight has shape [32]; the metadata asks for [8]"},
		{fsggml.KV{"rope.scaling.type": "yarn"}, `key gemma4.rope.scaling.type: "yarn" is not supported`},
		{fsggml.KV{"embedding_length_per_layer_input": nil}, "key gemma4.embedding_length_per_layer_input is missing"},
		{fsggml.KV{"embedding_length_per_layer_input": uint32(64)}, "per_layer_token_embd.weight has shape [256 261]"},
		{fsggml.KV{"feed_forward_length": uint32(96)}, "blk.5.ffn_gate.weight has shape [64 192]"},
		{fsggml.KV{"final_logit_softcapping": float32(-1)}, "key gemma4.final_logit_softcapping is missing or not positive"},
		{fsggml.KV{"attn_logit_softcapping": float32(50)}, "key gemma4.attn_logit_softcapping is not supported"},
		{fsggml.KV{"expert_count": uint32(8)}, "a mixture of 8 experts"},
		{fsggml.KV{"block_count": uint32(1 << 20)}, "key gemma4.block_count names 1048576 layers"},
	} {
		checkBroken(t, test.want, changed(test.kv, true).write(t), test.want)
	}
}

// TestWindowCache: the layers that look back over a window keep a ring, and the
// layers without keys and values nothing.
func TestWindowCache(t *testing.T) {
	m, err := Open(newGemma4Family(fsggml.TensorTypeF32, true).write(t), Options{Slots: 2, Cells: 1024, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const ring = 288 // (16 + 256 - 1), to whole blocks of 32
	if l := m.Limits(); l.Window != tinyWindow || l.Ring != ring {
		t.Errorf("limits %+v", l)
	}
	const value = 2 * 2 // bytes, in keys and values
	// Two slots' pool, and rings for four: the live games' other seats have some.
	if want := uint64(value * (4*3*32*ring + 2*2*64*1024)); m.Plan.Cache != want {
		t.Errorf("the plan has %d bytes of cache, want %d", m.Plan.Cache, want)
	}
}

// TestLostWindow: what has left a slot's rings is an error, not another
// beginning's text.
func TestLostWindow(t *testing.T) {
	m, err := Open(newGemma4Family(fsggml.TensorTypeF32, true).write(t), Options{Slots: 3, Cells: 1024, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p := randomPrompts(600)
	forward := func(r Row) error { _, err := m.Logits(&Batch{Rows: inBlocks(m.limits, []Row{r})}); return err }
	mustLogits(t, m, row(0, 0, p[0][:500], false)) // the rings hold the positions from 212 on
	if err := forward(row(0, 226, p[0][:1], true)); err == nil || !strings.Contains(err.Error(), "goes on at position 226, but slot 0 holds the positions from 212 on") {
		t.Error("going back too far:", err)
	}
	if err := copied(m, 1, 0, 226); err == nil || !strings.Contains(err.Error(), "copying 226 positions of slot 0, which holds those from 212 on") {
		t.Error("copying what is lost:", err)
	}
	// The first position to go on at again, and to copy up to.
	want := mustLogits(t, m, row(2, 0, p[0][:228], true))[0]
	if err := copied(m, 1, 0, 227); err != nil {
		t.Fatal(err)
	}
	for _, slot := range []int{0, 1} {
		if got := mustLogits(t, m, chunk(slot, 227, p[0][227:228], true))[0]; !slices.Equal(got, want) {
			t.Errorf("slot %d goes on at 227 with logits that differ by up to %g", slot, farthest(got, want))
		}
	}
	if err := forward(row(0, 20, p[0][:1], true)); err == nil {
		t.Error("what was lost is lost also after the slot went back")
	}
	// A copy over the ring's end.
	want = mustLogits(t, m, row(2, 0, p[2][:301], true))[0]
	if err := copied(m, 1, 2, 300); err != nil {
		t.Fatal(err)
	}
	if got := mustLogits(t, m, chunk(1, 300, p[2][300:301], true))[0]; !slices.Equal(got, want) {
		t.Errorf("a copy goes on at 300 with logits that differ by up to %g", farthest(got, want))
	}
	// A slot that begins anew holds everything again.
	mustLogits(t, m, row(0, 0, p[1][:100], false))
	want = mustLogits(t, m, row(2, 0, p[1][:21], true))[0]
	if got := mustLogits(t, m, chunk(0, 20, p[1][20:21], true))[0]; !slices.Equal(got, want) {
		t.Errorf("after a new beginning the logits differ by up to %g", farthest(got, want))
	}
}

// TestWindowBatches: beyond the window and the ring too a row's logits have the
// same bits alone and in any batch, in slots of any size.
func TestWindowBatches(t *testing.T) {
	p := randomPrompts(700)
	prompts := [][]int32{p[0][:650], p[1][:300], p[2][:20], p[3][:280]}
	var want []float32
	for _, cells := range []int{700, 1024} {
		m, err := Open(newGemma4Family(fsggml.TensorTypeQ4_1, true).write(t), Options{Slots: 6, Cells: cells, Threads: 1, Weights: WeightsBF16})
		if err != nil {
			t.Fatal(err)
		}
		checkBatchIndependence(t, m, prompts, 2, 300)
		got := mustLogits(t, m, row(3, 0, p[0], true))[0]
		if want != nil && !slices.Equal(got, want) {
			t.Errorf("in slots of %d tokens the logits differ by up to %g", cells, farthest(got, want))
		}
		want = got
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
