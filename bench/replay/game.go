package replay

import (
	"strings"

	"selfplay/bench"
	"selfplay/bench/screen"
	"selfplay/scheduler"
)

// widest is how far text runs on a wide screen: lines that are longer, or that begin
// far to the right, are hard to read.
const widest = 100

// An opened game is on the screen, one turn at a time; behind the last turn comes
// the end.
type opened struct {
	run      bench.Experiment // that it is a game of
	rec      scheduler.Record
	turn     int
	top      int // the first line on the screen
	thinking bool

	made layout // what laid are the lines of
	laid []string
}

// A layout is all that the lines of a turn depend on.
type layout struct {
	turn     int
	thinking bool
	screen   screen.Screen
}

// key is false if it leaves the game.
func (o *opened) key(name string, height int, s screen.Screen) bool {
	last := len(o.rec.Turns)
	to := func(turn int) { o.turn, o.top = max(0, min(turn, last)), 0 }
	switch name {
	case "q", "esc", "backspace":
		return false
	case "n", "right", "enter":
		to(o.turn + 1)
	case "p", "left":
		to(o.turn - 1)
	case "home":
		to(0)
	case "end":
		to(last)
	case "down", "j":
		o.top++
	case "up", "k":
		o.top--
	case "pgdown", "space":
		o.top += height
	case "pgup":
		o.top -= height
	case "t":
		o.thinking = !o.thinking
	}
	o.top = max(0, min(o.top, len(o.lines(s))-height))
	return true
}

// show gives the lines of a turn that fit into the height.
func (o *opened) show(height int, s screen.Screen) (head string, body []string, foot string) {
	head = o.rec.Job.ID + ": " + bench.Ending(o.rec.Result.Rewards, o.rec.Result.Invalid) + "; model " + o.run.Model.Name
	body = o.lines(s)
	top := max(0, min(o.top, len(body)-height))
	foot = "n, p: turn  up, down: scroll  home, end  t: thinking  q: back"
	if top+height < len(body) {
		foot = "more below  " + foot
	}
	return head, body[top:min(len(body), top+height)], foot
}

// lines are all that there is to see of the turn.
func (o *opened) lines(s screen.Screen) []string {
	s.Width = min(s.Width, widest)
	if l := (layout{o.turn, o.thinking, s}); o.laid == nil || o.made != l {
		o.made, o.laid = l, o.lay(s)
	}
	return o.laid
}

func (o *opened) lay(s screen.Screen) []string {
	head, parts := "the end", endParts(o.rec)
	if o.turn < len(o.rec.Turns) {
		head, parts = turnHead(o.rec, o.turn), turnParts(o.run, o.rec, o.turn)
	}
	lines := s.Lines(head, "")
	for _, p := range parts {
		title := p.title
		if p.folded && !o.thinking {
			title += " (t shows it)"
		}
		lines = append(lines, "")
		for _, line := range s.Lines(title, "") {
			lines = append(lines, faint(line))
		}
		if p.folded && !o.thinking {
			continue
		}
		for _, line := range trimmed(linesOf(&s, 2, p.text, p.lang)) {
			lines = append(lines, strings.TrimRight("  "+line, " "))
		}
	}
	return lines
}
