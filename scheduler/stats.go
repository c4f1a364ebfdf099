package scheduler

import "selfplay/prompts"

// Stats are counts since the start of the run.
type Stats struct {
	Started, Ended int // games
	Total          int // games in all, if known; see Config.Total

	Steps         int
	DecodeRows    int // rows that computed a token sampled before
	PrefillTokens int // prompt tokens computed, again ones included

	Turns            int // ended
	PromptTokens     int // of all turns begun, computed or not
	CopiedTokens     int // prompt tokens whose cells were copied from another slot
	KeptTokens       int // prompt tokens whose cells the turn's slot held already
	CompletionTokens int // sampled, end tokens included
	ThinkingTokens   int // of turns ended, sampled while thinking

	HeldBack  int // times that a turn waited a step for what another one computed
	Moved     int // cells copied because a slot moved to a larger block
	Preempted int // times that a turn lost its slot to an older game
	Replayed  int // sampled tokens computed again after that
	Truncated int // turns that ended while thinking
	Length    int // turns stopped at Config.MaxTokens
	Context   int // turns whose slot was full or too small for the prompt
	Invalid   int // answers that the rules refused
}

// Live is how many games are being played.
func (s Stats) Live() int { return s.Started - s.Ended }

// Waiting is how many games have not begun; 0 if the total is unknown.
func (s Stats) Waiting() int { return max(0, s.Total-s.Started) }

// Stats are the counts up to the last Done.
func (c *Core) Stats() Stats {
	s := c.stats
	s.Total = c.cfg.Total
	return s
}

func (s *Stats) count(t *Turn) {
	s.Turns++
	s.ThinkingTokens += t.ThinkingTokens
	if t.Status == prompts.Truncated {
		s.Truncated++
	}
	switch t.Finish {
	case FinishLength:
		s.Length++
	case FinishContext:
		s.Context++
	}
	if t.Event.Invalid {
		s.Invalid++
	}
}

// add adds another core's counts.
func (s *Stats) add(o Stats) {
	s.Started += o.Started
	s.Ended += o.Ended
	s.Total += o.Total
	s.Steps += o.Steps
	s.DecodeRows += o.DecodeRows
	s.PrefillTokens += o.PrefillTokens
	s.Turns += o.Turns
	s.PromptTokens += o.PromptTokens
	s.CopiedTokens += o.CopiedTokens
	s.KeptTokens += o.KeptTokens
	s.CompletionTokens += o.CompletionTokens
	s.ThinkingTokens += o.ThinkingTokens
	s.HeldBack += o.HeldBack
	s.Moved += o.Moved
	s.Preempted += o.Preempted
	s.Replayed += o.Replayed
	s.Truncated += o.Truncated
	s.Length += o.Length
	s.Context += o.Context
	s.Invalid += o.Invalid
}
