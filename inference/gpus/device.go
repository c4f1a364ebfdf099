package gpus

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// A Device is one GPU as NVML describes it. A field that is empty or nil is not
// known.
type Device struct {
	Index int    `json:"index"` // as nvidia-smi shows it
	UUID  string `json:"uuid"`
	Name  string `json:"name,omitempty"`
	Bus   string `json:"pci,omitempty"`

	Total *uint64 `json:"total_bytes,omitempty"`
	Free  *uint64 `json:"free_bytes,omitempty"`
	Used  *uint64 `json:"used_bytes,omitempty"`
	From  string  `json:"memory_from,omitempty"` // who gave Free: nvml, or see SetFree

	Capability string `json:"compute_capability,omitempty"` // 9.0
	Driver     string `json:"driver,omitempty"`
	CUDA       string `json:"cuda,omitempty"` // the newest version that the driver runs

	MIG       bool      `json:"mig,omitempty"`               // it is split into instances
	Mode      string    `json:"compute_mode,omitempty"`      // default, exclusive or prohibited
	ECC       *bool     `json:"ecc,omitempty"`               // switched on
	ECCErrors *uint64   `json:"ecc_uncorrected,omitempty"`   // since the driver was loaded
	Processes []Process `json:"processes"`                   // that compute on it
	Unknown   bool      `json:"processes_unknown,omitempty"` // they cannot be listed

	handle nvml.Device // nil in a Device that no Library made
}

// A Process computes on a GPU.
type Process struct {
	PID   int     `json:"pid"`
	Name  string  `json:"name,omitempty"`
	Bytes *uint64 `json:"bytes,omitempty"` // of the GPU's memory
}

// The compute modes that NVML knows.
const (
	ModeDefault    = "default"
	ModeExclusive  = "exclusive"
	ModeProhibited = "prohibited"
)

// Devices lists the GPUs in nvidia-smi's order. It is an error if one that is
// counted cannot be asked for at all, or has no UUID.
func (l *Library) Devices() ([]Device, error) {
	n, code := l.nvml.DeviceGetCount()
	if code != nvml.SUCCESS {
		return nil, fmt.Errorf("NVML cannot count the GPUs: %w", code)
	}
	driver, _ := known(l.nvml.SystemGetDriverVersion())
	cuda := ""
	if v, ok := known(l.nvml.SystemGetCudaDriverVersion()); ok && v > 0 {
		cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	devices := make([]Device, 0, n)
	for i := range n {
		h, code := l.nvml.DeviceGetHandleByIndex(i)
		if code != nvml.SUCCESS {
			return nil, fmt.Errorf("GPU %d cannot be asked (%w): see nvidia-smi and the kernel's log", i, code)
		}
		d := Device{Index: i, Driver: driver, CUDA: cuda, handle: h}
		if d.UUID, code = h.GetUUID(); code != nvml.SUCCESS || d.UUID == "" {
			return nil, fmt.Errorf("GPU %d does not tell its UUID (%w): see nvidia-smi and the kernel's log", i, code)
		}
		d.describe()
		d.Processes, d.Unknown = l.processes(h)
		devices = append(devices, d)
	}
	return devices, nil
}

// known drops what an error comes with.
func known[T any](v T, code nvml.Return) (T, bool) {
	if code != nvml.SUCCESS {
		var zero T
		return zero, false
	}
	return v, true
}

// reading is a figure, nil if it is an error.
func reading[T any](v T, code nvml.Return) *T {
	if code != nvml.SUCCESS {
		return nil
	}
	return &v
}

// positive is a figure that cannot be 0, nil if it is an error or 0 all the same.
func positive[T uint32 | uint64](v T, code nvml.Return) *T {
	if v == 0 {
		return nil
	}
	return reading(v, code)
}

func (d *Device) describe() {
	h := d.handle
	d.Name, _ = known(h.GetName())
	if pci, ok := known(h.GetPciInfo()); ok {
		d.Bus = text(pci.BusId[:])
	}
	if major, minor, code := h.GetCudaComputeCapability(); code == nvml.SUCCESS && major > 0 {
		d.Capability = fmt.Sprintf("%d.%d", major, minor)
	}
	d.Total, d.Free, d.Used, _ = memory(h)
	if d.Free != nil {
		d.From = "nvml"
	}
	if now, _, code := h.GetMigMode(); code == nvml.SUCCESS {
		d.MIG = now == nvml.DEVICE_MIG_ENABLE
	}
	if mode, ok := known(h.GetComputeMode()); ok {
		switch mode {
		case nvml.COMPUTEMODE_DEFAULT:
			d.Mode = ModeDefault
		case nvml.COMPUTEMODE_PROHIBITED:
			d.Mode = ModeProhibited
		case nvml.COMPUTEMODE_EXCLUSIVE_PROCESS, nvml.COMPUTEMODE_EXCLUSIVE_THREAD:
			d.Mode = ModeExclusive
		}
	}
	if ecc, _, code := h.GetEccMode(); code == nvml.SUCCESS {
		on := ecc == nvml.FEATURE_ENABLED
		d.ECC = &on
	}
	d.ECCErrors = reading(h.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.VOLATILE_ECC))
}

