package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"selfplay/games"
)

// Single numbers of each table, as the paper prints them, and what they can be
// checked for by themselves.
func TestPaperNumbers(t *testing.T) {
	rows := paperRows()
	find := func(table, model, game, lang, figure string) (found []float64) {
		for _, r := range rows {
			if r.Table == table && strings.HasPrefix(r.Model, model) && r.Game == game && r.Lang == lang && r.Figure == figure {
				found = append(found, r.Paper)
			}
		}
		return found
	}
	for _, c := range []struct {
		table, model, game, lang, figure string
		want                             float64
	}{
		{"gap", "Qwen3", "ColonelBlotto-v0", "", "gap", 1.48}, {"gap", "Ministral3", "", "", "gap", 0.56},
		{"recovery", "Gemma", "TicTacToe-v0", "de+en", "recovery", 89.4}, {"recovery", "Gemma", "KuhnPoker-v0", "es", "mu", 0.02},
		{"tictactoe", "Gemma", "TicTacToe-v0", "zh", "diagonal", 54.5}, {"simpletak", "Gemma", "SimpleTak-v0", "de", "column", 60.3},
		{"kuhn", "Ministral3", "KuhnPoker-v0", "he", "invalid", 20.9}, {"nim", "Qwen3", "Nim-v0", "zh", "win", 69.8}, {"nim", "Ministral3", "Nim-v0", "fr", "mentions", 812283},
	} {
		if got := find(c.table, c.model, c.game, c.lang, c.figure); len(got) != 1 || got[0] != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	sums := map[string]float64{}
	for _, r := range rows {
		if _, err := games.Lookup(r.Game); r.Game != "" && err != nil {
			t.Error(err)
		}
		if _, ok := writtenIn[InterfaceOf(r.Lang)]; r.Lang != "" && !ok {
			t.Errorf("language %s", r.Lang)
		}
		if r.Table == "tictactoe" || r.Table == "simpletak" {
			sums[r.Model+r.Table+r.Lang] += r.Paper
		}
		(&Report{}).figure(r) // knows the table
	}
	for key, sum := range sums { // shares of lines, rounded
		if sum < 99.8 || sum > 100.2 {
			t.Errorf("%s sums to %v", key, sum)
		}
	}
	if len(sums) != 32 || len(PaperModels()) != 3 {
		t.Errorf("%d sums, models %v", len(sums), PaperModels())
	}
}

func TestPaperModel(t *testing.T) {
	for name, want := range map[string]string{
		"Qwen3-4B": "Qwen3-4B", "Qwen3-4B-Q4_K_M.gguf": "Qwen3-4B", "ollama:qwen3:4b": "Qwen3-4B", "gemma-4-E4B-it.gguf": "Gemma-4-E4B-it",
		"Ministral-3-3B-Instruct-2512-BF16.gguf": "Ministral3-3B-Instruct-2512", "Ministral3-3B-Instruct-2512": "Ministral3-3B-Instruct-2512",
		"Qwen3-0.6B": "", "gemma-3-4b-it": "", "SmolLM2-135M": "", "": "",
	} {
		if got, err := PaperModel(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", name, got, err, want)
		}
	}
}

// Of the forty games: he's defeats by a diagonal are 1 of 6, 16.7 %, with Wilson's
// interval from 3.0 to 56.4; Gemma's are 43.3. The gap in Tic Tac Toe is 0.5, and
// Gemma's 0.47; the mean gap is of six games, and the run has four.
func TestCompareByHand(t *testing.T) {
	rep := fortyGames(t)
	rep.Compare("Gemma-4-E4B-it")
	at := func(table, game, lang, figure string) PaperRow {
		i := slices.IndexFunc(rep.Paper, func(r PaperRow) bool {
			return r.Table == table && r.Game == game && r.Lang == lang && r.Figure == figure
		})
		if i < 0 {
			t.Fatalf("no row %s %s %s %s", table, game, lang, figure)
		}
		return rep.Paper[i]
	}
	d := at("tictactoe", "TicTacToe-v0", "he", "diagonal")
	if !near(*d.Ours, 100./6) || !near(*d.Diff, 100./6-43.3) || !*d.Within || d.CI[0] < 2.9 || d.CI[0] > 3.1 || d.CI[1] < 56.3 || d.CI[1] > 56.5 {
		t.Errorf("%+v, %v", d, *d.CI)
	}
	if g := at("gap", "TicTacToe-v0", "", "gap"); *g.Ours != 0.5 || !near(*g.Diff, 0.03) || !*g.Within {
		t.Errorf("%+v", g)
	}
	if g := at("gap", "", "", "gap"); g.Ours != nil || g.Within != nil {
		t.Errorf("a mean gap of four games is compared: %+v", g)
	}
	if r := at("tictactoe", "TicTacToe-v0", "zh", "row"); r.Ours != nil {
		t.Errorf("a language that did not play: %+v", r)
	}
	// 10 of 21 with the king: FoldK is 0 of 1, up to 79 %, and Gemma's 2.0.
	if r := at("kuhn", "KuhnPoker-v0", "en", "fold_k"); *r.Ours != 0 || !*r.Within {
		t.Errorf("%+v", r)
	}
	if r := at("nim", "Nim-v0", "he", "mentions"); *r.Ours != 4 || *r.Diff != 4-94951 || r.CI != nil || r.Within != nil {
		t.Errorf("%+v", r)
	}
	for _, r := range rep.Paper {
		if strings.HasPrefix(r.Game, "Colonel") {
			t.Errorf("a game that was not played: %+v", r)
		}
	}
}

func TestSideBySide(t *testing.T) {
	a, b := fortyGames(t), newReport(Experiment{Games: []string{"Nim-v0", "ColonelBlotto-v0"}, Langs: []string{"zh", "en"}, N: 1, Model: Model{Name: "other"}})
	a.Dir, b.Dir = "runs/a", "runs/b"
	b.measure(map[string]Matrix{"Nim-v0": {{"zh", "en"}: {3, 0, 0}, {"en", "zh"}: {0, 3, 0}}})
	c := SideBySide([]*Report{a, b})
	// Nim: 0.4 and 2, in the mean 1.2. Mean gaps: 67/120 and 2.
	floats(t, "average", c.GapAverage, map[string]float64{"TicTacToe-v0": 0.5, "SimpleTak-v0": 8. / 6, "Nim-v0": 1.2, "KuhnPoker-v0": 0})
	if !near(*c.GapMeanMean, (67./120+2)/2) {
		t.Errorf("mean %v", *c.GapMeanMean)
	}
	same(t, "labels", c.Labels(), []string{"en", "he", "he+en", "zh"})
	same(t, "games", c.Games(), []string{"TicTacToe-v0", "SimpleTak-v0", "Nim-v0", "KuhnPoker-v0", "ColonelBlotto-v0"})
	same(t, "names", c.Names(), []string{"forty", "other"})
	b.Experiment.Model.Name = "forty"
	same(t, "names", c.Names(), []string{"forty (a)", "forty (b)"})
	var out strings.Builder
	if err := c.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1  forty (a): 40 of ", "\nNim-v0             0.40  0.00 to 2.00   2.00  0.80 to 2.00     1.20\n", "\nNim-v0\n          en     he  he+en     zh\nrun 1  -0.20  +0.20      -      -\n", "\nrun 2  -1.00      -      -  +1.00\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

// Each file has a line for each value, with the numbers of the JSON.
func TestCSV(t *testing.T) {
	rep := fortyGames(t)
	rep.Dir = "runs/x"
	rep.Compare("Qwen3-4B")
	dir := filepath.Join(t.TempDir(), "new", "csv")
	if err := SideBySide([]*Report{rep, rep}).WriteCSV(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"games": "runs/x,forty,SimpleTak-v0,", "margins": "runs/x,forty,TicTacToe-v0,en,he,0.25,", "means": "runs/x,forty,Nim-v0,he,0.2,",
		"gaps": "runs/x,forty,KuhnPoker-v0,0,", "ratings": "runs/x,forty,all,he+en,", "recovery": "runs/x,forty,TicTacToe-v0,he+en,he,en,0.5,-0.25,0.25,1.5,",
		"opponents": "runs/x,forty,TicTacToe-v0,builtin:optimal,he,both,0,1,1,-0.5,", "moves": "runs/x,forty,Nim-v0,en,20,0.9,0.2\n",
		"answers": "runs/x,forty,Nim-v0,he,18,3,15,", "tictactoe": "runs/x,forty,TicTacToe-v0,he,diagonal,1,6,", "simpletak": "runs/x,forty,SimpleTak-v0,en,row,1,2,0.5,",
		"kuhn": "runs/x,forty,KuhnPoker-v0,en,value_k,3,10,0.3,", "nim": "runs/x,forty,Nim-v0,he,mentions,4,,,,\n", "paper": "runs/x,forty,gap,Qwen3-4B,Nim-v0,,gap,0.85,0.4,",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name+".csv"))
		if err != nil {
			t.Error(err)
			continue
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for i, line := range lines {
			if got := strings.Count(line, ","); got != strings.Count(lines[0], ",") {
				t.Errorf("%s.csv, line %d: %d fields, the head has %d", name, i+1, got+1, strings.Count(lines[0], ",")+1)
			}
		}
		if strings.Count(string(data), want) != 2 || strings.Count(string(data), "run,model,") != 1 {
			t.Errorf("%s.csv: not twice %q in\n%s", name, want, data)
		}
	}
	empty := filepath.Join(t.TempDir(), "csv")
	if err := SideBySide([]*Report{newReport(testExperiment())}).WriteCSV(empty); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(empty, "kuhn.csv")); err == nil {
		t.Error("a file of a table without lines")
	}
}

// The names of DESIGN stay, and nothing of the report is lost on the way.
func TestReportJSON(t *testing.T) {
	rep := fortyGames(t)
	rep.Compare("Qwen3-4B")
	data, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"games": `40`, "gap": `{"KuhnPoker-v0":0,`, "mu": `{"KuhnPoker-v0":{"en":0,"he":0}`, "margins": `{"KuhnPoker-v0":{"en":{"he":0},"he":{"en":`,
		"tictactoe": `{"TicTacToe-v0":{"en":{"defeats":5,"double":0,"forfeits":1,"row":{"count":4,"of":5,"share":0.8,"ci":[`,
		"opponents": `{"TicTacToe-v0":{"builtin:optimal":{"en":{"tally":`, "labels": `["en","he","he+en"]`, "recovery": `{"TicTacToe-v0":[{"label":"he+en"`,
	} {
		if !strings.HasPrefix(string(got[key]), want) {
			t.Errorf("%s is %.200s, want %s...", key, got[key], want)
		}
	}
}
