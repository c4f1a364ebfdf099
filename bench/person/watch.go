package person

import (
	"fmt"
	"slices"

	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// A watchedGame tells the desk of each step.
type watchedGame struct {
	games.Game
	d *desk
}

func (g *watchedGame) Step(action string) games.Event {
	seat := g.ToMove()
	event := g.Game.Step(action)
	g.d.stepped(seat, action, event)
	return event
}

// stepped says what became of an answer, but not what it was if it is the other's:
// in some games that stays hidden for a while.
func (d *desk) stepped(seat int, action string, event games.Event) {
	if d.stopped {
		return
	}
	d.turns++
	if seat == d.Seat {
		if event.Action != action {
			d.say("the rules read: " + event.Action)
		}
		d.refused("your answer was refused", event, seat)
		return
	}
	d.last.Action = action
	text := d.Opponent + " has answered"
	switch {
	case d.prompt != nil && len(d.prompt) >= d.Config.Limits.Cells:
		text = fmt.Sprintf("%s could not answer: its prompt of %d tokens is longer than --context %d", d.Opponent, len(d.prompt), d.Config.Limits.Cells)
	case d.last.Status == prompts.Truncated:
		text += ", but its thinking never ended"
	}
	d.say(text + "; :answer shows it")
	d.refused("its answer was refused", event, seat)
}

func (d *desk) refused(what string, event games.Event, seat int) {
	switch {
	case event.Invalid:
		d.say(what + ":")
		d.text(event.Reason, d.lang(seat))
	case event.Default:
		d.say("no choice could be read in it: the rules took their default")
	}
}

// A watchedPolicy keeps what the other answers.
type watchedPolicy struct {
	d      *desk
	policy scheduler.Policy
}

func (w watchedPolicy) Act(g games.Game, intn func(n int) int) string {
	game := g.(*watchedGame).Game // what the policy knows how to play
	w.d.asked = true
	w.d.last = scheduler.Turn{Observation: game.Observation(), Status: prompts.Raw}
	w.d.last.Completion = w.policy.Act(game, intn)
	return w.d.last.Completion
}

// A watchedCodec keeps what the model is asked and what it answers: the codec sees
// both as they are.
type watchedCodec struct {
	scheduler.Codec
	d *desk
}

func (w watchedCodec) Prompt(system, user string) ([]int32, bool, error) {
	ids, open, err := w.Codec.Prompt(system, user)
	w.d.asked, w.d.prompt, w.d.open, w.d.tokens = true, slices.Clone(ids), open, 0
	w.d.last = scheduler.Turn{Observation: user, Status: prompts.Extract("", open).Status} // until there is more
	w.d.working(fmt.Sprintf("reads its prompt of %d tokens", len(ids)))
	return ids, open, err
}

func (w watchedCodec) Text(ids []int32) string {
	text := w.Codec.Text(ids)
	w.d.last.Completion, w.d.last.Status = text, prompts.Extract(text, w.d.open).Status
	return text
}

// End is asked of every token that is sampled.
func (w watchedCodec) End(id int32) bool {
	w.d.tokens++
	return w.Codec.End(id)
}
