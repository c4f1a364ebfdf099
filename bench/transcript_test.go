package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"selfplay/scheduler"
)

// noise is n bytes that do not compress.
func noise(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return string(b)
}

// Whatever the texts are, they come back: long actions, which have no column of
// their own, and those of exactly the length that has one; a seat without a
// turn; a game without any; observations that share nothing with the opening.
func TestTextsComeBack(t *testing.T) {
	s := mustCreate(t, t.TempDir(), testExperiment())
	jobs := remaining(t, s)
	var want []scheduler.Record
	for i, change := range []func(*scheduler.Record){
		func(r *scheduler.Record) {},
		func(r *scheduler.Record) {
			r.Turns[0].Action, r.Turns[0].Event.Action = strings.Repeat("a", plainBytes), strings.Repeat("b", plainBytes+1)
		},
		func(r *scheduler.Record) {
			r.Turns[1].Action, r.Turns[2].Event.Action = strings.Repeat("é", plainBytes), ""
		},
		func(r *scheduler.Record) { r.Turns = r.Turns[:1] },
		func(r *scheduler.Record) { r.Turns = r.Turns[1:2] },
		func(r *scheduler.Record) { r.Turns = nil },
		func(r *scheduler.Record) { r.Turns[0].Observation, r.Turns[2].Observation = "other", "" },
		func(r *scheduler.Record) { r.Turns[1].Completion, r.Turns[1].Thinking = noise(70_000), "" },
	} {
		r := played(jobs[i])
		change(&r)
		want = append(want, r)
	}
	if err := s.Append(want...); err != nil {
		t.Fatal(err)
	}
	i := 0
	err := s.Each(func(got scheduler.Record) error {
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("game %d: %.1000s\nwant %.1000s", i, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want[i]))
		}
		i++
		return nil
	})
	if err != nil || i != len(want) {
		t.Errorf("%d games of %d, %v", i, len(want), err)
	}
}

// What a batch that failed has added to the openings is forgotten with it.
func TestOpeningsOfAFailedBatch(t *testing.T) {
	s := mustCreate(t, t.TempDir(), testExperiment())
	jobs := remaining(t, s)
	if err := s.Append(played(jobs[0]), played(jobs[0])); err == nil {
		t.Fatal("a game was stored twice")
	}
	if err := s.Append(played(jobs[0]), played(jobs[1])); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := s.Find(jobs[1].ID); err != nil || !ok || !reflect.DeepEqual(got, played(jobs[1])) {
		t.Errorf("%v, %v, %+v", err, ok, got)
	}
}

// Damage that SQLite cannot see is an error that names the game, whatever is wrong.
func TestDamagedTranscript(t *testing.T) {
	for name, spoil := range map[string]string{
		"no transcript":     `DELETE FROM transcripts`,
		"no frame":          `UPDATE transcripts SET zstd = 'text'`,
		"cut frame":         `UPDATE transcripts SET zstd = substr(zstd, 1, length(zstd) - 3)`,
		"longer completion": `UPDATE turns SET completion_bytes = completion_bytes + 1`,
		"shorter":           `UPDATE turns SET observation_bytes = observation_bytes - 1 WHERE turn = 2`,
		"negative":          `UPDATE turns SET thinking_bytes = -1`,
		"kept too much":     `UPDATE turns SET kept = 10000`,
		"third seat":        `UPDATE turns SET seat = 2`,
		"no opening":        `DELETE FROM openings WHERE seat = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := mustCreate(t, dir, testExperiment())
			if err := s.Append(played(remaining(t, s)[0])); err != nil {
				t.Fatal(err)
			}
			s.Close()
			execDB(t, dir, spoil)
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			err = r.Each(func(scheduler.Record) error { return nil })
			if !errors.Is(err, errTranscript) {
				t.Errorf("got %v", err)
			}
			checkLine(t, err, []string{"TicTacToe-v0/en-en/0", "games.db is damaged"})
		})
	}
}

func TestCommonPrefix(t *testing.T) {
	text := strings.Repeat("0123456789", 30)
	for n := range len(text) {
		for _, rest := range []string{"", "x", strings.Repeat("x", 100)} {
			if got := commonPrefix(text, text[:n]+rest); got != n {
				t.Fatalf("%d bytes and %q: %d", n, rest, got)
			}
			if got := commonPrefix(text[:n]+rest, text); got != n {
				t.Fatalf("%d bytes and %q, the other way: %d", n, rest, got)
			}
		}
	}
}
