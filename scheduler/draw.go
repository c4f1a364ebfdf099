package scheduler

import (
	"crypto/sha256"
	"encoding/binary"
)

// Draw is the uniform number in [0,1) that decides one random choice of a run.
// Nothing else does, so a game comes out the same in any slot, beside any other
// game and after any restart.
//
// turn counts the turns of both seats in the game, token the draws within the
// turn, both from 0. The number is the upper 53 bits, over 2^53, of
//
//	SHA-256(SHA-256("selfplay" ‖ seed ‖ game) ‖ seat ‖ turn ‖ token)
//
// with seed in 8 bytes, seat in 1, turn and token in 4 each, big endian. All
// parts but game have a fixed width and game comes last in its hash, so no two
// keys are encoded alike.
func Draw(seed int64, game string, seat, turn, token int) float64 {
	k := newKey(seed, game)
	return k.draw(seat, turn, token)
}

// A key is the part of a draw that is the same for a whole game.
type key [sha256.Size]byte

func newKey(seed int64, game string) key {
	b := make([]byte, 0, 128) // longer IDs leave the stack, nothing else
	b = append(b, "selfplay"...)
	b = binary.BigEndian.AppendUint64(b, uint64(seed))
	b = append(b, game...)
	return sha256.Sum256(b)
}

func (k *key) draw(seat, turn, token int) float64 {
	var b [len(k) + 9]byte // one block of SHA-256
	copy(b[:], k[:])
	b[len(k)] = byte(seat)
	binary.BigEndian.PutUint32(b[len(k)+1:], uint32(turn))
	binary.BigEndian.PutUint32(b[len(k)+5:], uint32(token))
	sum := sha256.Sum256(b[:])
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// intn gives the numbers in [0,n) that a policy draws during one turn.
func (k *key) intn(seat, turn int) func(n int) int {
	token := 0
	return func(n int) int {
		if n < 1 {
			panic("scheduler: intn of a number below 1")
		}
		u := k.draw(seat, turn, token)
		token++
		return int(u * float64(n)) // below n: u is at most 1 - 2^-53
	}
}
