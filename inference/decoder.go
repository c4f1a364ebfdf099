package inference

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ollama/ollama/ml"
	"github.com/ollama/ollama/ml/nn"
)

// What the decoders of several families have in common: sizes, the tensors of a
// plain layer, the gated MLP.

// decoderSizes are the sizes of a decoder whose layers are all alike.
type decoderSizes struct {
	layers                  int
	hidden, mlp, vocab      int
	heads, kvHeads, headDim int
	ropeDim                 int // values of a head that rotary positions turn
	eps, ropeBase           float32
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

// unread are keys that change what a decoder computes and that no family here
// has: a file with one of them is not what it claims to be.
var unread = []string{
	"attention.scale", "attention.clamp_kqv", "attention.max_alibi_bias", "attention.sliding_window",
	"embedding_scale", "residual_scale", "logit_scale", "attn_logit_softcapping", "final_logit_softcapping",
}

// decoder reads the sizes that all families name alike; those of heads are the
// family's own matter.
func (c *keyCheck) decoder(vocab int) decoderSizes {
	z := decoderSizes{
		layers: c.count("block_count"),
		hidden: c.count("embedding_length"), mlp: c.count("feed_forward_length"), vocab: vocab,
		heads: c.count("attention.head_count"),
		eps:   c.float("attention.layer_norm_rms_epsilon"), ropeBase: c.float("rope.freq_base"),
	}
	z.kvHeads = c.countOr("attention.head_count_kv", z.heads)
	if n := c.h.kv.Uint("expert_count"); n > 0 {
		c.keep(fmt.Errorf("%s: a mixture of %d experts is not supported", c.h.path, n))
	}
	for _, key := range unread {
		if c.has(key) {
			c.fail(key, " is not supported for this architecture")
		}
	}
	if c.h.invent == nil && z.layers > len(c.h.tensors) { // before anything is made for each of them
		c.fail("block_count", " names %d layers, but there are %d tensors", z.layers, len(c.h.tensors))
	}
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
	kind, _ = c.h.kv[arch+"rope.scaling.type"].(string)
	if c.has("rope.scaling.type") && !slices.Contains(types, kind) {
		c.fail("rope.scaling.type", ": %q is not supported for this architecture", kind)
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
