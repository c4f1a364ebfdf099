package page

import (
	"fmt"

	"selfplay/bench"
	"selfplay/scheduler"
)

// What a page takes of games to read: with six games and three models 27 games,
// in bytes at most maxSamples for all runs together. The store has the rest.
const (
	maxSamples = 3 << 20
	maxText    = 12 << 10 // of one text
	maxForfeit = 3        // games lost by invalid moves, for each run
)

// A sample is a game to read.
type sample struct {
	Run, ID, Game string
	Why           string
	Open          bool // unfolded, as where it is all that is shown
	Seats         [2]seat
	Result        string
	Turns         []turn
	Reasons       []side
}

// A seat is a player's badge; its language is shown by its code.
type seat struct {
	Name, Lang string
}

// A side is a text of one seat.
type side struct {
	Seat   int
	Blocks []block
	Left   int // bytes that are not shown
}

type turn struct {
	Number   int
	Seat     int
	First    bool // what it was shown holds the rules
	Shown    side // what is new of it
	Thinking side
	Answer   side
	Action   string
	Notes    []note
}

// A note says in a word what became of an answer.
type note struct {
	Text  string
	Class string
}

// samples reads the games that each run shows, in the order of the plan.
func samples(runs []Run, names []string) ([]sample, error) {
	var all []sample
	for i, r := range runs {
		picked, err := pick(r)
		if err != nil {
			return nil, err
		}
		left := maxSamples / len(runs)
		for _, p := range picked {
			rec, ok, err := r.Games.Find(p.id)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, fmt.Errorf("%s: game %s is gone", r.Games.Dir, p.id)
			}
			s, size := sampleOf(r.Report.Experiment, rec, maxText)
			if left -= size; left < 0 {
				break
			}
			s.Run, s.Why = clean(names[i]), p.why
			all = append(all, s)
		}
	}
	return all, nil
}

// A choice is a game to show, and why it was chosen.
type choice struct{ id, why string }

// pick chooses games by the plan alone, so that the same run always shows the
// same: for each game the first that ended of a pair of languages, a different
// pair for each game, or else of any; then those first lost by invalid moves.
func pick(r Run) ([]choice, error) {
	e := r.Report.Experiment
	wanted := map[string][2]string{}
	for i, game := range e.Games {
		n := len(e.Langs)
		wanted[game] = [2]string{e.Langs[(2*i+1)%n], e.Langs[(2*i+2)%n]}
	}
	best, any := map[string]string{}, map[string]string{}
	var forfeits []choice
	taken := map[string]bool{} // games that a forfeit is shown of
	err := r.Games.Outcomes(func(o bench.Outcome) error {
		j := o.Job
		if any[j.Game] == "" {
			any[j.Game] = j.ID
		}
		if best[j.Game] == "" && j.Langs == wanted[j.Game] {
			best[j.Game] = j.ID
		}
		if (o.Invalid[0] || o.Invalid[1]) && !taken[j.Game] && len(forfeits) < maxForfeit && j.Langs != wanted[j.Game] {
			taken[j.Game] = true
			forfeits = append(forfeits, choice{j.ID, "lost by invalid moves"})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var picked []choice
	shown := map[string]bool{}
	for _, game := range e.Games {
		id := best[game]
		if id == "" {
			id = any[game]
		}
		if id != "" {
			picked, shown[id] = append(picked, choice{id, "the first of its languages"}), true
		}
	}
	for _, f := range forfeits {
		if !shown[f.id] {
			picked = append(picked, f)
		}
	}
	return picked, nil
}

// sampleOf makes a game readable, each of its texts up to a limit in bytes, and says
// how many bytes they take.
func sampleOf(e bench.Experiment, rec scheduler.Record, limit int) (sample, int) {
	j := rec.Job
	s := sample{ID: clean(j.ID), Game: clean(j.Game), Result: bench.Ending(rec.Result.Rewards, rec.Result.Invalid)}
	size := 0
	text := func(seat int, text, lang string) side {
		short, left := cut(text, limit)
		size += len(short)
		return side{Seat: seat, Blocks: blocks(short, lang), Left: left}
	}
	for i, label := range j.Langs {
		s.Seats[i] = seat{Name: clean(rec.Result.Roles[i]), Lang: clean(label)}
		s.Reasons = append(s.Reasons, text(i, rec.Result.Reasons[i], bench.InterfaceOf(label)))
	}
	var before [2]string
	for i, t := range rec.Turns {
		label := j.Langs[t.Seat]
		s.Turns = append(s.Turns, turn{
			Number: i + 1, Seat: t.Seat, First: before[t.Seat] == "",
			Shown:    text(t.Seat, bench.Added(before[t.Seat], t.Observation), bench.InterfaceOf(label)),
			Thinking: text(t.Seat, t.Thinking, e.ReasonsIn(label)),
			Answer:   text(t.Seat, t.Completion, e.ReasonsIn(label)),
			Action:   actionOf(t), Notes: notes(t),
		})
		before[t.Seat] = t.Observation
	}
	return s, size
}

// actionOf is what the rules were given; a long one is all of the answer.
func actionOf(t scheduler.Turn) string {
	action, left := cut(t.Action, 120)
	if left > 0 {
		action += "…"
	}
	return clean(action)
}

// notes are what a reader should know of an answer that is not as asked.
func notes(t scheduler.Turn) []note {
	var all []note
	for _, r := range bench.Remarks(t) {
		n := note{Text: r.Text}
		if r.Reason != "" {
			n.Text += ": " + clean(r.Reason)
		}
		switch {
		case r.Bad:
			n.Class = "bad"
		case r.Good:
			n.Class = "good"
		}
		all = append(all, n)
	}
	return all
}
