package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"selfplay/inference"
	"selfplay/inference/gpus"
)

// deviceFlags say what a model is computed on.
type deviceFlags struct {
	device, gpus string
	replicas     int
}

// addTo adds the flags; only what can be shared out can have several replicas.
func (f *deviceFlags) addTo(fl *pflag.FlagSet, several bool) {
	fl.StringVar(&f.device, "device", "auto", "what computes the model: gpu, cpu, or auto: the GPUs if the machine has any, which must be usable then")
	if several {
		fl.StringVar(&f.gpus, "gpus", "all", "the GPUs that are used: all, or the numbers that nvidia-smi shows or UUIDs, with commas between")
		fl.IntVar(&f.replicas, "replicas", 0, "processes that each load the model and do their part of the work; --slots and the like are for each (default: one for every GPU, or for as many GPUs as hold the model; on the CPU, whose --threads they share, this process alone)")
	} else {
		f.gpus, f.replicas = "all", 1
	}
}

// check refuses what no machine can make sense of.
func (f *deviceFlags) check() error {
	switch {
	case f.device != "auto" && f.device != "cpu" && f.device != "gpu":
		return usagef("--device %s: give auto, cpu or gpu", f.device)
	case f.replicas < 0 || f.replicas > mostReplicas:
		return usagef("--replicas %d: give a number up to %d", f.replicas, mostReplicas)
	case f.device == "cpu" && f.gpus != "all":
		return usagef("--gpus %s: --device cpu computes on no GPU", f.gpus)
	}
	return nil
}

// A site is where a model is computed.
type site struct {
	groups []gpus.Group  // of GPUs, one for each replica; none: the CPU
	lib    *gpus.Library // nil: nothing watches the GPUs
	cpus   int           // replicas on the CPU
}

func (s *site) gpu() bool { return len(s.groups) > 0 }

func (s *site) close() {
	if s.lib != nil {
		s.lib.Close()
	}
}

// devices are the GPUs that are used, in the order of the groups.
func (s *site) devices() (all []gpus.Device) {
	for _, g := range s.groups {
		all = append(all, g.Devices...)
	}
	return all
}

// name is what is computed on, as tuned settings are found by it; "" is the CPU.
func (s *site) name() string {
	if !s.gpu() {
		return ""
	}
	name := s.groups[0].Devices[0].Name
	if n := len(s.groups[0].Devices); n > 1 {
		name = fmt.Sprintf("%d x %s", n, name)
	}
	return name
}

// A machine tells of its GPUs: through NVML, and as the runtime sees them.
type machine struct {
	find    func() (*gpus.Library, []gpus.Device, error)
	inspect func() inference.Machine
}

var thisMachine = machine{gpus.Find, inference.Inspect}

// choose finds where the model is computed. What a user should know goes to w.
func (f *deviceFlags) choose(w io.Writer, path string, o inference.Options) (*site, error) {
	return f.chooseOn(thisMachine, w, path, o)
}

