package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"selfplay/bench"
	"selfplay/inference"
	"selfplay/inference/gpus"
	"selfplay/inference/gpus/gpustest"
	"selfplay/locales"
	"selfplay/scheduler"
)

// box is a machine whose NVML tells these GPUs' free memory in GiB; -1: it does not.
func box(free ...int) machine {
	var devices []gpus.Device
	for i, n := range free {
		d := gpus.Device{Index: i, UUID: fmt.Sprintf("GPU-%d", i), Name: "NVIDIA H200"}
		if n >= 0 {
			d.SetFree(uint64(n)<<30, "nvml")
		}
		devices = append(devices, d)
	}
	return machine{
		find: func() (*gpus.Library, []gpus.Device, error) {
			if len(devices) == 0 {
				return nil, nil, gpus.ErrNone
			}
			return nil, devices, nil
		},
		inspect: func() inference.Machine { panic("the runtime is asked") },
	}
}

// seenBy gives a machine a runtime that shows GPUs with so many GiB free.
func (m machine) seenBy(free ...int) machine {
	m.inspect = func() (seen inference.Machine) {
		for i, n := range free {
			seen.GPUs = append(seen.GPUs, inference.GPU{ID: fmt.Sprintf("GPU-%d", i), Description: "NVIDIA H200", Free: uint64(n) << 30})
		}
		return seen
	}
	return m
}

// broken is a machine whose GPUs NVML cannot be asked about.
func broken(runtime ...int) machine {
	m := machine{find: func() (*gpus.Library, []gpus.Device, error) { return nil, nil, errors.New("no library") }}
	return m.seenBy(runtime...)
}

