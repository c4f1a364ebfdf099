package gpus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh200"
	mocks "github.com/NVIDIA/go-nvml/pkg/nvml/mock/gpus"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"
)

const gib = 1 << 30

// box is a machine of n idle H200s that tell all they are asked. Their UUIDs are
// GPU-0000, GPU-1111 and so on.
func box(n int) *server.Server {
	s := dgxh200.NewWithGPUs(mocks.Multiple(n, mocks.H200_SXM5_141GB)...)
	s.EventSetCreateFunc = func() (nvml.EventSet, nvml.Return) { return nil, nvml.ERROR_NOT_SUPPORTED }
	for i := range n {
		d := gpu(s, i)
		d.UUID = "GPU-" + strings.Repeat(string(rune('0'+i)), 4)
		d.MemoryInfo = nvml.Memory{Total: 141 * gib, Free: 140 * gib, Used: gib}
		pci := nvml.PciInfo{}
		for at, c := range d.PciBusID {
			pci.BusId[at] = int8(c)
		}
		d.GetPciInfoFunc = func() (nvml.PciInfo, nvml.Return) { return pci, nvml.SUCCESS }
		d.GetComputeModeFunc = func() (nvml.ComputeMode, nvml.Return) { return nvml.COMPUTEMODE_DEFAULT, nvml.SUCCESS }
		d.GetEccModeFunc = func() (nvml.EnableState, nvml.EnableState, nvml.Return) {
			return nvml.FEATURE_ENABLED, nvml.FEATURE_ENABLED, nvml.SUCCESS
		}
		d.GetTotalEccErrorsFunc = func(nvml.MemoryErrorType, nvml.EccCounterType) (uint64, nvml.Return) { return 0, nvml.SUCCESS }
		d.GetComputeRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) { return nil, nvml.SUCCESS }
		d.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{Gpu: 97, Memory: 60}, nvml.SUCCESS }
		d.GetPowerUsageFunc = func() (uint32, nvml.Return) { return 600_000, nvml.SUCCESS }
		d.GetTotalEnergyConsumptionFunc = func() (uint64, nvml.Return) { return 5_000_000, nvml.SUCCESS }
		d.GetClockInfoFunc = func(c nvml.ClockType) (uint32, nvml.Return) {
			return map[nvml.ClockType]uint32{nvml.CLOCK_SM: 1980, nvml.CLOCK_MEM: 3201}[c], nvml.SUCCESS
		}
		d.GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 55, nvml.SUCCESS }
		d.GetCurrentClocksThrottleReasonsFunc = func() (uint64, nvml.Return) { return nvml.ClocksThrottleReasonSwPowerCap, nvml.SUCCESS }
	}
	return s
}

func gpu(s *server.Server, i int) *server.Device { return s.Devices[i].(*server.Device) }

