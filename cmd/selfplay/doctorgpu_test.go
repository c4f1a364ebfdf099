package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh200"

	"selfplay/inference/gpus"
)

func TestDoctorOfGPUs(t *testing.T) {
	lib := func() *gpus.Library {
		l, err := gpus.New(dgxh200.New())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	good := gpus.Device{Index: 0, UUID: "GPU-a", Name: "NVIDIA H200", Driver: "580.1", CUDA: "13.0", Capability: "9.0", Processes: []gpus.Process{{PID: 7, Name: "vllm"}}}
	split := gpus.Device{Index: 1, UUID: "GPU-b", MIG: true, Processes: []gpus.Process{}}
	for _, c := range []struct {
		name     string
		devices  []gpus.Device
		err      error
		text     string
		warnings []string // what each begins with
		json     string
	}{
		{"two", []gpus.Device{good, split}, nil,
			"nvml      GPU 0: NVIDIA H200, memory is not told, driver 580.1, CUDA 13.0, compute capability 9.0, ECC unknown\n          process 7 (vllm)\n" +
				"nvml      GPU 1: no name, memory is not told, driver unknown, CUDA unknown, compute capability unknown, ECC unknown\n",
			[]string{"GPU 1 cannot be used: MIG mode is on"}, `"devices":[{"index":0,"uuid":"GPU-a","name":"NVIDIA H200",`},
		{"none", nil, gpus.ErrNone, "nvml      no NVIDIA GPU: no driver library, and no device node\n", nil, `{"devices":[],"problem":"no NVIDIA GPU`},
		{"unusable", nil, errors.New("a GPU is there"), "", []string{"a GPU is there"}, `{"devices":[],"problem":"a GPU is there"}`},
	} {
		g := checkGPUs(func() (*gpus.Library, []gpus.Device, error) {
			if c.err != nil {
				return nil, nil, c.err
			}
			return lib(), c.devices, nil
		})
		var out strings.Builder
		g.print(&out)
		data, err := json.Marshal(g)
		if out.String() != c.text || err != nil || !strings.Contains(string(data), c.json) {
			t.Errorf("%s: %v\n%s%s", c.name, err, out.String(), data)
		}
		if !slices.EqualFunc(g.warnings(), c.warnings, strings.HasPrefix) {
			t.Errorf("%s: %q", c.name, g.warnings())
		}
	}
}
