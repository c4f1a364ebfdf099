package scheduler

// A slot mirrors one KV stream of the engine and the turn computed in it.
//
// Its tokens are the turn's prompt followed by what was sampled so far, and the
// first held of them are computed: they are the cells [0,held). What is left to
// do for the turn is therefore always tokens[held:], a piece of the prompt or
// the one token sampled last. Computed cells never change until the next prompt
// is loaded, so that others may copy them meanwhile.
//
// A slot is free until its first turn, used during a turn, and cached between
// two turns: then its cells wait for a prompt that begins like them.
type slot struct {
	match  *match // whose turn it is; nil: free or cached
	tokens []int32
	prompt int // how many of tokens are the prompt
	held   int // how many of tokens are computed
	known  int // how many of those the index of held cells has as the slot's key
	coming int // how many will be held after the step at hand, if it has a row of the prompt
	lowest int // the first of them that the engine's rings hold, see inference.Limits

	// Cached: whose last turn it was, if that game goes on.
	past *match
	seat int

	older, newer int // neighbours in the list of cached slots
}

// load puts the prompt of a new turn into the slot, of which the first n tokens
// are computed: a cell depends on the tokens up to its own and on nothing else.
// That is never all of them, since the first token is drawn from the last one's
// output.
func (s *slot) load(prompt []int32, n int) {
	s.tokens = append(s.tokens[:0], prompt...)
	s.prompt, s.held = len(prompt), n
	if n == 0 {
		s.lowest = 0
	}
}

// sampled are the tokens drawn in this turn.
func (s *slot) sampled() []int32 { return s.tokens[s.prompt:] }

// decoding: the prompt is computed and the turn goes on token by token.
func (s *slot) decoding() bool { return len(s.tokens) > s.prompt }

// slots are all slots of the engine. The cached ones form a list from the least
// to the most recently used; all[len(all)-1] is none but its two ends.
type slots struct {
	all   []slot
	begun int // slots from here on are free: they have never had a turn
	used  int // slots with a turn
}

// newSlots makes n free slots. Each has room for its cells and for the token
// sampled last, so that nothing is allocated while it decodes.
func newSlots(n, cells int) slots {
	s := slots{all: make([]slot, n+1)}
	size := cells + 1
	tokens := make([]int32, n*size)
	for i := range n {
		s.all[i].tokens = tokens[i*size : i*size : (i+1)*size]
	}
	s.all[n].older, s.all[n].newer = n, n
	return s
}

// take gives a slot to a turn of m: the one that its seat had last, else a free
// one as long as fewer than most were begun, else the cached one that was used
// least recently. The lowest are begun first, and no more than most, because the
// engine attends over all slots between those that have rows. There is always
// one, since no more games are live than slots.
func (s *slots) take(m *match, most int) int {
	end := len(s.all) - 1
	oldest := s.all[end].newer
	i := m.slots[m.turn.Seat]
	if own := &s.all[i]; own.match == nil && own.past == m && own.seat == m.turn.Seat {
		s.unlink(i)
	} else if oldest == end || s.begun < min(most, end) {
		i = s.begun
		s.begun++
	} else {
		i = oldest
		s.unlink(i)
	}
	s.use(i, m)
	return i
}

func (s *slots) use(i int, m *match) {
	s.all[i].match, s.all[i].past, s.all[i].seat = m, nil, m.turn.Seat
	m.slots[m.turn.Seat] = i
	s.used++
}

// release makes slot i cached, and the most recently used.
func (s *slots) release(i int) {
	r, end := &s.all[i], len(s.all)-1
	r.past, r.match = r.match, nil
	s.used--
	r.older, r.newer = s.all[end].older, end
	s.all[r.older].newer, s.all[end].older = i, i
}

func (s *slots) unlink(i int) {
	older, newer := s.all[i].older, s.all[i].newer
	s.all[older].newer, s.all[newer].older = newer, older
}

// forget unties m, which ended, from the slots of its last turns.
func (s *slots) forget(m *match) {
	for _, i := range m.slots {
		if s.all[i].past == m {
			s.all[i].past = nil
		}
	}
}