func mustNew(t *testing.T, api nvml.Interface) *Library {
	t.Helper()
	l, err := New(api)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustList(t *testing.T, l *Library) []Device {
	t.Helper()
	devices, err := l.Devices()
	if err != nil {
		t.Fatal(err)
	}
	return devices
}

// The true loader, where there is no library, and where the library is none.
func TestOpenWithoutLibrary(t *testing.T) {
	noise := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	if err := os.WriteFile(noise, []byte("no library\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "libnvidia-ml.so.1"), noise} {
		_, err := New(nvml.New(nvml.WithLibraryPath(path)))
		if e, ok := errors.AsType[*OpenError](err); !ok || e.Code != nvml.ERROR_LIBRARY_NOT_FOUND {
			t.Errorf("%s: %v", path, err)
		}
		checkLine(t, err, "libnvidia-ml.so.1 cannot be loaded", "install the NVIDIA driver")
	}
}

// Whatever this machine has, opening it ends in a library or an OpenError.
func TestOpenHere(t *testing.T) {
	l, err := Open()
	if err == nil {
		l.Close()
	} else if _, ok := errors.AsType[*OpenError](err); !ok {
		t.Errorf("%v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	for code, want := range map[nvml.Return]string{
		nvml.ERROR_LIBRARY_NOT_FOUND:       "install the NVIDIA driver",
		nvml.ERROR_DRIVER_NOT_LOADED:       "driver is not loaded",
		nvml.ERROR_LIB_RM_VERSION_MISMATCH: "different versions: reboot",
		nvml.ERROR_NO_PERMISSION:           "rights of /dev/nvidia*",
		nvml.ERROR_UNKNOWN:                 "ERROR_UNKNOWN",
	} {
		s := box(1)
		s.InitFunc = func() nvml.Return { return code }
		_, err := New(s)
		checkLine(t, err, want)
	}
	s := box(1)
	s.LookupSymbolFunc = func(name string) error {
		if name == "nvmlDeviceGetMigMode" {
			return errors.New("not found")
		}
		return nil
	}
	_, err := New(s)
	checkLine(t, err, "too old", "nvmlDeviceGetMigMode", "newer driver")
	if len(s.ShutdownCalls()) != 1 {
		t.Error("NVML stays started")
	}
}

// Find tells a machine without a GPU from one whose GPU cannot be used.
func TestFind(t *testing.T) {
	fails := func(code nvml.Return) *server.Server {
		s := box(1)
		s.InitFunc = func() nvml.Return { return code }
		return s
	}
	lost := box(2)
	lost.DeviceGetHandleByIndexFunc = func(i int) (nvml.Device, nvml.Return) { return nil, nvml.ERROR_GPU_IS_LOST }
	uncounted := box(1)
	uncounted.DeviceGetCountFunc = func() (int, nvml.Return) { return 0, nvml.ERROR_UNKNOWN }
	nameless := box(1)
	gpu(nameless, 0).UUID = ""
	for _, c := range []struct {
		name string
		api  *server.Server
		node string   // of the file system
		want []string // in the error; none: it must be found
		none bool     // the error is ErrNone
	}{
		{name: "a GPU", api: box(2), node: "dev/nvidia0"},
		{name: "a GPU, its node unseen", api: box(2)},
		{name: "no driver", api: fails(nvml.ERROR_LIBRARY_NOT_FOUND), none: true},
		{name: "a driver without GPUs", api: box(0), none: true},
		{name: "no control of the node", api: fails(nvml.ERROR_LIBRARY_NOT_FOUND), node: "dev/nvidiactl", none: true},
		{name: "no library", api: fails(nvml.ERROR_LIBRARY_NOT_FOUND), node: "dev/nvidia3", want: []string{"a GPU is there (", "dev/nvidia3)", "libnvidia-ml.so.1 cannot be loaded"}},
		{name: "no library in a container", api: fails(nvml.ERROR_LIBRARY_NOT_FOUND), node: "proc/driver/nvidia/version", want: []string{"a GPU is there", "give the container its GPUs"}},
		{name: "library alone", api: fails(nvml.ERROR_DRIVER_NOT_LOADED), want: []string{"cannot be used", "driver is not loaded"}},
		{name: "none shown", api: box(0), node: "proc/driver/nvidia/gpus/0000:01:00.0", want: []string{"a GPU is there", "the driver shows none"}},
		{name: "lost", api: lost, node: "dev/nvidia0", want: []string{"GPU 0 cannot be asked", "LOST", "kernel's log"}},
		{name: "not counted", api: uncounted, want: []string{"cannot count"}},
		{name: "no UUID", api: nameless, want: []string{"GPU 0 does not tell its UUID"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			if c.node != "" {
				path := filepath.Join(root, c.node)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			lib, devices, err := find(root, c.api)
			switch {
			case c.none:
				if err != ErrNone || lib != nil {
					t.Errorf("%v", err)
				}
			case c.want != nil:
				checkLine(t, err, c.want...)
				if errors.Is(err, ErrNone) {
					t.Error("says that there is none")
				}
			case err != nil || len(devices) != 2:
				t.Errorf("%v, %d devices", err, len(devices))
			}
			if open := len(c.api.InitCalls()) - len(c.api.ShutdownCalls()); err != nil && len(c.api.SystemGetDriverVersionCalls()) > 0 && open != 0 {
				t.Error("NVML stays started")
			}
		})
	}
}

func checkLine(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %q", want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %q, want one line with %q", err, w)
		}
	}
}
