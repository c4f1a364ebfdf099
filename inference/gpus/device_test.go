package gpus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"

	"selfplay/inference/gpus/gpustest"
)

func TestDevices(t *testing.T) {
	s := gpustest.Box(8)
	gpustest.GPU(s, 3).GetComputeRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) {
		return []nvml.ProcessInfo{{Pid: 42, UsedGpuMemory: 3 * gib}, {Pid: 43, UsedGpuMemory: ^uint64(0)}}, nvml.SUCCESS
	}
	l := mustNew(t, s)
	l.proc = t.TempDir()
	os.Mkdir(filepath.Join(l.proc, "42"), 0o755)
	if err := os.WriteFile(filepath.Join(l.proc, "42", "comm"), []byte("python3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	devices := mustList(t, l)
	if len(devices) != 8 {
		t.Fatalf("%d devices", len(devices))
	}
	for i, d := range devices {
		if d.Index != i || d.UUID != gpustest.GPU(s, i).UUID || d.Bus != gpustest.GPU(s, i).PciBusID || d.Name != "NVIDIA H200 141GB HBM3e" ||
			*d.Total != 141*gib || *d.Free != 140*gib || *d.Used != gib || d.From != "nvml" || d.Capability != "9.0" ||
			d.Driver != "550.54.15" || d.CUDA != "12.4" || d.MIG || d.Mode != ModeDefault || !*d.ECC || *d.ECCErrors != 0 || d.Unusable() != "" {
			t.Errorf("%+v", d)
		}
	}
	want := []string{
		"GPU 3: NVIDIA H200 141GB HBM3e, 140.0 GB free of 141.0 GB, driver 550.54.15, CUDA 12.4, compute capability 9.0, ECC on, 0 uncorrected",
		"process 42 (python3) holds 3.0 GB",
		"process 43",
	}
	if got := devices[3].Lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What is not told is absent, and stands in no JSON.
func TestDeviceTellsNothing(t *testing.T) {
	s := gpustest.Box(1)
	s.SystemGetDriverVersionFunc = func() (string, nvml.Return) { return "junk", nvml.ERROR_UNKNOWN }
	s.SystemGetCudaDriverVersionFunc = func() (int, nvml.Return) { return 0, nvml.SUCCESS }
	d := gpustest.GPU(s, 0)
	no := nvml.ERROR_NOT_SUPPORTED
	d.GetNameFunc = func() (string, nvml.Return) { return "", no }
	d.GetPciInfoFunc = func() (nvml.PciInfo, nvml.Return) { return nvml.PciInfo{}, no }
	d.GetMemoryInfoFunc = func() (nvml.Memory, nvml.Return) { return nvml.Memory{Total: 5, Free: 5}, no }
	d.GetCudaComputeCapabilityFunc = func() (int, int, nvml.Return) { return 0, 0, no }
	d.GetMigModeFunc = func() (int, int, nvml.Return) { return 1, 1, no }
	d.GetComputeModeFunc = func() (nvml.ComputeMode, nvml.Return) { return nvml.COMPUTEMODE_PROHIBITED, no }
	d.GetEccModeFunc = func() (nvml.EnableState, nvml.EnableState, nvml.Return) { return 1, 1, no }
	d.GetTotalEccErrorsFunc = func(nvml.MemoryErrorType, nvml.EccCounterType) (uint64, nvml.Return) { return 7, no }
	d.GetComputeRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) { return nil, no }
	got := mustList(t, mustNew(t, s))[0]
	data, err := json.Marshal(got)
	if want := `{"index":0,"uuid":"GPU-0000","processes":[],"processes_unknown":true}`; err != nil || string(data) != want {
		t.Errorf("%v, got %s, want %s", err, data, want)
	}
	lines := []string{"GPU 0: no name, memory is not told, driver unknown, CUDA unknown, compute capability unknown, ECC unknown", "processes on it are not told"}
	if !slices.Equal(got.Lines(), lines) {
		t.Errorf("%q", got.Lines())
	}
}

// ollama 14357, 12619: NVML says 0 bytes, or more than there are.
func TestMemoryThatIsNone(t *testing.T) {
	for _, c := range []struct {
		m     nvml.Memory
		total bool
		free  bool
	}{
		{nvml.Memory{}, false, false},
		{nvml.Memory{Total: 100}, true, false},
		{nvml.Memory{Total: 100, Used: 100}, true, true}, // full
		{nvml.Memory{Total: 100, Free: 101}, true, false},
		{nvml.Memory{Total: 100, Free: 50, Used: 101}, true, false},
		{nvml.Memory{Total: 100, Free: 100}, true, true},
	} {
		s := gpustest.Box(1)
		gpustest.GPU(s, 0).MemoryInfo = c.m
		d := mustList(t, mustNew(t, s))[0]
		_, room := d.Room()
		if (d.Total != nil) != c.total || (d.Free != nil) != c.free || (d.Used != nil) != c.free || room != c.free || (d.From == "nvml") != c.free {
			t.Errorf("%+v: %+v", c.m, d)
		}
		d.SetFree(10*gib, "runtime")
		if n, ok := d.Room(); !ok || n == 0 || n >= 10*gib || d.From != "runtime" {
			t.Errorf("%+v with the runtime's figure: %d", c.m, n)
		}
	}
}

func TestUnusable(t *testing.T) {
	busy := func() ([]nvml.ProcessInfo, nvml.Return) { return []nvml.ProcessInfo{{Pid: 1 << 30}}, nvml.SUCCESS }
	mode := func(m nvml.ComputeMode) func() (nvml.ComputeMode, nvml.Return) {
		return func() (nvml.ComputeMode, nvml.Return) { return m, nvml.SUCCESS }
	}
	for _, c := range []struct {
		name    string
		set     func(d *server.Device)
		want    string // in Unusable
		warning string
	}{
		{"idle", func(d *server.Device) {}, "", ""},
		{"shared", func(d *server.Device) { d.GetComputeRunningProcessesFunc = busy }, "", ""},
		{"MIG", func(d *server.Device) { d.MigMode = nvml.DEVICE_MIG_ENABLE }, "nvidia-smi -i 1 -mig 0", "GPU 1 cannot be used: MIG mode is on"},
		{"prohibited", func(d *server.Device) { d.GetComputeModeFunc = mode(nvml.COMPUTEMODE_PROHIBITED) }, "prohibited: nvidia-smi -i 1 -c 0", "GPU 1 cannot be used: its compute mode"},
		{"exclusive, idle", func(d *server.Device) { d.GetComputeModeFunc = mode(nvml.COMPUTEMODE_EXCLUSIVE_PROCESS) }, "", "GPU 1 takes one process at a time"},
		{"exclusive, busy", func(d *server.Device) {
			d.GetComputeModeFunc, d.GetComputeRunningProcessesFunc = mode(nvml.COMPUTEMODE_EXCLUSIVE_PROCESS), busy
		}, "exclusive and process 1073741824 is on it", "GPU 1 cannot be used"},
	} {
		s := gpustest.Box(2)
		c.set(gpustest.GPU(s, 1))
		d := mustList(t, mustNew(t, s))[1]
		if got := d.Unusable(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
		if got := d.Warning(); (got == "") != (c.warning == "") || !strings.HasPrefix(got, c.warning) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
