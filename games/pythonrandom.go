package games

import "math/bits"

// A pythonRandom deals cards as the reference does: it is Python's generator,
// the Mersenne Twister MT19937, seeded and used as Python's random module does.
type pythonRandom struct {
	state [624]uint32
	next  int // index of the word to give out
}

// newPythonRandom is random.seed(seed). Python takes a seed's absolute value, as
// 32-bit digits, for the key of the generator.
func newPythonRandom(seed int64) *pythonRandom {
	size := uint64(seed)
	if seed < 0 {
		size = -size
	}
	key := []uint32{uint32(size)}
	if high := uint32(size >> 32); high != 0 {
		key = append(key, high)
	}
	r := &pythonRandom{next: 624}
	r.init(key)
	return r
}

// init is init_by_array of the generator's authors.
func (r *pythonRandom) init(key []uint32) {
	s := &r.state
	s[0] = 19650218
	for i := 1; i < len(s); i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	step := func(factor uint32) uint32 { return s[i] ^ (s[i-1]^s[i-1]>>30)*factor }
	advance := func() {
		if i++; i == len(s) {
			s[0] = s[len(s)-1]
			i = 1
		}
	}
	for range max(len(s), len(key)) {
		s[i] = step(1664525) + key[j] + uint32(j)
		advance()
		j = (j + 1) % len(key)
	}
	for range len(s) - 1 {
		s[i] = step(1566083941) - uint32(i)
		advance()
	}
	s[0] = 1 << 31
}

// uint32 is the generator's next word.
func (r *pythonRandom) uint32() uint32 {
	s := &r.state
	if r.next == len(s) {
		for i := range s {
			y := s[i]&(1<<31) | s[(i+1)%len(s)]&(1<<31-1)
			s[i] = s[(i+397)%len(s)] ^ y>>1 ^ (y&1)*0x9908b0df
		}
		r.next = 0
	}
	y := s[r.next]
	r.next++
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
