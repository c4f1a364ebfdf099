package bench

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"selfplay/games"
	"selfplay/prompts"
	"selfplay/scheduler"
)

// listed plays a run in which each game has faults of its own.
func listed(t *testing.T) (*Store, []scheduler.Record) {
	t.Helper()
	s := mustCreate(t, t.TempDir(), testExperiment())
	var all []scheduler.Record
	for i, j := range remaining(t, s) {
		r := played(j)
		switch i % 5 {
		case 0:
			r.Turns[0].Finish = scheduler.FinishLength
		case 1:
			r.Turns[1].Finish = scheduler.FinishContext
		case 2:
			r.Turns[2].Status = prompts.Truncated
		case 3:
			r.Result.Rewards = [2]int{}
			r.Turns = r.Turns[:2]
		case 4:
			r.Turns[1].Event.Default = false
		}
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return s, all
}

// What SQL finds is what a look at every game finds.
func TestList(t *testing.T) {
	s, all := listed(t)
	anyTurn := func(is func(scheduler.Turn) bool) func(scheduler.Record) bool {
		return func(r scheduler.Record) bool { return slices.ContainsFunc(r.Turns, is) }
	}
	for _, c := range []struct {
		f    Filter
		want func(scheduler.Record) bool
	}{
		{Filter{}, func(scheduler.Record) bool { return true }},
		{Filter{Part: "nim-V0/EN"}, func(r scheduler.Record) bool { return strings.HasPrefix(r.Job.ID, "Nim-v0/en") }},
		{Filter{Part: "' OR 1=1 --%_"}, func(scheduler.Record) bool { return false }},
		{Filter{Game: "Nim-v0"}, func(r scheduler.Record) bool { return r.Job.Game == "Nim-v0" }},
		{Filter{Langs: [2]string{"ar"}}, func(r scheduler.Record) bool { return r.Job.Langs[0] == "ar" || r.Job.Langs[1] == "ar" }},
		{Filter{Langs: [2]string{"ar", "en"}}, func(r scheduler.Record) bool { return r.Job.Langs == [2]string{"ar", "en"} }},
		{Filter{Winner: "0"}, func(r scheduler.Record) bool { return r.Result.Rewards[0] == 1 }},
		{Filter{Winner: "1"}, func(r scheduler.Record) bool { return r.Result.Rewards[1] == 1 }},
		{Filter{Winner: Draw}, func(r scheduler.Record) bool { return r.Result.Rewards[0] == 0 }},
		{Filter{Cause: "invalid"}, func(r scheduler.Record) bool { return r.Result.Invalid != [2]bool{} }},
		{Filter{Cause: "refused"}, anyTurn(func(t scheduler.Turn) bool { return t.Event.Invalid })},
		{Filter{Cause: "defaulted"}, anyTurn(func(t scheduler.Turn) bool { return t.Event.Default })},
		{Filter{Cause: "truncated"}, anyTurn(func(t scheduler.Turn) bool { return t.Status == prompts.Truncated })},
		{Filter{Cause: "length"}, anyTurn(func(t scheduler.Turn) bool { return t.Finish == scheduler.FinishLength })},
		{Filter{Cause: "context"}, anyTurn(func(t scheduler.Turn) bool { return t.Finish == scheduler.FinishContext })},
		{Filter{Longer: 2}, func(r scheduler.Record) bool { return len(r.Turns) > 2 }},
		{Filter{Shorter: 3}, func(r scheduler.Record) bool { return len(r.Turns) < 3 }},
		{Filter{Game: "Nim-v0", Langs: [2]string{"en"}, Winner: "1", Cause: "length", Longer: 1, Shorter: 9}, func(r scheduler.Record) bool {
			return r.Job.Game == "Nim-v0" && slices.Contains(r.Job.Langs[:], "en") && r.Result.Rewards[1] == 1 && r.Turns[0].Finish == scheduler.FinishLength
		}},
	} {
		var want, got []Listed
		var wantAt []int
		for i, r := range all {
			if c.want(r) {
				want = append(want, Listed{i, r.Job.ID, r.Job.Game, r.Job.Langs, r.Job.Players, r.Result.Rewards, r.Result.Invalid, len(r.Turns)})
				wantAt = append(wantAt, i)
			}
		}
		for _, limit := range []int{0, 2} {
			f := c.f
			f.Limit = limit
			if limit > 0 {
				want, wantAt = want[:min(limit, len(want))], wantAt[:min(limit, len(wantAt))]
			}
			got = nil
			err := s.List(f, func(l Listed) error { got = append(got, l); return nil })
			at, atErr := s.Positions(f)
			if err != nil || atErr != nil || !slices.Equal(got, want) || !slices.Equal(at, wantAt) {
				t.Errorf("%+v: %v, %v, %v and %v, want %v", f, err, atErr, got, at, want)
			}
		}
		if len(want) == 0 && c.f.Part == "" {
			t.Errorf("%+v: the test has no such game", c.f)
		}
	}
}

func TestSearch(t *testing.T) {
	s, all := listed(t)
	for name, want := range map[string]string{
		"0":                    all[0].Job.ID,
		"35":                   all[35].Job.ID,
		"36":                   "",
		"-1":                   "",
		"99999999999999999999": "",
		"Nim-v0/en-ar/1":       "Nim-v0/en-ar/1",
		"nim-v0/ar-en/1":       "Nim-v0/ar-en/1",
		"Nim-v0/en-en/1":       "Nim-v0/en-en/1", // and not its mirrored half, 1r
		"nim-v0/EN-en/1R":      "Nim-v0/en-en/1r",
		"en-ar/1":              "TicTacToe-v0/en-ar/1 Nim-v0/en-ar/1",
		"nope":                 "",
		"%":                    "",
		"Nim":                  "Nim-v0/en-en/0 Nim-v0/en-en/0r Nim-v0/en-ar/0 Nim-v0/ar-en/0 Nim-v0/ar-ar/0",
	} {
		found, err := s.Search(name)
		var ids []string
		for _, l := range found {
			ids = append(ids, l.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != want {
			t.Errorf("%q: %v, %s, want %s", name, err, got, want)
		}
	}
	rec, ok, err := s.FindAt(7)
	if err != nil || !ok || rec.Job.ID != all[7].Job.ID || len(rec.Turns) != len(all[7].Turns) {
		t.Errorf("%v %v %+v", err, ok, rec)
	}
	if _, ok, err := s.FindAt(36); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}

// Tables that are not as they were made are told of in one line.
func TestListOfDamagedTables(t *testing.T) {
	for _, harm := range []string{"DROP TABLE turns", "UPDATE games SET id = NULL", "UPDATE games SET reward0 = 'x'"} {
		s := mustCreate(t, t.TempDir(), testExperiment())
		if err := s.Append(played(remaining(t, s)[0])); err != nil {
			t.Fatal(err)
		}
		s.Close()
		db, err := sql.Open("sqlite", filepath.Join(s.Dir, dbName))
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("PRAGMA foreign_keys = 0; PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'games'; PRAGMA writable_schema = RESET; " + harm); err != nil {
			t.Fatal(harm, err)
		}
		db.Close()
		r, err := Open(s.Dir)
		if err == nil {
			err = r.List(Filter{}, func(Listed) error { return nil })
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), s.Dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", harm, err)
		}
	}
}

func TestRemarks(t *testing.T) {
	good := scheduler.Turn{Status: prompts.Boxed, Finish: scheduler.FinishStop}
	for want, change := range map[string]func(*scheduler.Turn){
		"":                    func(*scheduler.Turn) {},
		"invalid (taken) bad": func(t *scheduler.Turn) { t.Event = games.Event{Invalid: true, Reason: "taken"} },
		"unreadable: the rules took their default bad":        func(t *scheduler.Turn) { t.Event.Default = true },
		"not boxed, cut off at the limit of tokens bad":       func(t *scheduler.Turn) { t.Status, t.Finish = prompts.Raw, scheduler.FinishLength },
		"thinking never ended bad, cut off: context full bad": func(t *scheduler.Turn) { t.Status, t.Finish = prompts.Truncated, scheduler.FinishContext },
		"optimal good": func(t *scheduler.Turn) {
			t.Event.Judged, t.Status, t.Finish = true, prompts.Raw, scheduler.FinishPolicy
		},
		"loses 0.25 by perfect play": func(t *scheduler.Turn) { t.Event.Judged, t.Event.Regret = true, 0.25 },
	} {
		turn := good
		change(&turn)
		var got []string
		for _, r := range Remarks(turn) {
			text := r.Text
			if r.Reason != "" {
				text += " (" + r.Reason + ")"
			}
			if r.Bad {
				text += " bad"
			}
			if r.Good {
				text += " good"
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEnding(t *testing.T) {
	for want, o := range map[string]games.Result{
		"won by seat 0": {Rewards: [2]int{1, -1}},
		"won by seat 1": {Rewards: [2]int{-1, 1}},
		"won by seat 1 by invalid moves of the other": {Rewards: [2]int{-1, 1}, Invalid: [2]bool{true, false}},
		"drawn": {},
	} {
		if got := Ending(o.Rewards, o.Invalid); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
