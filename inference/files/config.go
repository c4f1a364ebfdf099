package files

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A config is an object of a config.json. It keeps the first error, and which
// fields were asked for: one that nobody asks for might change what the model
// computes, and is refused by name.
type config struct {
	where  string // the file, and the object in it
	fields map[string]json.RawMessage
	read   map[string]bool
	err    *error // one for the whole file
}

// readConfig reads a file that holds one JSON object.
func readConfig(path string) (*config, error) {
	b, err := Read(path, mostText)
	if err != nil {
		return nil, err
	}
	c := &config{where: path + ":", fields: map[string]json.RawMessage{}, read: map[string]bool{}, err: new(error)}
	err = eachField(b, func(name string, value json.RawMessage) error {
		c.fields[name] = value
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// fail keeps an error about one field.
func (c *config) fail(name, format string, args ...any) {
	if *c.err == nil {
		*c.err = fmt.Errorf("%s field %s"+format, append([]any{c.where, name}, args...)...)
	}
}

// has says whether a field is there and not null.
func (c *config) has(name string) bool {
	c.read[name] = true
	v, ok := c.fields[name]
	return ok && string(v) != "null"
}

// get reads a field into a pointer; false where there is none.
func (c *config) get(name string, into any) bool {
	if !c.has(name) {
		return false
	}
	if err := json.Unmarshal(c.fields[name], into); err != nil {
		c.fail(name, " is %s: %s", short(c.fields[name]), strings.TrimPrefix(err.Error(), "json: "))
		return false
	}
	return true
}

// short cuts what might be long.
func short(v json.RawMessage) string {
	if len(v) > 80 {
		return string(v[:80]) + "..."
	}
	return string(v)
}

// object is a field that is an object, nil where there is none.
func (c *config) object(name string) *config {
	fields := map[string]json.RawMessage{}
	if !c.get(name, &fields) {
		return nil
	}
	return &config{where: c.where + " " + name + ":", fields: fields, read: map[string]bool{}, err: c.err}
}

// count is a required whole number, at least 1.
func (c *config) count(name string) int {
	n := c.countOr(name, 0)
	if n == 0 {
		c.fail(name, " is missing")
	}
	return max(n, 1)
}

// countOr is a whole number, at least 0, that may be left out.
func (c *config) countOr(name string, otherwise int) int {
	var n int
	if !c.get(name, &n) {
		return otherwise
	}
	if n < 0 || n > 1<<24 { // far beyond any model, and products of two fit
		c.fail(name, " is %d", n)
		return otherwise
	}
	return n
}

// float is a required number above 0.
func (c *config) float(name string) float32 {
	var x float32
	if !c.has(name) {
		c.fail(name, " is missing")
	} else if c.get(name, &x) && !(x > 0 && !math.IsInf(float64(x), 0)) {
		c.fail(name, " is %g", x)
	}
	return x
}

// text is a string, "" where there is none.
func (c *config) text(name string) (s string) {
	c.get(name, &s)
	return s
}

// want refuses every value of a field but one. Where the field is left out, the
// model has that one too.
func want[T comparable](c *config, name string, only T) {
	var v T
	if c.get(name, &v) && v != only {
		c.fail(name, " is %v; only %v is supported", v, only)
	}
}

// must is want for a field that may not be left out.
func must[T comparable](c *config, name string, only T) {
	if !c.has(name) {
		c.fail(name, " is missing")
	}
	want(c, name, only)
}

// rest refuses the fields that were not read, but for some.
func (c *config) rest(harmless ...string) {
	for _, name := range slices.Sorted(maps.Keys(c.fields)) {
		switch {
		case c.read[name] || string(c.fields[name]) == "null" || strings.HasPrefix(name, "_"):
		case slices.Contains(harmless, name) || slices.Contains(noLogits, name):
		default:
			c.fail(name, " (%s) is not known here and might change what the model computes: if you know that it does not, remove it", short(c.fields[name]))
		}
	}
}

// noLogits are fields of any config.json that do not change what the model
// computes for a prompt: how it was trained, how it is loaded, how text is
// drawn from it.
var noLogits = []string{
	"architectures", "model_type", "transformers_version", "torch_dtype", "dtype", "use_cache", "tokenizer_class",
	"bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id",
	"attention_dropout", "hidden_dropout", "embd_pdrop", "initializer_range", "initializer_factor", "router_aux_loss_coef",
	"output_attentions", "output_hidden_states", "output_router_logits", "output_scores", "return_dict", "return_dict_in_generate", "torchscript", "use_bfloat16",
	"id2label", "label2id", "problem_type", "finetuning_task", "task_specific_params", "prefix", "pruned_heads", "tf_legacy_loss",
	"is_decoder", "is_encoder_decoder", "add_cross_attention", "cross_attention_hidden_size", "tie_encoder_decoder", "chunk_size_feed_forward",
	"do_sample", "early_stopping", "temperature", "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty", "diversity_penalty",
	"max_length", "min_length", "num_beams", "num_beam_groups", "num_return_sequences", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
	"bad_words_ids", "suppress_tokens", "begin_suppress_tokens", "exponential_decay_length_penalty", "remove_invalid_values",
	"auto_map", "unsloth_fixed", "unsloth_version", "transformers.js_config",
}
