package bench

import (
	"database/sql"
	"maps"
	"slices"
	"time"

	"selfplay/prompts"
	"selfplay/scheduler"
)

// A Report is what a run measured. Games go by their environment id, as in the
// plan (TicTacToe-v0). A value that no game speaks for is absent.
type Report struct {
	Experiment Experiment `json:"experiment"`
	Counts                // of the whole run
	Seconds    float64    `json:"seconds"` // played, summed over the sessions

	Margins    map[string]map[string]map[string]float64 `json:"margins"`     // game, language A, language B: Delta(A,B)
	Mu         map[string]map[string]float64            `json:"mu"`          // game, language: mean margin
	Gap        map[string]float64                       `json:"gap"`         // game: largest mu less the smallest
	FirstMover map[string]map[string]float64            `json:"first_mover"` // game, language: seat 0 over seat 1, same language

	// How moves compare with perfect play, by game and language of the mover.
	// Games that are not solved are absent, and so are invalid moves.
	Judged  map[string]map[string]int     `json:"judged"`  // moves
	Optimal map[string]map[string]float64 `json:"optimal"` // share of them that lose nothing
	Regret  map[string]map[string]float64 `json:"regret"`  // what they lose in the mean, see games.Solved

	// Means over the games: Figure 2 of the paper, and Table 2's last column.
	MarginsMean map[string]map[string]float64 `json:"margins_mean"`
	MuMean      map[string]float64            `json:"mu_mean"`
	GapMean     *float64                      `json:"gap_mean,omitempty"`

	Opponents OpponentMargins `json:"opponents,omitempty"`
	Stopped   []StoppedCell   `json:"stopped,omitempty"` // by Experiment.UntilCI, in plan order

	GPU *GPUUse `json:"gpu,omitempty"` // nil: no session watched any

	ByGame map[string]Counts       `json:"by_game"`
	ByLang map[string]AnswerCounts `json:"by_lang"` // the model's answers, by label
}

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
}

