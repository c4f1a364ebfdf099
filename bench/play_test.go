package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"selfplay/scheduler"
)

// fakePlayer ends every game at once, as played invents it, one each 100 ms of
// its own clock.
func fakePlayer(ctx context.Context, d Deal,
	sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
	var p scheduler.Progress
	for j := range d.Jobs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := played(j)
		if err := sink(r); err != nil {
			return err
		}
		if d.Ended != nil {
			d.Ended(j, r.Result)
		}
		p.Started++
		p.Ended++
		p.Turns += len(r.Turns)
		p.CompletionTokens += 15
		p.ThinkingTokens += 6
		p.PromptTokens += 60
		p.PrefillTokens += 30
		p.Elapsed += 100 * time.Millisecond
		progress(p)
	}
	return nil
}

func TestPlay(t *testing.T) {
	o := Options{Dir: t.TempDir(), Experiment: testExperiment(), Player: fakePlayer}
	sum, err := Play(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Games != 36 || sum.Wins0 != 24 || sum.Wins1 != 12 || sum.InvalidLosses != 12 || sum.Turns != 108 ||
		sum.PromptTokens != 36*60 || sum.PrefillTokens != 36*30 || sum.CompletionTokens != 36*15 || sum.ThinkingTokens != 36*6 || sum.GamesPerS <= 0 {
		t.Errorf("%+v", sum)
	}
	if sum.WholeRun.Games != 36 || sum.WholeRun.CompletionTokens != 36*15 || sum.WholeRun.ThinkingTokens != 36*6 {
		t.Errorf("whole run %+v", sum.WholeRun)
	}
	// Nothing is left: nothing is played, and the totals stay.
	o.Player = nil
	sum, err = Play(t.Context(), o)
	if err != nil || sum.Games != 0 || sum.GamesPerS != 0 || sum.WholeRun.Games != 36 {
		t.Errorf("again: %v %+v", err, sum)
	}
}

func TestPlayStopsAndResumes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Dir: t.TempDir(), Experiment: testExperiment()}
	o.Player = func(ctx context.Context, d Deal,
		sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		ended := 0
		return fakePlayer(ctx, d, sink, func(p scheduler.Progress) {
			if ended++; ended == 10 {
				cancel()
			}
		})
	}
	sum, err := Play(ctx, o)
	checkLine(t, err, []string{"stopped", "10 of 36 games have ended and are kept in " + o.Dir, "the same command plays the rest"})
	if !errors.Is(err, context.Canceled) || sum.Games != 10 {
		t.Errorf("%v, %d games", err, sum.Games)
	}
	o.Player = fakePlayer
	sum, err = Play(t.Context(), o)
	if err != nil || sum.Games != 26 || sum.WholeRun.Games != 36 {
		t.Errorf("%v, %d games, %d in all", err, sum.Games, sum.WholeRun.Games)
	}
}

// A store that fails stops the player, and its error is the one that is told.
func TestKeeperFails(t *testing.T) {
	full := errors.New("games.db: the disk is full")
	stored := 0
	store := func(records ...scheduler.Record) error {
		if stored += len(records); stored > 5 {
			return full
		}
		return nil
	}
	show := &progressLine{planned: 1 << 30}
	jobs := func(yield func(scheduler.Job) bool) { // without end
		for yield(scheduler.Job{}) {
		}
	}
	_, err := play(t.Context(), fakePlayer, Deal{Jobs: jobs, Total: show.planned}, show, nil, store)
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// The player must not wait for the disk while a batch has room.
func TestKeeperDoesNotBlock(t *testing.T) {
	gate := make(chan struct{})
	var sizes []int
	k := newKeeper(func(records ...scheduler.Record) error {
		<-gate
		sizes = append(sizes, len(records))
		return nil
	})
	for range batchSize {
		if err := k.keep(scheduler.Record{}); err != nil {
			t.Fatal(err)
		}
	}
	close(gate)
	if err := k.close(); err != nil || k.counts.Games != batchSize || len(sizes) > 2 {
		t.Errorf("%v, %d games in batches of %v", err, k.counts.Games, sizes)
	}
}

func TestPlayerThatForgetsGames(t *testing.T) {
	o := Options{Dir: t.TempDir(), Experiment: testExperiment()}
	o.Player = func(ctx context.Context, d Deal,
		sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		return nil
	}
	_, err := Play(t.Context(), o)
	checkLine(t, err, []string{"ended 0 games of 36"})
}

func TestProgressLine(t *testing.T) {
	model := scheduler.Stats{Started: 1300, PrefillTokens: 1_800_000, CompletionTokens: 450_000}
	halfway := model
	halfway.Ended = 900
	for _, c := range []struct {
		p    scheduler.Progress
		want string
	}{
		{scheduler.Progress{}, "100 of 28,800 games, 0%"},
		{scheduler.Progress{Elapsed: 90 * time.Second, Stats: model}, "100 of 28,800 games, 0%, 1,300 playing, 20,000 tokens/s read, 5,000 written"},
		{scheduler.Progress{Elapsed: 90 * time.Second, Stats: halfway}, "1,000 of 28,800 games, 3%, 400 playing, 20,000 tokens/s read, 5,000 written, 10 games/s, 46m20s left"},
		{scheduler.Progress{Elapsed: 90 * time.Second, Replicas: 8, Lost: 1}, "100 of 28,800 games, 0%, 1 of 8 replicas lost"},
		{scheduler.Progress{Elapsed: 90 * time.Second, Stats: scheduler.Stats{Started: 900, Ended: 900}}, "1,000 of 28,800 games, 3%, 10 games/s, 46m20s left"},
	} {
		l := progressLine{before: 100, planned: 28_800}
		if got := l.text(c.p); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestProgressIsRare(t *testing.T) {
	var out strings.Builder
	l := progressLine{w: &out, planned: 100}
	var p scheduler.Progress
	for range 100 { // 25 seconds
		p.Ended++
		p.Elapsed += 250 * time.Millisecond
		l.update(p)
	}
	l.show(p)
	if got := strings.Count(out.String(), "\n"); got != 3 { // at 10 s, 20 s and the end
		t.Errorf("%d lines in a log:\n%s", got, out.String())
	}
}
