package bench

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// paperCSV are the numbers of arXiv 2608.25832 that a run measures too: Tables 2
// and 3, G.1 to G.4. Shares are in percent; a label is zh+fr where the paper
// writes zh/fr.
//
//go:embed paper.csv
var paperCSV string

var paperRows = sync.OnceValue(func() []PaperRow {
	lines, err := csv.NewReader(strings.NewReader(paperCSV)).ReadAll()
	if err != nil {
		panic("bench: paper.csv: " + err.Error())
	}
	var rows []PaperRow
	for _, l := range lines[1:] {
		v, err := strconv.ParseFloat(l[5], 64)
		if err != nil {
			panic("bench: paper.csv: " + err.Error())
		}
		rows = append(rows, PaperRow{Table: l[0], Model: l[1], Game: l[2], Lang: l[3], Figure: l[4], Paper: v})
	}
	return rows
})

// PaperModels are the models of the paper, by its names.
func PaperModels() []string {
	var names []string
	for _, r := range paperRows() {
		if !slices.Contains(names, r.Model) {
			names = append(names, r.Model)
		}
	}
	return names
}

// PaperModel finds the paper's model that a file, a folder or the user calls by
// name: the one whose letters and digits, less what some names go without, the
// name has too. An error says which there are.
func PaperModel(name string) (string, error) {
	has := lettersAndDigits(name)
	for _, model := range PaperModels() {
		if short := paperShort[model]; short != "" && strings.Contains(has, short) {
			return model, nil
		}
	}
	return "", fmt.Errorf("%q names no model of the paper: choose one of %s", name, strings.Join(PaperModels(), ", "))
}

// paperShort is what a name must hold to be the model's.
var paperShort = map[string]string{
	"Gemma-4-E4B-it":              "gemma4e4b",
	"Qwen3-4B":                    "qwen34b",
	"Ministral3-3B-Instruct-2512": "ministral33b",
}

func lettersAndDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// Compare fills in Paper with the paper's numbers of a model, for the games that
// the run plays, beside the run's.
func (rep *Report) Compare(model string) {
	rep.Paper = []PaperRow{}
	for _, row := range paperRows() {
		if row.Model != model || row.Game != "" && !slices.Contains(rep.Experiment.Games, row.Game) {
			continue
		}
		if ours, ci, ok := rep.figure(row); ok {
			diff := ours - row.Paper
			row.Ours, row.Diff = &ours, &diff
			if ci != nil {
				within := ci.Contains(row.Paper)
				row.CI, row.Within = ci, &within
			}
		}
		rep.Paper = append(rep.Paper, row)
	}
}

// figure is the run's number for a row of the paper. Counts have no interval.
func (rep *Report) figure(row PaperRow) (v float64, ci *Interval, ok bool) {
	game, lang := row.Game, row.Lang
	switch row.Table {
	case "gap":
		return rep.gapFigure(game)
	case "recovery":
		return rep.recoveryFigure(game, lang, row.Figure)
	case "tictactoe":
		t := rep.TicTacToe[game][lang]
		return percent(map[string]Share{"row": t.Row, "column": t.Column, "diagonal": t.Diagonal}[row.Figure])
	case "simpletak":
		t := rep.SimpleTak[game][lang]
		return percent(map[string]Share{"row": t.Row, "column": t.Column}[row.Figure])
	case "kuhn":
		t := rep.Kuhn[game][lang]
		return percent(map[string]Share{"invalid": t.Invalid, "bluff_j": t.BluffJ, "bet_q": t.BetQ,
			"value_k": t.ValueK, "call_k": t.CallK, "fold_k": t.FoldK}[row.Figure])
	case "nim":
		t, played := rep.Nim[game][lang]
		if row.Figure == "mentions" {
			return float64(t.Mentions), nil, played
		}
		return percent(map[string]Share{"win": t.Win, "first": t.First}[row.Figure])
	}
	panic("bench: paper.csv has an unknown table " + row.Table)
}

// gapFigure is the gap of a game; without one, the mean, which is of the paper's
// six games and compared only if the run has them all.
func (rep *Report) gapFigure(game string) (float64, *Interval, bool) {
	if game != "" {
		ci := rep.GapCI[game]
		v, ok := rep.Gap[game]
		return v, &ci, ok
	}
	for _, row := range paperRows() {
		if row.Table == "gap" && row.Game != "" && !slices.Contains(rep.Experiment.Games, row.Game) {
			return 0, nil, false
		}
	}
	if rep.GapMean == nil {
		return 0, nil, false
	}
	return *rep.GapMean, rep.GapMeanCI, true
}

func (rep *Report) recoveryFigure(game, label, figure string) (float64, *Interval, bool) {
	if figure == "mu" {
		ci := rep.MuCI[game][label]
		v, ok := rep.Mu[game][label]
		return v, &ci, ok
	}
	for _, r := range rep.Recovery[game] {
		if r.Label == label && r.Share != nil {
			v := 100 * *r.Share
			if r.CI == nil {
				return v, nil, true
			}
			return v, &Interval{100 * r.CI[0], 100 * r.CI[1]}, true
		}
	}
	return 0, nil, false
}

func percent(s Share) (float64, *Interval, bool) {
	v, ok := s.Value()
	ci, _ := s.Interval()
	return 100 * v, &Interval{100 * ci[0], 100 * ci[1]}, ok
}
