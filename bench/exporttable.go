package bench

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"selfplay/scheduler"
)

// A FlatGame is a row of the table of games, for programs that load tables. Its
// columns mean what they do in games.db, but for those with a comment.
type FlatGame struct {
	ID       string `parquet:"id"`
	Game     string `parquet:"game,dict"`
	Lang0    string `parquet:"lang0,dict"`
	Lang1    string `parquet:"lang1,dict"`
	Player0  string `parquet:"player0,dict"`
	Player1  string `parquet:"player1,dict"`
	Role     int32  `parquet:"role"`
	Index    int32  `parquet:"idx"`
	Seed     int64  `parquet:"seed"`
	Reward0  int32  `parquet:"reward0"`
	Reward1  int32  `parquet:"reward1"`
	Invalid0 bool   `parquet:"invalid0"`
	Invalid1 bool   `parquet:"invalid1"`
	Turns    int32  `parquet:"turns"`  // answers, of both seats
	Moves0   int32  `parquet:"moves0"` // of seat 0, valid ones and the one that forfeits: turns0 in games.db
	Moves1   int32  `parquet:"moves1"`
	Name0    string `parquet:"name0,dict"`
	Name1    string `parquet:"name1,dict"`
	Reason0  string `parquet:"reason0,dict"`
	Reason1  string `parquet:"reason1,dict"`
}

// A FlatTurn is a row of the table of turns: one answer, with what of its game
// is needed to group by.
type FlatTurn struct {
	ID               string   `parquet:"id"` // of the game
	Game             string   `parquet:"game,dict"`
	Turn             int32    `parquet:"turn"` // from 0
	Seat             int32    `parquet:"seat"`
	Lang             string   `parquet:"lang,dict"`   // of the seat
	Player           string   `parquet:"player,dict"` // of the seat
	Status           string   `parquet:"status,dict"`
	Finish           string   `parquet:"finish,dict"`
	Action           string   `parquet:"action"`
	Wrapped          string   `parquet:"wrapped"`
	Invalid          bool     `parquet:"invalid"`
	Reason           string   `parquet:"reason,dict"`
	Defaulted        bool     `parquet:"defaulted"`
	Optimal          *bool    `parquet:"optimal,optional"`
	Regret           *float64 `parquet:"regret,optional"`
	PromptTokens     int32    `parquet:"prompt_tokens"`
	CompletionTokens int32    `parquet:"completion_tokens"`
	ThinkingTokens   int32    `parquet:"thinking_tokens"`
	PrefillTokens    int32    `parquet:"prefill_tokens"`
	StartMS          int64    `parquet:"start_ms"`
	EndMS            int64    `parquet:"end_ms"`
	Observation      string   `parquet:"observation"`
	Completion       string   `parquet:"completion"`
	Thinking         string   `parquet:"thinking"`
}

func flatGames(r scheduler.Record) []FlatGame {
	j, o := r.Job, r.Result
	return []FlatGame{{
		ID: j.ID, Game: j.Game, Lang0: j.Langs[0], Lang1: j.Langs[1], Player0: j.Players[0], Player1: j.Players[1],
		Role: int32(j.Role), Index: int32(j.Index), Seed: j.Seed,
		Reward0: int32(o.Rewards[0]), Reward1: int32(o.Rewards[1]), Invalid0: o.Invalid[0], Invalid1: o.Invalid[1],
		Turns: int32(len(r.Turns)), Moves0: int32(o.Turns[0]), Moves1: int32(o.Turns[1]),
		Name0: o.Roles[0], Name1: o.Roles[1], Reason0: valid(o.Reasons[0]), Reason1: valid(o.Reasons[1]),
	}}
}