func (f *deviceFlags) chooseOn(m machine, w io.Writer, path string, o inference.Options) (*site, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.device == "cpu" {
		return &site{cpus: max(1, f.replicas)}, nil
	}
	lib, devices, err := m.list(w)
	switch {
	case errors.Is(err, gpus.ErrNone) && f.gpus != "all":
		return nil, fmt.Errorf("--gpus %s: %w", f.gpus, err)
	case errors.Is(err, gpus.ErrNone) && f.device == "gpu":
		return nil, fmt.Errorf("--device gpu: %w", err)
	case errors.Is(err, gpus.ErrNone):
		return &site{cpus: max(1, f.replicas)}, nil
	case err != nil:
		return nil, fmt.Errorf("%w; --device cpu computes on the CPU", err)
	}
	s := &site{lib: lib}
	if s.groups, err = f.place(w, devices, path, o); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// list gives the GPUs as NVML knows them or, where it knows nothing, the runtime.
func (m machine) list(w io.Writer) (*gpus.Library, []gpus.Device, error) {
	lib, devices, err := m.find()
	if err == nil {
		return lib, m.complete(devices), nil
	}
	if !errors.Is(err, gpus.ErrNone) {
		if found := m.inspect().GPUs; len(found) > 0 {
			fmt.Fprintf(w, "the GPUs are not watched, and their figures are the runtime's: %v\n", err)
			return nil, fromRuntime(found), nil
		}
	}
	return nil, nil, err
}

// fromRuntime are the devices as the runtime describes them.
func fromRuntime(found []inference.GPU) (devices []gpus.Device) {
	for i, g := range found {
		d := gpus.Device{Index: i, UUID: g.ID, Name: g.Description, Capability: g.Compute}
		d.SetFree(g.Free, "runtime")
		devices = append(devices, d)
	}
	return devices
}

// complete gives devices whose free memory NVML does not tell the runtime's
// figure. The runtime is asked only then.
func (m machine) complete(devices []gpus.Device) []gpus.Device {
	var found []inference.GPU
	for i := range devices {
		d := &devices[i]
		if d.Free != nil {
			continue
		}
		if found == nil {
			found = m.inspect().GPUs
		}
		for _, g := range found {
			if g.ID == d.UUID {
				d.SetFree(g.Free, "runtime")
			}
		}
	}
	return devices
}

// place gives each replica its GPUs.
func (f *deviceFlags) place(w io.Writer, devices []gpus.Device, path string, o inference.Options) ([]gpus.Group, error) {
	chosen, err := gpus.Select(devices, f.gpus, gpus.VisibleInEnv())
	if err != nil {
		return nil, usageError{err}
	}
	var need gpus.Need
	if need.Bytes, need.Layer, err = inference.Needs(path, o); err != nil {
		return nil, err
	}
	p, err := gpus.Place(chosen, need, f.replicas, f.gpus != "all")
	if err != nil {
		return nil, err
	}
	for _, l := range p.Left {
		if f.replicas == 0 {
			fmt.Fprintln(w, l)
		}
	}
	return p.Groups, nil
}

// here has this process compute as the only replica. It comes
// before the runtime is asked for anything, which takes memory on all GPUs that
// it sees.
func (s *site) here(o *inference.Options) {
	if !s.gpu() {
		inference.HideGPUs()
		return
	}
	os.Setenv("CUDA_VISIBLE_DEVICES", s.groups[0].Visible())
	o.GPU = true
}

// processes says whether replicas have processes of their own. On GPUs they always
// have, since what goes wrong there ends the process.
func (s *site) processes() bool { return s.gpu() || s.cpus > 1 }

// replicas are the processes to start.
func (s *site) replicas(o inference.Options) []replica {
	if !s.gpu() {
		return cpuReplicas(s.cpus, o)
	}
	var all []replica
	for _, g := range s.groups {
		one := replica{name: "gpu" + indices(g.Devices, "+"), env: []string{"CUDA_VISIBLE_DEVICES=" + g.Visible()}, options: o}
		one.options.GPU = true
		all = append(all, one)
	}
	return all
}

// watch looks at the GPUs, and ends the replica on one that is at fault.
func (s *site) watch(r *replicas, clock gpus.Clock) *gpus.Monitor {
	return s.lib.NewMonitor(s.devices(), func(d gpus.Device, err error) {
		slog.Warn("GPU at fault", "gpu", d.Index, "uuid", d.UUID, "error", err.Error())
		if i := s.group(d); i >= 0 {
			r.engines[i].Kill(err)
		}
	}, clock)
}

// indices are those of the devices.
func indices(devices []gpus.Device, between string) string {
	var list []string
	for _, d := range devices {
		list = append(list, strconv.Itoa(d.Index))
	}
	return strings.Join(list, between)
}

// group is the number of the replica that a GPU belongs to; -1 if none does.
func (s *site) group(d gpus.Device) int {
	for i, g := range s.groups {
		for _, o := range g.Devices {
			if o.UUID == d.UUID {
				return i
			}
		}
	}
	return -1
}
