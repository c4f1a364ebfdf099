// Package gpus finds the NVIDIA GPUs of this machine through NVML, places a
// model on them, and watches them while it runs. It computes nothing and knows
// nothing of models: sizes come in as bytes.
//
// NVML's answers are not to be relied on. Any figure may be not supported, or 0
// where no reading can be 0, or fail: then it is absent here (nil), never zero.
package gpus

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// ErrNone says that this machine has no NVIDIA GPU, as far as can be seen.
var ErrNone = errors.New("no NVIDIA GPU: no driver library, and no device node")

// An OpenError says why NVML cannot be asked. It does not say whether there is
// a GPU: see Find.
type OpenError struct {
	Code   nvml.Return
	Symbol string // that the library lacks, if that is why
}

// Error says what to do, too.
func (e *OpenError) Error() string {
	switch {
	case e.Symbol != "":
		return fmt.Sprintf("the driver's library libnvidia-ml.so.1 is too old, it lacks %s: install a newer driver", e.Symbol)
	case e.Code == nvml.ERROR_LIBRARY_NOT_FOUND:
		return "the driver's library libnvidia-ml.so.1 cannot be loaded: install the NVIDIA driver, or give the container its GPUs"
	case e.Code == nvml.ERROR_DRIVER_NOT_LOADED:
		return "the NVIDIA driver is not loaded: load it (modprobe nvidia), or give the container its GPUs"
	case e.Code == nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return "the NVIDIA driver and its library have different versions: reboot, or reload the driver"
	case e.Code == nvml.ERROR_NO_PERMISSION:
		return "the NVIDIA driver may not be used by this user: look at the rights of /dev/nvidia*"
	}
	return fmt.Sprintf("NVML cannot be started (%v): see whether nvidia-smi runs", e.Code)
}

// A Library is NVML, started. Its methods may be called from any goroutine.
type Library struct {
	nvml nvml.Interface
	proc string      // where processes are named: /proc
	hung atomic.Bool // a call never came back, so the library must stay
}

// needed are the functions called that no fallback is for. The library is bound
// lazily, so that calling one that an old driver lacks would end the process.
var needed = []string{
	"nvmlDeviceGetComputeMode", "nvmlDeviceGetCudaComputeCapability", "nvmlDeviceGetMigMode",
	"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption",
	"nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetCurrentClocksThrottleReasons",
	"nvmlDeviceGetEccMode", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceRegisterEvents", "nvmlEventSetCreate",
}

// New starts the given NVML; the error is an *OpenError.
func New(api nvml.Interface) (*Library, error) {
	if code := api.Init(); code != nvml.SUCCESS {
		return nil, &OpenError{Code: code}
	}
	for _, symbol := range needed {
		if api.Extensions().LookupSymbol(symbol) != nil {
			api.Shutdown()
			return nil, &OpenError{Code: nvml.ERROR_FUNCTION_NOT_FOUND, Symbol: symbol}
		}
	}
	return &Library{nvml: api, proc: "/proc"}, nil
}

// Close ends the use of NVML, unless a call of it still hangs.
func (l *Library) Close() {
	if !l.hung.Load() {
		l.nvml.Shutdown()
	}
}

// Find opens NVML and lists the GPUs, at least one. Without any GPU the error is
// ErrNone, and the CPU may be taken; any other error means that a GPU is there
// and cannot be used, and says why.
func Find() (*Library, []Device, error) { return find("/", nvml.New()) }

func find(root string, api nvml.Interface) (*Library, []Device, error) {
	node := Present(root)
	lib, err := New(api)
	if err != nil {
		// A driver's library without a driver is no machine that never had one.
		if e, ok := errors.AsType[*OpenError](err); ok && node == "" && e.Code == nvml.ERROR_LIBRARY_NOT_FOUND {
			return nil, nil, ErrNone
		}
		return nil, nil, seen(node, err)
	}
	devices, err := lib.Devices()
	if err == nil && len(devices) > 0 {
		return lib, devices, nil
	}
	lib.Close()
	switch {
	case err != nil:
		return nil, nil, seen(node, err)
	case node != "":
		return nil, nil, seen(node, errors.New("the driver shows none: give the container its GPUs, and look at nvidia-smi"))
	}
	return nil, nil, ErrNone
}

func seen(node string, err error) error {
	if node == "" {
		return fmt.Errorf("the GPUs cannot be used: %w", err)
	}
	return fmt.Errorf("a GPU is there (%s) but cannot be used: %w", node, err)
}

// Present tells from the files of the system below root ("/") whether an NVIDIA
// GPU is there, without asking NVML: the file that shows it, or "".
func Present(root string) string {
	for _, pattern := range []string{"dev/nvidia[0-9]*", "proc/driver/nvidia/gpus/*", "proc/driver/nvidia/version"} {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
