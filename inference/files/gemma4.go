package files

// describeGemma4 describes the text part of Gemma 4, whose layers are of two
// kinds: those that see a window, and those that see the whole context, with
// sizes of heads and a base of rotary positions of their own.
func describeGemma4(c *config, m *metadata, z *sizes) {
	const arch = "gemma4"
	shared(c, m, z, arch)
	must(c, "hidden_activation", "gelu_pytorch_tanh")
	want(c, "enable_moe_block", false)
	c.has("num_experts") // nothing without the block, and so the others
	c.has("top_k_experts")
	c.has("moe_intermediate_size")
	c.has("expert_intermediate_size")
	if c.has("use_bidirectional_attention") { // among the pieces of an image alone
		must(c, "use_bidirectional_attention", "vision")
	}
	windows := layerKinds(c, z.layers)
	gemma4Layers(c, m, z, windows)
	m.set(arch+".attention.sliding_window", uint32(c.count("sliding_window")))
	m.set(arch+".attention.sliding_window_pattern", windows)
	if c.has("final_logit_softcapping") {
		m.set(arch+".final_logit_softcapping", c.float("final_logit_softcapping"))
	}
	perLayer := c.countOr("hidden_size_per_layer_input", 0)
	z.of["ple"], z.of["every ple"] = perLayer, perLayer*z.layers
	m.set(arch+".embedding_length_per_layer_input", uint32(perLayer))
	if perLayer > 0 {
		must(c, "vocab_size_per_layer_input", z.of["vocab"])
	}
	c.has("vocab_size_per_layer_input")
	gemma4Rope(c, m, z)
}

// layerKinds says which layers see a window only.
func layerKinds(c *config, layers int) []bool {
	var kinds []string
	c.get("layer_types", &kinds)
	if len(kinds) != layers {
		c.fail("layer_types", " has %d entries for %d layers", len(kinds), layers)
	}
	windows := make([]bool, len(kinds))
	for i, k := range kinds {
		windows[i] = k == "sliding_attention"
		if !windows[i] && k != "full_attention" {
			c.fail("layer_types", ": %q is not supported for this architecture", k)
		}
	}
	return windows
}

// gemma4Layers gives each layer its sizes. The last ones, as many as share their
// keys and values with an earlier layer, may have an MLP twice as wide.
func gemma4Layers(c *config, m *metadata, z *sizes, windows []bool) {
	const arch = "gemma4"
	heads, kv, mlp := c.count("num_attention_heads"), c.count("num_key_value_heads"), c.count("intermediate_size")
	dim, wide := c.count("head_dim"), c.count("global_head_dim")
	m.set(arch+".attention.key_length", uint32(wide))
	m.set(arch+".attention.value_length", uint32(wide))
	m.set(arch+".attention.key_length_swa", uint32(dim))
	m.set(arch+".attention.value_length_swa", uint32(dim))
	if !c.has("num_kv_shared_layers") {
		c.fail("num_kv_shared_layers", " is missing")
	}
	borrow := c.countOr("num_kv_shared_layers", 0)
	if borrow >= z.layers {
		c.fail("num_kv_shared_layers", " is %d of %d layers", borrow, z.layers)
	}
	m.set(arch+".attention.shared_kv_layers", uint32(borrow))
	var double, keysAreValues bool
	c.get("use_double_wide_mlp", &double)
	c.get("attention_k_eq_v", &keysAreValues)
	wideKV := kv
	if c.has("num_global_key_value_heads"); keysAreValues {
		wideKV = c.countOr("num_global_key_value_heads", kv)
	}
	mlps, kvs := make([]int32, len(windows)), make([]int32, len(windows))
	for i, window := range windows {
		own := map[string]int{"head": dim, "q": heads * dim, "k": kv * dim, "v": kv * dim, "mlp": mlp}
		kvs[i] = int32(kv)
		if !window {
			own = map[string]int{"head": wide, "q": heads * wide, "k": wideKV * wide, "v": wideKV * wide, "mlp": mlp}
			kvs[i] = int32(wideKV)
			if keysAreValues {
				own["v"] = 0
			}
		}
		if i >= z.layers-borrow {
			own["borrowed"] = 1
			if double {
				own["mlp"] = 2 * mlp
			}
		}
		mlps[i] = int32(own["mlp"])
		z.layer = append(z.layer, own)
	}
	m.set(arch+".feed_forward_length", oneOrAll(mlps))
	m.set(arch+".attention.head_count_kv", oneOrAll(kvs))
}

// oneOrAll is the number that all layers have, or each one's.
func oneOrAll(n []int32) any {
	for i := range n {
		if n[i] != n[0] {
			return n
		}
	}
	if len(n) == 0 {
		return uint32(0)
	}
	return uint32(n[0])
}

// gemma4Rope: in the layers that see the whole context only the fastest turns of
// a head happen. GGUF says so with a factor for each, so large that the others
// stand still.
func gemma4Rope(c *config, m *metadata, z *sizes) {
	const arch = "gemma4"
	dim, wide := c.count("head_dim"), c.count("global_head_dim")
	both := c.object("rope_parameters")
	if both == nil {
		c.fail("rope_parameters", " is missing")
		return
	}
	full, window := both.object("full_attention"), both.object("sliding_attention")
	both.rest()
	if full == nil || window == nil {
		c.fail("rope_parameters", " lacks full_attention or sliding_attention")
		return
	}
	must(window, "rope_type", "default")
	want(window, "partial_rotary_factor", float32(1))
	must(full, "rope_type", "proportional")
	m.set(arch+".rope.freq_base", full.float("rope_theta"))
	m.set(arch+".rope.freq_base_swa", window.float("rope_theta"))
	m.set(arch+".rope.dimension_count", uint32(wide))
	m.set(arch+".rope.dimension_count_swa", uint32(dim))
	part := full.float("partial_rotary_factor")
	if part > 1 {
		full.fail("partial_rotary_factor", " is %g", part)
	}
	want(full, "factor", float32(1))
	full.rest()
	window.rest()
	turning := int(float64(wide) * float64(part) / 2)
	z.freqs = make([]float32, wide/2)
	for i := range z.freqs {
		if z.freqs[i] = 1; i >= turning {
			z.freqs[i] = 1e30
		}
	}
}
