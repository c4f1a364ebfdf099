package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"selfplay/inference"
)

// A clocked engine takes as long as its script says, on a clock of its own, and
// refuses rows that do not go on from what a slot holds.
type clocked struct {
	limits inference.Limits
	clock  *time.Duration
	took   func(rows, tokens int) time.Duration
	held   []int // of each slot
	lowest []int
	closed bool
	stop   func()    // is called in every step
	wrote  []int     // the positions of rows of one token
	read   []float64 // the positions in the middle of what slot 1 was given to read
}

func (s *clocked) Limits() inference.Limits { return s.limits }
func (s *clocked) Close() error             { s.closed = true; return nil }

func (s *clocked) Copy(c inference.Copy) error {
	dst, src, n := c.Dst, c.Src, c.Cells
	if n > s.held[src] || !s.limits.Resumes(s.lowest[src], n) {
		return fmt.Errorf("copying %d of slot %d, which holds %d to %d", n, src, s.lowest[src], s.held[src])
	}
	if n > 0 {
		s.held[dst], s.lowest[dst] = n, s.lowest[src]
	}
	return nil
}

func (s *clocked) Forward(b *inference.Batch) error {
	if s.closed {
		return errors.New("it is closed")
	}
	if s.stop != nil {
		s.stop()
	}
	seen := map[int]bool{}
	for _, r := range b.Rows {
		if seen[r.Slot] || r.Pos > s.held[r.Slot] || r.Pos+len(r.Tokens) > s.limits.Cells {
			return fmt.Errorf("slot %d holds %d, and is given %d from %d", r.Slot, s.held[r.Slot], len(r.Tokens), r.Pos)
		}
		if b := r.Block; r.Pos+len(r.Tokens) > b.Cells || b.First%b.Cells != 0 || b.First+b.Cells > s.limits.Pool || b.First/b.Cells != r.Slot {
			return fmt.Errorf("slot %d computes %d from %d in block %+v", r.Slot, len(r.Tokens), r.Pos, b)
		}
		seen[r.Slot] = true
		if len(r.Tokens) == 1 {
			s.wrote = append(s.wrote, r.Pos)
		}
		if r.Slot == 1 && len(r.Tokens) > 1 {
			s.read = append(s.read, float64(r.Pos)+float64(len(r.Tokens))/2)
		}
		if r.Pos == 0 {
			s.lowest[r.Slot] = 0
		} else if !s.limits.Resumes(s.lowest[r.Slot], r.Pos) {
			return fmt.Errorf("slot %d goes on at %d, but holds those from %d on", r.Slot, r.Pos, s.lowest[r.Slot])
		}
		s.held[r.Slot] = r.Pos + len(r.Tokens)
		s.lowest[r.Slot] = s.limits.Lowest(s.lowest[r.Slot], s.held[r.Slot])
	}
	if b.Tokens() > s.limits.Tokens {
		return fmt.Errorf("%d tokens in a step", b.Tokens())
	}
	*s.clock += s.took(len(b.Rows), b.Tokens())
	return nil
}

// A speed is a machine's: tokens/s of a thread, the slots up to which a step
// costs the same, and what starting a step costs in tokens' time.
type speed struct {
	rate        float64
	free, start int
}

// tuner measures clocked engines, by weights. No more than useful threads help.
func tuner(limits inference.Limits, useful int, speeds map[string]speed) (t *Tuner, opened *[]*clocked, shown *[]Point) {
	clock := new(time.Duration)
	opened, shown = new([]*clocked), new([]Point)
	t = &Tuner{
		Weights: []string{"file", "bf16"}, Threads: 8,
		Now:  func() time.Duration { return *clock },
		Show: func(p Point) { *shown = append(*shown, p) },
		Note: func(string) {},
		Open: func(weights string, threads int) (inference.Engine, error) {
			v, ok := speeds[weights]
			if !ok {
				return nil, fmt.Errorf("loading: %w", inference.NoRoom{})
			}
			limits := limits
			limits.Rows, limits.Pool, limits.Least = limits.Slots, limits.Slots*limits.Cells, limits.Cells
			e := &clocked{limits: limits, clock: clock, held: make([]int, limits.Slots), lowest: make([]int, limits.Slots)}
			e.took = func(rows, tokens int) time.Duration {
				cost := float64(tokens)
				if tokens == rows {
					cost = float64(max(rows, v.free))
				}
				return time.Duration(1e9 * (cost + float64(v.start)) / v.rate / float64(min(threads, useful)))
			}
			*opened = append(*opened, e)
			return e, nil
		},
	}
	return t, opened, shown
}

