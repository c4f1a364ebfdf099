package bench

// measure fills in the metrics from the results of each game, with their
// intervals.
func (rep *Report) measure(matrices map[string]Matrix) {
	total := newTotals(rep.Labels)
	var all []Matrix
	var tested []string
	for _, game := range rep.Experiment.Games {
		m := matrices[game]
		rep.measureGame(game, m)
		errors := resample(game, m, rep.Labels)
		rep.intervals(game, errors)
		total.add(errors)
		if errors.spread != nil {
			tested = append(tested, game)
		}
		if r, ok := rate([]Matrix{m}, rep.Labels); ok {
			rep.Ratings[game] = *r
			all = append(all, m)
		}
	}
	rep.correct(tested)
	if len(all) > 1 {
		rep.RatingAll, _ = rate(all, rep.Labels)
	}
	rep.means()
	rep.meanIntervals(total)
}

// measureGame fills in the values of one game.
func (rep *Report) measureGame(game string, m Matrix) {
	margins := map[string]map[string]float64{}
	for _, a := range rep.Labels {
		margins[a] = collect(rep.Labels, func(b string) (float64, bool) { return m.Margin(a, b) })
	}
	mu := collect(rep.Labels, func(a string) (float64, bool) { return m.MeanMargin(a, rep.Labels) })
	rep.Margins[game], rep.Mu[game], rep.FirstMover[game] = margins, mu, collect(rep.Labels, m.FirstMover)
	var plain []float64
	for _, a := range rep.Labels {
		if v, ok := mu[a]; ok && isPlain(a) {
			plain = append(plain, v)
		}
	}
	if gap, ok := Gap(plain); ok {
		rep.Gap[game] = gap
		rep.Tests[game] = Tests{Pairs: pairTests(m, rep.Labels)}
	}
	if rows := recoveries(mu, rep.Labels); rows != nil {
		rep.Recovery[game] = rows
	}
}

// intervals fills in those of one game.
func (rep *Report) intervals(game string, e errorsByGame) {
	rep.MarginsCI[game] = pairIntervals(rep.Labels, rep.Margins[game], func(a, b string) []float64 { return e.margins[[2]string{a, b}] })
	rep.MuCI[game] = map[string]Interval{}
	for _, a := range rep.Labels {
		if v, ok := rep.Mu[game][a]; ok {
			rep.MuCI[game][a] = around(v, e.mu[a], -1, 1)
		}
	}
	if gap, ok := rep.Gap[game]; ok {
		rep.GapCI[game] = within(gap, e.spread)
		tests := rep.Tests[game]
		tests.P = exceeds(gap, e.spread)
		rep.Tests[game] = tests
	}
	for i := range rep.Recovery[game] {
		rep.Recovery[game][i].interval(e)
	}
}

// interval is that of a recovery, of the draws in which floor and ceiling differ.
func (r *Recovery) interval(e errorsByGame) {
	if r.Share == nil {
		return
	}
	var errors []float64
	for i := range draws {
		mu, floor, best := r.Mu+e.mu[r.Label][i], r.MuFloor+e.mu[r.Interface][i], r.MuBest+e.mu[r.Best][i]
		if share, ok := Recover(mu, floor, best); ok {
			errors = append(errors, share-*r.Share)
		}
	}
	if len(errors) > draws/2 {
		ci := around(*r.Share, errors, -1e9, 1e9)
		r.CI = &ci
	}
}

// correct fills in the p-values of the gaps, corrected for the games.
func (rep *Report) correct(games []string) {
	p := make([]float64, len(games))
	for i, game := range games {
		p[i] = rep.Tests[game].P
	}
	for i, v := range Holm(p) {
		tests := rep.Tests[games[i]]
		tests.PHolm = v
		rep.Tests[games[i]] = tests
	}
}

// means fills in the means over the games.
func (rep *Report) means() {
	games := rep.Experiment.Games
	for _, a := range rep.Labels {
		rep.MarginsMean[a] = collect(rep.Labels, func(b string) (float64, bool) {
			return meanOver(games, func(game string) (float64, bool) { v, ok := rep.Margins[game][a][b]; return v, ok })
		})
	}
	rep.MuMean = collect(rep.Labels, func(a string) (float64, bool) {
		return meanOver(games, func(game string) (float64, bool) { v, ok := rep.Mu[game][a]; return v, ok })
	})
	if gap, ok := meanOver(games, func(game string) (float64, bool) { v, ok := rep.Gap[game]; return v, ok }); ok {
		rep.GapMean = &gap
	}
}

// totals are the errors of means over games, as sums and how many they are of.
type totals struct {
	labels  []string
	margins map[[2]string]sumOfErrors
	mu      map[string]sumOfErrors
	spread  sumOfErrors
}

type sumOfErrors struct {
	sum []float64
	n   int
}

func (s sumOfErrors) plus(errors []float64) sumOfErrors {
	if errors == nil {
		return s
	}
	return sumOfErrors{addTo(s.sum, errors, 1), s.n + 1}
}

func (s sumOfErrors) mean() []float64 { return addTo(nil, s.sum, 1/float64(s.n)) }

func newTotals(labels []string) *totals {
	return &totals{labels: labels, margins: map[[2]string]sumOfErrors{}, mu: map[string]sumOfErrors{}}
}

func (t *totals) add(e errorsByGame) {
	for pair, errors := range e.margins {
		t.margins[pair] = t.margins[pair].plus(errors)
	}
	for a, errors := range e.mu {
		t.mu[a] = t.mu[a].plus(errors)
	}
	t.spread = t.spread.plus(e.spread)
}

// meanIntervals fills in the intervals of the means over games, which are of
// games drawn apart.
func (rep *Report) meanIntervals(t *totals) {
	rep.MarginsMeanCI = pairIntervals(rep.Labels, rep.MarginsMean, func(a, b string) []float64 { return t.margins[[2]string{a, b}].mean() })
	for _, a := range rep.Labels {
		if v, ok := rep.MuMean[a]; ok {
			rep.MuMeanCI[a] = around(v, t.mu[a].mean(), -1, 1)
		}
	}
	if rep.GapMean != nil {
		ci := within(*rep.GapMean, t.spread.mean())
		rep.GapMeanCI = &ci
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
