package gpus

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"

	"selfplay/inference/gpus/gpustest"
)

// watch is a Monitor on a clock that the test moves by hand.
type watch struct {
	*Monitor
	t      *testing.T
	now    time.Time
	ticks  chan time.Time
	gaveUp chan time.Time // closed: Stop has waited long enough
	rounds chan []Sample
	faults chan string
}

func newWatch(t *testing.T, s *server.Server) *watch {
	w := &watch{t: t, now: time.Unix(1e9, 0), ticks: make(chan time.Time), gaveUp: make(chan time.Time), rounds: make(chan []Sample, 10), faults: make(chan string, 10)}
	l := mustNew(t, s)
	w.Monitor = l.NewMonitor(mustList(t, l), func(d Device, err error) { w.faults <- err.Error() }, Clock{
		Now: func() time.Time { return w.now },
		Tick: func(d time.Duration) (<-chan time.Time, func()) {
			if d != time.Second {
				t.Errorf("an interval of %v", d)
			}
			return w.ticks, func() {}
		},
		After: func(time.Duration) <-chan time.Time { return w.gaveUp },
	})
	return w
}

func (w *watch) start() []Sample {
	w.Start(func(round []Sample) { w.rounds <- round })
	return <-w.rounds
}

// second lets a second pass and gives the samples of its end.
func (w *watch) second() []Sample {
	w.now = w.now.Add(time.Second)
	w.ticks <- w.now
	return <-w.rounds
}

func (w *watch) end() {
	w.t.Helper()
	if err := w.Stop(); err != nil {
		w.t.Error(err)
	}
}

// told are the faults so far, on one line each.
func (w *watch) told() []string {
	var all []string
	for len(w.faults) > 0 {
		all = append(all, <-w.faults)
	}
	return all
}

func TestMonitor(t *testing.T) {
	s := gpustest.Box(8)
	var energy atomic.Uint64
	energy.Store(5_000_000)
	gpustest.GPU(s, 7).GetTotalEnergyConsumptionFunc = func() (uint64, nvml.Return) { return energy.Load(), nvml.SUCCESS }
	w := newWatch(t, s)
	first := w.start()
	if len(first) != 8 || first[7].Joules != nil || first[7].At != 0 {
		t.Errorf("first: %+v", first)
	}
	energy.Store(5_600_000)
	got := w.second()[7]
	if got.GPU != 7 || got.At != time.Second || *got.Util != 97 || *got.MemUtil != 60 || *got.Used != gib || *got.Power != 600_000 ||
		*got.Counter != 5_600_000 || *got.SMClock != 1980 || *got.MemClock != 3201 || *got.Temperature != 55 ||
		got.Throttle.String() != "power cap" || *got.ECC != 0 || *got.Processes != 0 || *got.Joules != 600 || got.From != FromCounter {
		t.Errorf("%+v", got)
	}
	energy.Store(5_700_000)
	w.now = w.now.Add(100 * time.Millisecond)
	w.end()
	if last := <-w.rounds; *last[7].Joules != 700 || last[7].At != 1100*time.Millisecond {
		t.Errorf("the last sample: %+v", last[7])
	}
	w.now = w.now.Add(stale)
	if latest := w.Latest(); len(latest) != 8 || *latest[7].Joules != 700 {
		t.Errorf("%+v", latest)
	}
	w.now = w.now.Add(1)
	if latest := w.Latest(); len(latest) != 0 {
		t.Errorf("%+v is old", latest)
	}
	if told := w.told(); told != nil {
		t.Errorf("%q", told)
	}
}

