package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// TuneHeader stands above the points.
const TuneHeader = "weights threads                     tokens/s  spread  repetitions"

// String is a line of the table.
func (p Point) String() string {
	what := fmt.Sprintf("%d slots write", p.Slots)
	switch {
	case p.Slots == 1:
		what = "1 slot writes"
	case p.Slots == 0:
		what = fmt.Sprintf("read by %d", p.Chunk)
	}
	return fmt.Sprintf("%-7s %7d  %-15s %11.1f %6.0f%% %12d", p.Weights, p.Threads, what, p.rate(), 100*p.spread(), len(p.Rates))
}

// Text says what was chosen and why.
func (t Tuned) Text() string {
	c := t.Choices[0]
	written, read := split(slices.DeleteFunc(slices.Clone(t.Points), func(p Point) bool {
		return p.Weights != c.Weights || p.Threads != t.Device.Cores // with as many threads as cores all settings were tried
	}))
	var slots, chunks, threads, weights []tried
	for _, p := range written {
		slots = append(slots, tried{p.Slots, "", p.rate()})
	}
	for _, p := range withRoom(read, c.Slots) {
		chunks = append(chunks, tried{p.Chunk, "", p.rate()})
	}
	for _, d := range engines(t.Points) {
		if d.Weights == c.Weights {
			threads = append(threads, tried{d.Threads, "", d.rate()})
		}
	}
	for i, d := range t.Choices {
		weights = append(weights, tried{-i, d.Weights, d.rate()})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "chosen: %.1f tokens/s written, %.1f read with\n", c.Written, c.Read)
	fmt.Fprintf(&b, "  --slots %d: %s\n", c.Slots, because(slots, c.Slots))
	fmt.Fprintf(&b, "  --chunk %d: %s; fewer than %d would leave prompts no room\n", c.Chunk, because(chunks, c.Chunk), leastChunk(c.Slots))
	fmt.Fprintf(&b, "  --threads %d: %s\n", c.Threads, because(threads, c.Threads))
	fmt.Fprintf(&b, "  --weights %s: %s\n", c.Weights, because(weights, 0))
	if c.Slots == slots[len(slots)-1].value && len(slots) > 1 {
		fmt.Fprintf(&b, "more than %d slots were not tried: --slots N tries more\n", c.Slots)
	}
	return b.String()
}

// tried is a value of one setting, and its speed.
type tried struct {
	value int
	name  string // "": the value
	rate  float64
}

func (t tried) String() string { return cmp.Or(t.name, fmt.Sprint(t.value)) }

// because compares the chosen value with the fastest and with the next smaller.
func because(all []tried, chosen int) string {
	slices.SortFunc(all, func(a, b tried) int { return cmp.Compare(a.value, b.value) })
	at := slices.IndexFunc(all, func(t tried) bool { return t.value == chosen })
	if len(all) == 1 || at < 0 {
		return "nothing else was tried"
	}
	best := slices.MaxFunc(all, func(a, b tried) int { return cmp.Compare(a.rate, b.rate) })
	var parts []string
	if best.value == chosen {
		parts = append(parts, "the fastest")
	} else {
		parts = append(parts, fmt.Sprintf("%s is only %.0f%% faster", best, 100*(best.rate/all[at].rate-1)))
	}
	if at > 0 && all[at-1].rate < all[at].rate {
		parts = append(parts, fmt.Sprintf("%s is %.0f%% slower", all[at-1], 100*(1-all[at-1].rate/all[at].rate)))
	}
	return strings.Join(parts, ", ")
}