var wide = inference.Limits{Slots: 64, Cells: 2048, Tokens: 1024}

func TestTune(t *testing.T) {
	sliding := wide
	sliding.Window, sliding.Ring = 512, 768
	small := inference.Limits{Slots: 6, Cells: 100, Tokens: 1024}
	for _, c := range []struct {
		name   string
		limits inference.Limits
		useful int
		speeds map[string]speed
		want   Choice // without rates
		curves string // weights/threads of the engines in turn
	}{
		{"slots level off", wide, 8, map[string]speed{"file": {100, 16, 0}, "bf16": {100, 16, 0}}, Choice{Slots: 16, Chunk: 64, Threads: 8, Weights: "file"}, "file8 bf168 file4"},
		{"a sliding window", sliding, 8, map[string]speed{"file": {100, 16, 0}, "bf16": {100, 16, 0}}, Choice{Slots: 16, Chunk: 64, Threads: 8, Weights: "file"}, "file8 bf168 file4"},
		{"bf16 is faster with more slots", wide, 8, map[string]speed{"file": {100, 4, 0}, "bf16": {200, 64, 0}}, Choice{Slots: 64, Chunk: 128, Threads: 8, Weights: "bf16"}, "file8 bf168 bf164"},
		{"few threads are enough", wide, 2, map[string]speed{"file": {100, 4, 0}, "bf16": {90, 4, 0}}, Choice{Slots: 4, Chunk: 64, Threads: 2, Weights: "file"}, "file8 bf168 file4 file2 file1"},
		{"one thread", wide, 1, map[string]speed{"file": {100, 4, 0}, "bf16": {50, 4, 0}}, Choice{Slots: 4, Chunk: 64, Threads: 1, Weights: "file"}, "file8 bf168 file4 file2 file1"},
		{"long chunks pay", wide, 8, map[string]speed{"file": {100, 1, 20}, "bf16": {90, 1, 20}}, Choice{Slots: 64, Chunk: 512, Threads: 8, Weights: "file"}, "file8 bf168 file4"},
		{"no room for bf16", wide, 8, map[string]speed{"file": {100, 8, 0}}, Choice{Slots: 8, Chunk: 64, Threads: 8, Weights: "file"}, "file8 file4"},
		{"short slots", small, 8, map[string]speed{"file": {100, 6, 0}, "bf16": {90, 6, 0}}, Choice{Slots: 6, Chunk: 50, Threads: 8, Weights: "file"}, "file8 bf168 file4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tune, opened, shown := tuner(c.limits, c.useful, c.speeds)
			points, err := tune.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := choose(points)[0]
			if rate := c.speeds[got.Weights].rate * float64(got.Threads); c.speeds[got.Weights].start == 0 && (math.Abs(got.Read/rate-1) > 1e-6 || math.Abs(got.Written/rate-1) > 1e-6) {
				t.Errorf("%+v, want a rate of %f", got, rate)
			}
			got.Read, got.Written = 0, 0
			if got != c.want {
				t.Errorf("chosen %+v, want %+v", got, c.want)
			}
			if len(*shown) != len(points) {
				t.Errorf("%d points shown of %d", len(*shown), len(points))
			}
			var curves []string
			fewer := 0 // points of fewer threads than all
			for _, p := range points {
				if p.Threads < tune.Threads {
					fewer++
				}
				if curve := fmt.Sprint(p.Weights, p.Threads); !slices.Contains(curves, curve) {
					curves = append(curves, curve)
				}
				if len(p.Rates) != fewestRepeat {
					t.Errorf("%d repetitions without any scatter: %v", len(p.Rates), p)
				}
			}
			if engines := len(curves) - len(tune.Weights); c.speeds["bf16"].rate > 0 && fewer != 2*engines {
				t.Errorf("%d points of %d engines with fewer threads, want the chosen slots and chunk alone", fewer, engines)
			}
			if strings.Join(curves, " ") != c.curves {
				t.Errorf("engines %v, want %s", curves, c.curves)
			}
			for _, e := range *opened {
				if !e.closed {
					t.Error("an engine was left open")
				}
			}
		})
	}
}

