package person

import (
	"fmt"
	"strings"

	"selfplay/bench"
	"selfplay/scheduler"
)

func (d *desk) greet() {
	d.say(fmt.Sprintf("%s, seed %d: you are seat %d, %s; seat %d is %s, %s", d.Job.ID, d.Config.Seed,
		d.Seat, d.Job.Langs[d.Seat], 1-d.Seat, d.Opponent, d.Job.Langs[1-d.Seat]))
	d.say("what you type is read as a model's answer is: [4], \\boxed{4} or a text; :help lists commands")
}

var help = []string{
	":prompt  the exact prompt that the other was given last",
	":answer  its last answer as it wrote it, thinking included; in games in which moves are hidden, this shows them",
	":all     all that you have been shown, as a model is shown it in each turn",
	":system  the system prompt that a model in your seat would have",
	":quit    leave the game",
}

// command does what a line that begins with a colon asks for.
func (d *desk) command(line, observation string) {
	switch strings.TrimSpace(line) {
	case ":prompt":
		d.sayPrompt()
	case ":answer":
		d.sayAnswer()
	case ":all":
		d.text(observation, d.lang(d.Seat))
	case ":system":
		if d.Engine == nil {
			d.say("there is none: no model plays")
			return
		}
		d.say(d.Config.System(d.Job.Langs[d.Seat]))
	case ":quit":
		d.stop()
	case ":help":
		d.say(strings.Join(help, "\n"))
	default:
		d.say("there is no such command; :help lists those that there are")
	}
}

func (d *desk) sayPrompt() {
	switch {
	case !d.asked:
		d.say(d.Opponent + " has not been asked yet")
	case d.prompt == nil:
		d.say(d.Opponent + " is not prompted; it sees the game itself, of which a model would be shown:")
		d.text(d.last.Observation, d.lang(1-d.Seat))
	default:
		d.say(fmt.Sprintf("%d tokens; control tokens are in brackets, with their numbers:", len(d.prompt)))
		d.text(d.Show(d.prompt), d.lang(1-d.Seat))
	}
}

func (d *desk) sayAnswer() {
	if !d.asked {
		d.say(d.Opponent + " has not answered yet")
		return
	}
	label := d.Job.Langs[1-d.Seat]
	var told bench.Experiment
	if d.prompt != nil {
		told.System = d.Config.System(label)
	}
	d.text(d.last.Completion, told.ReasonsIn(label))
	d.say(fmt.Sprintf("extracted (%s): %s", d.last.Status, d.last.Action))
}

// end says how the game ended.
func (d *desk) end(r scheduler.Record) {
	o := r.Result
	d.say("")
	if d.asked {
		d.say("the last answer of " + d.Opponent + ":")
		d.sayAnswer()
		d.say("")
	}
	verdict := "drawn"
	switch {
	case o.Rewards[d.Seat] > 0:
		verdict = "you won"
	case o.Rewards[d.Seat] < 0:
		verdict = "you lost"
	}
	for seat, invalid := range o.Invalid {
		if invalid {
			verdict += fmt.Sprintf(", by a second invalid move in a row of seat %d", seat)
		}
	}
	d.say(fmt.Sprintf("%s after %d turns", verdict, len(r.Turns)))
	d.text(o.Reasons[d.Seat], d.lang(d.Seat))
}
