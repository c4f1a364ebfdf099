package scheduler

// A slot mirrors one KV stream of the engine and the turn computed in it.
//
// Its tokens are the turn's prompt followed by what was sampled so far, and the
// first held of them are computed: they are the cells [0,held). What is left to
// do for the turn is therefore always tokens[held:], a piece of the prompt or
// the one token sampled last.
type slot struct {
	match  *match // the game that owns the slot; nil: free
	tokens []int32
	prompt int // how many of tokens are the prompt
	held   int // how many of tokens are computed
}

// load puts the prompt of a new turn into the slot. Cells that already hold its
// beginning stay, whoever had them computed: a cell depends on the tokens up to
// its own and on nothing else. The last token is always computed anew, since
// its output is what the first token is drawn from.
func (s *slot) load(prompt []int32, reuse bool) {
	n := 0
	if reuse {
		n = commonPrefix(s.tokens[:s.held], prompt[:len(prompt)-1])
	}
	s.tokens = append(s.tokens[:0], prompt...)
	s.prompt, s.held = len(prompt), n
}

// sampled are the tokens drawn in this turn.
func (s *slot) sampled() []int32 { return s.tokens[s.prompt:] }

// decoding: the prompt is computed and the turn goes on token by token.
func (s *slot) decoding() bool { return len(s.tokens) > s.prompt }

func commonPrefix(a, b []int32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// slots are all slots of the engine. Free ones are taken lowest first, which
// keeps those in use close together in the KV tensors.
type slots struct {
	all    []slot
	free   int
	lowest int // no slot below is free
}

// newSlots makes n free slots. Each has room for its cells and for the token
// sampled last, so that nothing is allocated while it decodes.
func newSlots(n, cells int) slots {
	s := slots{all: make([]slot, n), free: n}
	size := cells + 1
	tokens := make([]int32, n*size)
	for i := range s.all {
		s.all[i].tokens = tokens[i*size : i*size : (i+1)*size]
	}
	return s
}

// take gives the lowest free slot to m. There must be one.
func (s *slots) take(m *match) int {
	for s.all[s.lowest].match != nil {
		s.lowest++
	}
	s.all[s.lowest].match = m
	s.free--
	return s.lowest
}

// release frees slot i. Its cells stay as they are, for load to find.
func (s *slots) release(i int) {
	s.all[i].match = nil
	s.free++
	s.lowest = min(s.lowest, i)
}

// A queue holds slot numbers, first in first out. Each is in it at most once, so
// a ring as long as there are slots is always enough.
type queue struct {
	ring    []int
	head, n int
}

func newQueue(slots int) queue { return queue{ring: make([]int, slots)} }

func (q *queue) push(slot int) {
	q.ring[(q.head+q.n)%len(q.ring)] = slot
	q.n++
}

func (q *queue) first() int { return q.ring[q.head] }

func (q *queue) pop() int {
	slot := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return slot
}
