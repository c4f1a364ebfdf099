package scheduler

import (
	"errors"

	"selfplay/games"
	"selfplay/inference"
	"selfplay/prompts"
)

// A match is a live game. Each turn of the model has a slot of its own.
type match struct {
	job      Job
	age      int // how many games began before it
	game     games.Game
	key      key
	policies [2]Policy // of the seats; nil: the engine
	slots    [2]int    // where the last turn of each seat was, if slot.past says so
	turns    []Turn
	turn     Turn    // the one in progress
	prompt   []int32 // of that turn
	open     bool    // its prompt opened a think block
	waited   int     // steps that the turn was held back

	// Sampled in the turn before it was preempted or ended. While it has a slot
	// they are there.
	sampled []int32
}

// modelSeats is how many seats the engine answers for.
func (m *match) modelSeats() (n int) {
	for _, p := range m.policies {
		if p == nil {
			n++
		}
	}
	return n
}

// advance plays m until the model has to speak or the game ends.
func (c *Core) advance(m *match) {
	for c.err == nil {
		if result, over := m.game.Result(); over {
			c.end(m, result)
			return
		}
		seat := m.game.ToMove()
		m.turn = Turn{Seat: seat, Observation: m.game.Observation(), Start: c.now}
		if policy := m.policies[seat]; policy != nil {
			action := policy.Act(m.game, m.key.intn(seat, len(m.turns)))
			m.turn.Completion, m.turn.Finish = action, FinishPolicy
			c.step(m, prompts.Answer{Action: action, Status: prompts.Raw})
		} else if c.ask(m) {
			return
		}
	}
}

// ask puts the turn in line for a slot and the prefill of its prompt; false if
// there was nothing to compute and the turn is over.
func (c *Core) ask(m *match) bool {
	ids, open, err := c.cfg.Codec.Prompt(c.cfg.system(m.job.Langs[m.turn.Seat]), m.turn.Observation)
	if err == nil && len(ids) == 0 {
		err = errors.New("the prompt has no tokens")
	}
	if err != nil {
		c.fail(m.job, err)
		return true
	}
	m.open = open
	m.sampled = m.sampled[:0]
	m.turn.PromptTokens = len(ids)
	c.stats.PromptTokens += len(ids)
	if len(ids) > c.cfg.Limits.Cells-1 {
		m.turn.Finish = FinishContext
		c.answer(m)
		return false
	}
	m.prompt = append(m.prompt[:0], ids...)
	m.waited = 0
	c.enqueue(m)
	return true
}

// computed takes note of a row that the engine is done with, and of the token
// sampled after it. A turn that goes on waits for its next step; one that ended
// gives its slot away and waits to be settled.
func (c *Core) computed(row *inference.Row) {
	s := &c.slots.all[row.Slot]
	s.held += len(row.Tokens)
	s.lowest = c.cfg.Limits.Lowest(s.lowest, s.held)
	m := s.match
	if row.Decode {
		c.stats.DecodeRows++
	} else {
		m.turn.Prefill += len(row.Tokens)
		c.stats.PrefillTokens += len(row.Tokens)
		c.learn(row.Slot)
	}
	if row.Sample {
		s.tokens = append(s.tokens, row.Token)
		c.stats.CompletionTokens++
		if m.turn.Finish = c.finish(s); m.turn.Finish != "" {
			m.sampled = append(m.sampled[:0], s.sampled()...)
			c.release(row.Slot)
			c.over = append(c.over, m)
			return
		}
	} else if row.Decode {
		c.stats.Replayed++
	}
	if s.decoding() {
		c.decode = append(c.decode, row.Slot)
	}
}

// finish says why the turn in s ends with the token sampled last; "" if it goes
// on. That token has no cell yet, and needs none unless the turn goes on.
func (c *Core) finish(s *slot) Finish {
	sampled := s.sampled()
	switch {
	case c.cfg.Codec.End(sampled[len(sampled)-1]):
		return FinishStop
	case len(sampled) == c.cfg.MaxTokens:
		return FinishLength
	case s.held == c.cfg.Limits.Cells:
		return FinishContext
	}
	return ""
}

// answer ends a turn of the model with all that was sampled in it. The end
// token counts, since it was computed like any other, but is no text.
func (c *Core) answer(m *match) {
	sampled := m.sampled
	m.turn.CompletionTokens = len(sampled)
	if m.turn.Finish == FinishStop {
		sampled = sampled[:len(sampled)-1]
	}
	if len(sampled) > 0 {
		m.turn.Completion = c.cfg.Codec.Text(sampled)
		m.turn.ThinkingTokens = c.thinkingTokens(m, sampled)
	}
	c.step(m, prompts.Extract(m.turn.Completion, m.open))
}

// thinkingTokens counts the tokens of m's completion that hold some of its
// thinking or of the marks around it.
func (c *Core) thinkingTokens(m *match, sampled []int32) int {
	spans, ended := prompts.ThinkSpans(m.turn.Completion, m.open)
	places := make([]int, 0, 2*len(spans))
	for _, s := range spans {
		places = append(places, min(s.From+1, s.To), s.To)
	}
	cuts := c.cfg.Codec.Cuts(sampled, places)
	n, done := 0, 0
	for i, s := range spans {
		from, to := max(done, cuts[2*i]-1), cuts[2*i+1]
		if s.From == 0 { // tokens without text in front are thinking like what follows
			from = 0
		}
		if !ended && i == len(spans)-1 {
			to = len(sampled)
		}
		n, done = n+to-from, to
	}
	return n
}

// step plays the answer and files the turn.
func (c *Core) step(m *match, answer prompts.Answer) {
	m.turn.Action, m.turn.Thinking, m.turn.Status = answer.Action, answer.Thinking, answer.Status
	m.turn.Event = m.game.Step(answer.Action)
	m.turn.End = c.now
	m.turns = append(m.turns, m.turn)
	c.stats.count(&m.turn)
	if c.cfg.Turned != nil {
		c.cfg.Turned(m.job, m.turns)
	}
}

// end files the record.
func (c *Core) end(m *match, result games.Result) {
	if c.model {
		c.slots.forget(m)
	}
	c.seats -= m.modelSeats()
	c.ended = append(c.ended, Record{Job: m.job, Turns: m.turns, Result: result})
	c.stats.Ended++
	if c.cfg.Ended != nil {
		c.cfg.Ended(m.job, result)
	}
}
