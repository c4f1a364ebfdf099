package inference

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
)

// What the decoders of several families have in common.

// decoder is the frame of Llama's descendants: RMS norms before each layer's two
// halves, attention and a gated MLP, which are added to what comes in. The
// attention is each family's own.
type decoder struct {
	Embedding  *nn.Embedding  `gguf:"token_embd"`
	Layers     []decoderLayer `gguf:"blk"`
	OutputNorm *nn.RMSNorm    `gguf:"output_norm"`
	Output     *nn.Linear     `gguf:"output"` // the runtime gives tied embeddings this name too

	decoderSizes
}

type decoderLayer struct {
	AttentionNorm *nn.RMSNorm `gguf:"attn_norm"`
	MLPNorm       *nn.RMSNorm `gguf:"ffn_norm"`
	MLP           gatedMLP    `gguf:""`
}

// gatedMLP is the second half of a layer: the SiLU of one projection gates
// another.
type gatedMLP struct {
	Gate *nn.Linear `gguf:"ffn_gate"`
	Up   *nn.Linear `gguf:"ffn_up"`
	Down *nn.Linear `gguf:"ffn_down"`
}

// forward maps [hidden, tokens] to [hidden, tokens].
func (m *gatedMLP) forward(ctx ml.Context, x ml.Tensor) ml.Tensor {
	return m.Down.Forward(ctx, m.Gate.Forward(ctx, x).SILU(ctx, m.Up.Forward(ctx, x)))
}

// projections are what attention needs of every family.
type projections struct {
	Query  *nn.Linear `gguf:"attn_q"`
	Key    *nn.Linear `gguf:"attn_k"`
	Value  *nn.Linear `gguf:"attn_v"`
	Output *nn.Linear `gguf:"attn_output"`
}

// heads are the query [headDim, heads, tokens], key and value [headDim, kvHeads,
// tokens] of x [hidden, tokens].
func (p *projections) heads(ctx ml.Context, x ml.Tensor, z *decoderSizes) (q, k, v ml.Tensor) {
	n := x.Dim(1)
	return p.Query.Forward(ctx, x).Reshape(ctx, z.headDim, z.heads, n),
		p.Key.Forward(ctx, x).Reshape(ctx, z.headDim, z.kvHeads, n),
		p.Value.Forward(ctx, x).Reshape(ctx, z.headDim, z.kvHeads, n)
}

func newDecoder(z decoderSizes) decoder {
	return decoder{Layers: make([]decoderLayer, z.layers), decoderSizes: z}
}

// run gives the logits, [vocab, outputs]; attention maps the i-th layer's
// [hidden, tokens] to as many.
func (m *decoder) run(s *step, attention func(i int, x ml.Tensor) ml.Tensor) ml.Tensor {
	h := m.Embedding.Forward(s.ctx, s.tokens)
	for i := range m.Layers {
		l := &m.Layers[i]
		a := attention(i, l.AttentionNorm.Forward(s.ctx, h, m.eps))
		if i == len(m.Layers)-1 {
			a, h = s.onlyOutputs(a), s.onlyOutputs(h)
		}
		h = a.Add(s.ctx, h)
		h = l.MLP.forward(s.ctx, l.MLPNorm.Forward(s.ctx, h, m.eps)).Add(s.ctx, h)
		s.watch(h)
	}
	return m.Output.Forward(s.ctx, m.OutputNorm.Forward(s.ctx, h, m.eps))
}

// decoderSizes are the sizes of a decoder whose layers are all alike.
type decoderSizes struct {
	layers                  int
	hidden, mlp, vocab      int
	heads, kvHeads, headDim int
	ropeDim                 int // values of a head that rotary positions turn
	eps, ropeBase           float32
}

// scale is what scores are multiplied with.
func (z *decoderSizes) scale() float64 { return 1 / math.Sqrt(float64(z.headDim)) }

func (z *decoderSizes) streams() []streamShape {
	return slices.Repeat([]streamShape{{headDim: z.headDim, kvHeads: z.kvHeads}}, z.layers)
}

// check compares the shapes in the file with the sizes it claims: the runtime
// aborts the process where they do not fit.
func (z *decoderSizes) check(c *shapeCheck) {
	q, kv := z.heads*z.headDim, z.kvHeads*z.headDim
	c.want("token_embd.weight", z.hidden, z.vocab)
	c.want("output_norm.weight", z.hidden)
	c.optional("output.weight", z.hidden, z.vocab)
	c.none("rope_factors_long.weight", "rope_factors_short.weight")
	for i := range z.layers {
		p := fmt.Sprintf("blk.%d.", i)
		c.want(p+"attn_norm.weight", z.hidden)
		c.want(p+"attn_q.weight", z.hidden, q)
		c.want(p+"attn_k.weight", z.hidden, kv)
		c.want(p+"attn_v.weight", z.hidden, kv)
		c.want(p+"attn_output.weight", q, z.hidden)
		c.want(p+"ffn_norm.weight", z.hidden)
		c.want(p+"ffn_gate.weight", z.hidden, z.mlp)
		c.want(p+"ffn_up.weight", z.hidden, z.mlp)
		c.want(p+"ffn_down.weight", z.mlp, z.hidden)
		for name, n := range map[string]int{"attn_q": q, "attn_k": kv, "attn_v": kv, "attn_output": z.hidden, "ffn_gate": z.mlp, "ffn_up": z.mlp, "ffn_down": z.hidden} {
			c.optional(p+name+".bias", n)
		}
	}
}

