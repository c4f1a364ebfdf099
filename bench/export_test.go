package bench

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"selfplay/scheduler"
)

// exported is a run of made-up games whose texts try what a format may break
// on, and its records.
func exported(t *testing.T) (*Run, []scheduler.Record) {
	t.Helper()
	s := mustCreate(t, t.TempDir(), testExperiment())
	var all []scheduler.Record
	for i, j := range remaining(t, s) {
		r := played(j)
		r.Turns[1].Completion = []string{"a,b\n\"c\"\r\nd", " leading", "NA", "=1+1", "سلام;\t", "\u2028"}[i%6]
		all = append(all, r)
	}
	if err := s.Append(all...); err != nil {
		t.Fatal(err)
	}
	return s.Run, all
}

func export(t *testing.T, r *Run, format, table string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Export(&b, format, table); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rowsOf flattens records as an export does.
func rowsOf[Row any](all []scheduler.Record, rows func(scheduler.Record) []Row) []Row {
	var out []Row
	for _, r := range all {
		out = append(out, rows(r)...)
	}
	return out
}

func TestParquetReadsBack(t *testing.T) {
	r, all := exported(t)
	checkParquet(t, export(t, r, FormatParquet, TableGames), rowsOf(all, flatGames))
	checkParquet(t, export(t, r, FormatParquet, TableTurns), rowsOf(all, flatTurns))
}

func checkParquet[Row any](t *testing.T, data []byte, want []Row) {
	t.Helper()
	got, err := parquet.Read[Row](bytes.NewReader(data), int64(len(data)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %d rows, want %d: %+v", err, len(got), len(want), got[:min(1, len(got))])
	}
}

// The table of turns tells the same as the lines of JSON, which have a test of
// their own names in cmd/selfplay.
func TestCSVReadsBack(t *testing.T) {
	r, all := exported(t)
	var games []exportedGame
	dec := json.NewDecoder(bytes.NewReader(export(t, r, FormatJSONL, "")))
	for dec.More() {
		var g exportedGame
		if err := dec.Decode(&g); err != nil {
			t.Fatal(err)
		}
		games = append(games, g)
	}
	lines, err := csv.NewReader(bytes.NewReader(export(t, r, FormatCSV, TableTurns))).ReadAll()
	if err != nil || len(lines) != 1+3*len(all) || len(games) != len(all) {
		t.Fatalf("%v: %d lines, %d games", err, len(lines), len(games))
	}
	at := func(line []string, name string) string { return line[slices.Index(lines[0], name)] }
	text := func(s string) string { // as a reader of CSV gets it
		return strings.ReplaceAll(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\r\n", "\n")
	}
	for i, line := range lines[1:] {
		g := games[i/3]
		turn := g.Turns[i%3]
		optimal, regret := "", ""
		if turn.Optimal != nil {
			optimal, regret = fmt.Sprint(*turn.Optimal), fmt.Sprint(*turn.Regret)
		}
		for name, want := range map[string]string{
			"id": g.ID, "game": g.Game, "turn": fmt.Sprint(i % 3), "seat": fmt.Sprint(turn.Seat), "lang": g.Langs[turn.Seat], "player": g.Players[turn.Seat],
			"status": string(turn.Status), "finish": string(turn.Finish), "action": turn.Action, "wrapped": turn.Wrapped,
			"invalid": fmt.Sprint(turn.Invalid), "reason": turn.Reason, "defaulted": fmt.Sprint(turn.Defaulted), "optimal": optimal, "regret": regret,
			"prompt_tokens": fmt.Sprint(turn.PromptTokens), "completion_tokens": fmt.Sprint(turn.CompletionTokens), "thinking_tokens": fmt.Sprint(turn.ThinkingTokens),
			"prefill_tokens": fmt.Sprint(turn.PrefillTokens), "start_ms": fmt.Sprint(turn.StartMS), "end_ms": fmt.Sprint(turn.EndMS),
			"observation": text(turn.Observation), "completion": text(turn.Completion), "thinking": text(turn.Thinking),
		} {
			if got := at(line, name); got != want {
				t.Errorf("%s turn %d: %s is %q, want %q", g.ID, i%3, name, got, want)
			}
		}
	}
	header, _, _ := strings.Cut(string(export(t, r, FormatCSV, TableGames)), "\n")
	if want := "id,game,lang0,lang1,player0,player1,role,idx,seed,reward0,reward1,invalid0,invalid1,turns,moves0,moves1,name0,name1,reason0,reason1"; header != want {
		t.Errorf("columns %s", header)
	}
	if n := bytes.Count(export(t, r, FormatCSV, TableGames), []byte("\n")); n != 1+len(all) {
		t.Errorf("%d lines of games", n)
	}
}

// full fails after some bytes, as a disk that fills up or a pipe that closes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestExportFails(t *testing.T) {
	r, _ := exported(t)
	for _, format := range []string{FormatJSONL, FormatCSV, FormatParquet} {
		for _, left := range []int{0, 1000} {
			if err := r.Export(&full{left}, format, TableTurns); err == nil {
				t.Errorf("%s: no error of a writer that takes %d bytes", format, left)
			}
		}
	}
	if err := r.Export(io.Discard, "xml", TableGames); err == nil {
		t.Error("no error of an unknown format")
	}
}
