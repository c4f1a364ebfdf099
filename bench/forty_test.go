package bench

import (
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"selfplay/games"
	"selfplay/locales"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// playedLine plays one line of testdata/forty.txt by the rules. An answer is of 10
// tokens, 4 of them thinking.
func playedLine(t *testing.T, line string) scheduler.Record {
	t.Helper()
	head, answers, ok := strings.Cut(line, " : ")
	f := strings.Fields(head)
	if !ok || len(f) != 7 {
		t.Fatalf("what is %q?", line)
	}
	role, _ := strconv.Atoi(f[3])
	index, _ := strconv.Atoi(f[4])
	rec := scheduler.Record{Job: scheduler.Job{ID: head, Game: f[0], Langs: [2]string{f[1], f[2]}, Role: role, Index: index, Seed: MaxN + int64(index)}}
	for seat := range 2 {
		if f[5+seat] != "-" {
			rec.Job.Players[seat] = f[5+seat]
		}
	}
	spec, err := games.Lookup(rec.Job.Game)
	if err != nil {
		t.Fatal(err)
	}
	g, err := spec.New(locales.Embedded(), [2]string{InterfaceOf(f[1]), InterfaceOf(f[2])}, rec.Job.Seed)
	if err != nil {
		t.Fatal(err)
	}
	g.(games.Solved).Judge()
	for completion := range strings.SplitSeq(answers, " | ") {
		answer := prompts.Extract(completion, false)
		turn := scheduler.Turn{Seat: g.ToMove(), Completion: completion, Action: answer.Action, Status: answer.Status,
			Finish: scheduler.FinishStop, CompletionTokens: 10, ThinkingTokens: 4}
		turn.Event = g.Step(answer.Action)
		rec.Turns = append(rec.Turns, turn)
	}
	if rec.Result, ok = g.Result(); !ok {
		t.Fatalf("%q does not end", line)
	}
	return rec
}

func fortyGames(t *testing.T) *Report {
	t.Helper()
	data, err := os.ReadFile("testdata/forty.txt")
	if err != nil {
		t.Fatal(err)
	}
	c := newCollector(Experiment{Games: []string{"TicTacToe-v0", "SimpleTak-v0", "Nim-v0", "KuhnPoker-v0"}, Langs: []string{"en", "he"}, N: 4,
		Model: Model{Name: "forty"}})
	for line := range strings.SplitSeq(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if err := c.add(playedLine(t, line)); err != nil {
			t.Fatal(err)
		}
	}
	return c.report()
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v, want\n%+v", what, got, want)
	}
}

