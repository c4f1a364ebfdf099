package bench

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"selfplay/locales/wholefile"
)

// A sheet is one table as a CSV file: a line for each observation, with the run
// and its model in front. A value that is not there is an empty field.
type sheet struct {
	name string
	rows [][]string // the head first
}

// WriteCSV writes a file for each table into dir, which is made if it is missing:
// all runs together in one file. Tables that no run has are not written.
func (c Comparison) WriteCSV(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make %s: %w", dir, wholefile.Cause(err))
	}
	var all []sheet
	for i, rep := range c.Runs {
		for n, s := range rep.sheets() {
			for j := range s.rows {
				front := []string{rep.Dir, rep.Experiment.Model.Name}
				if j == 0 {
					front = []string{"run", "model"}
				}
				s.rows[j] = append(front, s.rows[j]...)
			}
			if i == 0 {
				all = append(all, s)
			} else {
				all[n].rows = append(all[n].rows, s.rows[1:]...)
			}
		}
	}
	for _, s := range all {
		if len(s.rows) > 1 {
			if err := s.write(filepath.Join(dir, s.name+".csv")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s sheet) write(path string) error {
	return wholefile.Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(s.rows) })
}

// add appends a line of strings and numbers.
func (s *sheet) add(cells ...any) {
	var row []string
	for _, cell := range cells {
		switch v := cell.(type) {
		case string:
			row = append(row, v)
		case int:
			row = append(row, strconv.Itoa(v))
		case float64:
			row = append(row, strconv.FormatFloat(v, 'g', 10, 64))
		case *float64:
			if v == nil {
				row = append(row, "")
			} else {
				row = append(row, strconv.FormatFloat(*v, 'g', 10, 64))
			}
		case bool:
			row = append(row, strconv.FormatBool(v))
		case *bool:
			if v == nil {
				row = append(row, "")
			} else {
				row = append(row, strconv.FormatBool(*v))
			}
		default:
			panic(fmt.Sprintf("bench: no CSV field is made of %T", cell))
		}
	}
	s.rows = append(s.rows, row)
}

// ends are those of an interval, or two empty fields.
func ends(i *Interval) (low, high *float64) {
	if i == nil {
		return nil, nil
	}
	return &i[0], &i[1]
}

func newSheet(name string, head ...string) *sheet { return &sheet{name, [][]string{head}} }

// sheets are the tables of one run, always the same ones in the same order.
func (rep *Report) sheets() []sheet {
	margins := newSheet("margins", "game", "lang", "rival", "margin", "low", "high", "p", "p_holm", "stopped_early")
	means := newSheet("means", "game", "lang", "mean_margin", "low", "high", "first_mover", "first_low", "first_high", "stopped_early", "first_stopped_early")
	gaps := newSheet("gaps", "game", "gap", "low", "high", "p", "p_holm", "seat_margin", "seat_low", "seat_high", "stopped_early", "seat_stopped_early")
	games := newSheet("games", "game", "planned", "games", "wins0", "wins1", "draws", "invalid_losses")
	for _, game := range rep.Experiment.Games {
		rep.marginRows(margins, game)
		rep.meanRows(means, game)
		c := rep.ByGame[game]
		games.add(game, c.Planned, c.Games, c.Wins0, c.Wins1, c.Draws, c.InvalidLosses)
		low, high := ends(entry(rep.GapCI, game))
		seatLow, seatHigh := ends(entry(rep.SeatMarginCI, game))
		var p, holm *float64
		if t := entry(rep.Tests, game); t != nil {
			p, holm = &t.P, &t.PHolm
		}
		gaps.add(game, entry(rep.Gap, game), low, high, p, holm, entry(rep.SeatMargin, game), seatLow, seatHigh, rep.EarlyGap(game), rep.EarlyGame(game))
	}
	low, high := ends(rep.GapMeanCI)
	var none *float64
	gaps.add("mean", rep.GapMean, low, high, none, none, none, none, none, rep.EarlyGap(""), "")
	for _, a := range rep.Labels {
		low, high := ends(entry(rep.MuMeanCI, a))
		means.add("mean", a, entry(rep.MuMean, a), low, high, none, none, none, rep.EarlyMean("", a), "")
		for _, b := range rep.Labels {
			if v, ok := rep.MarginsMean[a][b]; ok {
				ci := rep.MarginsMeanCI[a][b]
				margins.add("mean", a, b, v, ci[0], ci[1], none, none, rep.EarlyPair("", a, b))
			}
		}
	}
	return append([]sheet{*games, *margins, *means, *gaps, rep.ratingSheet(), rep.recoverySheet(), rep.opponentSheet(),
		rep.moveSheet(), rep.answerSheet(), rep.paperSheet()}, rep.failureSheets()...)
}