// A keyCheck reads an architecture's keys and keeps the first error.
type keyCheck struct {
	h   *header
	err error
}

func (c *keyCheck) keep(err error) {
	if c.err == nil {
		c.err = err
	}
}

// fail keeps an error about one key.
func (c *keyCheck) fail(key, format string, args ...any) {
	c.keep(fmt.Errorf("%s: key %s.%s"+format, append([]any{c.h.path, c.h.kv.Architecture(), key}, args...)...))
}

// value is the key's, of whatever type; nil where the file lacks it.
func (c *keyCheck) value(key string) any { return c.h.kv[c.h.kv.Architecture()+"."+key] }

func (c *keyCheck) has(key string) bool { return c.value(key) != nil }

func (c *keyCheck) count(key string) int {
	n, err := c.h.count(key)
	c.keep(err)
	return n
}

// countOr is a count that may be left out, but must be one where it is not.
func (c *keyCheck) countOr(key string, otherwise int) int {
	if !c.has(key) {
		return otherwise
	}
	return c.count(key)
}

func (c *keyCheck) float(key string) float32 {
	x, err := c.h.float(key)
	c.keep(err)
	return x
}

// countOrNone is a count that must be given but may be 0.
func (c *keyCheck) countOrNone(key string) int {
	if c.value(key) == uint32(0) {
		return 0
	}
	return c.count(key)
}

// perLayer is a count for each layer, which a file may give once for all.
func (c *keyCheck) perLayer(key string, layers int) []int {
	list := c.h.kv.Uints(key)
	for _, n := range c.h.kv.Ints(key) {
		list = append(list, uint32(max(0, n)))
	}
	if len(list) == 0 {
		return slices.Repeat([]int{c.count(key)}, layers)
	}
	if len(list) != layers {
		c.fail(key, " holds %d numbers for %d layers", len(list), layers)
	}
	counts := make([]int, len(list))
	for i, n := range list {
		if counts[i] = int(n); n < 1 || n > mostOf {
			c.fail(key, " holds %d for layer %d, which is out of range", n, i)
		}
	}
	return counts
}

// same refuses a key that may be left out but says something else.
func (c *keyCheck) same(key string, want int) {
	if n := c.countOr(key, want); n != want {
		c.fail(key, " is %d; this architecture has %d there", n, want)
	}
}

// layers is how many there are.
func (c *keyCheck) layers() int {
	n := c.count("block_count")
	if c.h.invent == nil && n > len(c.h.tensors) { // before anything is made for each of them
		c.fail("block_count", " names %d layers, but there are %d tensors", n, len(c.h.tensors))
		return 0
	}
	return n
}

// unread are keys that change what a decoder computes and that most families
// do not have: a file of theirs with one of them is not what it claims to be.
var unread = []string{
	"attention.scale", "attention.clamp_kqv", "attention.max_alibi_bias", "attention.sliding_window",
	"embedding_scale", "residual_scale", "logit_scale", "attn_logit_softcapping", "final_logit_softcapping",
}

// plain refuses what no family has, and the unread keys but for those it reads.
func (c *keyCheck) plain(read ...string) {
	if n := c.h.kv.Uint("expert_count"); n > 0 {
		c.keep(fmt.Errorf("%s: a mixture of %d experts is not supported", c.h.path, n))
	}
	for _, key := range unread {
		if c.has(key) && !slices.Contains(read, key) {
			c.fail(key, " is not supported for this architecture")
		}
	}
}

// decoder reads the sizes that most families name alike; those of heads are the
// family's own matter.
func (c *keyCheck) decoder(vocab int) decoderSizes {
	z := decoderSizes{
		layers: c.layers(),
		hidden: c.count("embedding_length"), mlp: c.count("feed_forward_length"), vocab: vocab,
		heads: c.count("attention.head_count"),
		eps:   c.float("attention.layer_norm_rms_epsilon"), ropeBase: c.float("rope.freq_base"),
	}
	z.kvHeads = c.countOr("attention.head_count_kv", z.heads)
	c.plain()
	return z
}

// fit refuses sizes of heads that no attention has.
func (c *keyCheck) fit(z decoderSizes) {
	if c.err == nil && (z.heads%z.kvHeads != 0 || z.ropeDim > z.headDim || z.ropeDim%2 != 0) {
		c.err = fmt.Errorf("%s: %d heads, %d key/value heads, head size %d, rope size %d do not fit together", c.h.path, z.heads, z.kvHeads, z.headDim, z.ropeDim)
	}
}

// scaling gives the type of rope scaling and refuses the first key of it, in the
// order of their names, that is not among those the architecture reads. The type
// comes before: it says best what the file wants. Whether the model was trained
// with its scaling changes nothing here.
func (c *keyCheck) scaling(types []string, known ...string) (kind string) {
	arch := c.h.kv.Architecture() + "."
	value := c.value("rope.scaling.type")
	kind, ok := value.(string)
	if value != nil && !(ok && slices.Contains(types, kind)) {
		c.fail("rope.scaling.type", ": %#v is not supported for this architecture", value)
	}
	known = append(known, "rope.scaling.type", "rope.scaling.finetuned")
	for _, name := range slices.Sorted(maps.Keys(c.h.kv)) {
		key, mine := strings.CutPrefix(name, arch)
		if mine && (strings.HasPrefix(key, "rope.scal") || key == "attention.temperature_scale") && !slices.Contains(known, key) {
			c.fail(key, " is not supported for this architecture")
		}
	}
	return kind
}
