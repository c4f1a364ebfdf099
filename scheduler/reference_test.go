package scheduler

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"selfplay/games"
	"selfplay/prompts"
)

// reference plays one game at a time and one token at a time, each prompt
// computed in full. It is as dumb as can be and shares nothing with the core
// but Draw and the extraction of answers.
func reference(t testing.TB, cfg Config, sample sampler) []Record {
	t.Helper()
	var records []Record
	for job := range cfg.Jobs {
		g, err := cfg.New(job)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := g.(games.Solved); ok {
			s.Judge()
		}
		r := Record{Job: job}
		for {
			result, over := g.Result()
			if over {
				r.Result = result
				break
			}
			r.Turns = append(r.Turns, referenceTurn(t, cfg, job, g, len(r.Turns), sample))
		}
		records = append(records, r)
	}
	return records
}

func referenceTurn(t testing.TB, cfg Config, job Job, g games.Game, number int, sample sampler) Turn {
	t.Helper()
	turn := Turn{Seat: g.ToMove(), Observation: g.Observation()}
	if policy := cfg.Policies[job.Players[turn.Seat]]; policy != nil {
		draws := 0
		turn.Completion = policy.Act(g, func(n int) int {
			draws++
			return int(Draw(cfg.Seed, job.ID, turn.Seat, number, draws-1) * float64(n))
		})
		turn.Action, turn.Status, turn.Finish = turn.Completion, prompts.Raw, FinishPolicy
		turn.Event = g.Step(turn.Action)
		return turn
	}
	prompt, open, err := cfg.Codec.Prompt(cfg.system(job.Langs[turn.Seat]), turn.Observation)
	if err != nil {
		t.Fatal(err)
	}
	turn.PromptTokens = len(prompt)
	tokens, text := slices.Clone(prompt), []int32(nil)
	if len(prompt) >= cfg.Limits.Cells {
		turn.Finish = FinishContext
	}
	for turn.Finish == "" {
		memory := uint64(0)
		for i, id := range tokens {
			memory = remember(memory, id, i >= len(prompt))
		}
		id := sample(tokens, memory, Draw(cfg.Seed, job.ID, turn.Seat, number, turn.CompletionTokens))
		turn.CompletionTokens++
		tokens = append(tokens, id)
		if cfg.Codec.End(id) {
			turn.Finish = FinishStop
			break
		}
		text = append(text, id)
		if turn.CompletionTokens == cfg.MaxTokens {
			turn.Finish = FinishLength
		} else if len(tokens) > cfg.Limits.Cells {
			turn.Finish = FinishContext
		}
	}
	turn.Completion = cfg.Codec.Text(text)
	answer := prompts.Extract(turn.Completion, open)
	turn.Action, turn.Thinking, turn.Status = answer.Action, answer.Thinking, answer.Status
	spans, _ := prompts.ThinkSpans(turn.Completion, open)
	for _, s := range spans {
		turn.ThinkingTokens += s.To - s.From // a token is a byte
	}
	turn.Event = g.Step(turn.Action)
	return turn
}

// sameRecords compares runs, apart from the order in which games ended and from
// what may depend on the machine: times and the prompt tokens computed or not.
func sameRecords(t testing.TB, got, want []Record) {
	t.Helper()
	g, w := byID(t, got), byID(t, want)
	for _, id := range slices.Sorted(maps.Keys(w)) {
		if !reflect.DeepEqual(g[id], w[id]) {
			t.Fatalf("game %s:\n got %+v\nwant %+v", id, g[id], w[id])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("%d games ended, want %d", len(g), len(w))
	}
}

// byID are the records by game, each of which must be there once.
func byID(t testing.TB, records []Record) map[string]Record {
	t.Helper()
	m := map[string]Record{}
	for _, r := range records {
		if _, twice := m[r.Job.ID]; twice {
			t.Fatalf("game %s ended twice", r.Job.ID)
		}
		r.Turns = slices.Clone(r.Turns)
		for i := range r.Turns {
			turn := &r.Turns[i]
			turn.Start, turn.End, turn.Prefill, turn.Copied, turn.Kept = 0, 0, 0, 0, 0
		}
		m[r.Job.ID] = r
	}
	return m
}