// entry is a map's value, or nil.
func entry[T any](m map[string]T, key string) *T {
	v, ok := m[key]
	if !ok {
		return nil
	}
	return &v
}

func (rep *Report) marginRows(s *sheet, game string) {
	tests := map[[2]string]PairTest{}
	for _, t := range rep.Tests[game].Pairs {
		tests[[2]string{t.A, t.B}], tests[[2]string{t.B, t.A}] = t, t
	}
	for _, a := range rep.Labels {
		for _, b := range rep.Labels {
			if v, ok := rep.Margins[game][a][b]; ok {
				ci, t := rep.MarginsCI[game][a][b], tests[[2]string{a, b}]
				s.add(game, a, b, v, ci[0], ci[1], t.P, t.PHolm, rep.EarlyPair(game, a, b))
			}
		}
	}
}

func (rep *Report) meanRows(s *sheet, game string) {
	for _, a := range rep.Labels {
		low, high := ends(entry(rep.MuCI[game], a))
		firstLow, firstHigh := ends(entry(rep.FirstMoverCI[game], a))
		s.add(game, a, entry(rep.Mu[game], a), low, high, entry(rep.FirstMover[game], a), firstLow, firstHigh, rep.EarlyMean(game, a), rep.EarlyPair(game, a, a))
	}
}

func (rep *Report) ratingSheet() sheet {
	s := newSheet("ratings", "game", "lang", "elo", "se", "low", "high", "best_rank", "worst_rank", "stopped_early")
	add := func(game string, r Rating, early bool) {
		for _, l := range r.Langs {
			s.add(game, l.Lang, l.Elo, l.SE, l.CI[0], l.CI[1], l.Ranks[0], l.Ranks[1], early)
		}
	}
	for _, game := range rep.Experiment.Games {
		add(game, rep.Ratings[game], rep.EarlyGame(game))
	}
	if rep.RatingAll != nil {
		add("all", *rep.RatingAll, rep.EarlyGame(""))
	}
	return *s
}

func (rep *Report) recoverySheet() sheet {
	s := newSheet("recovery", "game", "label", "interface", "best", "mu", "mu_floor", "mu_best", "recovery", "low", "high", "stopped_early")
	for _, game := range rep.Experiment.Games {
		for _, r := range rep.Recovery[game] {
			low, high := ends(r.CI)
			s.add(game, r.Label, r.Interface, r.Best, r.Mu, r.MuFloor, r.MuBest, r.Share, low, high, rep.EarlyRecovery(game, r))
		}
	}
	return *s
}

func (rep *Report) opponentSheet() sheet {
	s := newSheet("opponents", "game", "opponent", "lang", "seat", "won", "lost", "drawn", "margin", "low", "high", "stopped_early")
	rep.EachVersus(func(game, opponent, lang string, v Versus) {
		a, b, early := v.Tally[0], v.Tally[1], rep.EarlyAgainst(game, lang, opponent)
		for seat, won := range []int{a.Wins0, b.Wins1} {
			low, high := ends(v.SeatCI[seat])
			s.add(game, opponent, lang, strconv.Itoa(seat), won, []int{a.Wins1, b.Wins0}[seat], v.Tally[seat].Draws, v.Seat[seat], low, high, early)
		}
		s.add(game, opponent, lang, "both", a.Wins0+b.Wins1, a.Wins1+b.Wins0, a.Draws+b.Draws, v.Margin, v.CI[0], v.CI[1], early)
	})
	return *s
}

