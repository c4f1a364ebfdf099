package gpus

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// A Sample is what one GPU told at one time. What it did not tell is nil.
type Sample struct {
	GPU int           // position among the watched devices
	At  time.Duration // since the start of watching

	Util        *uint32  // % of the time in which a kernel ran
	MemUtil     *uint32  // % of the time in which memory was read or written
	Used        *uint64  // bytes of memory
	Power       *uint32  // mW
	Counter     *uint64  // mJ since the driver was loaded
	SMClock     *uint32  // MHz
	MemClock    *uint32  // MHz
	Temperature *uint32  // degrees Celsius
	Throttle    *Reasons // why the clocks are not at their highest
	ECC         *uint64  // uncorrected errors since the driver was loaded
	Processes   *int     // that compute on it

	Joules *float64 // used since the start of watching
	From   Source   // where Joules come from; "" without any
}

// Reasons are why a GPU's clocks are held down, as NVML's bits.
type Reasons uint64

type reason struct {
	bit  Reasons
	name string
	slow bool // see Throttles
}

// reasons are NVML's bits.
var reasons = []reason{
	{nvml.ClocksThrottleReasonGpuIdle, "idle", false},
	{nvml.ClocksThrottleReasonApplicationsClocksSetting, "application clocks", false},
	{nvml.ClocksThrottleReasonSwPowerCap, "power cap", true},
	{nvml.ClocksThrottleReasonHwSlowdown, "hardware slowdown", true},
	{nvml.ClocksThrottleReasonSyncBoost, "sync boost", false},
	{nvml.ClocksThrottleReasonSwThermalSlowdown, "software thermal slowdown", true},
	{nvml.ClocksThrottleReasonHwThermalSlowdown, "hardware thermal slowdown", true},
	{nvml.ClocksThrottleReasonHwPowerBrakeSlowdown, "power brake", true},
	{nvml.ClocksThrottleReasonDisplayClockSetting, "display clocks", false},
	{nvml.ClocksEventReasonBoardLimit, "board limit", true},
	{nvml.ClocksEventReasonReliability, "reliability", true},
}

// Names are those of all bits; one that has no name here shows its value.
func (r Reasons) Names() []string {
	var names []string
	for _, known := range reasons {
		if r&known.bit != 0 {
			names = append(names, known.name)
		}
		r &^= known.bit
	}
	for ; r != 0; r &= r - 1 {
		names = append(names, fmt.Sprintf("reason 0x%x", uint64(1)<<bits.TrailingZeros64(uint64(r))))
	}
	return names
}

// Throttles says whether a reason of this name slows down a GPU that has work:
// not that it idles, nor clocks that somebody chose.
func Throttles(name string) bool {
	return !slices.ContainsFunc(reasons, func(r reason) bool { return r.name == name && !r.slow })
}

// String is the names with commas between, "" for none.
func (r Reasons) String() string { return strings.Join(r.Names(), ", ") }

// gone are NVML's answers for a GPU that will not come back by itself.
func gone(code nvml.Return) bool {
	switch code {
	case nvml.ERROR_GPU_IS_LOST, nvml.ERROR_RESET_REQUIRED, nvml.ERROR_GPU_NOT_FOUND, nvml.ERROR_DRIVER_NOT_LOADED:
		return true
	}
	return false
}

// ask takes a sample of a GPU. The error is that it is gone.
func ask(h nvml.Device) (Sample, error) {
	var s Sample
	var lost error
	see := func(code nvml.Return) nvml.Return {
		if lost == nil && gone(code) {
			lost = fmt.Errorf("the GPU is lost: %w", code)
		}
		return code
	}
	util, code := h.GetUtilizationRates()
	if see(code) == nvml.SUCCESS {
		s.Util, s.MemUtil = &util.Gpu, &util.Memory
	}
	_, _, s.Used, code = memory(h)
	see(code)
	power, code := h.GetPowerUsage()
	s.Power = positive(power, see(code))
	counter, code := h.GetTotalEnergyConsumption()
	s.Counter = positive(counter, see(code))
	s.SMClock = positive(h.GetClockInfo(nvml.CLOCK_SM))
	s.MemClock = positive(h.GetClockInfo(nvml.CLOCK_MEM))
	s.Temperature = positive(h.GetTemperature(nvml.TEMPERATURE_GPU))
	throttle, code := h.GetCurrentClocksThrottleReasons()
	if see(code) == nvml.SUCCESS {
		r := Reasons(throttle)
		s.Throttle = &r
	}
	ecc, code := h.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.VOLATILE_ECC)
	s.ECC = reading(ecc, see(code))
	if on, code := h.GetComputeRunningProcesses(); see(code) == nvml.SUCCESS {
		n := len(on)
		s.Processes = &n
	}
	return s, lost
}