// A GPU that tells nothing is watched on.
func TestMonitorOfNothing(t *testing.T) {
	s := gpustest.Box(1)
	d, no := gpustest.GPU(s, 0), nvml.ERROR_NOT_SUPPORTED
	d.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{Gpu: 1}, no }
	d.GetMemoryInfoFunc = func() (nvml.Memory, nvml.Return) { return nvml.Memory{}, nvml.SUCCESS }
	d.GetPowerUsageFunc = func() (uint32, nvml.Return) { return 0, nvml.SUCCESS }
	d.GetTotalEnergyConsumptionFunc = func() (uint64, nvml.Return) { return 0, nvml.SUCCESS }
	d.GetClockInfoFunc = func(nvml.ClockType) (uint32, nvml.Return) { return 5, no }
	d.GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 5, no }
	d.GetCurrentClocksThrottleReasonsFunc = func() (uint64, nvml.Return) { return 5, no }
	d.GetTotalEccErrorsFunc = func(nvml.MemoryErrorType, nvml.EccCounterType) (uint64, nvml.Return) { return 5, no }
	d.GetComputeRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) { return nil, no }
	w := newWatch(t, s)
	w.start()
	if got := w.second()[0]; got != (Sample{At: time.Second}) {
		t.Errorf("%+v", got)
	}
	w.end()
	if told := w.told(); told != nil {
		t.Errorf("%q", told)
	}
}

// Each fault is told once, of its GPU, and the others are watched on.
func TestFaults(t *testing.T) {
	var bad atomic.Bool
	once := func(code nvml.Return) nvml.Return {
		if bad.Load() {
			return code
		}
		return nvml.SUCCESS
	}
	xids := func(queue ...uint64) func(s *server.Server) {
		return func(s *server.Server) {
			s.EventSetCreateFunc = func() (nvml.EventSet, nvml.Return) {
				return &mock.EventSet{
					WaitFunc: func(ms uint32) (nvml.EventData, nvml.Return) {
						if !bad.Load() || len(queue) == 0 || ms != 0 {
							return nvml.EventData{}, nvml.ERROR_TIMEOUT
						}
						xid := queue[0]
						queue = queue[1:]
						return nvml.EventData{EventType: nvml.EventTypeXidCriticalError, EventData: xid}, nvml.SUCCESS
					},
					FreeFunc: func() nvml.Return { return nvml.SUCCESS },
				}, nvml.SUCCESS
			}
			for i := range s.Devices {
				gpustest.GPU(s, i).RegisterEventsFunc = func(types uint64, set nvml.EventSet) nvml.Return {
					if i == 1 && types == nvml.EventTypeXidCriticalError {
						return nvml.SUCCESS
					}
					return nvml.ERROR_NOT_SUPPORTED
				}
			}
		}
	}
	ecc := func(before, after uint64) func(*server.Server) {
		return func(s *server.Server) {
			gpustest.GPU(s, 1).GetTotalEccErrorsFunc = func(nvml.MemoryErrorType, nvml.EccCounterType) (uint64, nvml.Return) {
				if bad.Load() {
					return after, nvml.SUCCESS
				}
				return before, nvml.SUCCESS
			}
		}
	}
	lost := func(code nvml.Return) func(*server.Server) {
		return func(s *server.Server) {
			gpustest.GPU(s, 1).GetPowerUsageFunc = func() (uint32, nvml.Return) { return 100, once(code) }
		}
	}
	for _, c := range []struct {
		name string
		set  func(*server.Server)
		want string // in the fault; "": none
		left int    // GPUs that are watched on
	}{
		{"lost", lost(nvml.ERROR_GPU_IS_LOST), "LOST", 1},
		{"reset required", lost(nvml.ERROR_RESET_REQUIRED), "RESET_REQUIRED", 1},
		{"driver gone", lost(nvml.ERROR_DRIVER_NOT_LOADED), "DRIVER_NOT_LOADED", 1},
		{"a passing error", lost(nvml.ERROR_TIMEOUT), "", 2},
		{"new ECC error", ecc(3, 4), "1 new uncorrected", 2},
		{"old ECC errors", ecc(3, 3), "", 2},
		{"ECC count set back", ecc(3, 1), "", 2},
		{"Xid", xids(79), "Xid 79", 2},
		{"Xid behind others", xids(13, 31, 94), "Xid 94", 2},
		{"a program's Xid", xids(13, 31, 43, 45), "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad.Store(false)
			s := gpustest.Box(2)
			c.set(s)
			w := newWatch(t, s)
			w.start()
			if n := len(w.second()); n != 2 || len(w.faults) > 0 {
				t.Errorf("before: %d samples, %q", n, w.told())
			}
			bad.Store(true)
			w.second()
			if n := len(w.second()); n != c.left {
				t.Errorf("%d samples, want %d", n, c.left)
			}
			w.end()
			told := w.told()
			switch {
			case c.want == "":
				if told != nil {
					t.Errorf("%q", told)
				}
			case len(told) != 1 || !strings.HasPrefix(told[0], "GPU 1 (GPU-1111): ") || !strings.Contains(told[0], c.want):
				t.Errorf("%q, want one with %q", told, c.want)
			}
		})
	}
}

