package games

import (
	"math/bits"
	"sync"
)

// A pythonRandom deals cards as the reference does: it is Python's generator,
// the Mersenne Twister MT19937, seeded and used as Python's random module does.
type pythonRandom struct {
	state [624]uint32
	next  int // index of the word to renew and give out
}

// newPythonRandom is random.seed(seed). Python takes a seed's absolute value, as
// 32-bit digits, for the key of the generator.
func newPythonRandom(seed int64) pythonRandom {
	size := uint64(seed)
	if seed < 0 {
		size = -size
	}
	key := []uint32{uint32(size)}
	if high := uint32(size >> 32); high != 0 {
		key = append(key, high)
	}
	r := pythonRandom{state: *unkeyed()}
	r.mix(key)
	return r
}

// unkeyed is the state before a key is mixed in.
var unkeyed = sync.OnceValue(func() *[624]uint32 {
	var s [624]uint32
	s[0] = 19650218
	for i := 1; i < len(s); i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	return &s
})

// mix is init_by_array of the generator's authors, for a key that is shorter
// than the state.
func (r *pythonRandom) mix(key []uint32) {
	s := &r.state
	last := s[0]
	i, j := 1, 0
	next := func(word uint32) {
		s[i], last = word, word
		if i++; i == len(s) {
			i = 1 // word 0 is set in the end
		}
	}
	for range len(s) {
		next(s[i] ^ (last^last>>30)*1664525 + key[j] + uint32(j))
		if j++; j == len(key) {
			j = 0
		}
	}
	for range len(s) - 1 {
		next(s[i] ^ (last^last>>30)*1566083941 - uint32(i))
	}
	s[0] = 1 << 31
}

// uint32 is the generator's next word. Python renews all words at a time; here
// each is renewed when its turn comes, which gives the same numbers.
func (r *pythonRandom) uint32() uint32 {
	s, i := &r.state, r.next
	y := s[i]&(1<<31) | s[(i+1)%len(s)]&(1<<31-1)
	s[i] = s[(i+397)%len(s)] ^ y>>1 ^ (y&1)*0x9908b0df
	r.next = (i + 1) % len(s)
	y = s[i]
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// below is a number in [0,n), drawn as Python's randbelow does: by the bits
// that n needs, until they fit.
func (r *pythonRandom) below(n int) int {
	shift := 32 - bits.Len(uint(n))
	for {
		if k := int(r.uint32() >> shift); k < n {
			return k
		}
	}
}

// shuffle is random.shuffle.
func (r *pythonRandom) shuffle(x []int) {
	for i := len(x) - 1; i > 0; i-- {
		j := r.below(i + 1)
		x[i], x[j] = x[j], x[i]
	}
}
