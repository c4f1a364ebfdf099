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
	Engine  time.Duration // spent in Engine.Copy and Engine.Forward
	Elapsed time.Duration // since the start of the run
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
	records  chan Record
	broken   chan struct{} // closed when the sink has failed
}

func (d *driver) drive(ctx context.Context) error {
	for ctx.Err() == nil {
		b := d.core.Next()
		if b == nil {
			return d.core.Err()
		}
		if err := d.compute(b); err != nil {
			return err
		}
		for _, r := range d.core.Done(b) {
			select {
			case d.records <- r:
			case <-d.broken:
				return nil
			}
		}
		if d.progress != nil {
			d.progress(Progress{Stats: d.core.Stats(), Engine: d.busy, Elapsed: b.At})
		}
	}
	return ctx.Err()
}

// compute has the engine do the batch, and sets its clock.
func (d *driver) compute(b *inference.Batch) error {
	if len(b.Rows) > 0 {
		begin := time.Now()
		for _, c := range b.Copies {
			if err := d.engine.Copy(c.Dst, c.Src, c.Cells); err != nil {
				return fmt.Errorf("engine, copy of %d cells: %w", c.Cells, err)
			}
		}
		if err := d.engine.Forward(b); err != nil {
			return fmt.Errorf("engine, %d rows of %d tokens: %w", len(b.Rows), b.Tokens(), err)
		}
		d.busy += time.Since(begin)
	}
	b.At = time.Since(d.start)
	return nil
}