func flatTurns(r scheduler.Record) []FlatTurn {
	rows := make([]FlatTurn, 0, len(r.Turns))
	for i, t := range exportRecord(r).Turns {
		rows = append(rows, FlatTurn{
			ID: r.Job.ID, Game: r.Job.Game, Turn: int32(i), Seat: int32(t.Seat), Lang: r.Job.Langs[t.Seat], Player: r.Job.Players[t.Seat],
			Status: string(t.Status), Finish: string(t.Finish), Action: valid(t.Action), Wrapped: valid(t.Wrapped),
			Invalid: t.Invalid, Reason: valid(t.Reason), Defaulted: t.Defaulted, Optimal: t.Optimal, Regret: t.Regret,
			PromptTokens: int32(t.PromptTokens), CompletionTokens: int32(t.CompletionTokens),
			ThinkingTokens: int32(t.ThinkingTokens), PrefillTokens: int32(t.PrefillTokens), StartMS: t.StartMS, EndMS: t.EndMS,
			Observation: valid(t.Observation), Completion: valid(t.Completion), Thinking: valid(t.Thinking),
		})
	}
	return rows
}

// valid replaces bytes that are no UTF-8, as the lines of JSON do.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// Tables that an export may have, and its formats.
const (
	TableGames = "games"
	TableTurns = "turns"

	FormatJSONL   = "jsonl"
	FormatCSV     = "csv"
	FormatParquet = "parquet"
)

// Export writes the ended games to w in plan order, a few at a time: as lines
// of JSON, one a game with its turns inside, where table has no meaning, or one
// of the tables as CSV or Parquet.
func (r *Run) Export(w io.Writer, format, table string) error {
	switch {
	case format == FormatJSONL:
		return r.ExportJSONL(w)
	case format == FormatCSV && table == TableGames:
		return exportCSV(r, w, flatGames)
	case format == FormatCSV && table == TableTurns:
		return exportCSV(r, w, flatTurns)
	case format == FormatParquet && table == TableGames:
		return exportParquet(r, w, flatGames)
	case format == FormatParquet && table == TableTurns:
		return exportParquet(r, w, flatTurns)
	}
	return fmt.Errorf("no format %q of a table %q", format, table)
}

// rowGroupBytes is about how much text a row group of Parquet holds: it is
// kept in memory until it is whole.
const rowGroupBytes = 32 << 20

// exportParquet writes the rows, compressed with zstd.
func exportParquet[Row any](r *Run, w io.Writer, rows func(scheduler.Record) []Row) error {
	options := []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.CreatedBy("selfplay", "", "")}
	for _, text := range []string{"action", "wrapped", "observation", "completion", "thinking"} {
		// Else the least and the greatest text of each group stand once more before it, and
		// in the end of the file, which is kept in memory until then.
		options = append(options, parquet.SkipPageStatistics(text), parquet.SkipPageBounds(text))
	}
	out := parquet.NewGenericWriter[Row](w, options...)
	size := 0
	err := r.Each(func(rec scheduler.Record) error {
		if _, err := out.Write(rows(rec)); err != nil {
			return err
		}
		if size += textBytes(rec) + 256*len(rec.Turns); size < rowGroupBytes {
			return nil
		}
		size = 0
		return out.Flush()
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// exportCSV writes the rows as RFC 4180 has it, with a line of names first. A
// truth is true or false, what is not known is empty. NUL, which readers of CSV
// end a text at, becomes U+FFFD.
func exportCSV[Row any](r *Run, w io.Writer, rows func(scheduler.Record) []Row) error {
	out := csv.NewWriter(w)
	var line []string
	for f := range reflect.TypeFor[Row]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		line = append(line, name)
	}
	if err := out.Write(line); err != nil {
		return err
	}
	err := r.Each(func(rec scheduler.Record) error {
		for _, row := range rows(rec) {
			line = line[:0]
			for _, v := range reflect.ValueOf(row).Fields() {
				line = append(line, csvText(v))
			}
			if err := out.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
	out.Flush()
	if err != nil {
		return err
	}
	return out.Error()
}

func csvText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return ""
		}
		return csvText(v.Elem())
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.String:
		return strings.ReplaceAll(v.String(), "\x00", "\uFFFD")
	}
	return strconv.FormatInt(v.Int(), 10)
}
