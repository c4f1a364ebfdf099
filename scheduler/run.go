package scheduler

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"selfplay/inference"
)

// Progress is how far a run is. Where it is played on several replicas, counts are
// those of all, and times the means over them.
type Progress struct {
	Stats
	Last    Step          // the one just taken
	Engine  time.Duration // spent in Engine.Copy and Engine.Forward, or waiting for Core.Settle beside them
	Waited  time.Duration // for the sink, for Config.Hold and, of replicas, for games; the rest of Elapsed is the host's work
	Elapsed time.Duration // since the start of the run

	Replicas int // that the run began with
	Lost     int // of those
	Replica  int // that Last is a step of, from 0
}

// A Step is one batch on its way, with the times at which it got further,
// counted from the start of the run.
type Step struct {
	Rows        int
	Copies      int
	CopiedCells int

	Asked    time.Duration // Core.Next was called
	Begun    time.Duration // the engine was given the batch
	Computed time.Duration // the engine was done, and whatever was settled beside it
	Taken    time.Duration // Core.Done was done, and Core.Settle unless it comes beside the next step
	Handed   time.Duration // all games that ended were on their way to the sink
}

// An EngineError is an error of the engine: the games that were live on it are lost.
type EngineError struct{ error }

func (e EngineError) Unwrap() error { return e.error }

// waitingRecords is how many ended games may wait for the sink before the
// engine waits with them.
const waitingRecords = 1024

// Run plays all games of the core on the engine, closes the core, and gives
// every ended game to sink, one at a time and beside the engine's work.
// progress, if not nil, is called after every step on the engine's goroutine,
// which is Run's own. Where it pays, turns that ended are played beside the
// engine's work too, on another goroutine; if ctx is cancelled before such a step,
// they are played all the same, and progress is called for that.
//
// Once ctx is cancelled, the step at hand is the last; every game that ended
// goes to sink before Run returns ctx.Err(). An error of the sink, the engine or
// the core stops the run too. The engine may be nil if only policies play.
func Run(ctx context.Context, core *Core, engine inference.Engine, sink func(Record) error, progress func(Progress)) error {
	d := driver{core: core, engine: engine, progress: progress, overlap: pays, start: time.Now()}
	return d.run(ctx, sink)
}

// A driver takes one core through its steps, on the goroutine of Run.
type driver struct {
	core     *Core
	engine   inference.Engine
	progress func(Progress)
	overlap  func(settle, step time.Duration, ended, rows int) bool // see pays
	start    time.Time                                              // of the run

	waited  time.Duration
	records chan Record
	broken  chan struct{} // closed when the sink has failed

	// Sums over the run so far.
	settling, busy time.Duration // of Settle and of the engine
	settled, rows  int           // turns and rows
}

// pays says whether turns that ended should be played beside the next step, given
// the times that playing them and that the engine took so far, and for how many
// turns and rows. It saves the time of playing them, and costs that the turns are
// missing in the next step, as if that took longer by their share of its rows.
func pays(settle, step time.Duration, ended, rows int) bool {
	return float64(settle)*float64(rows) > float64(step)*float64(ended)
}

func (d *driver) run(ctx context.Context, sink func(Record) error) error {
	defer d.core.Close()
	d.records, d.broken = make(chan Record, waitingRecords), make(chan struct{})
	var writer errgroup.Group
	writer.Go(func() error {
		for r := range d.records {
			if err := sink(r); err != nil {
				close(d.broken)
				return fmt.Errorf("game %s could not be kept: %w", r.Job.ID, err)
			}
		}
		return nil
	})
	err := d.drive(ctx)
	close(d.records)
	// A game that was lost matters more than why the run stopped.
	if lost := writer.Wait(); lost != nil {
		return lost
	}
	return err
}

func (d *driver) drive(ctx context.Context) error {
	for d.hold(ctx); ctx.Err() == nil; d.hold(ctx) {
		s := Step{Asked: d.clock()}
		b := d.core.Next()
		if b == nil {
			d.hand(d.settle()) // if the run has failed: else nothing waits for it
			return d.core.Err()
		}
		s.Begun = d.clock()
		ended, err := d.compute(b)
		if err != nil {
			d.hand(ended)
			return err
		}
		b.At = d.clock()
		d.core.Done(b)
		if !d.core.Overlaps() || !d.overlap(d.settling, d.busy, d.settled, d.rows) {
			ended = append(ended, d.settle()...)
		}
		s.Taken = d.clock()
		if !d.hand(ended) {
			return nil
		}
		d.report(s, b)
	}
	if d.core.Unsettled() > 0 {
		d.settleLast()
	}
	return ctx.Err()
}

// hold waits for as long as Config.Hold does.
func (d *driver) hold(ctx context.Context) {
	if d.core.cfg.Hold == nil {
		return
	}
	from := d.clock()
	d.core.cfg.Hold(ctx)
	d.waited += d.clock() - from
}

// settleLast settles what would have been settled beside the next step, which is
// no more to come, and reports that like a step.
func (d *driver) settleLast() {
	at := d.clock()
	s := Step{Asked: at, Begun: at}
	ended := d.settle()
	s.Taken = d.clock()
	if d.hand(ended) {
		d.report(s, &inference.Batch{At: at})
	}
}

// compute has the engine do the batch, while turns that are not settled are. The
// games are those that this ended. The engine stays on this goroutine, which may
// be tied to its thread.
func (d *driver) compute(b *inference.Batch) ([]Record, error) {
	if d.core.Unsettled() == 0 {
		return nil, d.forward(b)
	}
	ended := make(chan []Record, 1)
	go func() { ended <- d.settle() }()
	err := d.forward(b)
	return <-ended, err
}

func (d *driver) settle() []Record {
	from, n := d.clock(), d.core.Unsettled()
	ended := d.core.Settle()
	d.settled += n
	d.settling += d.clock() - from
	return ended
}

// forward has the engine do the batch.
func (d *driver) forward(b *inference.Batch) error {
	if len(b.Rows) == 0 {
		return nil
	}
	for _, c := range b.Copies {
		if err := d.engine.Copy(c); err != nil {
			return EngineError{fmt.Errorf("engine, copy of %d cells: %w", c.Cells, err)}
		}
	}
	if err := d.engine.Forward(b); err != nil {
		return EngineError{fmt.Errorf("engine, %d rows of %d tokens: %w", len(b.Rows), b.Tokens(), err)}
	}
	return nil
}

// hand gives games to the sink; false if that has failed.
func (d *driver) hand(ended []Record) bool {
	for _, r := range ended {
		select {
		case d.records <- r:
		case <-d.broken:
			return false
		}
	}
	return true
}

func (d *driver) clock() time.Duration { return time.Since(d.start) }

// report completes the step and tells how far the run is.
func (d *driver) report(s Step, b *inference.Batch) {
	s.Rows, s.Copies, s.Computed, s.Handed = len(b.Rows), len(b.Copies), b.At, d.clock()
	for _, c := range b.Copies {
		s.CopiedCells += c.Cells
	}
	if s.Rows > 0 {
		d.busy += s.Computed - s.Begun
		d.rows += s.Rows
	}
	d.waited += s.Handed - s.Taken
	if d.progress != nil {
		d.progress(Progress{Stats: d.core.Stats(), Last: s, Engine: d.busy, Waited: d.waited, Elapsed: s.Handed, Replicas: 1})
	}
}
