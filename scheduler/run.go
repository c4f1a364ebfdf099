package scheduler

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"selfplay/inference"
)

// Progress is how far a run is.
type Progress struct {
	Stats
	Last    Step          // the one just taken
	Engine  time.Duration // spent in Engine.Copy and Engine.Forward
	Waited  time.Duration // for the sink; the rest of Elapsed is the host's work
	Elapsed time.Duration // since the start of the run
}

// A Step is one batch on its way, with the times at which it got further,
// counted from the start of the run.
type Step struct {
	Rows        int
	Copies      int
	CopiedCells int

	Asked    time.Duration // Core.Next was called
	Begun    time.Duration // the engine was given the batch
	Computed time.Duration // the engine was done
	Taken    time.Duration // Core.Done was done
	Handed   time.Duration // all games that ended were on their way to the sink
}

// waitingRecords is how many ended games may wait for the sink before the
// engine waits with them.
const waitingRecords = 1024

// Run plays all games of the core on the engine, closes the core, and gives
// every ended game to sink, one at a time and beside the engine's work.
// progress, if not nil, is called after every step on the engine's goroutine.
//
// Once ctx is cancelled, the step at hand is the last; every game that ended
// goes to sink before Run returns ctx.Err(). An error of the sink, the engine or
// the core stops the run too. The engine may be nil if only policies play.
func Run(ctx context.Context, core *Core, engine inference.Engine, sink func(Record) error, progress func(Progress)) error {
	defer core.Close()
	d := driver{
		core: core, engine: engine, progress: progress, start: time.Now(),
		records: make(chan Record, waitingRecords),
		broken:  make(chan struct{}),
	}
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

// A driver takes one core through its steps, on the goroutine of Run.
type driver struct {
	core     *Core
	engine   inference.Engine
	progress func(Progress)
	start    time.Time
	busy     time.Duration
	waited   time.Duration
	records  chan Record
	broken   chan struct{} // closed when the sink has failed
}

func (d *driver) drive(ctx context.Context) error {
	for ctx.Err() == nil {
		s := Step{Asked: d.clock()}
		b := d.core.Next()
		if b == nil {
			return d.core.Err()
		}
		s.Begun = d.clock()
		if err := d.compute(b); err != nil {
			return err
		}
		b.At = d.clock()
		d.core.Done(b)
		ended := d.core.Settle()
		s.Taken = d.clock()
		for _, r := range ended {
			select {
			case d.records <- r:
			case <-d.broken:
				return nil
			}
		}
		s.Handed = d.clock()
		d.report(s, b)
	}
	return ctx.Err()
}

func (d *driver) clock() time.Duration { return time.Since(d.start) }

// compute has the engine do the batch.
func (d *driver) compute(b *inference.Batch) error {
	if len(b.Rows) == 0 {
		return nil
	}
	for _, c := range b.Copies {
		if err := d.engine.Copy(c); err != nil {
			return fmt.Errorf("engine, copy of %d cells: %w", c.Cells, err)
		}
	}
	if err := d.engine.Forward(b); err != nil {
		return fmt.Errorf("engine, %d rows of %d tokens: %w", len(b.Rows), b.Tokens(), err)
	}
	return nil
}

// report completes the step and tells how far the run is.
func (d *driver) report(s Step, b *inference.Batch) {
	s.Rows, s.Copies, s.Computed = len(b.Rows), len(b.Copies), b.At
	for _, c := range b.Copies {
		s.CopiedCells += c.Cells
	}
	if s.Rows > 0 {
		d.busy += s.Computed - s.Begun
	}
	d.waited += s.Handed - s.Taken
	if d.progress != nil {
		d.progress(Progress{Stats: d.core.Stats(), Last: s, Engine: d.busy, Waited: d.waited, Elapsed: s.Handed})
	}
}