// memory gives the total, free and used bytes, and NVML's answer. A GPU with
// nothing free and nothing used is one that does not tell.
func memory(h nvml.Device) (total, free, used *uint64, code nvml.Return) {
	m, code := h.GetMemoryInfo()
	switch {
	case code != nvml.SUCCESS || m.Total == 0:
		return nil, nil, nil, code
	case m.Free == 0 && m.Used == 0 || m.Free > m.Total || m.Used > m.Total:
		return &m.Total, nil, nil, code
	}
	return &m.Total, &m.Free, &m.Used, code
}

// processes that compute on a GPU. Those of other containers have no name here.
func (l *Library) processes(h nvml.Device) (list []Process, unknown bool) {
	list = []Process{}
	infos, code := h.GetComputeRunningProcesses()
	for _, info := range infos {
		p := Process{PID: int(info.Pid)}
		if bytes := info.UsedGpuMemory; bytes != ^uint64(0) && bytes > 0 { // all ones: not available
			p.Bytes = &bytes
		}
		name, _ := os.ReadFile(filepath.Join(l.proc, strconv.Itoa(p.PID), "comm"))
		p.Name = strings.TrimSpace(string(name))
		list = append(list, p)
	}
	return list, code != nvml.SUCCESS
}

// text is a C string.
func text(chars []int8) string {
	var b strings.Builder
	for _, c := range chars {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	return b.String()
}

// SetFree gives the free memory as somebody else knows it, such as the runtime,
// where NVML does not.
func (d *Device) SetFree(bytes uint64, from string) { d.Free, d.From = &bytes, from }

// Unusable says why nothing can be computed on the GPU; "" if it can.
func (d Device) Unusable() string {
	switch {
	case d.MIG:
		return fmt.Sprintf("MIG mode is on, which is not supported: nvidia-smi -i %d -mig 0 switches it off", d.Index)
	case d.Mode == ModeProhibited:
		return fmt.Sprintf("its compute mode is prohibited: nvidia-smi -i %d -c 0 allows computing", d.Index)
	case d.Mode == ModeExclusive && len(d.Processes) > 0:
		return fmt.Sprintf("its compute mode is exclusive and process %s is on it", d.Processes[0])
	}
	return ""
}

// String is for messages: GPU 0.
func (d Device) String() string { return fmt.Sprintf("GPU %d", d.Index) }

func (p Process) String() string {
	if p.Name == "" {
		return strconv.Itoa(p.PID)
	}
	return fmt.Sprintf("%d (%s)", p.PID, p.Name)
}

// Lines describe the GPU for people: what it is, then what is on it.
func (d Device) Lines() []string {
	parts := []string{d.String() + ": " + cmp.Or(d.Name, "no name")}
	switch {
	case d.Free != nil && d.Total != nil:
		parts = append(parts, fmt.Sprintf("%s free of %s", size(*d.Free), size(*d.Total)))
	case d.Total != nil:
		parts = append(parts, size(*d.Total)+", how much is free is not told")
	default:
		parts = append(parts, "memory is not told")
	}
	parts = append(parts, "driver "+cmp.Or(d.Driver, "unknown"), "CUDA "+cmp.Or(d.CUDA, "unknown"), "compute capability "+cmp.Or(d.Capability, "unknown"))
	switch {
	case d.ECC == nil:
		parts = append(parts, "ECC unknown")
	case !*d.ECC:
		parts = append(parts, "ECC off")
	case d.ECCErrors == nil:
		parts = append(parts, "ECC on")
	default:
		parts = append(parts, fmt.Sprintf("ECC on, %d uncorrected", *d.ECCErrors))
	}
	lines := []string{strings.Join(parts, ", ")}
	if d.Unknown {
		lines = append(lines, "processes on it are not told")
	}
	for _, p := range d.Processes {
		line := "process " + p.String()
		if p.Bytes != nil {
			line += " holds " + size(*p.Bytes)
		}
		lines = append(lines, line)
	}
	return lines
}

// Warning says what is in the way of computing on the GPU, or may come to be;
// "" if nothing is.
func (d Device) Warning() string {
	if why := d.Unusable(); why != "" {
		return fmt.Sprintf("%v cannot be used: %s", d, why)
	}
	if d.Mode == ModeExclusive {
		return fmt.Sprintf("%v takes one process at a time: its compute mode is exclusive", d)
	}
	return ""
}

// size is an amount of memory for people.
func size(n uint64) string { return fmt.Sprintf("%.1f GB", float64(n)/(1<<30)) }