// TestTuneTries is what is clocked: each chunk around the same position, slots
// until more of them are slower.
func TestTuneTries(t *testing.T) {
	tune, opened, shown := tuner(inference.Limits{Slots: 200, Cells: 1000, Tokens: 1024}, 8, map[string]speed{"file": {100, 1, 0}})
	tune.Weights, tune.Threads = []string{"file"}, 1
	if _, err := tune.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var tried []int
	for _, p := range *shown {
		tried = append(tried, cmpOr(p.Chunk, -p.Slots))
	}
	if want := []int{500, 256, 128, 64, -1, -2, -4, -8, -16, -32, -64, -128, -200}; !slices.Equal(tried, want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
	for _, middle := range (*opened)[0].read {
		if middle != 250 {
			t.Errorf("a chunk around position %v, want 250", middle)
		}
	}
	if wrote := slices.Compact((*opened)[0].wrote); !slices.Equal(wrote, []int{500}) {
		t.Errorf("written at the positions %v, want those of half full slots", wrote)
	}
	open := tune.Open
	tune.Open = func(weights string, threads int) (inference.Engine, error) {
		e, err := open(weights, threads)
		e.(*clocked).took = func(rows, tokens int) time.Duration { // 8 slots are the fastest
			return time.Duration(tokens+max(0, rows-8)*rows) * time.Millisecond
		}
		return e, err
	}
	*shown = nil
	if _, err := tune.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if last := (*shown)[len(*shown)-1].Slots; last != 32 {
		t.Errorf("clocked up to %d slots, want 32: two in turn were slower", last)
	}
}

func cmpOr(a, b int) int {
	if a != 0 {
		return a
	}
	return b
}

// TestTuneScatter: where repetitions scatter there are more of them, but not
// without end.
func TestTuneScatter(t *testing.T) {
	always := []time.Duration{1e9, 2e9, 3e9, 4e9, 5e9, 6e9, 7e9, 8e9, 9e9, 1e10}
	for _, c := range []struct {
		name   string
		tokens int
		noise  []time.Duration // added to the n-th repetition
		want   int
		rate   float64 // 0: any
	}{
		{"calm", 10, nil, 3, 10},
		{"one wild", 10, []time.Duration{0, time.Second}, 4, 10},
		{"two wild", 10, []time.Duration{time.Second, 0, 2 * time.Second}, 8, 10},
		{"always", 10, always, 9, 0},
		{"always, and long", 500, always, 6, 0},
		{"always, and longer", 5000, always, 3, 0},
	} {
		clock, n := time.Duration(0), 0
		m := &meter{Tuner: &Tuner{Now: func() time.Duration { return clock }, Show: func(Point) {}}, ctx: t.Context()}
		err := m.repeat(Point{Chunk: c.tokens}, c.tokens, func() error {
			clock += time.Second
			if n < len(c.noise) {
				clock += c.noise[n]
			}
			n++
			return nil
		}, func() error { clock += time.Hour; return nil })
		if p := m.points[0]; err != nil || len(p.Rates) != c.want || c.rate > 0 && math.Abs(p.rate()-c.rate) > 1e-9 {
			t.Errorf("%s: %v, %d repetitions, want %d: %v", c.name, err, len(p.Rates), c.want, p.Rates)
		}
	}
}

// TestTuneFails: whatever stops it, engines are closed and nothing is concluded.
func TestTuneFails(t *testing.T) {
	speeds := map[string]speed{"file": {100, 16, 0}, "bf16": {100, 16, 0}}
	for _, after := range []int{1, 7, 40, 120, 200} {
		tune, opened, _ := tuner(wide, 8, speeds)
		ctx, cancel := context.WithCancel(t.Context())
		open := tune.Open
		steps := 0
		tune.Open = func(weights string, threads int) (inference.Engine, error) {
			e, err := open(weights, threads)
			e.(*clocked).stop = func() {
				if steps++; steps == after {
					cancel()
				}
			}
			return e, err
		}
		points, err := tune.Run(ctx)
		if !errors.Is(err, context.Canceled) || points != nil {
			t.Errorf("interrupted in step %d: %v, %d points", after, err, len(points))
		}
		if steps > after+fewestTokens {
			t.Errorf("interrupted in step %d, it went on to %d", after, steps)
		}
		for _, e := range *opened {
			if !e.closed {
				t.Error("an engine was left open")
			}
		}
	}
	for name, c := range map[string]struct {
		limits inference.Limits
		speeds map[string]speed
		want   string
	}{
		"file does not fit": {wide, map[string]speed{"bf16": {100, 1, 0}}, "loading"},
		"one slot":          {inference.Limits{Slots: 1, Cells: 2048, Tokens: 1024}, speeds, "1 slots of 2048 tokens: give a larger --slots"},
		"no context":        {inference.Limits{Slots: 8, Cells: 3, Tokens: 1024}, speeds, "--context"},
	} {
		tune, _, _ := tuner(c.limits, 8, c.speeds)
		if points, err := tune.Run(t.Context()); points != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
