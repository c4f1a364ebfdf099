package bench

import (
	"log/slog"

	"selfplay/scheduler"
)

// batchSize is how many games go into one transaction at most, and how many may
// wait for it. A commit waits for the disk, so games that end while one is
// under way share the next.
const batchSize = 256

// A keeper stores ended games on a goroutine of its own, so that whoever plays
// waits for the disk only when a whole batch is waiting already.
type keeper struct {
	records chan scheduler.Record
	failed  chan struct{} // closed when storing has failed
	done    chan struct{} // closed when all is stored, or storing has failed
	err     error         // why; set before failed is closed
	counts  Counts        // of the stored games; read it after close
}

func newKeeper(store func(...scheduler.Record) error) *keeper {
	k := &keeper{
		records: make(chan scheduler.Record, batchSize),
		failed:  make(chan struct{}),
		done:    make(chan struct{}),
	}
	go k.run(store)
	return k
}

// keep hands over an ended game. Its error is of an earlier one: storing failed
// and the run has to stop.
func (k *keeper) keep(r scheduler.Record) error {
	select {
	case <-k.failed:
		return k.err
	default:
	}
	select {
	case k.records <- r:
		return nil
	case <-k.failed:
		return k.err
	}
}

// close waits until all games are stored. No keep may follow.
func (k *keeper) close() error {
	close(k.records)
	<-k.done
	return k.err
}

func (k *keeper) run(store func(...scheduler.Record) error) {
	defer close(k.done)
	for first := range k.records {
		batch := k.gather(first)
		if k.err = store(batch...); k.err != nil {
			close(k.failed)
			return
		}
		for _, r := range batch {
			k.counts.add(outcomeOf(r))
		}
		slog.Debug("games stored", "games", len(batch), "all", k.counts.Games)
	}
}

// gather takes what is waiting already, up to a batch.
func (k *keeper) gather(first scheduler.Record) []scheduler.Record {
	batch := []scheduler.Record{first}
	for len(batch) < batchSize {
		select {
		case r, ok := <-k.records:
			if !ok {
				return batch
			}
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}
