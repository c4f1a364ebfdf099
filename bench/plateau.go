package bench

import (
	"cmp"
	"slices"
)

// A Point is one setting and how fast a model was with it: either Slots slots
// that each write a token a step, or steps that read Chunk tokens of a prompt.
type Point struct {
	Weights string    `json:"weights"` // file or bf16
	Threads int       `json:"threads"`
	Slots   int       `json:"slots,omitempty"`
	Chunk   int       `json:"chunk,omitempty"`
	Rates   []float64 `json:"tokens_per_s"` // of each repetition
}

// rate is the median of the repetitions: some of them may be far off on a
// machine that others use too.
func (p Point) rate() float64 {
	s := slices.Sorted(slices.Values(p.Rates))
	if n := len(s); n > 0 {
		return (s[(n-1)/2] + s[n/2]) / 2
	}
	return 0
}

// spread is how far the middle half of the repetitions lies apart, as a share of
// the median.
func (p Point) spread() float64 {
	s := slices.Sorted(slices.Values(p.Rates))
	if len(s) < 2 {
		return 0
	}
	cut := len(s) / 4
	return (s[len(s)-1-cut] - s[cut]) / p.rate()
}

// A Choice is the settings that a model is played with, and what was measured of
// them, in tokens per second.
type Choice struct {
	Slots   int     `json:"slots"`
	Chunk   int     `json:"chunk"`
	Threads int     `json:"threads"`
	Weights string  `json:"weights"`
	Written float64 `json:"completion_tok_per_s"`
	Read    float64 `json:"prompt_tok_per_s"`
}

// ChunkFor is the tokens of a step where another number of slots is played with.
func (c Choice) ChunkFor(slots int) int { return max(c.Chunk, leastChunk(slots)) }

// rate is that of games in which as many tokens are read as are written: about
// what is left to read once the shared beginnings of prompts are reused.
func (c Choice) rate() float64 { return 2 / (1/c.Written + 1/c.Read) }

// leaner orders choices by what they take.
func (c Choice) leaner(d Choice) int {
	return cmp.Or(cmp.Compare(c.Slots, d.Slots), cmp.Compare(c.Chunk, d.Chunk), cmp.Compare(c.Threads, d.Threads),
		cmp.Compare(d.Weights, c.Weights)) // file comes before bf16
}

// tolerance is how much slower than the best a setting may be, as a share: one
// that takes less is worth more than that, and measurements differ by as much.
const tolerance = 0.05

// leanest gives, of those that are about as fast as the fastest, the first in
// the order of what they take. There is at least one.
func leanest[T any](all []T, rate func(T) float64, order func(a, b T) int) T {
	best := 0.0
	for _, x := range all {
		best = max(best, rate(x))
	}
	enough := slices.DeleteFunc(slices.Clone(all), func(x T) bool { return rate(x) < (1-tolerance)*best })
	return slices.MinFunc(enough, order)
}

// choose gives the choice that the points lead to, and after it the one for each
// other type of weights that was measured.
func choose(points []Point) (chosen []Choice) {
	all := engines(points)
	for len(all) > 0 {
		c := leanest(all, Choice.rate, Choice.leaner)
		chosen = append(chosen, c)
		all = slices.DeleteFunc(all, func(d Choice) bool { return d.Weights == c.Weights })
	}
	return chosen
}

// engines gives the choice for each pair of weights and threads.
func engines(points []Point) (all []Choice) {
	for i, p := range points {
		same := func(q Point) bool { return q.Weights == p.Weights && q.Threads == p.Threads }
		if slices.IndexFunc(points, same) < i {
			continue
		}
		if c, ok := chooseAmong(slices.DeleteFunc(slices.Clone(points), func(q Point) bool { return !same(q) })); ok {
			all = append(all, c)
		}
	}
	return all
}

// chooseAmong chooses slots and chunk among points of the same weights and
// threads.
func chooseAmong(points []Point) (Choice, bool) {
	written, read := split(points)
	if len(written) == 0 || len(read) == 0 {
		return Choice{}, false
	}
	w := leanest(written, Point.rate, func(a, b Point) int { return cmp.Compare(a.Slots, b.Slots) })
	r := leanest(withRoom(read, w.Slots), Point.rate, func(a, b Point) int { return cmp.Compare(a.Chunk, b.Chunk) })
	return Choice{
		Slots: w.Slots, Chunk: max(r.Chunk, leastChunk(w.Slots)), Threads: w.Threads, Weights: w.Weights,
		Written: w.rate(), Read: r.rate(),
	}, true
}

// split parts the points into those of writing and those of reading.
func split(points []Point) (written, read []Point) {
	for _, p := range points {
		if p.Slots > 0 {
			written = append(written, p)
		} else {
			read = append(read, p)
		}
	}
	return written, read
}

// leastChunk leaves room for prompts in a step in which every slot writes.
func leastChunk(slots int) int { return 2 * slots }

// withRoom are the points whose chunks are large enough for so many slots, or the
// largest alone.
func withRoom(read []Point, slots int) []Point {
	largest := slices.MaxFunc(read, func(a, b Point) int { return cmp.Compare(a.Chunk, b.Chunk) })
	least := min(largest.Chunk, leastChunk(slots))
	return slices.DeleteFunc(slices.Clone(read), func(p Point) bool { return p.Chunk < least })
}
