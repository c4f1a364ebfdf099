package inference

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the benchmark measures, by default with the small model.
var (
	modelFile  = flag.String("model", "", "GGUF file")
	sequences  = flag.String("sequences", "1,64", "numbers of sequences")
	promptLen  = flag.Int("prompt", 256, "tokens of each sequence's prompt, at most 512")
	generation = flag.Int("generate", 32, "tokens decoded in each sequence")
)

// benchChunk is how many tokens of prompts are computed in a step.
const benchChunk = 512

// BenchmarkDecode is what llama-batched-bench measures: prompts, and after them
// the same number of tokens for every sequence. It reports tokens per second of
// the two phases; bench/decode_ratio.sh sets it against its peer.
func BenchmarkDecode(b *testing.B) {
	for _, weights := range []Weights{WeightsFile, WeightsBF16} {
		for n := range strings.SplitSeq(*sequences, ",") {
			slots, err := strconv.Atoi(n)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/slots=%d", weights, slots), func(b *testing.B) {
				path := *modelFile
				if path == "" {
					path = modelPath(b)
				}
				m, err := Open(path, Options{Slots: slots, Cells: *promptLen + *generation, Tokens: benchChunk, Weights: weights})
				if err != nil {
					b.Fatal(err)
				}
				defer m.Close()
				runtime.LockOSThread() // as whoever drives an engine does
				defer runtime.UnlockOSThread()
				prefillSlots(b, m, 1, 16) // warms up, as its peer does
				var prefill, decode time.Duration
				for range b.N {
					start := time.Now()
					prefillSlots(b, m, slots, *promptLen)
					prefill += time.Since(start)
					start = time.Now()
					decodeSlots(b, m, slots, *promptLen, *generation)
					decode += time.Since(start)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(b.N*slots**promptLen)/prefill.Seconds(), "prefill-tok/s")
				b.ReportMetric(float64(b.N*slots**generation)/decode.Seconds(), "decode-tok/s")
			})
		}
	}
}

// prefillSlots computes n tokens in every slot, as many slots a step as fit.
func prefillSlots(b *testing.B, m *Model, slots, n int) {
	for from := 0; from < slots; from += benchChunk / n {
		var batch Batch
		for slot := from; slot < min(from+benchChunk/n, slots); slot++ {
			tokens := make([]int32, n)
			for i := range tokens {
				tokens[i] = int32((slot*31+i)%20000 + 100)
			}
			batch.Rows = append(batch.Rows, Row{Slot: slot, Block: m.limits.block(slot), Tokens: tokens, Sample: true})
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
			batch.Rows[slot] = Row{Slot: slot, Block: m.limits.block(slot), Pos: from + i, Tokens: []int32{token}, Decode: true, Sample: true, Draw: 0.5}
		}
		if err := m.Forward(&batch); err != nil {
			b.Fatal(err)
		}
	}
}
