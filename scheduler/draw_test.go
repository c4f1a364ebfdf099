package scheduler

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

// The formula in Draw's comment, spelled out a second time.
func TestDrawIsAsDocumented(t *testing.T) {
	for _, k := range []struct {
		seed              int64
		game              string
		seat, turn, token int
	}{{1, "a", 0, 0, 0}, {-1, "", 1, 300, 70000}, {math.MinInt64, fmt.Sprintf("%0200d", 7), 1, 1, 1}} {
		be := binary.BigEndian
		inner := sha256.Sum256(append(be.AppendUint64([]byte("selfplay"), uint64(k.seed)), k.game...))
		outer := append(inner[:], byte(k.seat))
		outer = be.AppendUint32(be.AppendUint32(outer, uint32(k.turn)), uint32(k.token))
		sum := sha256.Sum256(outer)
		want := math.Ldexp(float64(be.Uint64(sum[:8])>>11), -53)
		if got := Draw(k.seed, k.game, k.seat, k.turn, k.token); got != want {
			t.Errorf("%+v: %v, want %v", k, got, want)
		}
	}
}

// A run of last year must come out the same: these numbers never change.
func TestDrawGolden(t *testing.T) {
	got := [2]float64{Draw(1, "TicTacToe-v0/en-ar/0/0", 0, 0, 0), Draw(1, "TicTacToe-v0/en-ar/0/0", 1, 3, 17)}
	if want := [2]float64{0.8877576117051242, 0.6759126120570464}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Every part of the key matters, and the numbers are spread evenly.
func TestDrawsDiffer(t *testing.T) {
	seen := map[float64]string{}
	var buckets [16]int
	n := 0
	for seed := range int64(3) {
		for _, game := range []string{"", "a", "b", "aa", "a\x00"} {
			for seat := range 2 {
				for turn := range 20 {
					for token := range 20 {
						u := Draw(seed, game, seat, turn, token)
						name := fmt.Sprintf("%d %q %d %d %d", seed, game, seat, turn, token)
						if u < 0 || u >= 1 {
							t.Fatalf("%s: %v", name, u)
						}
						if other, is := seen[u]; is {
							t.Fatalf("%s draws what %s draws", name, other)
						}
						seen[u] = name
						buckets[int(u*16)]++
						n++
					}
				}
			}
		}
	}
	chi2, want := 0.0, float64(n)/16
	for _, got := range buckets {
		chi2 += (float64(got) - want) * (float64(got) - want) / want
	}
	if chi2 > 37.7 { // 15 degrees of freedom, one in a thousand
		t.Errorf("chi squared of 16 buckets is %.1f", chi2)
	}
}

func TestIntn(t *testing.T) {
	k := newKey(1, "a")
	intn, again := k.intn(0, 3), k.intn(0, 3)
	var count [3]int
	for range 3000 {
		n := intn(3)
		if n != again(3) {
			t.Fatal("the same turn draws other numbers")
		}
		count[n]++
	}
	for n, c := range count {
		if c < 900 || c > 1100 {
			t.Errorf("%d was drawn %d times of 3000", n, c)
		}
	}
	// The largest draw there is stays below n for every n.
	for _, n := range []int{1, 2, 3, 5, 1<<20 - 1, 1 << 40} {
		if u := 1 - math.Ldexp(1, -53); int(u*float64(n)) >= n {
			t.Errorf("intn(%d) reaches %d", n, n)
		}
	}
}

func TestDrawAllocatesNothing(t *testing.T) {
	turn := 0
	if n := testing.AllocsPerRun(100, func() { Draw(1, "some game's ID", 0, turn, 5); turn++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDraw(b *testing.B) {
	k := newKey(1, "a")
	b.ReportAllocs()
	for i := range b.N {
		k.draw(0, 0, i)
	}
}
