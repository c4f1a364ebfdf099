package bench

import (
	"database/sql"
	"fmt"
	"time"

	"selfplay/prompts"
	"selfplay/scheduler"
)

// Counts are sums over games.
type Counts struct {
	Planned       int `json:"planned"`
	Games         int `json:"games"` // ended
	Wins0         int `json:"wins0"` // by seat 0
	Wins1         int `json:"wins1"`
	Draws         int `json:"draws"`
	InvalidLosses int `json:"invalid_losses"` // by a second invalid move in a row
	AnswerCounts
}

// AnswerCounts are sums over answers. Boxed, Raw and Truncated are the ways in
// which an action was found; Stop, Length, Context and Policy the ways in which
// the completion ended.
type AnswerCounts struct {
	Turns            int `json:"turns"`
	Boxed            int `json:"boxed"`
	Raw              int `json:"raw"`
	Truncated        int `json:"truncated"` // thinking that never ended
	Stop             int `json:"stop"`
	Length           int `json:"length_limited"`
	Context          int `json:"context_full"`
	Policy           int `json:"policy"`
	Invalid          int `json:"invalid_actions"`   // refused by the rules
	Defaulted        int `json:"defaulted_actions"` // unreadable, so the rules took their default
	PromptTokens     int `json:"prompt_tokens"`
	PrefillTokens    int `json:"prefill_tokens"` // prompt tokens really computed
	CompletionTokens int `json:"completion_tokens"`
	ThinkingTokens   int `json:"thinking_tokens"` // of those

	// What answers are written in, of those long enough to tell, see identify.
	Told          int `json:"told"`           // answers whose language can be told
	OtherScript   int `json:"other_script"`   // of those, mainly in another script than asked
	OtherLanguage int `json:"other_language"` // of those, in another language than asked, or another script
}

// add counts an answer.
func (c *AnswerCounts) add(t scheduler.Turn) {
	c.Turns++
	switch t.Status {
	case prompts.Boxed:
		c.Boxed++
	case prompts.Raw:
		c.Raw++
	case prompts.Truncated:
		c.Truncated++
	}
	switch t.Finish {
	case scheduler.FinishStop:
		c.Stop++
	case scheduler.FinishLength:
		c.Length++
	case scheduler.FinishContext:
		c.Context++
	case scheduler.FinishPolicy:
		c.Policy++
	}
	c.Invalid += oneIf(t.Event.Invalid)
	c.Defaulted += oneIf(t.Event.Default)
	c.PromptTokens += t.PromptTokens
	c.PrefillTokens += t.Prefill
	c.CompletionTokens += t.CompletionTokens
	c.ThinkingTokens += t.ThinkingTokens
}

// plus adds other answers.
func (c *AnswerCounts) plus(o AnswerCounts) {
	c.Turns += o.Turns
	c.Boxed += o.Boxed
	c.Raw += o.Raw
	c.Truncated += o.Truncated
	c.Stop += o.Stop
	c.Length += o.Length
	c.Context += o.Context
	c.Policy += o.Policy
	c.Invalid += o.Invalid
	c.Defaulted += o.Defaulted
	c.PromptTokens += o.PromptTokens
	c.PrefillTokens += o.PrefillTokens
	c.CompletionTokens += o.CompletionTokens
	c.ThinkingTokens += o.ThinkingTokens
	c.Told += o.Told
	c.OtherScript += o.OtherScript
	c.OtherLanguage += o.OtherLanguage
}

// add counts a game.
func (c *Counts) add(o Outcome) {
	var t Tally
	t.add(o.Rewards)
	c.Games++
	c.Wins0 += t.Wins0
	c.Wins1 += t.Wins1
	c.Draws += t.Draws
	if o.Invalid[0] || o.Invalid[1] {
		c.InvalidLosses++
	}
}

// Report measures the games that have ended so far. It holds counts only, never
// the games, whatever their number.
func (r *Run) Report() (*Report, error) {
	c := newCollector(r.Experiment)
	c.rep.Dir = r.Dir
	err := r.Each(func(rec scheduler.Record) error {
		if err := c.add(rec); err != nil {
			return fmt.Errorf("%s: %w", r.Dir, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.read(func(tx *sql.Tx) error { return c.rep.sessions(tx, len(r.How)) }); err != nil {
		return nil, err
	}
	return c.report(), nil
}

// sessions fills in what is counted by session and not by game.
func (rep *Report) sessions(tx *sql.Tx, sessions int) error {
	rows, err := tx.Query(`SELECT g.session, max(t.end_ms), sum(t.completion_tokens)
		FROM turns t JOIN games g ON g.position = t.game GROUP BY g.session ORDER BY g.session`)
	if err != nil {
		return err
	}
	defer rows.Close()
	tokens := map[int]int{} // written
	for rows.Next() {
		var session, written int
		var end int64
		if err := scan(rows, &session, &end, &written); err != nil {
			return err
		}
		tokens[session] = written
		if session < sessions { // else it began after run.json was read
			rep.Seconds += (time.Duration(end) * time.Millisecond).Seconds()
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rep.GPU, err = runGPUs(tx, tokens)
	return err
}

func newReport(e Experiment) *Report {
	rep := &Report{
		Experiment: e, Labels: e.Labels(),
		Margins: map[string]map[string]map[string]float64{}, Mu: map[string]map[string]float64{},
		Gap: map[string]float64{}, FirstMover: map[string]map[string]float64{}, SeatMargin: map[string]float64{},
		MarginsCI: map[string]map[string]map[string]Interval{}, MuCI: map[string]map[string]Interval{},
		GapCI: map[string]Interval{}, FirstMoverCI: map[string]map[string]Interval{}, SeatMarginCI: map[string]Interval{},
		MarginsMean: map[string]map[string]float64{}, MuMean: map[string]float64{},
		MarginsMeanCI: map[string]map[string]Interval{}, MuMeanCI: map[string]Interval{},
		Tests: map[string]Tests{}, Ratings: map[string]Rating{}, Recovery: map[string][]Recovery{},
		Opponents: map[string]map[string]map[string]Versus{},
		Judged:    map[string]map[string]int{}, Optimal: map[string]map[string]float64{}, Regret: map[string]map[string]float64{},
		TicTacToe: map[string]map[string]LineLosses{}, SimpleTak: map[string]map[string]PathLosses{},
		Kuhn: map[string]map[string]KuhnPlay{}, Nim: map[string]map[string]NimPlay{},
		ByGame: map[string]Counts{}, ByLang: map[string]AnswerCounts{}, Answers: map[string]map[string]AnswerCounts{},
	}
	rep.Planned = e.Plan().Len()
	for i, game := range e.Games {
		rep.ByGame[game] = Counts{Planned: e.Plan().LenOf(i)}
	}
	for _, lang := range e.Labels() {
		rep.ByLang[lang] = AnswerCounts{}
	}
	return rep
}
