package inference

import "testing"

// TestAmong: on CPUs a row has the same bits among others as alone, and if it had
// not that would be seen.
func TestAmong(t *testing.T) {
	for _, name := range []string{"qwen3-tiny", "llama-tiny:q4_1", "mistral3-tiny", "gemma4-tiny"} {
		m := openSynthetic(t, name, Options{Slots: 9, Cells: 128, Threads: 1})
		slots, d, err := m.Among()
		if err != nil || slots != 9 || d != 0 {
			t.Errorf("%s: among %d slots logits differ by %v (%v)", name, slots, d, err)
		}
	}
	m := openSynthetic(t, "qwen3-tiny", Options{Slots: 1, Cells: 8, Threads: 1})
	if slots, d, err := m.Among(); err != nil || slots != 1 || d != 0 {
		t.Errorf("a tiny context: %d slots, %v, %v", slots, d, err)
	}
	// A lone row that is not doubled takes another kernel with these weights.
	m = openSynthetic(t, "llama-tiny:bf16", Options{Slots: 9, Cells: 128, Threads: 1})
	if !m.padTokens {
		t.Skip("this CPU computes lone rows as others")
	}
	m.padTokens, m.padOutputs = false, false
	if _, d, err := m.Among(); err != nil || !(d > 0) {
		t.Errorf("a difference is not seen: %v, %v", d, err)
	}
}
