package bench

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// curve makes points of writing with 1, 2, 4, ... slots, at these rates.
func curve(rates ...float64) []Point {
	var points []Point
	for i, r := range rates {
		points = append(points, Point{Weights: "file", Threads: 2, Slots: 1 << i, Rates: []float64{r, r, r}})
	}
	return points
}

// chunks makes points of reading with 512, 256, 128 and 64 tokens a step.
func chunks(rates ...float64) []Point {
	var points []Point
	for i, r := range rates {
		points = append(points, Point{Weights: "file", Threads: 2, Chunk: 512 >> i, Rates: []float64{r, r, r}})
	}
	return points
}

func with(points []Point, weights string, threads int) []Point {
	points = slices.Clone(points)
	for i := range points {
		points[i].Weights, points[i].Threads = weights, threads
	}
	return points
}

func TestPlateau(t *testing.T) {
	flat := chunks(300, 300, 300, 300)
	wild := curve(50, 90, 100, 101, 102)
	wild[0].Rates = []float64{50, 900, 50, 48, 51} // one repetition as fast as never again
	wild[2].Rates = []float64{100, 3, 2, 100, 101} // two that something held up
	for _, c := range []struct {
		name   string
		points []Point
		want   Choice // without rates
	}{
		{"flat", slices.Concat(curve(100, 100, 100, 100), flat), Choice{Slots: 1, Chunk: 64, Threads: 2, Weights: "file"}},
		{"rising to the end", slices.Concat(curve(10, 20, 40, 80), flat), Choice{Slots: 8, Chunk: 64, Threads: 2, Weights: "file"}},
		{"levelled off", slices.Concat(curve(10, 20, 38.1, 39, 40), flat), Choice{Slots: 4, Chunk: 64, Threads: 2, Weights: "file"}},
		{"just short of it", slices.Concat(curve(10, 20, 37.9, 39, 40), flat), Choice{Slots: 8, Chunk: 64, Threads: 2, Weights: "file"}},
		{"a peak", slices.Concat(curve(10, 50, 40, 30), flat), Choice{Slots: 2, Chunk: 64, Threads: 2, Weights: "file"}},
		{"wild repetitions", slices.Concat(wild, flat), Choice{Slots: 4, Chunk: 64, Threads: 2, Weights: "file"}},
		{"long chunks", slices.Concat(curve(10), chunks(300, 290, 200, 100)), Choice{Slots: 1, Chunk: 256, Threads: 2, Weights: "file"}},
		{"chunks too short for the slots", slices.Concat(curve(1, 2, 4, 8, 16, 32, 64), chunks(300, 300, 290, 320)), Choice{Slots: 64, Chunk: 128, Threads: 2, Weights: "file"}},
		{"the fastest chunk is too short", slices.Concat(curve(1, 2, 4, 8, 16, 32, 64), chunks(300, 290, 250, 400)), Choice{Slots: 64, Chunk: 256, Threads: 2, Weights: "file"}},
		{"no chunk for so many slots", slices.Concat(curve(1, 2, 4, 8, 16, 32, 64, 128, 256, 512), chunks(300, 300)), Choice{Slots: 512, Chunk: 1024, Threads: 2, Weights: "file"}},
		{"bf16 no faster", slices.Concat(curve(100), flat, with(curve(102), "bf16", 2), with(flat, "bf16", 2)), Choice{Slots: 1, Chunk: 64, Threads: 2, Weights: "file"}},
		{"bf16 as fast with fewer slots", slices.Concat(curve(50, 100), flat, with(curve(98, 99), "bf16", 2), with(flat, "bf16", 2)), Choice{Slots: 1, Chunk: 64, Threads: 2, Weights: "bf16"}},
		{"bf16 reads faster", slices.Concat(curve(100), flat, with(curve(96), "bf16", 2), with(chunks(600, 600, 600), "bf16", 2)), Choice{Slots: 1, Chunk: 128, Threads: 2, Weights: "bf16"}},
		{"half the threads", slices.Concat(curve(100), flat, with(curve(99), "file", 1), with(flat[3:], "file", 1)), Choice{Slots: 1, Chunk: 64, Threads: 1, Weights: "file"}},
		{"tolerances do not add up", slices.Concat(curve(100), flat, with(curve(96), "file", 1), with(chunks(290), "file", 1), with(curve(92), "bf16", 2), with(flat, "bf16", 2), with(curve(85), "bf16", 1), with(flat, "bf16", 1)), Choice{Slots: 1, Chunk: 64, Threads: 2, Weights: "file"}},
	} {
		for range 5 { // in any order
			rand.Shuffle(len(c.points), func(i, j int) { c.points[i], c.points[j] = c.points[j], c.points[i] })
			got := choose(c.points)[0]
			if got.Written == 0 || got.Read == 0 {
				t.Errorf("%s: no rates in %+v", c.name, got)
			}
			got.Written, got.Read = 0, 0
			if got != c.want {
				t.Errorf("%s: chosen %+v, want %+v", c.name, got, c.want)
			}
		}
	}
}

// TestPlateauUnderNoise: the same is chosen, whichever of those that are about as
// fast comes out as the fastest.
func TestPlateauUnderNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		points := slices.Concat(curve(25, 50, 100, 101, 101, 100, 102), chunks(300, 300, 300, 300))
		for i := range points {
			for k := range points[i].Rates {
				points[i].Rates[k] *= 0.99 + 0.02*rng.Float64()
			}
		}
		if c := choose(points)[0]; c.Slots != 4 || c.Chunk != 64 {
			t.Fatalf("%+v of %v", c, points)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		rates        []float64
		rate, spread float64
	}{
		{nil, 0, 0},
		{[]float64{7}, 7, 0},
		{[]float64{4, 2}, 3, 2. / 3},
		{[]float64{9, 1, 4}, 4, 2},
		{[]float64{100, 4, 1, 4}, 4, 0},
		{[]float64{5, 1, 100, 4, 3}, 4, 0.5},
	} {
		if p := (Point{Rates: c.rates}); p.rate() != c.rate || p.spread() != c.spread {
			t.Errorf("%v: %v and %v, want %v and %v", c.rates, p.rate(), p.spread(), c.rate, c.spread)
		}
	}
}

func TestTunedText(t *testing.T) {
	points := slices.Concat(chunks(310, 300, 290, 200), curve(30, 50, 100, 104), with(chunks(150), "bf16", 2), with(curve(50), "bf16", 2),
		with(chunks(150)[:1], "file", 1), with(curve(1, 1, 50)[2:], "file", 1))
	got := NewTuned(TunedKey{Device: Device{CPU: "a CPU", Cores: 2}}, points, time.Time{}, "").Text()
	want := `chosen: 100.0 tokens/s written, 300.0 read with
  --slots 4: 8 is only 4% faster, 2 is 50% slower
  --chunk 256: 512 is only 3% faster, 128 is 3% slower; fewer than 8 would leave prompts no room
  --threads 2: the fastest, 1 is 50% slower
  --weights file: the fastest, bf16 is 50% slower
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	all := slices.Concat(chunks(300), curve(30, 60))
	if got := NewTuned(TunedKey{Device: Device{CPU: "a CPU", Cores: 2}}, all, time.Time{}, "").Text(); !strings.Contains(got, "more than 2 slots were not tried: --slots N tries more") {
		t.Errorf("still rising:\n%s", got)
	}
}