// NVML hangs, and Stop comes back. The library then stays open below the call.
func TestHangs(t *testing.T) {
	s := gpustest.Box(1)
	asked, goOn := make(chan bool), make(chan bool)
	gpustest.GPU(s, 0).GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) {
		close(asked)
		<-goOn
		return nvml.Utilization{}, nvml.ERROR_GPU_IS_LOST
	}
	w := newWatch(t, s)
	w.Start(nil)
	<-asked
	close(w.gaveUp)
	checkLine(t, w.Stop(), "NVML does not answer")
	w.lib.Close()
	if n := len(s.ShutdownCalls()); n != 0 {
		t.Error("NVML was shut down under a call")
	}
	close(goOn)
	<-w.done
}

// Stop does not forget what Start owns.
func TestMonitorFreesEvents(t *testing.T) {
	s := gpustest.Box(2)
	var freed atomic.Int32
	s.EventSetCreateFunc = func() (nvml.EventSet, nvml.Return) {
		return &mock.EventSet{
			WaitFunc: func(uint32) (nvml.EventData, nvml.Return) { return nvml.EventData{}, nvml.ERROR_TIMEOUT },
			FreeFunc: func() nvml.Return { freed.Add(1); return nvml.SUCCESS },
		}, nvml.SUCCESS
	}
	gpustest.GPU(s, 0).RegisterEventsFunc = func(uint64, nvml.EventSet) nvml.Return { return nvml.SUCCESS }
	gpustest.GPU(s, 1).RegisterEventsFunc = func(uint64, nvml.EventSet) nvml.Return { return nvml.ERROR_NOT_SUPPORTED }
	w := newWatch(t, s)
	w.start()
	w.end()
	w.lib.Close()
	if freed.Load() != 2 || len(s.ShutdownCalls()) != 1 {
		t.Errorf("%d event sets freed, %d times shut down", freed.Load(), len(s.ShutdownCalls()))
	}
}

func TestReasons(t *testing.T) {
	for _, c := range []struct {
		r     Reasons
		all   string
		slows []bool
	}{
		{0, "", nil},
		{nvml.ClocksThrottleReasonGpuIdle, "idle", []bool{false}},
		{nvml.ClocksThrottleReasonGpuIdle | nvml.ClocksThrottleReasonSwPowerCap | nvml.ClocksThrottleReasonHwThermalSlowdown,
			"idle, power cap, hardware thermal slowdown", []bool{false, true, true}},
		{1<<40 | 1<<20, "reason 0x100000, reason 0x10000000000", []bool{true, true}},
	} {
		var slows []bool
		for _, name := range c.r.Names() {
			slows = append(slows, Throttles(name))
		}
		if c.r.String() != c.all || !slices.Equal(slows, c.slows) {
			t.Errorf("%x: %q, %v", uint64(c.r), c.r, slows)
		}
	}
}
