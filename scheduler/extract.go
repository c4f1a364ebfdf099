package scheduler

import "selfplay/prompts"

// extract stands in for prompts.Extract until that is there.
func extract(completion string, open bool) prompts.Answer {
	if open {
		return prompts.Answer{Thinking: completion, Status: prompts.Truncated}
	}
	return prompts.Answer{Action: completion, Status: prompts.Raw}
}
