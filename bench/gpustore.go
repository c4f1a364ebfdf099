package bench

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"

	"selfplay/inference/gpus"
)

const insertSample = `INSERT OR REPLACE INTO gpu_samples (session, at_ms, gpu, util, mem_util, mem_used, power_mw, energy_mj,
	sm_mhz, mem_mhz, temperature, throttle, ecc, processes) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

// addGPUs writes which GPUs the session uses.
func (s *Store) addGPUs(devices []gpus.Device) error {
	return s.write(func(tx *sql.Tx) error {
		for i, d := range devices {
			_, err := tx.Exec(`INSERT INTO gpus (session, gpu, idx, uuid, name) VALUES (?,?,?,?,?)`, s.session, i, d.Index, d.UUID, d.Name)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// addSamples stores samples, the oldest first, and the energy that the last ones
// tell of. It may be called beside Append.
func (s *Store) addSamples(samples []gpus.Sample) error {
	return s.write(func(tx *sql.Tx) error {
		insert, err := tx.Prepare(insertSample)
		if err != nil {
			return err
		}
		for _, m := range samples {
			var throttle *string
			if m.Throttle != nil {
				names := m.Throttle.String()
				throttle = &names
			}
			_, err := insert.Exec(s.session, m.At.Milliseconds(), m.GPU, m.Util, m.MemUtil, signed64(m.Used), m.Power, signed64(m.Counter),
				m.SMClock, m.MemClock, m.Temperature, throttle, signed64(m.ECC), m.Processes)
			if err == nil && m.Joules != nil {
				_, err = tx.Exec(`UPDATE gpus SET joules = ?, source = ? WHERE session = ? AND gpu = ?`, *m.Joules, string(m.From), s.session, m.GPU)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// signed64 is a figure as SQLite can hold it; one beyond that is none.
func signed64(n *uint64) *int64 {
	if n == nil || *n > 1<<63-1 {
		return nil
	}
	v := int64(*n)
	return &v
}

// write runs f in one transaction of its own.
func (s *Store) write(f func(*sql.Tx) error) error {
	path := filepath.Join(s.Dir, dbName)
	tx, err := s.db.Begin()
	if err != nil {
		return dbError(path, err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return dbError(path, err)
	}
	return dbError(path, tx.Commit())
}

// A Watch looks at the GPUs of a run while it plays: *gpus.Monitor, and fakes in
// tests.
type Watch interface {
	Devices() []gpus.Device
	Start(keep func([]gpus.Sample)) // keep gets samples until Stop, and does not wait
	Latest() []gpus.Sample
	Stop() error
}

// sampleBatch is how many rounds of samples are stored together, at one round a
// second.
const sampleBatch = 5

// A gpuKeeper stores the samples of a watch on a goroutine of its own, so that
// neither the engine nor the watch waits for the disk.
type gpuKeeper struct {
	watch Watch
	store func([]gpus.Sample) error
	batch int // samples
	wake  chan struct{}
	quit  chan struct{}
	done  chan struct{}
	err   error // the first of store; read it when done

	mu      sync.Mutex
	waiting []gpus.Sample
}

// startWatch begins to watch, for the session of the store.
func startWatch(w Watch, s *Store) (*gpuKeeper, error) {
	if err := s.addGPUs(w.Devices()); err != nil {
		return nil, err
	}
	k := &gpuKeeper{watch: w, store: s.addSamples, batch: sampleBatch * len(w.Devices()),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go k.run()
	w.Start(k.keep)
	return k, nil
}

func (k *gpuKeeper) keep(round []gpus.Sample) {
	k.mu.Lock()
	k.waiting = append(k.waiting, round...)
	enough := len(k.waiting) >= k.batch
	k.mu.Unlock()
	if enough {
		select {
		case k.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// close ends the watch and stores the last samples. Samples that are lost, or
// that did not come, are an error: games are not.
func (k *gpuKeeper) close() error {
	hung := k.watch.Stop()
	close(k.quit)
	<-k.done
	if k.err != nil {
		return fmt.Errorf("the GPUs' samples could not be kept: %w", k.err)
	}
	return hung
}

func (k *gpuKeeper) run() {
	defer close(k.done)
	for {
		select {
		case <-k.wake:
			k.flush()
		case <-k.quit:
			k.flush()
			return
		}
	}
}

// flush stores what waits. What cannot be stored is dropped: the energy, which
// adds up, comes with the next samples.
func (k *gpuKeeper) flush() {
	k.mu.Lock()
	samples := k.waiting
	k.waiting = nil
	k.mu.Unlock()
	if len(samples) == 0 {
		return
	}
	if err := k.store(samples); err != nil && k.err == nil {
		k.err = err
	}
}
