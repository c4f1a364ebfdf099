package games

import (
	"math"
	"slices"
	"testing"
)

// The numbers are those of Python 3.11: random.seed(seed), then three times
// random.getrandbits(32).
func TestPythonRandom(t *testing.T) {
	for seed, want := range map[int64][3]uint32{
		0:             {3626764237, 1654615998, 3255389356},
		1:             {577090037, 2444712010, 3639700191},
		-1:            {577090037, 2444712010, 3639700191},
		42:            {2746317213, 478163327, 107420369},
		1 << 31:       {1455117090, 1620553392, 2169224728},
		1 << 32:       {485306839, 1508871100, 1794561286},
		1<<32 + 1:     {991850117, 2151679444, 2200792185},
		math.MaxInt64: {1359979423, 2819855560, 2711238091},
		math.MinInt64: {2377109768, 1691753470, 4039908392},
	} {
		r := newPythonRandom(seed)
		if got := [3]uint32{r.uint32(), r.uint32(), r.uint32()}; got != want {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
	}
	r := newPythonRandom(5)
	for range 1999 {
		r.uint32()
	}
	if got, want := r.uint32(), uint32(2894893787); got != want {
		t.Errorf("the 2000th number: %d, want %d", got, want)
	}
}

// Shuffles of ten cards after another, as random.shuffle deals them.
func TestPythonShuffle(t *testing.T) {
	r := newPythonRandom(2026)
	deck := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, want := range [][]int{
		{0, 6, 2, 3, 8, 4, 7, 9, 5, 1},
		{2, 5, 6, 4, 7, 8, 0, 3, 9, 1},
		{9, 0, 7, 4, 5, 6, 8, 1, 2, 3},
		{5, 4, 1, 2, 9, 7, 3, 0, 8, 6},
	} {
		if r.shuffle(deck); !slices.Equal(deck, want) {
			t.Errorf("%v, want %v", deck, want)
		}
	}
}
