package files

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
)

// A weight is a line of the table of names: a tensor of some families, its name
// in safetensors and in GGUF, and the names of its sizes, in the order of
// safetensors.
type weight struct {
	in       set
	from, to string
	shape    string
	how      how
}

type how uint8

const (
	asIs       how = iota
	pairs          // rows are ordered anew in families that turn neighbours
	borrowed       // may be left out in a layer that borrows keys and values
	head           // only where the output is not the embedding
	ofPerLayer     // only where layers have an input of their own
)

// outerWeights are outside of all layers, layerWeights in each of them. A
// tensor is taken from the first line that fits.
var (
	outerWeights = []weight{
		{all, "model.embed_tokens.weight", "token_embd.weight", "vocab,hidden", asIs},
		{all, "model.norm.weight", "output_norm.weight", "hidden", asIs},
		{all, "lm_head.weight", "output.weight", "vocab,hidden", head},
		{gemma4, "model.embed_tokens_per_layer.weight", "per_layer_token_embd.weight", "vocab,every ple", asIs},
		{gemma4, "model.per_layer_model_projection.weight", "per_layer_model_proj.weight", "every ple,hidden", asIs},
		{gemma4, "model.per_layer_projection_norm.weight", "per_layer_proj_norm.weight", "ple", asIs},
	}
	layerWeights = []weight{
		{all, "input_layernorm.weight", "attn_norm.weight", "hidden", asIs},
		{all, "self_attn.q_proj.weight", "attn_q.weight", "q,hidden", pairs},
		{plain, "self_attn.k_proj.weight", "attn_k.weight", "kv,hidden", pairs},
		{plain, "self_attn.v_proj.weight", "attn_v.weight", "kv,hidden", asIs},
		{gemma4, "self_attn.k_proj.weight", "attn_k.weight", "k,hidden", borrowed},
		{gemma4, "self_attn.v_proj.weight", "attn_v.weight", "v,hidden", borrowed},
		{all, "self_attn.o_proj.weight", "attn_output.weight", "hidden,q", asIs},
		{qwen3 | gemma4, "self_attn.q_norm.weight", "attn_q_norm.weight", "head", asIs},
		{qwen3, "self_attn.k_norm.weight", "attn_k_norm.weight", "head", asIs},
		{gemma4, "self_attn.k_norm.weight", "attn_k_norm.weight", "head", borrowed},
		{plain, "post_attention_layernorm.weight", "ffn_norm.weight", "hidden", asIs},
		{gemma4, "post_attention_layernorm.weight", "post_attention_norm.weight", "hidden", asIs},
		{gemma4, "pre_feedforward_layernorm.weight", "ffn_norm.weight", "hidden", asIs},
		{gemma4, "post_feedforward_layernorm.weight", "post_ffw_norm.weight", "hidden", asIs},
		{all, "mlp.gate_proj.weight", "ffn_gate.weight", "mlp,hidden", asIs},
		{all, "mlp.up_proj.weight", "ffn_up.weight", "mlp,hidden", asIs},
		{all, "mlp.down_proj.weight", "ffn_down.weight", "hidden,mlp", asIs},
		{gemma4, "per_layer_input_gate.weight", "inp_gate.weight", "ple,hidden", asIs},
		{gemma4, "per_layer_projection.weight", "proj.weight", "hidden,ple", asIs},
		{gemma4, "post_per_layer_input_norm.weight", "post_norm.weight", "hidden", ofPerLayer},
		{gemma4, "layer_scalar", "layer_output_scale.weight", "one", asIs},
	}
)

// weightsOf matches the folder's tensors with those that the model has. What it
// has and the folder lacks is refused, and so is what the folder has and the
// model does not.
func weightsOf(dir string, slabs map[string]slab, fam family, z *sizes) ([]output, error) {
	if z.layers > len(slabs) { // before anything is made for each of them
		return nil, fmt.Errorf("%s: config.json names %d layers, but there are %d tensors", dir, z.layers, len(slabs))
	}
	p := &picker{dir: dir, slabs: slabs, fam: fam, sizes: z, used: map[string]bool{}}
	for _, w := range outerWeights {
		p.pick(w, -1)
	}
	for i := range z.layers {
		for _, w := range layerWeights {
			p.pick(w, i)
		}
	}
	if z.freqs != nil {
		p.out = append(p.out, output{
			Tensor{Name: "rope_freqs.weight", Shape: []uint64{uint64(len(z.freqs))}, Kind: kindF32},
			func(w io.Writer) error { return binary.Write(w, binary.LittleEndian, z.freqs) },
		})
	}
	if p.err != nil {
		return nil, p.err
	}
	for _, name := range slices.Sorted(maps.Keys(slabs)) {
		if !p.used[name] && !p.known(name) {
			return nil, fmt.Errorf("%s: tensor %q is not known here: a model with it computes something else", slabs[name].file, slabs[name].name)
		}
	}
	return p.out, nil
}

