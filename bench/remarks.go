package bench

import (
	"fmt"
	"strings"

	"selfplay/prompts"
	"selfplay/scheduler"
)

// A Remark says in a word what became of an answer.
type Remark struct {
	Text      string
	Reason    string // the rules' own, in the seat's language: to be cleaned before it is shown
	Bad, Good bool
}

// Remarks are what a reader should know of an answer that is not as asked.
func Remarks(t scheduler.Turn) []Remark {
	var all []Remark
	bad := func(text string) { all = append(all, Remark{Text: text, Bad: true}) }
	if t.Event.Invalid {
		all = append(all, Remark{Text: "invalid", Reason: t.Event.Reason, Bad: true})
	}
	if t.Event.Default {
		bad("unreadable: the rules took their default")
	}
	switch {
	case t.Finish == scheduler.FinishPolicy: // answers as the rules want it
	case t.Status == prompts.Raw:
		all = append(all, Remark{Text: "not boxed"})
	case t.Status == prompts.Truncated:
		bad("thinking never ended")
	}
	switch t.Finish {
	case scheduler.FinishLength:
		bad("cut off at the limit of tokens")
	case scheduler.FinishContext:
		bad("cut off: context full")
	}
	if t.Event.Judged {
		if t.Event.Regret == 0 {
			all = append(all, Remark{Text: "optimal", Good: true})
		} else {
			all = append(all, Remark{Text: fmt.Sprintf("loses %.2f by perfect play", t.Event.Regret)})
		}
	}
	return all
}

// Ending says who won.
func Ending(rewards [2]int, invalid [2]bool) string {
	forfeit := ""
	if invalid[0] || invalid[1] {
		forfeit = " by invalid moves of the other"
	}
	switch {
	case rewards[0] > rewards[1]:
		return "won by seat 0" + forfeit
	case rewards[0] < rewards[1]:
		return "won by seat 1" + forfeit
	}
	return "drawn"
}

// Added is what a seat is shown after what it was shown before.
func Added(before, now string) string {
	if rest, ok := strings.CutPrefix(now, before); ok {
		return rest
	}
	return now
}
