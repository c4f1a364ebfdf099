package bench

import (
	"database/sql"
	"maps"
	"slices"
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
	for _, game := range r.Experiment.Games {
		matrices[game] = Matrix{}
	}
	err := r.read(func(tx *sql.Tx) error {
		err := outcomes(tx, func(o Outcome) error {
			matrices[o.Job.Game].add(o)
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
			qualities.add(a)
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
	for _, lang := range e.Langs {
		rep.ByLang[lang] = AnswerCounts{}
	}
	return rep
}

func (rep *Report) countGame(o Outcome) {
	rep.Counts.add(o)
	c := rep.ByGame[o.Job.Game]
	c.add(o)
	rep.ByGame[o.Job.Game] = c
}

func (rep *Report) countAnswers(a Answers) {
	rep.AnswerCounts.add(a)
	g, l := rep.ByGame[a.Game], rep.ByLang[a.Lang]
	g.AnswerCounts.add(a)
	l.add(a)
	rep.ByGame[a.Game], rep.ByLang[a.Lang] = g, l
}

// measure fills in the metrics from the results of each game.
func (rep *Report) measure(matrices map[string]Matrix) {
	e := rep.Experiment
	for _, game := range e.Games {
		m := matrices[game]
		margins := map[string]map[string]float64{}
		for _, a := range e.Langs {
			margins[a] = collect(e.Langs, func(b string) (float64, bool) { return m.Margin(a, b) })
		}
		mu := collect(e.Langs, func(a string) (float64, bool) { return m.MeanMargin(a, e.Langs) })
		rep.Margins[game], rep.Mu[game], rep.FirstMover[game] = margins, mu, collect(e.Langs, m.FirstMover)
		if gap, ok := Gap(slices.Collect(maps.Values(mu))); ok {
			rep.Gap[game] = gap
		}
	}
	for _, a := range e.Langs {
		rep.MarginsMean[a] = collect(e.Langs, func(b string) (float64, bool) {
			return meanOver(e.Games, func(game string) (float64, bool) { v, ok := rep.Margins[game][a][b]; return v, ok })
		})
	}
	rep.MuMean = collect(e.Langs, func(a string) (float64, bool) {
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
