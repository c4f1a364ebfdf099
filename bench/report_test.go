package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// mustPlay stores every game of the experiment, as played invents them, and
// returns the run.
func mustPlay(t *testing.T, e Experiment) *Run {
	t.Helper()
	return mustFill(t, t.TempDir(), e).Run
}

// In played, seat 0 wins indices 0 and 2 and seat 1 index 1, in every cell: no
// language is better, and moving first is worth (2-1)/3.
func TestReportByHand(t *testing.T) {
	rep, err := mustPlay(t, testExperiment()).Report()
	if err != nil {
		t.Fatal(err)
	}
	if v := rep.Margins["Nim-v0"]["en"]["ar"]; v != 0 {
		t.Errorf("margin %v, want 0", v)
	}
	if v := rep.FirstMover["Nim-v0"]["ar"]; !near(v, 1.0/3) {
		t.Errorf("first mover %v, want 1/3", v)
	}
	nim := rep.ByGame["Nim-v0"] // 18 games: 6 of each index, 3 turns each
	want := Counts{Planned: 18, Games: 18, Wins0: 12, Wins1: 6, InvalidLosses: 6, AnswerCounts: AnswerCounts{
		Turns: 54, Boxed: 54, Stop: 54, Invalid: 18, Defaulted: 18, PromptTokens: 54 * 20, PrefillTokens: 54 * 10, CompletionTokens: 54 * 5, ThinkingTokens: 54 * 2}}
	if nim != want {
		t.Errorf("counts\n%+v, want\n%+v", nim, want)
	}
	if rep.ByLang["en"].Turns+rep.ByLang["ar"].Turns != rep.Turns || rep.Turns != 108 {
		t.Errorf("%d answers in en, %d in ar, %d in all", rep.ByLang["en"].Turns, rep.ByLang["ar"].Turns, rep.Turns)
	}
	if rep.Seconds != 2.007 {
		t.Errorf("%v seconds, want 2.007", rep.Seconds)
	}
}

