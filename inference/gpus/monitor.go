package gpus

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// Interval is how often a Monitor looks.
const Interval = time.Second

// patience is how long Stop waits for a call of NVML that hangs.
const patience = 3 * time.Second

// A Clock is the time that a Monitor goes by. Tests have one of their own.
type Clock struct {
	Now   func() time.Time
	Tick  func(time.Duration) (ticks <-chan time.Time, stop func())
	After func(time.Duration) <-chan time.Time
}

func realTick(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}

// A Monitor samples GPUs once a second, from a goroutine of its own: NVML may
// hang for as long as it likes, and nobody waits for it.
type Monitor struct {
	lib     *Library
	devices []Device
	fault   func(Device, error)
	clock   Clock

	keep  func([]Sample)
	start time.Time
	gpus  []watched // the sampling goroutine's
	stop  chan struct{}
	done  chan struct{}

	mu     sync.Mutex
	latest []Sample
}

// watched is what the sampling goroutine knows of a GPU.
type watched struct {
	meter   meter
	events  nvml.EventSet // nil: not supported
	ecc     *uint64       // errors that were there before
	lost    bool          // it is not asked any more
	faulted bool          // and that is told
}

// NewMonitor watches devices of this library. fault, if not nil, is called once
// for each GPU that is lost or has an error after which results cannot be
// trusted: from the sampling goroutine, so that it must neither wait nor call
// Stop. The zero Clock is the real time.
func (l *Library) NewMonitor(devices []Device, fault func(Device, error), clock Clock) *Monitor {
	if clock.Now == nil {
		clock = Clock{Now: time.Now, Tick: realTick, After: time.After}
	}
	if fault == nil {
		fault = func(Device, error) {}
	}
	return &Monitor{lib: l, devices: devices, fault: fault, clock: clock, stop: make(chan struct{}), done: make(chan struct{})}
}

// Devices are those that are watched. Sample.GPU counts into them.
func (m *Monitor) Devices() []Device { return m.devices }

// Start begins to sample, once at once, then every Interval, and once more when
// stopped. keep, if not nil, gets the samples of each time, at most one of each
// GPU, from the sampling goroutine: it must not wait.
func (m *Monitor) Start(keep func([]Sample)) {
	if m.keep = keep; keep == nil {
		m.keep = func([]Sample) {}
	}
	m.start = m.clock.Now()
	go m.run()
}

// Stop ends sampling. Its error says that a call of NVML hangs: its goroutine is
// left behind, and may call keep or fault once more if the call comes back.
func (m *Monitor) Stop() error {
	close(m.stop)
	select {
	case <-m.done:
		return nil
	case <-m.clock.After(patience):
		m.lib.hung.Store(true)
		return errors.New("NVML does not answer any more: the last samples of the GPUs are missing; see nvidia-smi and the kernel's log")
	}
}

// stale is when a sample says nothing any more of what is.
const stale = 10 * Interval

// Latest are the newest samples, at most one of each GPU, in the order of the
// devices. A GPU that is lost has none, and none has one while NVML hangs.
func (m *Monitor) Latest() []Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now().Sub(m.start)
	return slices.DeleteFunc(slices.Clone(m.latest), func(s Sample) bool { return now-s.At > stale })
}

func (m *Monitor) run() {
	defer close(m.done)
	m.gpus = make([]watched, len(m.devices))
	for i := range m.gpus {
		m.gpus[i].events = m.lib.listen(m.devices[i].handle)
	}
	defer func() {
		for _, g := range m.gpus {
			if g.events != nil {
				g.events.Free()
			}
		}
	}()
	ticks, stop := m.clock.Tick(Interval)
	defer stop()
	for {
		m.sample()
		select {
		case <-ticks:
		case <-m.stop:
			m.sample()
			return
		}
	}
}

// sample asks every GPU once.
func (m *Monitor) sample() {
	var round []Sample
	for i := range m.gpus {
		g := &m.gpus[i]
		if g.lost {
			continue
		}
		s, err := ask(m.devices[i].handle)
		s.GPU, s.At = i, m.clock.Now().Sub(m.start)
		if err == nil {
			g.meter.add(&s)
			round = append(round, s)
			err = g.errorOf(s)
		} else {
			g.lost = true
		}
		if err != nil && !g.faulted {
			g.faulted = true
			m.fault(m.devices[i], fmt.Errorf("%v (%s): %w", m.devices[i], m.devices[i].UUID, err))
		}
	}
	m.mu.Lock()
	m.latest = round
	m.mu.Unlock()
	if len(round) > 0 {
		m.keep(round)
	}
}

// errorOf is an error of the hardware that is new.
func (g *watched) errorOf(s Sample) error {
	if xid, ok := g.xid(); ok {
		return fmt.Errorf("the driver reports a critical error (Xid %d): see the kernel's log", xid)
	}
	if s.ECC == nil {
		return nil
	}
	if g.ecc == nil || *s.ECC < *g.ecc { // the first reading, or the driver was loaded again
		g.ecc = s.ECC
	}
	if n := *s.ECC - *g.ecc; n > 0 {
		return fmt.Errorf("%d new uncorrected memory errors (ECC): what it computed since cannot be trusted", n)
	}
	return nil
}

// harmless are the Xid errors of one program alone, which may be another one, and
// notes about memory that was repaired: who made such an error hears of it from
// CUDA.
var harmless = []uint64{13, 31, 43, 45, 63, 68, 109}

// maxEvents is how many events of a GPU are looked at in one second.
const maxEvents = 64

// xid takes the events that wait, without waiting for any, and gives the first
// that is not harmless.
func (g *watched) xid() (uint64, bool) {
	for range maxEvents {
		if g.events == nil {
			break
		}
		event, code := g.events.Wait(0)
		if code != nvml.SUCCESS {
			break // none waits, or none will ever come: the GPU's figures tell
		}
		if event.EventType == nvml.EventTypeXidCriticalError && !slices.Contains(harmless, event.EventData) {
			return event.EventData, true
		}
	}
	return 0, false
}

// listen has the driver collect a GPU's critical errors; nil if it does not.
func (l *Library) listen(h nvml.Device) nvml.EventSet {
	set, code := l.nvml.EventSetCreate()
	if code != nvml.SUCCESS {
		return nil
	}
	if h.RegisterEvents(nvml.EventTypeXidCriticalError, set) != nvml.SUCCESS {
		set.Free()
		return nil
	}
	return set
}
