package bench

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"selfplay/scheduler"
)

// TestRunLog tells what a run does, and no more than once a minute how far it is.
func TestRunLog(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(before)
	l := &runLog{dir: "r", before: 3}
	l.begin(Experiment{N: 5, Seed: 7}, Session{}, 10)
	for _, at := range []time.Duration{0, 59 * time.Second, 61 * time.Second, 90 * time.Second, 121 * time.Second} {
		l.step(scheduler.Progress{Elapsed: at, Stats: scheduler.Stats{Ended: int(at / time.Second)}}, 10)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	sum := Summary{Games: 4, WholeRun: Counts{Games: 7, Planned: 10}}
	l.end(t.Context(), nil, sum)
	l.end(stopped, stopped.Err(), sum)
	l.end(t.Context(), errors.New("disk full"), sum)
	var got []string
	for line := range strings.Lines(out.String()) {
		_, rest, _ := strings.Cut(line, "level=")
		got = append(got, strings.TrimSpace(rest))
	}
	for i, want := range []string{
		`INFO msg="run resumed" run=r model="" games=[] langs=[] n=5 seed=7 ended=3 planned=10`,
		`INFO msg=progress run=r ended=64 planned=10`, `INFO msg=progress run=r ended=124 planned=10`,
		`INFO msg="run ended" run=r played=4 seconds=0 ended=7 planned=10 reason="all games are played"`,
		`INFO msg="run ended" run=r played=4 seconds=0 ended=7 planned=10 reason=interrupted`,
		`WARN msg="run ended" run=r played=4 seconds=0 ended=7 planned=10 reason=failed error="disk full"`,
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("line %d of\n%s\nwant %s", i, strings.Join(got, "\n"), want)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d lines:\n%s", len(got), out.String())
	}
}
