package inference

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"
)

var modelFile = flag.String("model", "", "GGUF file for the benchmarks (default: the small model)")

// BenchmarkDecode is what llama-batched-bench measures with -npp 256 -ntg 32:
// after prompts of 256 tokens, 32 tokens for every sequence. It reports tokens
// per second of the two phases; bench/decode_ratio.sh sets it against its peer.
func BenchmarkDecode(b *testing.B) {
	const prompt, generated = 256, 32
	for _, weights := range []Weights{WeightsFile, WeightsBF16} {
		for _, slots := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/slots=%d", weights, slots), func(b *testing.B) {
				path := *modelFile
				if path == "" {
					path = modelPath(b)
				}
				m, err := Open(path, Options{Slots: slots, Cells: prompt + generated, Tokens: 2 * prompt, Weights: weights})
				if err != nil {
					b.Fatal(err)
				}
				defer m.Close()
				runtime.LockOSThread() // as whoever drives an engine does
				defer runtime.UnlockOSThread()
				var prefill, decode time.Duration
				for range b.N {
					start := time.Now()
					prefillSlots(b, m, slots, prompt)
					prefill += time.Since(start)
					start = time.Now()
					decodeSlots(b, m, slots, prompt, generated)
					decode += time.Since(start)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(b.N*slots*prompt)/prefill.Seconds(), "prefill-tok/s")
				b.ReportMetric(float64(b.N*slots*generated)/decode.Seconds(), "decode-tok/s")
			})
		}
	}
}

// prefillSlots computes n tokens in every slot, two slots a step.
func prefillSlots(b *testing.B, m *Model, slots, n int) {
	for from := 0; from < slots; from += 2 {
		var batch Batch
		for slot := from; slot < min(from+2, slots); slot++ {
			tokens := make([]int32, n)
			for i := range tokens {
				tokens[i] = int32((slot*31+i)%20000 + 100)
			}
			batch.Rows = append(batch.Rows, Row{Slot: slot, Tokens: tokens, Sample: true})
		}
		if err := m.Forward(&batch); err != nil {
			b.Fatal(err)
		}
	}
}

// decodeSlots has every slot sample n tokens, one a step.
func decodeSlots(b *testing.B, m *Model, slots, from, n int) {
	batch := Batch{Rows: make([]Row, slots)}
	for i := range n {
		for slot := range batch.Rows {
			token := batch.Rows[slot].Token
			batch.Rows[slot] = Row{Slot: slot, Pos: from + i, Tokens: []int32{token}, Sample: true, Draw: 0.5}
		}
		if err := m.Forward(&batch); err != nil {
			b.Fatal(err)
		}
	}
}
