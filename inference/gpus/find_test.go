package gpus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"

	"selfplay/inference/gpus/gpustest"
)

const gib = 1 << 30

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
	l, err := New(nvml.New())
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
		s := gpustest.Box(1)
		s.InitFunc = func() nvml.Return { return code }
		_, err := New(s)
		checkLine(t, err, want)
	}
	s := gpustest.Box(1)
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
		s := gpustest.Box(1)
		s.InitFunc = func() nvml.Return { return code }
		return s
	}
	lost := gpustest.Box(2)
	lost.DeviceGetHandleByIndexFunc = func(i int) (nvml.Device, nvml.Return) { return nil, nvml.ERROR_GPU_IS_LOST }
	uncounted := gpustest.Box(1)
	uncounted.DeviceGetCountFunc = func() (int, nvml.Return) { return 0, nvml.ERROR_UNKNOWN }
	nameless := gpustest.Box(1)
	gpustest.GPU(nameless, 0).UUID = ""
	for _, c := range []struct {
		name string
		api  *server.Server
		node string   // of the file system
		want []string // in the error; none: it must be found
		none bool     // the error is ErrNone
	}{
		{name: "a GPU", api: gpustest.Box(2), node: "dev/nvidia0"},
		{name: "a GPU, its node unseen", api: gpustest.Box(2)},
		{name: "no driver", api: fails(nvml.ERROR_LIBRARY_NOT_FOUND), none: true},
		{name: "a driver without GPUs", api: gpustest.Box(0), none: true},
		{name: "no control of the node", api: fails(nvml.ERROR_LIBRARY_NOT_FOUND), node: "dev/nvidiactl", none: true},
		{name: "no library", api: fails(nvml.ERROR_LIBRARY_NOT_FOUND), node: "dev/nvidia3", want: []string{"a GPU is there (", "dev/nvidia3)", "libnvidia-ml.so.1 cannot be loaded"}},
		{name: "no library in a container", api: fails(nvml.ERROR_LIBRARY_NOT_FOUND), node: "proc/driver/nvidia/version", want: []string{"a GPU is there", "give the container its GPUs"}},
		{name: "library alone", api: fails(nvml.ERROR_DRIVER_NOT_LOADED), want: []string{"cannot be used", "driver is not loaded"}},
		{name: "none shown", api: gpustest.Box(0), node: "proc/driver/nvidia/gpus/0000:01:00.0", want: []string{"a GPU is there", "the driver shows none"}},
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