func (rep *Report) moveSheet() sheet {
	s := newSheet("moves", "game", "lang", "judged", "optimal", "regret")
	for _, game := range rep.Experiment.Games {
		for _, lang := range rep.Labels {
			if n, ok := rep.Judged[game][lang]; ok {
				s.add(game, lang, n, rep.Optimal[game][lang], rep.Regret[game][lang])
			}
		}
	}
	return *s
}

func (rep *Report) answerSheet() sheet {
	s := newSheet("answers", "game", "lang", "answers", "boxed", "raw", "truncated", "stop", "length_limited", "context_full", "policy",
		"invalid", "defaulted", "prompt_tokens", "completion_tokens", "thinking_tokens", "told", "other_script", "other_language")
	for _, game := range rep.Experiment.Games {
		for _, lang := range rep.Labels {
			if c, ok := rep.Answers[game][lang]; ok {
				s.add(game, lang, c.Turns, c.Boxed, c.Raw, c.Truncated, c.Stop, c.Length, c.Context, c.Policy,
					c.Invalid, c.Defaulted, c.PromptTokens, c.CompletionTokens, c.ThinkingTokens, c.Told, c.OtherScript, c.OtherLanguage)
			}
		}
	}
	return *s
}

func (rep *Report) paperSheet() sheet {
	s := newSheet("paper", "table", "paper_model", "game", "lang", "figure", "paper", "ours", "low", "high", "difference", "within")
	for _, r := range rep.Paper {
		low, high := ends(r.CI)
		s.add(r.Table, r.Model, r.Game, r.Lang, r.Figure, r.Paper, r.Ours, low, high, r.Diff, r.Within)
	}
	return *s
}

// failureSheets are the paper's G.1 to G.4: a line for each share.
func (rep *Report) failureSheets() []sheet {
	head := []string{"game", "lang", "figure", "count", "of", "share", "low", "high"}
	sheets := []*sheet{newSheet("tictactoe", head...), newSheet("simpletak", head...), newSheet("kuhn", head...), newSheet("nim", head...)}
	share := func(s *sheet, game, lang, figure string, v Share) {
		if p, ok := v.Value(); ok {
			ci, _ := v.Interval()
			s.add(game, lang, figure, v.Count, v.Of, p, ci[0], ci[1])
		}
	}
	for _, game := range rep.Experiment.Games {
		for _, lang := range rep.Labels {
			l := rep.TicTacToe[game][lang]
			share(sheets[0], game, lang, "row", l.Row)
			share(sheets[0], game, lang, "column", l.Column)
			share(sheets[0], game, lang, "diagonal", l.Diagonal)
			t := rep.SimpleTak[game][lang]
			share(sheets[1], game, lang, "row", t.Row)
			share(sheets[1], game, lang, "column", t.Column)
			k := rep.Kuhn[game][lang]
			share(sheets[2], game, lang, "invalid", k.Invalid)
			share(sheets[2], game, lang, "bluff_j", k.BluffJ)
			share(sheets[2], game, lang, "bet_q", k.BetQ)
			share(sheets[2], game, lang, "value_k", k.ValueK)
			share(sheets[2], game, lang, "call_k", k.CallK)
			share(sheets[2], game, lang, "fold_k", k.FoldK)
			n, played := rep.Nim[game][lang]
			share(sheets[3], game, lang, "win", n.Win)
			share(sheets[3], game, lang, "first", n.First)
			if n.Kept != nil {
				share(sheets[3], game, lang, "first_own_script", *n.Kept)
				share(sheets[3], game, lang, "first_latin", *n.Switched)
			}
			if played {
				var none *float64
				sheets[3].add(game, lang, "mentions", n.Mentions, none, none, none, none)
			}
		}
	}
	return []sheet{*sheets[0], *sheets[1], *sheets[2], *sheets[3]}
}
