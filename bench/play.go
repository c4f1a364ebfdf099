package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"selfplay/bench/screen"
	"selfplay/inference"
	"selfplay/scheduler"
)

// Options say what Play plays, where it is kept and how it is shown.
type Options struct {
	Dir        string // the run folder; of a shard, the one that all shards have theirs in
	Experiment Experiment
	Session    Session
	Player     Player
	Progress   io.Writer             // where progress lines go; nil: nowhere
	Viewer     Viewer                // looks on; nil: nobody
	Hold       func(context.Context) // see scheduler.Config; nil: never

	// Doing shows what takes long without games being played, until done is called;
	// nil: nothing.
	Doing func(what string) (done func())

	Watch Watch          // looks at the GPUs while games are played; nil: none
	Trace io.WriteCloser // where the timeline goes, see timeline; Play closes it; nil: nowhere
}

// A Player plays the jobs of a deal, and gives each ended game to sink,
// from one goroutine. It calls progress, from one goroutine too, as often as it
// likes. When ctx ends it begins nothing new and returns ctx.Err().
type Player func(ctx context.Context, d Deal,
	sink func(scheduler.Record) error, progress func(scheduler.Progress)) error

// OnEngine plays on one engine in this process, which may be nil if policies
// play both seats. Of cfg, the jobs are Play's to fill in.
func OnEngine(cfg scheduler.Config, engine inference.Engine) Player {
	return func(ctx context.Context, d Deal,
		sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		if engine != nil {
			// Engines call C, after which Go may go on with another thread on
			// another core: decoding a single row took 6 % longer. The core's
			// iterator must be made and used with the thread locked, or neither.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
		}
		d.setOn(&cfg)
		core, err := scheduler.NewCore(cfg)
		if err != nil {
			return err
		}
		return scheduler.Run(ctx, core, engine, sink, progress)
	}
}

// OnReplicas plays on several engines, each in a process of its own; see
// scheduler.RunReplicas. lost is told of each that fails.
func OnReplicas(cfg scheduler.Config, replicas []scheduler.Replica, lost func(scheduler.Replica, error)) Player {
	return func(ctx context.Context, d Deal,
		sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		d.setOn(&cfg)
		return scheduler.RunReplicas(ctx, cfg, replicas, sink, progress, lost)
	}
}

// A Summary is what one invocation of Play did. Tokens count all its work, that
// on games it did not end included. WholeRun has the totals with what
// earlier invocations left in the folder.
type Summary struct {
	Games             int     `json:"games"`
	Seconds           float64 `json:"seconds"`
	GamesPerS         float64 `json:"games_per_s"`
	CompletionTokens  int     `json:"completion_tokens"`
	CompletionTokPerS float64 `json:"completion_tok_per_s"`
	ThinkingTokens    int     `json:"thinking_tokens"` // of those, in turns that ended
	PromptTokens      int     `json:"prompt_tokens"`
	PromptTokPerS     float64 `json:"prompt_tok_per_s"`
	PrefillTokens     int     `json:"prefill_tokens"`  // prompt tokens really computed
	CopiedTokens      int     `json:"copied_tokens"`   // prompt tokens that another slot held
	KeptTokens        int     `json:"kept_tokens"`     // prompt tokens that the slot itself still held
	MovedCells        int     `json:"moved_cells"`     // copied because a slot outgrew its block
	Preempted         int     `json:"preempted"`       // times that a turn lost its slot to an older game
	ReplayedTokens    int     `json:"replayed_tokens"` // sampled tokens computed again after that
	Turns             int     `json:"turns"`
	InvalidLosses     int     `json:"invalid_losses"`
	Wins0             int     `json:"wins0"`
	Wins1             int     `json:"wins1"`
	Draws             int     `json:"draws"`
	EngineSeconds     float64 `json:"engine_seconds"`
	HostShare         float64 `json:"host_share"`    // of the time from the first step to the last, neither engine nor waiting for the store
	Replicas          int     `json:"replicas"`      // that played it; of times, the mean over them is told
	ReplicasLost      int     `json:"replicas_lost"` // of those

	GPU *GPUUse `json:"gpu,omitempty"` // of this invocation; nil: none was watched

	Dir      string  `json:"run"` // the folder
	WholeRun Counts  `json:"whole_run"`
	Report   *Report `json:"-"` // of the whole run
}

// ErrHurry is the cause of a context that is to end Play soon: no report is made
// then, which reads all games of the run.
var ErrHurry = errors.New("told to end soon")

// Play plays the games of the experiment that have not ended yet and keeps
// them in the run folder. Whatever stops it, all ended games are kept and the
// same call goes on from there. The summary holds what was done, also beside an
// error of the player, if Report is not nil.
func Play(ctx context.Context, o Options) (Summary, error) {
	var t *timeline
	if o.Trace != nil {
		t = newTimeline(o.Trace)
	}
	sum, err := playRest(ctx, o, t)
	if lost := t.close(); lost != nil {
		lost = fmt.Errorf("the timeline could not be written: %w", lost)
		if err != nil {
			lost = fmt.Errorf("%w; %w", err, lost)
		}
		err = lost
	}
	return sum, err
}

