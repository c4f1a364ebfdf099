package gpus

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Visible is what the environment allows: CUDA_VISIBLE_DEVICES, which the
// cluster's scheduler may have set for this job.
type Visible struct {
	Set   bool   // an empty value, unlike none, hides all GPUs
	Value string // indices or UUIDs
	Order string // CUDA_DEVICE_ORDER: how CUDA counts
}

// VisibleInEnv reads the environment of this process.
func VisibleInEnv() Visible {
	value, set := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	return Visible{Set: set, Value: value, Order: os.Getenv("CUDA_DEVICE_ORDER")}
}

// Select gives the devices that spec names, in the order of devices: "all" (or
// nothing) for all that are visible, or indices as nvidia-smi shows them and
// UUIDs, or the beginnings of UUIDs, with commas between. Errors name the part
// of spec, or of CUDA_VISIBLE_DEVICES, that is wrong.
func Select(devices []Device, spec string, visible Visible) ([]Device, error) {
	allowed, err := visible.of(devices)
	if err != nil {
		return nil, err
	}
	if spec = strings.TrimSpace(spec); spec == "" || spec == "all" {
		if len(allowed) == 0 {
			return nil, fmt.Errorf("CUDA_VISIBLE_DEVICES=%s hides all GPUs: unset it", visible.Value)
		}
		return allowed, nil
	}
	chosen, err := pick(devices, strings.Split(spec, ","))
	if err != nil {
		return nil, fmt.Errorf("--gpus %s: %w", spec, err)
	}
	for _, d := range chosen {
		if indexOf(allowed, d) < 0 {
			return nil, fmt.Errorf("--gpus %s: CUDA_VISIBLE_DEVICES=%s hides %v: change one of them", spec, visible.Value, d)
		}
	}
	return chosen, nil
}

// of lists the devices that are visible. As in CUDA, -1 ends the list.
func (v Visible) of(devices []Device) ([]Device, error) {
	if !v.Set {
		return devices, nil
	}
	if strings.TrimSpace(v.Value) == "" || v.Value == "NoDevFiles" {
		return nil, nil
	}
	parts := strings.Split(v.Value, ",")
	for i, part := range parts {
		part = strings.TrimSpace(part)
		if part == "-1" {
			parts = parts[:i]
			break
		}
		if _, err := strconv.Atoi(part); err == nil && v.Order != "PCI_BUS_ID" && differ(devices) {
			return nil, fmt.Errorf("CUDA_VISIBLE_DEVICES=%s gives numbers, and CUDA counts unlike GPUs in another order than nvidia-smi: give UUIDs, or set CUDA_DEVICE_ORDER=PCI_BUS_ID", v.Value)
		}
	}
	chosen, err := pick(devices, parts)
	if err != nil {
		return nil, fmt.Errorf("CUDA_VISIBLE_DEVICES=%s: %w", v.Value, err)
	}
	return chosen, nil
}

// differ says whether CUDA, which counts the fastest first, may count the GPUs
// in another order than that of the bus.
func differ(devices []Device) bool {
	return slices.ContainsFunc(devices, func(d Device) bool { return d.Name != devices[0].Name })
}

// pick finds the device of every name; each may be named once.
func pick(devices []Device, names []string) ([]Device, error) {
	taken := make([]string, len(devices)) // the name that took it
	for _, name := range names {
		name = strings.TrimSpace(name)
		i, err := lookUp(devices, name)
		if err != nil {
			return nil, err
		}
		if taken[i] != "" {
			return nil, fmt.Errorf("%q names %v again", name, devices[i])
		}
		taken[i] = name
	}
	var chosen []Device
	for i, d := range devices {
		if taken[i] != "" {
			chosen = append(chosen, d)
		}
	}
	return chosen, nil
}

// lookUp finds the one device of a name.
func lookUp(devices []Device, name string) (int, error) {
	if strings.HasPrefix(name, "MIG-") {
		return 0, fmt.Errorf("%q is a MIG instance, which is not supported: name whole GPUs", name)
	}
	if n, err := strconv.ParseUint(name, 10, 31); err == nil {
		if i := slices.IndexFunc(devices, func(d Device) bool { return d.Index == int(n) }); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("there is no GPU %d: there are %s", n, list(devices))
	}
	if !strings.HasPrefix(name, "GPU-") || name == "GPU-" {
		return 0, fmt.Errorf("%q is neither a number nor a UUID, which begins with GPU-: there are %s", name, list(devices))
	}
	found := -1
	for i, d := range devices {
		if !strings.HasPrefix(d.UUID, name) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%q is how the UUIDs of %v and %v begin: give more of it", name, devices[found], d)
		}
		found = i
	}
	if found < 0 {
		return 0, fmt.Errorf("no GPU's UUID begins with %q: nvidia-smi -L lists them", name)
	}
	return found, nil
}

func indexOf(devices []Device, d Device) int {
	return slices.IndexFunc(devices, func(o Device) bool { return o.UUID == d.UUID })
}

// list is the indices for people: 0, 1, 2.
func list(devices []Device) string {
	var indices []string
	for _, d := range devices {
		indices = append(indices, strconv.Itoa(d.Index))
	}
	return strings.Join(indices, ", ")
}