// A report of nothing has no value where there is none, and is still JSON.
func TestReportOfNothing(t *testing.T) {
	s := mustCreate(t, t.TempDir(), testExperiment())
	rep, err := s.Report()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"margins":{"Nim-v0":{"ar":{},"en":{}}`, `"mu":{"Nim-v0":{}`, `"gap":{}`, `"games":0`, `"planned":36`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
}

func TestReportIsDeterministic(t *testing.T) {
	var first []byte
	for range 3 {
		rep, err := mustPlay(t, testExperiment()).Report()
		if err != nil {
			t.Fatal(err)
		}
		rep.Dir = "RUN" // each is in a folder of its own
		var out bytes.Buffer
		if err := rep.WriteText(&out, "RUN"); err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(&out).Encode(rep); err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, out.Bytes()) {
			t.Fatalf("two reports of the same games differ:\n%s\n%s", first, out.Bytes())
		}
		first = out.Bytes()
	}
}

func TestReportText(t *testing.T) {
	rep := newReport(Experiment{Games: []string{"TicTacToe-v0"}, Langs: []string{"en", "ar", "zh_tw"}, N: 10, Seed: 1})
	rep.ByGame["TicTacToe-v0"] = Counts{Planned: 1200, Games: 1100, Wins0: 600, Wins1: 400, Draws: 100, InvalidLosses: 7}
	rep.ByLang["en"] = AnswerCounts{Turns: 12, Boxed: 9, Raw: 2, Truncated: 1, Length: 1, Context: 0, Invalid: 3, Defaulted: 0}
	rep.measure(map[string]Matrix{"TicTacToe-v0": {
		{"en", "ar"}: {7, 2, 1}, {"ar", "en"}: {4, 5, 1}, {"en", "zh_tw"}: {0, 1, 499}, {"en", "en"}: {6, 1, 3},
	}})
	var out strings.Builder
	if err := rep.WriteText(&out, "runs/1"); err != nil {
		t.Fatal(err)
	}
	want := `
TicTacToe-v0: 1,100 of 1,200 games
          en     ar  zh_tw   mean
en         .  +0.30  +0.00  +0.15  ±0.19
ar     -0.30      .      -  -0.30  ±0.38
zh_tw  +0.00      -      .  +0.00  ±0.01
first  +0.50      -      -
gap 0.45 (0.00 to 1.05), p 0.132
seat 0 won 600, seat 1 400, drawn 100, lost by invalid moves 7
apart: 0 of 2 pairs

margin of the row's language over the column's: (won - lost) / games, both roles
first: margin of seat 0 where both play in the column's language
± and brackets: 95 % intervals
p: chance of such a gap if all languages are equal, and corrected for the number
of games (Holm)
apart: pairs whose margin is no chance, corrected for all pairs of the game
(Holm)

strength         en      ar   zh_tw
TicTacToe-v0  -94 2  -721 3  +815 1
strength: Elo points from games won, drawn and lost in either seat, and the
ranks that its 95 % interval allows: 1-3 is tied with what is second or third

per answer  invalid  truncated  tokens  thinking  told  script  language
en             25.0        8.3     0.0       0.0     0       -         -
ar                -          -       -         -     0       -         -
zh_tw             -          -       -         -     0       -         -
in percent: invalid, truncated; told: answers long enough to tell what they are
written in; in percent of these, in another script than asked, or language

answers  all  boxed  raw  truncated  length  context  invalid  default
en        12      9    2          1       1        0        3        0
ar         0      0    0          0       0        0        0        0
zh_tw      0      0    0          0       0        0        0        0

results: runs/1
`
	if "\n"+out.String() != want {
		t.Errorf("got:\n%s\nwant:%s", out.String(), want)
	}
}

// The keys of an exported line and their order are relied on by scripts.
func TestExport(t *testing.T) {
	e := testExperiment()
	e.Games, e.Langs, e.N = []string{"Nim-v0"}, []string{"en"}, 1
	run := mustPlay(t, e)
	var out strings.Builder
	if err := run.ExportJSONL(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2", len(lines))
	}
	want := `{"id":"Nim-v0/en-en/0","game":"Nim-v0","langs":["en","en"],"role":0,"seed":1000000,"index":0,"turns":[` +
		`{"seat":0,"observation":"[GAME] Rules.\n[GAME] board 0\n","completion":"hm \u0000 \ufffd \\boxed{4}","thinking":"hm",` +
		`"action":"[4]","status":"boxed","finish":"stop","wrapped":"[4]","invalid":false,"reason":"taken","defaulted":false,"optimal":true,"regret":0,` +
		`"prompt_tokens":20,"completion_tokens":5,"thinking_tokens":2,"prefill_tokens":10,"start_ms":0,"end_ms":7},`
	if !strings.HasPrefix(lines[0], want) {
		t.Errorf("got  %s\nwant %s...", lines[0], want)
	}
	if want := `],"rewards":[1,-1],"reasons":["Line.","خط."],"invalid":[false,false],"moves":[2,1],"roles":["X","O"],"players":["",""]}`; !strings.HasSuffix(lines[0], want) {
		t.Errorf("got %s, want ...%s", lines[0], want)
	}
	for _, want := range []string{`"invalid":false,"reason":"taken","defaulted":true,"optimal":false,"regret":0.5,`, `"invalid":true,"reason":"taken","defaulted":false,"optimal":null,"regret":null,`} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("got %s, want ...%s...", lines[0], want)
		}
	}
	if !strings.HasPrefix(lines[1], `{"id":"Nim-v0/en-en/0r"`) {
		t.Errorf("second line %s", lines[1])
	}
}

func TestExportKeepsMarkup(t *testing.T) {
	s := mustCreate(t, t.TempDir(), testExperiment())
	rec := played(remaining(t, s)[0])
	rec.Turns[0].Completion = "<think>a && b</think>"
	if err := s.Append(rec); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := s.ExportJSONL(&out); err != nil || !strings.Contains(out.String(), rec.Turns[0].Completion) {
		t.Errorf("%v: %s", err, out.String())
	}
}
