package bench

import (
	"encoding/json"
	"io"

	"selfplay/prompts"
	"selfplay/scheduler"
)

// exportedGame is a line of an export. The order of the fields is the order of
// the keys.
type exportedGame struct {
	ID      string         `json:"id"`
	Game    string         `json:"game"`
	Langs   [2]string      `json:"langs"`
	Role    int            `json:"role"`
	Seed    int64          `json:"seed"`
	Index   int            `json:"index"`
	Turns   []exportedTurn `json:"turns"`
	Rewards [2]int         `json:"rewards"`
	Reasons [2]string      `json:"reasons"`
	Invalid [2]bool        `json:"invalid"`
	Moves   [2]int         `json:"moves"`   // valid ones, and the one that forfeits
	Roles   [2]string      `json:"roles"`   // role names
	Players [2]string      `json:"players"` // "": the run's model; else a policy's name
}

type exportedTurn struct {
	Seat             int              `json:"seat"`
	Observation      string           `json:"observation"`
	Completion       string           `json:"completion"`
	Thinking         string           `json:"thinking"`
	Action           string           `json:"action"`
	Status           prompts.Status   `json:"status"`
	Finish           scheduler.Finish `json:"finish"`
	Wrapped          string           `json:"wrapped"` // the action as the rules parsed it
	Invalid          bool             `json:"invalid"`
	Reason           string           `json:"reason"`
	Defaulted        bool             `json:"defaulted"`
	Optimal          *bool            `json:"optimal"` // null: perfect play is not known, or the move was invalid
	Regret           *float64         `json:"regret"`  // what it lost by perfect play
	PromptTokens     int              `json:"prompt_tokens"`
	CompletionTokens int              `json:"completion_tokens"`
	ThinkingTokens   int              `json:"thinking_tokens"` // of those
	PrefillTokens    int              `json:"prefill_tokens"`
	StartMS          int64            `json:"start_ms"`
	EndMS            int64            `json:"end_ms"`
}

// ExportJSONL writes one line of JSON per ended game, in plan order, holding
// one game at a time in memory.
func (r *Run) ExportJSONL(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // the texts are for people and scripts, not for web pages
	return r.Each(func(rec scheduler.Record) error {
		return enc.Encode(exportRecord(rec))
	})
}

func exportRecord(rec scheduler.Record) exportedGame {
	j, o := rec.Job, rec.Result
	g := exportedGame{
		ID: j.ID, Game: j.Game, Langs: j.Langs, Role: j.Role, Seed: j.Seed, Index: j.Index,
		Turns:   make([]exportedTurn, 0, len(rec.Turns)), // [] and not null
		Rewards: o.Rewards, Reasons: o.Reasons, Invalid: o.Invalid, Moves: o.Turns, Roles: o.Roles, Players: j.Players,
	}
	for _, t := range rec.Turns {
		var optimal *bool
		var regret *float64
		if e := t.Event; e.Judged {
			optimal, regret = new(e.Regret == 0), &e.Regret
		}
		g.Turns = append(g.Turns, exportedTurn{
			Seat: t.Seat, Observation: t.Observation, Completion: t.Completion, Thinking: t.Thinking,
			Action: t.Action, Status: t.Status, Finish: t.Finish,
			Wrapped: t.Event.Action, Invalid: t.Event.Invalid, Reason: t.Event.Reason, Defaulted: t.Event.Default,
			Optimal: optimal, Regret: regret,
			PromptTokens: t.PromptTokens, CompletionTokens: t.CompletionTokens, ThinkingTokens: t.ThinkingTokens, PrefillTokens: t.Prefill,
			StartMS: t.Start.Milliseconds(), EndMS: t.End.Milliseconds(),
		})
	}
	return g
}
