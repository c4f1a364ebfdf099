// Package asking puts questions to a model: each is a chat of a system and a user
// message, and the model's answer ends it. The scheduler plays them as games of
// one turn, so they share its batches and the cells of what their prompts have in
// common, on one engine or on several.
package asking

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"selfplay/bench"
	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// A Question is one chat. With the seed of whoever asks, its ID decides every draw.
type Question struct {
	ID           string // unique among all that are asked together, further ones too
	System, User string
}

// An Answer is what the model made of a question.
type Answer struct {
	Text    string // without thinking, and blanks around
	Cut     string // why it has no end; "": it ended by itself
	Written int    // tokens
}

// An Each is told every answer, in any order but one at a time. It may give a
// further question, which is asked like the others; an error stops it all.
type Each func(q Question, a Answer) (further *Question, err error)

// An Asker asks questions until all are answered, or ctx ends.
type Asker func(ctx context.Context, questions []Question, each Each) error

// Of asks by a player of games: play makes one out of settings that lack but the
// model. At most most questions come of each one. progress may be nil.
func Of(play func(scheduler.Config) bench.Player, seed int64, maxTokens, most int, progress func(scheduler.Progress)) Asker {
	if progress == nil {
		progress = func(scheduler.Progress) {}
	}
	return func(ctx context.Context, questions []Question, each Each) error {
		if len(questions) == 0 {
			return ctx.Err()
		}
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		q := &queue{waiting: questions, open: make(map[string]Question), each: each, stop: stop}
		player := play(scheduler.Config{
			Seed: seed, MaxTokens: maxTokens, New: q.begin,
			System:   func(text string) string { return text },
			Policies: map[string]scheduler.Policy{nobody: silent{}},
		})
		deal := bench.Deal{Jobs: q.jobs, Total: most * len(questions), Ready: q.ready, Turned: q.answered}
		err := player(ctx, deal, func(scheduler.Record) error { return nil }, progress)
		if q.err != nil {
			return q.err
		}
		return err
	}
}

// A queue holds the questions that wait and those that are open. The cores of
// several replicas use it at once.
type queue struct {
	mu      sync.Mutex
	waiting []Question
	open    map[string]Question
	each    Each
	stop    context.CancelCauseFunc
	err     error // of each
}

func (q *queue) ready() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0 && q.err == nil
}

// jobs hands out what waits. It is pulled from only where ready said yes.
func (q *queue) jobs(yield func(scheduler.Job) bool) {
	for {
		j, ok := q.next()
		if !ok || !yield(j) {
			return
		}
	}
}

func (q *queue) next() (scheduler.Job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return scheduler.Job{}, false
	}
	next := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.open[next.ID] = next
	return scheduler.Job{ID: next.ID, Game: "question", Langs: [2]string{next.System}, Players: [2]string{1: nobody}}, true
}

// begin starts the game of a job, again where a replica with it was lost.
func (q *queue) begin(j scheduler.Job) (games.Game, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return &chat{user: q.open[j.ID].User}, nil
}

// answered passes an answer on, once: what was lost with a replica after that is
// played again for nothing.
func (q *queue) answered(j scheduler.Job, turns []scheduler.Turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	asked, open := q.open[j.ID]
	if !open || q.err != nil {
		return
	}
	delete(q.open, j.ID)
	further, err := q.each(asked, answerOf(turns[0]))
	if err != nil {
		q.err = err
		q.stop(err)
	}
	if further != nil { // first, so that what began is finished before more begins: a stop loses less
		q.waiting = slices.Insert(q.waiting, 0, *further)
	}
}

// answerOf takes a turn's thinking off, by the marks that games go by. What games
// take as a move is not looked at: answers here have no box.
func answerOf(t scheduler.Turn) Answer {
	a := Answer{Written: t.CompletionTokens}
	spans, ended := prompts.ThinkSpans(t.Completion, false)
	switch {
	case t.Finish == scheduler.FinishLength:
		a.Cut = fmt.Sprintf("the answer was cut off after %d tokens", t.CompletionTokens)
	case t.Finish == scheduler.FinishContext && t.CompletionTokens == 0:
		a.Cut = fmt.Sprintf("the prompt of %d tokens does not fit the context", t.PromptTokens)
	case t.Finish == scheduler.FinishContext:
		a.Cut = "the context was full before the answer ended"
	case !ended || t.Status == prompts.Truncated:
		a.Cut = "the thinking did not end"
	}
	at := 0
	var said strings.Builder
	for _, s := range spans {
		said.WriteString(t.Completion[at:s.From])
		at = s.To
	}
	said.WriteString(t.Completion[at:])
	a.Text = strings.TrimSpace(said.String())
	return a
}

// A chat is a game of one turn, which the model has.
type chat struct {
	user string
	over bool
}

func (c *chat) ToMove() int                  { return 0 }
func (c *chat) Observation() string          { return c.user }
func (c *chat) Result() (games.Result, bool) { return games.Result{}, c.over }

func (c *chat) Step(action string) games.Event {
	c.over = true
	return games.Event{Action: action}
}

// nobody has the seat that never moves.
const nobody = "nobody"

type silent struct{}

func (silent) Act(games.Game, func(int) int) string { panic("asking: the second seat has no turn") }