func playRest(ctx context.Context, o Options, t *timeline) (Summary, error) {
	if o.Doing == nil {
		o.Doing = func(string) func() { return func() {} }
	}
	dir, err := claimShard(o.Dir, o.Experiment)
	if err != nil {
		return Summary{}, err
	}
	store, err := Create(dir, o.Experiment, o.Session)
	if err != nil {
		return Summary{}, err
	}
	defer store.Close()
	done := o.Doing("reading what has been played")
	store.Until(ctx)
	deal, before, err := store.remaining()
	store.Until(context.Background()) // to the end of what was begun
	done()
	if err != nil {
		return Summary{}, err
	}
	show := &progressLine{w: o.Progress, before: before, planned: before + deal.Total}
	show.log = runLog{dir: dir, before: before}
	show.log.begin(o.Experiment, o.Session, show.planned)
	deal.Hold = o.Hold
	if o.Viewer != nil {
		if o.Player, err = viewed(o.Viewer, o.Player, store, show.planned); err != nil {
			return Summary{}, err
		}
	}
	if note := store.otherKernels(); note != "" && before > 0 && o.Progress != nil {
		fmt.Fprintln(o.Progress, note)
	}
	sum, playErr := playWatched(ctx, o, store, deal, show, t)
	sum.Dir = dir
	untold := func(err error) (Summary, error) {
		sum.WholeRun = Counts{Games: show.before + sum.Games, Planned: show.planned}
		show.log.end(ctx, err, sum)
		return sum, explain(ctx, err, sum.WholeRun, dir)
	}
	if playErr != nil && errors.Is(context.Cause(ctx), ErrHurry) {
		return untold(playErr)
	}
	if ctx.Err() == nil { // who stops games wants to see their tables, and not who stops these
		store.Until(ctx)
	}
	done = o.Doing("computing the tables")
	sum.Report, err = store.Report()
	done()
	if err != nil && playErr == nil && ctx.Err() != nil {
		return untold(ctx.Err())
	}
	if err != nil {
		return sum, errors.Join(playErr, err)
	}
	sum.WholeRun = sum.Report.Counts
	show.log.end(ctx, playErr, sum)
	return sum, explain(ctx, playErr, sum.WholeRun, dir)
}

// remaining are the games to play, and the number of those that have ended.
func (s *Store) remaining() (deal Deal, ended int, err error) {
	if deal, err = s.deal(); err == nil {
		ended, err = s.Games()
	}
	return deal, ended, err
}

// playWatched plays what remains, if anything, with the GPUs watched.
func playWatched(ctx context.Context, o Options, store *Store, deal Deal, show *progressLine, t *timeline) (Summary, error) {
	if o.Watch == nil || show.before == show.planned {
		return play(ctx, o.Player, deal, show, t, store.Append)
	}
	watched, err := startWatch(o.Watch, store)
	if err != nil {
		return Summary{}, err
	}
	show.gpus = o.Watch.Latest
	sum, err := play(ctx, o.Player, deal, show, t, store.Append)
	if lost := watched.close(); lost != nil {
		if err != nil {
			lost = fmt.Errorf("%w; %w", err, lost)
		}
		err = lost
	}
	use, readErr := store.gpuUse(sum.Games, sum.CompletionTokens)
	sum.GPU = use
	if err == nil {
		err = readErr
	}
	return sum, err
}

// play runs the player over the jobs that remain, if any.
func play(ctx context.Context, player Player, deal Deal, show *progressLine,
	t *timeline, store func(...scheduler.Record) error) (Summary, error) {
	if deal.Total == 0 {
		return Summary{}, nil
	}
	var last scheduler.Progress
	progress := func(p scheduler.Progress) {
		last = p
		if deal.planned != nil {
			show.planned = deal.planned()
		}
		show.update(p)
		show.log.step(p, show.planned)
		t.step(p)
	}
	k := newKeeper(store)
	start := time.Now()
	err := player(ctx, deal, k.keep, progress)
	if lost := k.close(); lost != nil {
		err = lost // it says why the player was stopped
	}
	show.show(last)
	total := deal.Total
	if deal.planned != nil {
		total = deal.planned() - show.before
	}
	if err == nil && k.counts.Games != total {
		err = fmt.Errorf("the player ended %d games of %d", k.counts.Games, total)
	}
	return summarize(k.counts, last, time.Since(start)), err
}

func summarize(c Counts, p scheduler.Progress, took time.Duration) Summary {
	s := p.Stats
	perSecond := func(n int) float64 { return float64(n) / max(took.Seconds(), 1e-9) }
	return Summary{
		Games: c.Games, Seconds: took.Seconds(), GamesPerS: perSecond(c.Games),
		CompletionTokens: s.CompletionTokens, CompletionTokPerS: perSecond(s.CompletionTokens),
		ThinkingTokens: s.ThinkingTokens,
		PromptTokens:   s.PromptTokens, PromptTokPerS: perSecond(s.PromptTokens),
		PrefillTokens: s.PrefillTokens, CopiedTokens: s.CopiedTokens, KeptTokens: s.KeptTokens,
		MovedCells: s.Moved, Preempted: s.Preempted, ReplayedTokens: s.Replayed, Turns: s.Turns,
		EngineSeconds: p.Engine.Seconds(), HostShare: float64(p.Elapsed-p.Engine-p.Waited) / max(1, float64(p.Elapsed)),
		Replicas: p.Replicas, ReplicasLost: p.Lost,
		InvalidLosses: c.InvalidLosses, Wins0: c.Wins0, Wins1: c.Wins1, Draws: c.Draws,
	}
}

// explain says what was kept when a run did not end by itself.
func explain(ctx context.Context, err error, whole Counts, dir string) error {
	if err == nil {
		return nil
	}
	why := "failed"
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		why = "stopped"
	}
	rest := "plays the rest"
	if whole.Games == whole.Planned {
		rest = "prints the tables"
	}
	return fmt.Errorf("%s (%w): %s of %s games have ended and are kept in %s; the same command %s",
		why, err, screen.Thousands(whole.Games), screen.Thousands(whole.Planned), dir, rest)
}