// A picker collects the tensors to be written, and keeps the first error.
type picker struct {
	dir   string
	slabs map[string]slab
	fam   family
	sizes *sizes
	used  map[string]bool
	out   []output
	err   error
}

// known says whether a tensor is left out on purpose: it belongs to another
// part of the model, repeats the embedding, or can be computed.
func (p *picker) known(name string) bool {
	return slices.ContainsFunc(p.fam.leaveOut, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) ||
		p.sizes.tied && name == "lm_head.weight" || strings.HasSuffix(name, ".self_attn.rotary_emb.inv_freq")
}

func (p *picker) pick(w weight, layer int) {
	switch {
	case p.err != nil || w.in&p.fam.set == 0, w.how == head && p.sizes.tied, w.how == ofPerLayer && p.sizes.of["ple"] == 0:
		return
	}
	from, to := w.from, w.to
	if layer >= 0 {
		from, to = fmt.Sprintf("model.layers.%d.%s", layer, from), fmt.Sprintf("blk.%d.%s", layer, to)
	}
	var shape []uint64
	for name := range strings.SplitSeq(w.shape, ",") {
		n := p.sizes.get(name, layer)
		if n == 0 {
			return
		}
		shape = append(shape, uint64(n))
	}
	s, ok := p.slabs[from]
	switch {
	case !ok && w.how == borrowed && p.sizes.get("borrowed", layer) == 1:
		return
	case !ok:
		p.err = fmt.Errorf("%s: tensor %q is missing", p.dir, from)
		return
	case !slices.Equal(s.shape, shape):
		p.err = fmt.Errorf("%s: tensor %q has shape %v; config.json asks for %v", s.file, s.name, s.shape, shape)
		return
	}
	kind, ok := dtypes[s.dtype]
	if !ok {
		p.err = fmt.Errorf("%s: tensor %q has type %s; BF16, F16 and F32 are supported", s.file, s.name, s.dtype)
		return
	}
	p.used[from] = true
	t := Tensor{Name: to, Kind: uint32(kind), Shape: slices.Clone(shape)}
	slices.Reverse(t.Shape)
	switch {
	case len(shape) == 1:
		t.Kind = kindF32
		p.out = append(p.out, output{t, s.writeF32})
	case w.how == pairs && p.fam.set&turned != 0:
		dim := uint64(p.sizes.get("head", layer))
		p.out = append(p.out, output{t, func(w io.Writer) error { return s.writePairs(w, dim) }})
	default:
		p.out = append(p.out, output{t, s.writeAll})
	}
}

func (s slab) writeAll(w io.Writer) error {
	f, err := os.Open(s.file)
	if err != nil {
		return err
	}
	defer f.Close()
	return copyBytes(w, f, s.at, s.size)
}

// data reads a part of the tensor's bytes.
func (s slab) data(at, size uint64) ([]byte, error) {
	f, err := os.Open(s.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, int64(s.at+at)); err != nil {
		return nil, fmt.Errorf("%s: tensor %q: %w", s.file, s.name, err)
	}
	return b, nil
}

// writePairs writes the rows of a query or key matrix in the order for rotary
// positions that turn neighbours: the safetensors have them turn value i of a
// head with value i+dim/2.
func (s slab) writePairs(w io.Writer, dim uint64) error {
	row := s.size / s.shape[0]
	for first := uint64(0); first < s.shape[0]; first += dim {
		b, err := s.data(first*row, dim*row)
		if err != nil {
			return err
		}
		for i := range dim / 2 {
			for _, r := range []uint64{i, i + dim/2} {
				if _, err := w.Write(b[r*row : (r+1)*row]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// writeF32 writes a vector in F32, which is exact.
func (s slab) writeF32(w io.Writer) error {
	b, err := s.data(0, s.size)
	if err != nil {
		return err
	}
	if s.dtype == "F32" {
		_, err := w.Write(b)
		return err
	}
	wide := func(x uint16) float32 { return math.Float32frombits(uint32(x) << 16) }
	if s.dtype == "F16" {
		wide = halfToFloat
	}
	values := make([]float32, len(b)/2)
	for i := range values {
		values[i] = wide(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return binary.Write(w, binary.LittleEndian, values)
}

// halfToFloat widens an F16.
func halfToFloat(x uint16) float32 {
	sign, exponent, fraction := uint32(x>>15)<<31, uint32(x>>10&0x1f), uint32(x&0x3ff)
	switch exponent {
	case 0: // zero, or too small for a leading one
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(v))
	case 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
