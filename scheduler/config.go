package scheduler

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"selfplay/games"
	"selfplay/inference"
)

// Config says what a Core plays and how. It is not changed once the core has it.
type Config struct {
	Seed      int64 // of the run: with a job's ID it decides every draw, see Draw
	MaxTokens int   // sampled tokens a turn may have; 0: until its slot is full
	// System is the system prompt of a seat, by its Job.Langs. nil: empty for all.
	System func(lang string) string

	// Jobs are the games to play, pulled one by one as slots become free, so
	// that thousands may wait without taking memory. Their IDs must differ.
	Jobs iter.Seq[Job]
	// Total is how many jobs there are; it only serves Stats.Waiting. 0: unknown.
	Total int
	// Ready, if not nil, is asked before each job is pulled, and may say no for now:
	// the core goes on with the games that it has, and is done when it has none.
	Ready func() bool
	// New deals the game of a job. An error stops the run.
	New func(Job) (games.Game, error)
	// Ended, if not nil, is told of each game that ended before Ready is asked again.
	// Of replicas, it is told once the sink has the game.
	Ended func(Job, games.Result)
	// Turned, if not nil, is told of each turn that ended, by all turns that its game has
	// had so far, which it may keep and must not change. Several replicas call it at once.
	Turned func(Job, []Turn)
	// Hold, if not nil, is called before each step by whoever drives the core, and may make
	// it wait, but no longer than ctx lasts. That changes no game. Several replicas call it
	// at once.
	Hold func(ctx context.Context)
	// Policies answer for the seats that Job.Players gives them by name. One named
	// "" stands in for the run's model: then no engine is needed, nor Limits, nor
	// Codec.
	Policies map[string]Policy

	// Limits of the engine. No more games are live than slots, nor than rows or
	// tokens in a step, so that each that has cells gets on in every step.
	Limits inference.Limits
	Codec  Codec
	// Chunk, if above 0 and below Limits.Tokens, is the most tokens of one step.
	Chunk int
	// NoReuse computes every prompt from its first token, even where a slot
	// already holds the beginning of it. It changes the work, never the games.
	NoReuse bool
}

// A Codec is the model's language: chats to tokens and back.
type Codec interface {
	// Prompt is the chat of a system and a user message, ready for the answer.
	// open: the chat template has already opened a think block. The core only
	// reads ids, and not after its next call of Prompt.
	Prompt(system, user string) (ids []int32, open bool, err error)
	// Text is what the model wrote, for ids without the end token.
	Text(ids []int32) string
	// Cuts tells for places in that text, in bytes and in order, how many of the
	// tokens hold what is before each.
	Cuts(ids []int32, places []int) []int
	// End says whether a sampled token ends the turn.
	End(id int32) bool
}

// usesModel says whether any seat may need the engine.
func (cfg *Config) usesModel() bool { return cfg.Policies[""] == nil }

// policies are who answers for the seats of a job; nil: the engine.
func (cfg *Config) policies(j Job) (seats [2]Policy, err error) {
	for i, name := range j.Players {
		if seats[i] = cfg.Policies[name]; seats[i] == nil && name != "" {
			return seats, fmt.Errorf("no player is called %q", name)
		}
	}
	return seats, nil
}

// system is the system prompt of a seat that plays in lang.
func (cfg *Config) system(lang string) string {
	if cfg.System == nil {
		return ""
	}
	return cfg.System(lang)
}

// budget is the most tokens that one step computes.
func (cfg *Config) budget() int {
	if cfg.Chunk > 0 {
		return min(cfg.Chunk, cfg.Limits.Tokens)
	}
	return cfg.Limits.Tokens
}

func (cfg *Config) check() error {
	if cfg.Jobs == nil || cfg.New == nil {
		return errors.New("scheduler: Config needs Jobs and New")
	}
	if cfg.MaxTokens < 0 || cfg.Chunk < 0 {
		return fmt.Errorf("scheduler: MaxTokens %d and Chunk %d must not be negative", cfg.MaxTokens, cfg.Chunk)
	}
	if !cfg.usesModel() {
		return nil
	}
	if cfg.Codec == nil {
		return errors.New("scheduler: a seat without a policy needs a Codec")
	}
	return checkLimits(cfg.Limits)
}

func checkLimits(l inference.Limits) error {
	// Two cells are the least: one token of prompt, one of completion.
	if l.Slots < 1 || l.Rows < 1 || l.Tokens < 1 || l.Cells < 2 || l.Least < 1 {
		return fmt.Errorf("scheduler: limits too small to play: %d slots of %d cells in blocks from %d cells, %d rows of %d tokens a step",
			l.Slots, l.Cells, l.Least, l.Rows, l.Tokens)
	}
	if largest := l.BlockFor(l.Cells); l.Pool < largest || l.Pool%largest != 0 {
		return fmt.Errorf("scheduler: a pool of %d cells can't be cut into blocks of %d, which hold the %d cells of a slot",
			l.Pool, largest, l.Cells)
	}
	return nil
}

// mostLive is how many games may be live.
func (cfg *Config) mostLive() int {
	return min(cfg.Limits.Rows, cfg.Limits.Slots, cfg.budget())
}