// floats compares within rounding.
func floats(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	for key, v := range want {
		if g, ok := got[key]; !ok || !near(g, v) {
			t.Errorf("%s, %s: %v %v, want %v", what, key, g, ok, v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestFortyGames(t *testing.T) {
	rep := fortyGames(t)
	same(t, "labels", rep.Labels, []string{"en", "he", "he+en"})
	if rep.Games != 40 {
		t.Errorf("%d games", rep.Games)
	}

	// en over he.
	// Tic Tac Toe: won 3 and 1, lost 2 (R, F), 2 drawn of 8: (4-2)/8 = 0.25.
	// SimpleTak: won 4 and 1, lost 1 of 6: 4/6. Nim: won 1 and 1, lost 1 and 2 of 5: -1/5.
	// Kuhn Poker: lost both in seat 0, won both in seat 1: 0.
	// he+en over en, Tic Tac Toe: won 1, drawn 1: 0.5.
	floats(t, "en over", rep.Margins["TicTacToe-v0"]["en"], map[string]float64{"he": 0.25, "he+en": -0.5})
	floats(t, "he over", rep.Margins["TicTacToe-v0"]["he"], map[string]float64{"en": -0.25})
	floats(t, "en over", rep.Margins["SimpleTak-v0"]["en"], map[string]float64{"he": 4. / 6})
	floats(t, "en over", rep.Margins["Nim-v0"]["en"], map[string]float64{"he": -0.2})
	floats(t, "en over", rep.Margins["KuhnPoker-v0"]["en"], map[string]float64{"he": 0})

	// Mean margins leave out labels that reason in another language.
	floats(t, "mu", rep.Mu["TicTacToe-v0"], map[string]float64{"en": 0.25, "he": -0.25, "he+en": 0.5})
	floats(t, "mu", rep.Mu["Nim-v0"], map[string]float64{"en": -0.2, "he": 0.2})
	floats(t, "gap", rep.Gap, map[string]float64{"TicTacToe-v0": 0.5, "SimpleTak-v0": 8. / 6, "Nim-v0": 0.4, "KuhnPoker-v0": 0})

	// Over the games: (1/4 + 2/3 - 1/5 + 0) / 4 = (43/60)/4 for en, and he+en has one game.
	// Gaps: (1/2 + 4/3 + 2/5 + 0) / 4 = (67/30)/4.
	floats(t, "mu", rep.MuMean, map[string]float64{"en": 43. / 240, "he": -43. / 240, "he+en": 0.5})
	floats(t, "margins", rep.MarginsMean["en"], map[string]float64{"he": 43. / 240, "he+en": -0.5})
	if rep.GapMean == nil || !near(*rep.GapMean, 67./120) {
		t.Errorf("mean gap %v", figure(rep.GapMean, 1, "%v"))
	}

	// Seat 0 over seat 1 in one language: R and C: 0. T and F: 1/2. And so on.
	floats(t, "first", rep.FirstMover["TicTacToe-v0"], map[string]float64{"en": 0, "he": 0.5})
	floats(t, "first", rep.FirstMover["SimpleTak-v0"], map[string]float64{"en": 1, "he": 1})
	floats(t, "first", rep.FirstMover["Nim-v0"], map[string]float64{"en": 0, "he": 1})
	floats(t, "first", rep.FirstMover["KuhnPoker-v0"], map[string]float64{"en": -1, "he": 1})
	// In all: Tic Tac Toe 8 won (R 4, D, RC, F 2), 2 lost (C) of 14. SimpleTak 7, 1 of 8.
	// Nim N0 5, N1 3 of 8. Kuhn Poker 1, 5 of 6.
	floats(t, "seat 0", rep.SeatMargin, map[string]float64{"TicTacToe-v0": 6. / 14, "SimpleTak-v0": 6. / 8, "Nim-v0": 2. / 8, "KuhnPoker-v0": -4. / 6})

	// From -0.25 to 0.5 of the way from -0.25 to 0.25: 1.5.
	rows := rep.Recovery["TicTacToe-v0"]
	if len(rep.Recovery) != 1 || len(rows) != 1 || rows[0].Label != "he+en" || rows[0].Interface != "he" || rows[0].Best != "en" ||
		!near(rows[0].Mu, 0.5) || !near(rows[0].MuFloor, -0.25) || !near(rows[0].MuBest, 0.25) || rows[0].Share == nil || !near(*rows[0].Share, 1.5) {
		t.Errorf("recovery %+v", rep.Recovery)
	}

	// (en,he) 3-0-1 and (he,en) 2-1-1: seat 0 won 5, lost 1, drew 2 of 8, so 2 is expected
	// of four games and 3 came. 2 comes in C(5,2)C(1,0)C(2,2) + C(5,3)C(1,1)C(2,0) = 20 of
	// C(8,4) = 70 ways: p is 50/70, twice that for two pairs is above 1.
	pairs := rep.Tests["TicTacToe-v0"].Pairs
	if len(pairs) != 2 || pairs[0].A != "en" || pairs[0].B != "he" || !near(pairs[0].Margin, 0.25) || !near(pairs[0].P, 5./7) || pairs[0].PHolm != 1 || !near(pairs[1].P, 1) {
		t.Errorf("pairs %+v", pairs)
	}

	opponents := rep.Opponents["TicTacToe-v0"]["builtin:optimal"]
	en, he := opponents["en"], opponents["he"]
	if len(opponents) != 2 || en.Tally != [2]Tally{{Draws: 1}, {Wins0: 1}} || he.Tally != [2]Tally{{Wins1: 1}, {Draws: 1}} ||
		en.Margin != -0.5 || *en.Seat[0] != 0 || *en.Seat[1] != -1 || he.Margin != -0.5 || *he.Seat[0] != -1 || *he.Seat[1] != 0 ||
		!en.CI.Contains(-0.5) || !he.SeatCI[0].Contains(-1) {
		t.Errorf("opponents %+v", opponents)
	}
}

func TestFortyGamesFailures(t *testing.T) {
	rep := fortyGames(t)

	// G.1. en lost by lines: R to he, to itself, to he+en, to the opponent; C to itself. By F: once.
	// he: R, D, RC and C to en, C to the opponent: 2 rows, 3 columns, 1 diagonal. By F: once.
	same(t, "G.1", rep.TicTacToe, map[string]map[string]LineLosses{"TicTacToe-v0": {
		"en": {Defeats: 5, Forfeits: 1, Row: Share{4, 5}, Column: Share{1, 5}, Diagonal: Share{0, 5}},
		"he": {Defeats: 5, Double: 1, Forfeits: 1, Row: Share{2, 6}, Column: Share{3, 6}, Diagonal: Share{1, 6}},
	}})

	// G.2. en: W to he, A to itself. he: A, W, B, A1, W to itself; F.
	same(t, "G.2", rep.SimpleTak, map[string]map[string]PathLosses{"SimpleTak-v0": {
		"en": {Defeats: 2, Row: Share{1, 2}, Column: Share{1, 2}},
		"he": {Defeats: 5, Double: 1, Forfeits: 1, Row: Share{3, 6}, Column: Share{3, 6}},
	}})

	// G.3, the answers of each game in turn, in the order of the file; ? is refused.
	//	en  Q call, K bet, Q check | K check, Q check, Q fold, Q check | K check, K call, J bet, K ?, K bet
	//	    Q check, K check, K bet | K check, Q check, K check, J check, K check, Q check
	//	he  K bet, J fold, K check | Q check, K bet, K check | Q bet, K check, K fold, Q fold
	//	    K check, Q check, Q fold | K ?, K ?
	same(t, "G.3", rep.Kuhn, map[string]map[string]KuhnPlay{"KuhnPoker-v0": {
		"en": {Invalid: Share{1, 21}, BluffJ: Share{1, 2}, BetQ: Share{0, 6}, ValueK: Share{3, 10}, CallK: Share{1, 1}, FoldK: Share{0, 1}},
		"he": {Invalid: Share{2, 15}, BetQ: Share{1, 3}, ValueK: Share{2, 8}, CallK: Share{0, 1}, FoldK: Share{1, 1}},
	}})

	// G.4. Won by en: N0; N1 in seat 1; both of its games with itself, as each seat of the
	// role won: 4 of 7. By he: N1 in seat 1; N0 twice; N0 with itself: 4 of 6.
	// First moves: en took 2 from pile 0 in 2 of 4 games, he in 3 of 4: in Hebrew twice, in
	// English not, and once without a word.
	same(t, "G.4", rep.Nim, map[string]map[string]NimPlay{"Nim-v0": {
		"en": {Win: Share{4, 7}, Mentions: 2, First: Share{2, 4}},
		"he": {Win: Share{4, 6}, Mentions: 4, First: Share{3, 4}, Kept: &Share{2, 2}, Switched: &Share{0, 1}},
	}})

	// Moves of Nim without the refused one. Only taking pile 2 first loses, from 1 to -1.
	// en: 3+2 in seat 0, 2+2+2 in seat 1, 5+4 with itself. he: 2+2, 3+2+3, 5.
	floats(t, "optimal", rep.Optimal["Nim-v0"], map[string]float64{"en": 18. / 20, "he": 16. / 17})
	floats(t, "regret", rep.Regret["Nim-v0"], map[string]float64{"en": 4. / 20, "he": 2. / 17})
	same(t, "judged", rep.Judged["Nim-v0"], map[string]int{"en": 20, "he": 17})
}

// Answers of the model alone: R has 3 of seat 0 and 2 of seat 1, C 3 and 3, D 3 and 2, RC
// and T 5 and 4, F 1 and 2. Tic Tac Toe has 117 in all, of which the opponent gave 15.
//
//	en     3+3+5+5 | 2+3+2+4 | 5+6 | 2+5 | 5+2 = 52
//	he     2+2+4+4 | 3+3+1+5 | 9+3 |     | 3+4 = 43
//	he+en                            3+4       = 7
func TestFortyGamesAnswers(t *testing.T) {
	rep := fortyGames(t)
	ttt := func(turns, invalid int) AnswerCounts {
		return AnswerCounts{Turns: turns, Raw: turns, Stop: turns, Invalid: invalid, CompletionTokens: 10 * turns, ThinkingTokens: 4 * turns}
	}
	same(t, "answers", rep.Answers["TicTacToe-v0"], map[string]AnswerCounts{"en": ttt(52, 2), "he": ttt(43, 2), "he+en": ttt(7, 0)})
	if n := rep.ByGame["TicTacToe-v0"].Turns; n != 117 {
		t.Errorf("%d answers in Tic Tac Toe", n)
	}

	// Nim. en: 3+2 | 2+2+2 | 5+4 = 20, of which two are boxed and told: one of them is German.
	// he: 2+2 | 3+2+4 | 5 = 18, of which three: one is in Latin letters.
	nim := func(turns, boxed, invalid int) AnswerCounts {
		return AnswerCounts{Turns: turns, Boxed: boxed, Raw: turns - boxed, Stop: turns, Invalid: invalid, CompletionTokens: 10 * turns, ThinkingTokens: 4 * turns, Told: boxed, OtherLanguage: 1}
	}
	en, he := nim(20, 2, 0), nim(18, 3, 1)
	he.OtherScript = 1
	same(t, "answers", rep.Answers["Nim-v0"], map[string]AnswerCounts{"en": en, "he": he})

	// What is by language is the sum of the games.
	var sum AnswerCounts
	for _, game := range rep.Experiment.Games {
		sum.plus(rep.Answers[game]["en"])
	}
	same(t, "en", rep.ByLang["en"], sum)
}

// What the tables say of these games, as a reader sees it.
func TestFortyGamesText(t *testing.T) {
	out := textOf(t, fortyGames(t))
	for _, want := range []string{`
          en     he   mean         he+en
en         .  +0.25  +0.25  ±0.56  -0.50
he     -0.25      .  -0.25  ±0.56      -
he+en  +0.50      -  +0.50  ±0.83      .
first  +0.00  +0.50
gap 0.50 (0.00 to 1.58), p 0.379, 1.000 corrected
moving first +0.43 (-0.01 to +0.86)
`, `
TicTacToe-v0   mean  floor  best         recovered         95 %
he+en         +0.50  -0.25    en  +0.25       150%`, `
against             en     he  he+en
TicTacToe-v0     -0.50  -0.50      -
builtin:optimal  ±0.83  ±0.83
`, `
TicTacToe-v0  by row  by column  by diagonal  defeats  two lines  invalid moves
en              80.0       20.0          0.0        5          0              1
he              33.3       50.0         16.7        5          1              1
`, `
SimpleTak-v0  by row  by column  defeats  both  invalid moves
en              50.0       50.0        2     0              0
he              50.0       50.0        5     1              1
`, `
KuhnPoker-v0  invalid  BluffJ  BetQ  ValueK  CallK  FoldK
en                4.8    50.0   0.0    30.0  100.0    0.0
he               13.3       -  33.3    25.0    0.0  100.0
`, `
Nim-v0   won  mentions  first move optimal  in own script  in Latin script
en      57.1         2                50.0
he      66.7         4                75.0          100.0              0.0
`} {
		if !strings.Contains(out, want) {
			t.Errorf("got:\n%s\nwant in it:%s", out, want)
		}
	}
	for line := range strings.Lines(out) {
		if strings.HasSuffix(strings.TrimSuffix(line, "\n"), " ") {
			t.Errorf("blanks at the end of %q", line)
		}
	}
}