// TestChoose: which GPUs are used, and that the CPU is never taken in silence.
func TestChoose(t *testing.T) {
	unsetenv(t, "CUDA_VISIBLE_DEVICES")
	const small, large = "synthetic:qwen3-4b", "synthetic:qwen3-32b" // of 8 and of 66 GB
	for _, test := range []struct {
		name     string
		machine  machine
		model    string
		flags    deviceFlags
		want     string // the replicas with what they see, or the error
		mentions string // on standard error
	}{
		{"no GPU", box(), small, deviceFlags{device: "auto"}, "cpu", ""},
		{"no GPU but wanted", box(), small, deviceFlags{device: "gpu"}, "error --device gpu: no NVIDIA GPU", ""},
		{"no GPU but named", box(), small, deviceFlags{device: "auto", gpus: "1"}, "error --gpus 1: no NVIDIA GPU", ""},
		{"the CPU wanted", box(139), small, deviceFlags{device: "cpu"}, "cpu", ""},
		{"the CPU wanted where GPUs are broken", broken(), small, deviceFlags{device: "cpu", replicas: 2}, "cpu cpu", ""},
		{"a broken GPU", broken(), small, deviceFlags{device: "auto"}, "error no library; --device cpu computes on the CPU", ""},
		{"a GPU that only the runtime knows", broken(139), small, deviceFlags{device: "auto"}, "gpu0=GPU-0", "the GPUs are not watched, and their figures are the runtime's: no library"},
		{"one GPU", box(139), small, deviceFlags{device: "auto"}, "gpu0=GPU-0", ""},
		{"two GPUs", box(139, 139), small, deviceFlags{device: "auto"}, "gpu0=GPU-0 gpu1=GPU-1", ""},
		{"one of two", box(139, 139), small, deviceFlags{device: "auto", gpus: "1"}, "gpu1=GPU-1", ""},
		{"one replica", box(139, 139), small, deviceFlags{device: "auto", replicas: 1}, "gpu0=GPU-0", ""},
		{"more replicas than GPUs", box(139, 139), small, deviceFlags{device: "auto", replicas: 3}, "error --replicas 3: there is room for 2", ""},
		{"one is full", box(139, 3), small, deviceFlags{device: "auto"}, "gpu0=GPU-0", "GPU 1 is left out"},
		{"the full one is named", box(139, 3), small, deviceFlags{device: "auto", gpus: "0,1"}, "error --gpus names GPUs that cannot be used", ""},
		{"all are full", box(3, 3), small, deviceFlags{device: "auto"}, "error the model does not fit", ""},
		{"split over two", box(48, 48), large, deviceFlags{device: "auto"}, "gpu0+1=GPU-0,GPU-1", ""},
		{"split twice", box(48, 48, 48, 48), large, deviceFlags{device: "auto"}, "gpu0+1=GPU-0,GPU-1 gpu2+3=GPU-2,GPU-3", ""},
		{"free memory from the runtime", box(-1, 139).seenBy(139, 1), small, deviceFlags{device: "auto"}, "gpu0=GPU-0 gpu1=GPU-1", ""},
		{"free memory from nobody", box(-1, 139).seenBy(), small, deviceFlags{device: "auto"}, "error GPU 0 does not tell its free memory", ""},
		{"rubbish", box(139), small, deviceFlags{device: "auto", gpus: "first"}, "error --gpus first:", ""},
		{"a device that is none", box(139), small, deviceFlags{device: "tpu"}, "error --device tpu: give auto, cpu or gpu", ""},
	} {
		if test.flags.gpus == "" {
			test.flags.gpus = "all"
		}
		var stderr strings.Builder
		at, err := test.flags.chooseOn(test.machine, &stderr, test.model, inference.Options{})
		got := ""
		if err != nil {
			got = "error " + err.Error()
		} else {
			got = showSite(at)
		}
		if got != test.want && !(err != nil && strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if s := stderr.String(); !strings.Contains(s, test.mentions) || test.mentions == "" && s != "" {
			t.Errorf("%s: said %q, want %q", test.name, s, test.mentions)
		}
	}
}

// showSite is the replicas by name, with what those on GPUs see.
func showSite(at *site) string {
	if !at.gpu() && !at.processes() {
		return "cpu"
	}
	var all []string
	for _, r := range at.replicas(inference.Options{Threads: 4}) {
		text := strings.TrimRight(r.name, "0123456789")
		if at.gpu() {
			text = r.name + "=" + strings.TrimPrefix(r.env[0], "CUDA_VISIBLE_DEVICES=")
		}
		if r.options.GPU != at.gpu() {
			text += " on the wrong device"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// TestSite: what is known of a site with two replicas of two GPUs each.
func TestSite(t *testing.T) {
	unsetenv(t, "CUDA_VISIBLE_DEVICES")
	f := deviceFlags{device: "auto", gpus: "all"}
	at, err := f.chooseOn(box(48, 48, 48, 48), &strings.Builder{}, "synthetic:qwen3-32b", inference.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if at.name() != "2 x NVIDIA H200" || indices(at.devices(), ",") != "0,1,2,3" || !at.processes() {
		t.Errorf("%s, GPUs %s", at.name(), indices(at.devices(), ","))
	}
	for i, d := range at.devices() {
		if at.group(d) != i/2 {
			t.Errorf("%v belongs to replica %d", d, at.group(d))
		}
	}
	if at.group(gpus.Device{UUID: "GPU-9"}) != -1 {
		t.Error("a GPU that is not used belongs to a replica")
	}
}

// unsetenv takes a variable out of the environment until the test has ended.
func unsetenv(t *testing.T, name string) {
	t.Setenv(name, "")
	os.Unsetenv(name)
}

// TestGPULost: where NVML says that a GPU is lost, its replica is ended, the other
// one plays its games, and the run ends complete and says what happened. The
// replicas compute on the CPU here, the GPUs are made up.
func TestGPULost(t *testing.T) {
	t.Setenv(asProgram, "1")
	box := gpustest.Box(2)
	lib, err := gpus.New(box)
	if err != nil {
		t.Fatal(err)
	}
	devices, err := lib.Devices()
	if err != nil {
		t.Fatal(err)
	}
	at := &site{lib: lib, groups: []gpus.Group{{Devices: devices[:1]}, {Devices: devices[1:]}}}
	defer at.close()
	var stderr strings.Builder
	shared := &sharedWriter{w: &stderr}
	o := inference.Options{Slots: 4, Cells: 3000, Threads: 2}
	r, err := openReplicas(t.Context(), shared, "synthetic:qwen3-tiny", cpuReplicas(2, o), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()

	// The first step of any replica finds GPU 1 lost.
	ticks, told := make(chan time.Time), make(chan struct{})
	watch := at.watch(r, gpus.Clock{
		Now:   time.Now,
		Tick:  func(time.Duration) (<-chan time.Time, func()) { return ticks, func() {} },
		After: time.After,
	})
	lose := sync.OnceFunc(func() {
		gpustest.GPU(box, 1).GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) {
			return nvml.Utilization{}, nvml.ERROR_GPU_IS_LOST
		}
		ticks <- time.Time{}
		ticks <- time.Time{} // taken once the first has been seen to
		close(told)
	})
	set := locales.Embedded()
	e := bench.Experiment{Games: []string{"Nim-v0"}, Langs: []string{"en", "de"}, N: 8, Seed: 1, Model: bench.Model{Name: "m"}, MaxTokens: 3}
	player := r.player(shared, scheduler.Config{Seed: 1, MaxTokens: 3, New: dealer(set)}, playedAgain)
	sum, err := bench.Play(t.Context(), bench.Options{
		Dir: filepath.Join(t.TempDir(), "run"), Experiment: e, Watch: watch,
		Player: func(ctx context.Context, d bench.Deal, sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
			return player(ctx, d, sink, func(p scheduler.Progress) {
				lose()
				progress(p)
			})
		},
	})
	<-told
	if err != nil || sum.Games != 48 || sum.Replicas != 2 || sum.ReplicasLost != 1 {
		t.Errorf("%d games, %d of %d replicas lost: %v", sum.Games, sum.ReplicasLost, sum.Replicas, err)
	}
	if want := "GPU 1 (GPU-1111): the GPU is lost"; !strings.Contains(stderr.String(), want) {
		t.Errorf("%q is missing in: %s", want, &stderr)
	}
	if sum.GPU == nil || len(sum.GPU.GPUs) != 2 {
		t.Errorf("the GPUs are not in the summary: %+v", sum.GPU)
	}
}
