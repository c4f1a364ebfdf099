package scheduler

import "selfplay/inference"

// A slot mirrors one KV stream of the engine and the turn computed in it.
//
// Its tokens are the turn's prompt followed by what was sampled so far, and the
// first held of them are computed: they are in the first held cells of its block.
// What is left to do for the turn is therefore always tokens[held:]: a piece of
// the prompt, or the tokens sampled and not computed, of which there is one, or
// more after the turn was preempted. Computed cells never change until the next
// prompt is loaded, so that others may copy them meanwhile.
//
// A slot is free and has no block, or used during a turn, or cached between two
// turns: then it holds its prompt alone and waits for one that begins like it.
// What was sampled is not worth keeping: it comes back as a prompt, if at all,
// and prompts may be computed by kernels that round differently.
type slot struct {
	match  *match // whose turn it is; nil: free or cached
	block  inference.Block
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
	since        int // when it was put there, by slots.releases
}

// load puts a prompt and what was sampled after it into the slot, of which the
// first n tokens are computed: a cell depends on the tokens up to its own and on
// nothing else. That is never all of the prompt, since the first token is drawn
// from the last one's output.
func (s *slot) load(prompt, sampled []int32, n int) {
	s.tokens = append(append(s.tokens[:0], prompt...), sampled...)
	s.prompt, s.held = len(prompt), n
	if n == 0 {
		s.lowest = 0
	}
}

// sampled are the tokens drawn in this turn.
func (s *slot) sampled() []int32 { return s.tokens[s.prompt:] }

// decoding: the prompt is computed and the turn goes on token by token.
func (s *slot) decoding() bool { return s.held >= s.prompt }

func (s *slot) cached() bool { return s.match == nil && s.block.Cells > 0 }

// none is no slot.
const none = -1

// slots are all slots of the engine and the pool that their blocks are cut from.
// The cached ones form a list from the least to the most recently used;
// all[len(all)-1] is none but its two ends.
type slots struct {
	all      []slot
	free     set // slots without a block
	holding  int // slots with one
	blocks   blocks
	owners   []int32 // by block of the least size: the slot whose block begins there, or none
	releases int     // so far
}

// newSlots makes slots that are all free.
func newSlots(l inference.Limits) slots {
	s := slots{
		all: make([]slot, l.Slots+1), free: newSet(l.Slots),
		blocks: newBlocks(l), owners: make([]int32, l.Pool/l.Least),
	}
	for i := range l.Slots {
		s.free.add(i)
	}
	for i := range s.owners {
		s.owners[i] = none
	}
	end := s.end()
	s.all[end].older, s.all[end].newer = end, end
	return s
}

// end is the end of the list of cached slots, and what comes before the oldest.
func (s *slots) end() int { return len(s.all) - 1 }

func (s *slots) oldest() int { return s.all[s.end()].newer }

// own is the slot where the seat had its last turn, if it is still cached.
func (s *slots) own(m *match) int {
	i := m.slots[m.turn.Seat]
	if r := &s.all[i]; r.match == nil && r.past == m && r.seat == m.turn.Seat {
		return i
	}
	return none
}

// put gives slot i a block that was taken for it, in place of the one it has,
// and room for that block's tokens and the one sampled last, so that nothing is
// allocated while it decodes.
func (s *slots) put(i int, b inference.Block) {
	r := &s.all[i]
	old := r.block
	if old == b {
		return
	}
	if old.Cells == 0 {
		s.free.remove(i)
		s.holding++
	} else {
		s.owners[old.First/s.blocks.least] = none
		if around(old, b.Cells) != b {
			s.blocks.give(old)
		}
	}
	r.block = b
	s.owners[b.First/s.blocks.least] = int32(i)
	r.tokens = append(make([]int32, 0, b.Cells+1), r.tokens...)
}

// use gives slot i, free or cached, to the turn of m. It keeps its block, if it
// has one.
func (s *slots) use(i int, m *match) {
	if own := s.own(m); own != none {
		s.all[own].past = nil
	}
	r := &s.all[i]
	if r.cached() {
		s.unlink(i)
	}
	r.match, r.past, r.seat = m, nil, m.turn.Seat
	m.slots[m.turn.Seat] = i
}

// release makes slot i cached, and the most recently used. It holds its prompt
// from now on, as far as that was computed.
func (s *slots) release(i int) {
	r, end := &s.all[i], s.end()
	r.past, r.match = r.match, nil
	r.held = min(r.held, r.prompt)
	r.tokens = r.tokens[:r.held]
	s.releases++
	r.since = s.releases
	r.older, r.newer = s.all[end].older, end
	s.all[r.older].newer, s.all[end].older = i, i
}

// drop makes slot i, which is cached, free.
func (s *slots) drop(i int) {
	s.unlink(i)
	b := s.all[i].block
	s.owners[b.First/s.blocks.least] = none
	s.blocks.give(b)
	s.all[i] = slot{}
	s.free.add(i)
	s.holding--
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
