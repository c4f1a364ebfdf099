package bench

import (
	"database/sql"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"selfplay/scheduler"
)

// viewRows gives the rows of a query, keyed by its first columns joined with
// spaces; the last n columns are the values.
func viewRows(t *testing.T, r *Run, n int, query string) map[string][]float64 {
	t.Helper()
	got := map[string][]float64{}
	err := r.read(func(tx *sql.Tx) error {
		rows, err := tx.Query(query)
		if err != nil {
			return err
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			return err
		}
		for rows.Next() {
			keys, values, into := make([]string, len(names)-n), make([]float64, n), []any{}
			for i := range keys {
				into = append(into, &keys[i])
			}
			for i := range values {
				into = append(into, &values[i])
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			got[strings.Join(keys, " ")] = values
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// sameRows compares a view's rows with what Go measured.
func sameRows(t *testing.T, view string, got, want map[string][]float64) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%s: %d rows, want %d", view, len(got), len(want))
	}
	for key, w := range want {
		if !slices.EqualFunc(got[key], w, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: %s is %v, want %v", view, key, got[key], w)
		}
	}
}

// The views say what the program measures, on real games.
func TestViewsAgreeWithReport(t *testing.T) {
	e := testExperiment()
	e.Games, e.Langs, e.N = []string{"TicTacToe-v0", "KuhnPoker-v0", "Nim-v0"}, []string{"en", "ar", "zh"}, 12
	dir := t.TempDir()
	if _, err := Play(t.Context(), Options{Dir: dir, Experiment: e, Player: randomPlayer(e.Seed)}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rep, err := r.Report()
	if err != nil {
		t.Fatal(err)
	}
	margins, mu, first, perfect := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for _, game := range e.Games {
		for a, row := range rep.Margins[game] {
			for b, v := range row {
				margins[game+" "+a+" "+b] = []float64{v}
			}
		}
		for lang, v := range rep.Mu[game] {
			mu[game+" "+lang] = []float64{v}
		}
		for lang, v := range rep.FirstMover[game] {
			first[game+" "+lang] = []float64{v}
		}
		for lang, n := range rep.Judged[game] {
			perfect[game+" "+lang] = []float64{float64(n), rep.Optimal[game][lang], rep.Regret[game][lang]}
		}
	}
	sameRows(t, "margins", viewRows(t, r, 1, `SELECT game, lang, other, margin FROM margins`), margins)
	sameRows(t, "mean_margins", viewRows(t, r, 1, `SELECT game, lang, mu FROM mean_margins`), mu)
	sameRows(t, "first_mover", viewRows(t, r, 1, `SELECT game, lang, margin FROM first_mover`), first)
	sameRows(t, "perfect_play", viewRows(t, r, 3, `SELECT game, lang, moves, share, regret FROM perfect_play`), perfect)
}

// mixed is a run of made-up games with answers of all kinds: the third of each
// cell is against a policy that sits on seat 1.
func mixed(t *testing.T) *Run {
	t.Helper()
	s := mustCreate(t, t.TempDir(), testExperiment())
	inPlan := s.position
	s.position = func(j scheduler.Job) (int, error) {
		j.Players = [2]string{}
		return inPlan(j)
	}
	for i, j := range remaining(t, s) {
		r := played(j)
		if j.Index == 2 {
			r.Job.Players[1] = "random"
		}
		r.Turns[0].Status, r.Turns[0].Finish = "truncated", "length"
		r.Turns[1].Status = "raw"
		r.Turns[1].PromptTokens = 20 + i
		r.Turns[2].Event.Reason = fmt.Sprint("reason ", i%2)
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	return s.Run
}

// The other views are counted again in Go, over the records.
func TestViewsCount(t *testing.T) {
	r := mixed(t)
	byLang, causes, losses, tokens, policies := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	add := func(m map[string][]float64, key string, values ...float64) {
		if m[key] == nil {
			m[key] = make([]float64, len(values))
		}
		for i, v := range values {
			m[key][i] += v
		}
	}
	is := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	err := r.Each(func(rec scheduler.Record) error {
		j, o := rec.Job, rec.Result
		for seat, lang := range j.Langs {
			if j.Players[seat] != "" {
				continue
			}
			add(losses, j.Game+" "+lang, 1, is(o.Invalid[seat]))
			if j.Players[1-seat] != "" {
				add(policies, fmt.Sprint(j.Game, " ", lang, " ", j.Players[1-seat], " ", seat), 1, is(o.Rewards[seat] > 0), is(o.Rewards[seat] < 0))
			}
		}
		for i, a := range rec.Turns {
			if j.Players[a.Seat] != "" {
				continue
			}
			key := j.Game + " " + j.Langs[a.Seat]
			add(byLang, key, 1, is(a.Status == "boxed"), is(a.Status == "raw"), is(a.Status == "truncated"), is(a.Finish == "stop"), is(a.Finish == "length"),
				is(a.Event.Invalid), is(a.Event.Default), float64(a.PromptTokens), float64(a.CompletionTokens), float64(a.ThinkingTokens))
			add(tokens, fmt.Sprint(key, " ", i), 1, float64(a.PromptTokens), float64(a.CompletionTokens), float64(a.ThinkingTokens))
			if a.Event.Invalid {
				add(causes, strings.Join([]string{key, string(a.Status), string(a.Finish), a.Event.Reason}, " "), 1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, "answers_by_lang", viewRows(t, r, 11, `SELECT game, lang, answers, boxed, raw, truncated, stop, length, invalid, defaulted, prompt_tokens, completion_tokens, thinking_tokens FROM answers_by_lang`), byLang)
	sameRows(t, "invalid_causes", viewRows(t, r, 1, `SELECT game, lang, status, finish, reason, answers FROM invalid_causes`), causes)
	sameRows(t, "invalid_losses", viewRows(t, r, 2, `SELECT game, lang, games, lost FROM invalid_losses`), losses)
	sameRows(t, "tokens_per_turn", viewRows(t, r, 4, `SELECT game, lang, turn, answers, answers * prompt, answers * completion, answers * thinking FROM tokens_per_turn`), tokens)
	sameRows(t, "against_policies", viewRows(t, r, 3, `SELECT game, lang, opponent, seat, games, won, lost FROM against_policies`), policies)
	if got := viewRows(t, r, 1, `SELECT game, sum(games) FROM margins WHERE lang < other GROUP BY game`); got["Nim-v0"][0] != 4 {
		t.Errorf("margins count games against a policy: %v", got) // 2 of 3 games of each of 2 roles
	}
}

// Every table and view can be read, and every column of a table says what it
// holds.
func TestSchemaIsDocumented(t *testing.T) {
	r := mixed(t)
	var names []string
	err := r.read(func(tx *sql.Tx) error {
		rows, err := tx.Query(`SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			names = append(names, "")
			if err := rows.Scan(&names[len(names)-1]); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil || len(names) < 15 {
		t.Fatal(err, names)
	}
	for _, name := range names {
		viewRows(t, r, 1, `SELECT count(*) FROM (SELECT * FROM `+name+`)`)
	}
	self := regexp.MustCompile(`^\t(session|gpu|uuid|name|game) `) // the name says it
	for line := range strings.Lines(schema) {
		if strings.HasPrefix(line, "\t") && !strings.Contains(line, "--") && !self.MatchString(line) && !regexp.MustCompile(`^\t[A-Z]`).MatchString(line) && !strings.Contains(line, "id   INTEGER PRIMARY KEY") {
			t.Errorf("no comment: %s", line)
		}
	}
}
