package bench

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"selfplay/scheduler"
)

// logEvery is how often the log is told how far a run is.
const logEvery = time.Minute

// A runLog tells slog's default logger what happens to a run.
type runLog struct {
	dir    string
	before int           // games that had ended before
	told   time.Duration // on the clock of Progress.Elapsed
}

// begin tells what is played, and what of it was there.
func (l *runLog) begin(e Experiment, s Session, planned int) {
	event := "run started"
	if l.before > 0 {
		event = "run resumed"
	}
	slog.Info(event, "run", l.dir, "model", e.Model.Name, "games", e.Games, "langs", e.Langs, "n", e.N, "seed", e.Seed,
		"ended", l.before, "planned", planned, "settings", s.Settings)
}

// step tells now and then how far the run is.
func (l *runLog) step(p scheduler.Progress, planned int) {
	if p.Elapsed-l.told < logEvery {
		return
	}
	l.told = p.Elapsed
	slog.Info("progress", "run", l.dir, "ended", l.before+p.Ended, "planned", planned, "playing", p.Live(),
		"completion_tokens", p.CompletionTokens, "prefill_tokens", p.PrefillTokens, "replicas_lost", p.Lost, "seconds", p.Elapsed.Seconds())
}

// end tells what was played, and why no more.
func (l *runLog) end(ctx context.Context, err error, sum Summary) {
	attrs := []any{"run", l.dir, "played", sum.Games, "seconds", sum.Seconds, "ended", sum.WholeRun.Games, "planned", sum.WholeRun.Planned}
	switch {
	case err == nil:
		slog.Info("run ended", append(attrs, "reason", "all games are played")...)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		slog.Info("run ended", append(attrs, "reason", "interrupted")...)
	default:
		slog.Warn("run ended", append(attrs, "reason", "failed", "error", err.Error())...)
	}
}
