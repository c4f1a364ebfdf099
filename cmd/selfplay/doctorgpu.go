package main

import (
	"errors"
	"io"
	"strings"

	"selfplay/inference/gpus"
)

// A gpuCheck is what NVML says of the GPUs, or why it says nothing.
type gpuCheck struct {
	Devices []gpus.Device `json:"devices"`
	Problem string        `json:"problem,omitempty"`
	none    bool          // Problem is no more than that there is no GPU
}

func checkGPUs(find func() (*gpus.Library, []gpus.Device, error)) gpuCheck {
	lib, devices, err := find()
	if err != nil {
		return gpuCheck{Devices: []gpus.Device{}, Problem: err.Error(), none: errors.Is(err, gpus.ErrNone)}
	}
	lib.Close()
	return gpuCheck{Devices: devices}
}

func (g gpuCheck) print(w io.Writer) {
	for _, d := range g.Devices {
		line(w, "nvml", strings.Join(d.Lines(), "\n"))
	}
	if g.none {
		line(w, "nvml", g.Problem)
	}
}

func (g gpuCheck) warnings() []string {
	var list []string
	if g.Problem != "" && !g.none {
		list = append(list, g.Problem)
	}
	for _, d := range g.Devices {
		if warning := d.Warning(); warning != "" {
			list = append(list, warning)
		}
	}
	return list
}
