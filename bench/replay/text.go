// Package replay shows the games of a run: as plain text, or on a terminal, where a
// person steps through them.
package replay

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"selfplay/bench"
	"selfplay/bench/screen"
	"selfplay/scheduler"
)

// A part is a piece of a game's text, in one language.
type part struct {
	title  string
	text   string
	lang   string // as screen.DirectionOf takes it; "": this program's words
	folded bool   // long, and of use only now and then
}

// turnParts are what there is to see of a turn.
func turnParts(e bench.Experiment, rec scheduler.Record, i int) []part {
	t := rec.Turns[i]
	label := rec.Job.Langs[t.Seat]
	before := ""
	for _, earlier := range rec.Turns[:i] {
		if earlier.Seat == t.Seat {
			before = earlier.Observation
		}
	}
	title := "what is new to it"
	if before == "" {
		title = "what it was shown first"
	}
	shown, said := bench.InterfaceOf(label), e.ReasonsIn(label)
	all := []part{{title: title, text: bench.Added(before, t.Observation), lang: shown}}
	if strings.TrimSpace(t.Thinking) != "" {
		all = append(all, part{title: "thinking", text: t.Thinking, lang: said, folded: true})
	}
	all = append(all, part{title: "answer", text: t.Completion, lang: said})
	if t.Action != t.Completion {
		all = append(all, part{title: "action", text: t.Action, lang: said})
	}
	if t.Event.Reason != "" {
		all = append(all, part{title: "why the rules refused it", text: t.Event.Reason, lang: shown})
	}
	if board := boardAfter(rec, i); board != "" {
		all = append(all, part{title: "board", text: board, lang: shown})
	}
	return all
}

// boardAfter is the board that the next turn is shown, if the game draws one. After
// the last move nobody is shown any.
func boardAfter(rec scheduler.Record, i int) string {
	if i+1 == len(rec.Turns) {
		return ""
	}
	lines := strings.Split(rec.Turns[i+1].Observation, "\n")
	end := len(lines)
	isBoard := func(line string) bool { return screen.DirectionOf(line, "").Board }
	for end > 0 && !isBoard(lines[end-1]) {
		end--
	}
	from := end
	for from > 0 && isBoard(lines[from-1]) {
		from--
	}
	return strings.Join(lines[from:end], "\n")
}

// turnHead names a turn and what became of it.
func turnHead(rec scheduler.Record, i int) string {
	t := rec.Turns[i]
	head := fmt.Sprintf("turn %d of %d: seat %d, %s, %s", i+1, len(rec.Turns), t.Seat, rec.Job.Langs[t.Seat], playerName(rec.Job.Players[t.Seat]))
	if t.Finish != scheduler.FinishPolicy {
		head += fmt.Sprintf("; %s, %s; %d tokens", t.Status, t.Finish, t.CompletionTokens)
		if t.ThinkingTokens > 0 {
			head += fmt.Sprintf(", %d of them thinking", t.ThinkingTokens)
		}
	}
	for _, r := range bench.Remarks(t) {
		head += "; " + r.Text
	}
	return head
}

func playerName(name string) string { return cmp.Or(name, "model") }

// endParts are how the game ended: for all, then as each seat is told.
func endParts(rec scheduler.Record) []part {
	o := rec.Result
	all := []part{{title: "end", text: fmt.Sprintf("%s after %d turns", bench.Ending(o.Rewards, o.Invalid), len(rec.Turns))}}
	for seat, label := range rec.Job.Langs {
		answers, valid, tokens, thinking := 0, 0, 0, 0
		for _, t := range rec.Turns {
			if t.Seat == seat {
				answers, tokens, thinking = answers+1, tokens+t.CompletionTokens, thinking+t.ThinkingTokens
				if !t.Event.Invalid { // Result.Turns has the one that forfeits too
					valid++
				}
			}
		}
		title := fmt.Sprintf("seat %d, %s: reward %+d, %s in %s", seat, label, o.Rewards[seat],
			screen.Counted(valid, "valid move", "valid moves"), screen.Counted(answers, "answer", "answers"))
		if rec.Job.Players[seat] == "" && tokens > 0 {
			title += fmt.Sprintf(" of %d tokens, %d of them thinking", tokens, thinking)
		}
		if o.Invalid[seat] {
			title += "; lost by a second invalid move"
		}
		all = append(all, part{title: title, text: o.Reasons[seat], lang: bench.InterfaceOf(label)})
	}
	return all
}

// gameHead says what game it is and who plays it.
func gameHead(e bench.Experiment, rec scheduler.Record) []string {
	j := rec.Job
	lines := []string{fmt.Sprintf("%s: %s", j.ID, bench.Ending(rec.Result.Rewards, rec.Result.Invalid)),
		fmt.Sprintf("model %s, seed of the run %d, of the deal %d", e.Model.Name, e.Seed, j.Seed)}
	for seat, label := range j.Langs {
		lines = append(lines, fmt.Sprintf("seat %d: %s, %s, called %s", seat, playerName(j.Players[seat]), label, rec.Result.Roles[seat]))
	}
	return lines
}

// WriteGame writes all of a game as plain text, cleaned. With a screen, lines are
// made for it; nil leaves them as they are, for a file or another program.
func WriteGame(w io.Writer, e bench.Experiment, rec scheduler.Record, s *screen.Screen) error {
	var b strings.Builder
	put := func(indent string, lines []string) {
		for _, line := range lines {
			b.WriteString(strings.TrimRight(indent+line, " ") + "\n")
		}
	}
	parts := func(all []part) {
		for _, p := range all {
			put("  ", linesOf(s, 2, "["+p.title+"]", ""))
			put("    ", trimmed(linesOf(s, 4, p.text, p.lang)))
		}
	}
	for _, line := range gameHead(e, rec) {
		put("", linesOf(s, 0, line, ""))
	}
	for i := range rec.Turns {
		put("", append([]string{""}, linesOf(s, 0, turnHead(rec, i), "")...))
		parts(turnParts(e, rec, i))
	}
	b.WriteString("\n")
	parts(endParts(rec))
	_, err := io.WriteString(w, b.String())
	return err
}

// linesOf are the lines of a text behind an indent.
func linesOf(s *screen.Screen, indent int, text, lang string) []string {
	if s == nil {
		return strings.Split(screen.Clean(text), "\n")
	}
	inner := screen.Screen{Width: max(1, s.Width-indent), Turn: s.Turn}
	return inner.Lines(text, lang)
}

// trimmed drops empty lines at both ends.
func trimmed(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Row is a game's line in a list.
func Row(l bench.Listed) string {
	players := ""
	for seat, name := range l.Players {
		if name != "" {
			players += fmt.Sprintf(", seat %d is %s", seat, name)
		}
	}
	won := "drawn"
	switch {
	case l.Rewards[0] > l.Rewards[1]:
		won = "seat 0 won"
	case l.Rewards[0] < l.Rewards[1]:
		won = "seat 1 won"
	}
	if l.Invalid[0] || l.Invalid[1] {
		won += " by invalid moves"
	}
	return screen.Clean(fmt.Sprintf("%7d  %-32s %3d turns  %s%s", l.Position, l.ID, l.Turns, won, players))
}
