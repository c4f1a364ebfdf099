package scheduler

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"selfplay/inference"
)

// A Replica is one of several engines with the same model.
type Replica struct {
	Name   string
	Engine inference.Engine // none that needs a thread of its own: see RunReplicas
	Codec  Codec            // this replica's alone
}

// RunReplicas plays the jobs of cfg on several engines, each with a core and a
// goroutine of its own. Who plays a game changes nothing of it. Of cfg, New, System and
// the policies are used by several goroutines, and Total must be known, or be more than
// there are; Limits and Codec are of no use.
//
// A replica whose engine fails is lost, and lost is told: what it had begun and
// not ended is played from its start on the others. Only when none is left is
// that an error, which holds those of all. All else is as with Run: sink and
// progress are called by one goroutine at a time.
func RunReplicas(ctx context.Context, cfg Config, replicas []Replica,
	sink func(Record) error, progress func(Progress), lost func(Replica, error)) error {
	if cfg.Jobs == nil || len(replicas) == 0 {
		return errors.New("scheduler: replicas need Jobs, and one engine at least")
	}
	next, stop := iter.Pull(cfg.Jobs)
	defer stop()
	t := &team{
		cfg: cfg, replicas: replicas, dealer: newDealer(cfg, next, replicas), members: make([]member, len(replicas)),
		sink: sink, progress: progress, lost: lost, start: time.Now(),
	}
	g, within := errgroup.WithContext(ctx)
	for i := range replicas {
		g.Go(func() error { return t.play(within, i) })
	}
	err := g.Wait()
	// A game that was lost matters more than why the run stopped.
	if t.broken != nil && !errors.Is(err, t.broken) {
		return t.broken
	}
	return err
}

// A team is a run on several replicas.
type team struct {
	cfg      Config
	replicas []Replica
	dealer   *dealer
	start    time.Time
	lost     func(Replica, error)

	mu       sync.Mutex // for what follows
	progress func(Progress)
	members  []member
	errs     error // of the replicas that were lost
	gone     int   // how many those are
	elapsed  time.Duration

	keeping sync.Mutex // for what follows
	sink    func(Record) error
	broken  error // what sink failed with
}

// A member is what one replica did.
type member struct {
	kept int // games that sink took; its writer's, then the replica's goroutine's

	before, now  Stats // of its cores so far, and of the one that plays
	engine, host time.Duration
	earlier      [2]time.Duration // engine and host of its cores so far
}

// play has replica i play as long as there are games. A core that has none is
// done; if games come back from a replica that is lost, the next one plays them.
func (t *team) play(ctx context.Context, i int) error {
	for t.dealer.wait(ctx) {
		core, err := t.core(i)
		if err != nil {
			return err
		}
		err = t.run(ctx, i, core)
		if _, ok := errors.AsType[EngineError](err); ok {
			return t.lose(i, core.Stats(), err)
		}
		if err != nil {
			return err
		}
		t.done(i, core.Stats())
	}
	return ctx.Err()
}

// core makes a core that is dealt its jobs.
func (t *team) core(i int) (*Core, error) {
	var job Job
	cfg := t.cfg
	cfg.Limits, cfg.Codec, cfg.Total = t.replicas[i].Engine.Limits(), t.replicas[i].Codec, 0
	cfg.Ended = nil // the dealer tells it
	cfg.Ready = func() (ok bool) {
		job, ok = t.dealer.take(i)
		return ok
	}
	cfg.Jobs = func(yield func(Job) bool) {
		for yield(job) {
		}
	}
	core, err := NewCore(cfg)
	if err != nil {
		return nil, fmt.Errorf("replica %s: %w", t.replicas[i].Name, err)
	}
	core.now = time.Since(t.start)
	return core, nil
}

func (t *team) run(ctx context.Context, i int, core *Core) error {
	d := driver{core: core, engine: t.replicas[i].Engine, overlap: pays, start: t.start}
	begun := d.clock()
	d.progress = func(p Progress) { t.report(i, begun, p) }
	return d.run(ctx, func(r Record) error { return t.keep(i, r) })
}

// keep gives a game to the sink.
func (t *team) keep(i int, r Record) error {
	t.keeping.Lock()
	defer t.keeping.Unlock()
	if t.broken != nil {
		return t.broken
	}
	if t.broken = t.sink(r); t.broken != nil {
		return t.broken
	}
	t.members[i].kept++
	t.dealer.ended(i, r)
	return nil
}

// report tells how far all are after a step of replica i, by a core that began
// at that time.
func (t *team) report(i int, begun time.Duration, p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := &t.members[i]
	m.now = p.Stats
	m.engine = m.earlier[0] + p.Engine
	m.host = m.earlier[1] + p.Elapsed - begun - p.Engine - p.Waited
	t.tell(i, p.Last)
}

// tell reports the last step of replica i.
func (t *team) tell(i int, last Step) {
	t.elapsed = max(t.elapsed, last.Handed)
	n := time.Duration(len(t.members))
	all := Progress{Last: last, Elapsed: t.elapsed, Replica: i, Replicas: len(t.members), Lost: t.gone}
	var host time.Duration
	for k := range t.members {
		m := &t.members[k]
		all.Stats.add(m.before)
		all.Stats.add(m.now)
		all.Engine += m.engine / n
		host += m.host / n
	}
	all.Stats.Total = t.cfg.Total
	all.Waited = max(0, all.Elapsed-all.Engine-host)
	if t.progress != nil {
		t.progress(all)
	}
}

// done takes note of what a core of replica i did.
func (t *team) done(i int, s Stats) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := &t.members[i]
	m.before.add(s)
	m.now = Stats{}
	m.earlier = [2]time.Duration{m.engine, m.host}
}

// lose gives up replica i and has others play its games: an error if there are
// none. What it ended counts, what it begun is as if it had not.
func (t *team) lose(i int, s Stats, err error) error {
	t.done(i, s)
	err = fmt.Errorf("replica %s: %w", t.replicas[i].Name, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	m := &t.members[i]
	m.before.Started, m.before.Ended = m.kept, m.kept
	t.gone++
	if t.errs == nil {
		t.errs = err
	} else {
		t.errs = fmt.Errorf("%w; %w", t.errs, err)
	}
	now := time.Since(t.start)
	t.tell(i, Step{Asked: now, Begun: now, Computed: now, Taken: now, Handed: now})
	living := t.dealer.lose(i)
	if t.lost != nil {
		t.lost(t.replicas[i], err)
	}
	if living == 0 {
		return fmt.Errorf("no replica is left: %w", t.errs)
	}
	return nil
}