// add counts answers of one kind.
func (c *AnswerCounts) add(a Answers) {
	c.Turns += a.Count
	switch a.Status {
	case prompts.Boxed:
		c.Boxed += a.Count
	case prompts.Raw:
		c.Raw += a.Count
	case prompts.Truncated:
		c.Truncated += a.Count
	}
	switch a.Finish {
	case scheduler.FinishStop:
		c.Stop += a.Count
	case scheduler.FinishLength:
		c.Length += a.Count
	case scheduler.FinishContext:
		c.Context += a.Count
	case scheduler.FinishPolicy:
		c.Policy += a.Count
	}
	c.Invalid += a.Invalid
	c.Defaulted += a.Defaulted
	c.PromptTokens += a.PromptTokens
	c.PrefillTokens += a.Prefill
	c.CompletionTokens += a.CompletionTokens
	c.ThinkingTokens += a.ThinkingTokens
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

// Report measures the games that have ended so far.
func (r *Run) Report() (*Report, error) {
	rep := newReport(r.Experiment)
	matrices, qualities := map[string]Matrix{}, Qualities{}
	against, stops := duels{}, newStops(r.Experiment)
	for _, game := range r.Experiment.Games {
		matrices[game] = Matrix{}
	}
	err := r.read(func(tx *sql.Tx) error {
		err := outcomes(tx, func(o Outcome) error {
			if !against.add(o) {
				matrices[o.Job.Game].add(o)
			}
			stops.add(o.Job, o.Rewards)
			rep.countGame(o)
			return nil
		})
		if err != nil {
			return err
		}
		played := make([]time.Duration, len(r.How)) // by session
		tokens := map[int]int{}                     // written, by session
		err = answers(tx, func(a Answers) error {
			rep.countAnswers(a)
			if a.Player == "" {
				qualities.add(a)
			}
			tokens[a.Session] += a.CompletionTokens
			if a.Session < len(played) { // else it began after run.json was read
				played[a.Session] = max(played[a.Session], a.End)
			}
			return nil
		})
		for _, d := range played {
			rep.Seconds += d.Seconds()
		}
		if err == nil {
			rep.GPU, err = runGPUs(tx, tokens)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	rep.Opponents = against.margins()
	rep.stop(stops)
	rep.measure(matrices)
	rep.compare(qualities)
	return rep, nil
}

func newReport(e Experiment) *Report {
	rep := &Report{
		Experiment: e,
		Margins:    map[string]map[string]map[string]float64{}, Mu: map[string]map[string]float64{},
		Gap: map[string]float64{}, FirstMover: map[string]map[string]float64{},
		Judged: map[string]map[string]int{}, Optimal: map[string]map[string]float64{}, Regret: map[string]map[string]float64{},
		MarginsMean: map[string]map[string]float64{}, MuMean: map[string]float64{},
		ByGame: map[string]Counts{}, ByLang: map[string]AnswerCounts{},
	}
	rep.Planned = e.Plan().Len()
	for _, game := range e.Games {
		rep.ByGame[game] = Counts{Planned: rep.Planned / len(e.Games)}
	}
	for _, lang := range e.Labels() {
		rep.ByLang[lang] = AnswerCounts{}
	}
	return rep
}

// stop takes the games that are not to be played out of the plan.
func (rep *Report) stop(s *stops) {
	rep.Stopped = s.list()
	rep.Planned -= s.saved("")
	for game, c := range rep.ByGame {
		c.Planned -= s.saved(game)
		rep.ByGame[game] = c
	}
}

func (rep *Report) countGame(o Outcome) {
	rep.Counts.add(o)
	c := rep.ByGame[o.Job.Game]
	c.add(o)
	rep.ByGame[o.Job.Game] = c
}

func (rep *Report) countAnswers(a Answers) {
	rep.AnswerCounts.add(a)
	g := rep.ByGame[a.Game]
	g.AnswerCounts.add(a)
	rep.ByGame[a.Game] = g
	if a.Player == "" { // an opponent's answers tell nothing of the model
		l := rep.ByLang[a.Lang]
		l.add(a)
		rep.ByLang[a.Lang] = l
	}
}

// measure fills in the metrics from the results of each game.
func (rep *Report) measure(matrices map[string]Matrix) {
	e := rep.Experiment
	labels := e.Labels()
	for _, game := range e.Games {
		m := matrices[game]
		margins := map[string]map[string]float64{}
		for _, a := range labels {
			margins[a] = collect(labels, func(b string) (float64, bool) { return m.Margin(a, b) })
		}
		mu := collect(labels, func(a string) (float64, bool) { return m.MeanMargin(a, e.Langs) })
		rep.Margins[game], rep.Mu[game], rep.FirstMover[game] = margins, mu, collect(e.Langs, m.FirstMover)
		if gap, ok := Gap(slices.Collect(maps.Values(collect(e.Langs, func(a string) (float64, bool) { v, ok := mu[a]; return v, ok })))); ok {
			rep.Gap[game] = gap
		}
	}
	for _, a := range labels {
		rep.MarginsMean[a] = collect(labels, func(b string) (float64, bool) {
			return meanOver(e.Games, func(game string) (float64, bool) { v, ok := rep.Margins[game][a][b]; return v, ok })
		})
	}
	rep.MuMean = collect(labels, func(a string) (float64, bool) {
		return meanOver(e.Games, func(game string) (float64, bool) { v, ok := rep.Mu[game][a]; return v, ok })
	})
	if gap, ok := meanOver(e.Games, func(game string) (float64, bool) { v, ok := rep.Gap[game]; return v, ok }); ok {
		rep.GapMean = &gap
	}
}

// collect makes a map of the values that exist.
func collect(keys []string, value func(string) (float64, bool)) map[string]float64 {
	m := map[string]float64{}
	for _, key := range keys {
		if v, ok := value(key); ok {
			m[key] = v
		}
	}
	return m
}

// meanOver is the mean of the values that exist; false if none does.
func meanOver(keys []string, value func(string) (float64, bool)) (float64, bool) {
	var values []float64
	for _, key := range keys {
		if v, ok := value(key); ok {
			values = append(values, v)
		}
	}
	return mean(values)
}
