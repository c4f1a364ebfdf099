package gpus

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"selfplay/inference/gpus/gpustest"
)

// withRoom are devices with that much room, in GiB, numbered from 0.
func withRoom(rooms ...float64) []Device {
	var devices []Device
	for i, r := range rooms {
		d := Device{Index: i, UUID: "GPU-" + string(rune('a'+i))}
		d.SetFree(uint64((r*gib+ContextBytes)/(1-MarginShare))+4, "test")
		devices = append(devices, d)
	}
	return devices
}

// groupsOf is a placement as text: a group's indices, groups apart by a bar.
func groupsOf(p Placement) string {
	var groups []string
	for _, g := range p.Groups {
		groups = append(groups, list(g.Devices))
	}
	return strings.Join(groups, " | ")
}

func leftOf(p Placement) string {
	var left []Device
	for _, l := range p.Left {
		left = append(left, l.Device)
	}
	return list(left)
}

func TestPlace(t *testing.T) {
	mig := withRoom(100, 100)
	mig[1].MIG = true
	untold := withRoom(100, 100)
	untold[1].Free = nil
	for _, c := range []struct {
		name     string
		devices  []Device
		need     Need // in GiB
		replicas int
		named    bool
		want     string
		left     string
		fault    []string
	}{
		{name: "one GPU", devices: withRoom(100), need: Need{Bytes: 20}, want: "0"},
		{name: "just enough", devices: withRoom(20), need: Need{Bytes: 20}, want: "0"},
		{name: "eight GPUs", devices: withRoom(100, 100, 100, 100, 100, 100, 100, 100), need: Need{Bytes: 20}, named: true, want: "0 | 1 | 2 | 3 | 4 | 5 | 6 | 7"},
		{name: "two of them full", devices: withRoom(100, 10, 100, 19), need: Need{Bytes: 20}, want: "0 | 2", left: "1, 3"},
		{name: "a full one is not split over", devices: withRoom(100, 15, 15), need: Need{Bytes: 20}, want: "0", left: "1, 2"},
		{name: "split over two", devices: withRoom(15, 15), need: Need{Bytes: 20}, want: "0, 1"},
		{name: "split over two, four times", devices: withRoom(15, 15, 15, 15, 15, 15, 15, 15), need: Need{Bytes: 20}, want: "0, 1 | 2, 3 | 4, 5 | 6, 7"},
		{name: "full and empty paired", devices: withRoom(18, 18, 4, 4), need: Need{Bytes: 20}, want: "0, 2 | 1, 3"},
		{name: "the fullest pair", devices: withRoom(1, 19, 1, 2), need: Need{Bytes: 20}, want: "1, 3", left: "0, 2"},
		{name: "three, then what is left", devices: withRoom(19, 8, 8, 8), need: Need{Bytes: 20}, want: "0, 1", left: "2, 3"},
		{name: "groups of two and of three", devices: withRoom(7, 10, 7, 10, 7), need: Need{Bytes: 20}, want: "0, 2, 4 | 1, 3"},
		{name: "layers leave some unused", devices: withRoom(11, 11, 11), need: Need{Bytes: 20, Layer: 3}, want: "0, 1, 2"},
		{name: "layers do not", devices: withRoom(11, 11, 11), need: Need{Bytes: 20, Layer: 2}, want: "0, 1", left: "2"},
		{name: "fewer replicas", devices: withRoom(50, 90, 70), need: Need{Bytes: 20}, replicas: 2, named: true, want: "1 | 2", left: "0"},
		{name: "fewer replicas, split", devices: withRoom(15, 15, 15, 15), need: Need{Bytes: 20}, replicas: 1, want: "0, 1", left: "2, 3"},
		{name: "MIG", devices: mig, need: Need{Bytes: 20}, want: "0", left: "1"},

		{name: "none", need: Need{Bytes: 20}, fault: []string{"no GPU"}},
		{name: "too large for one", devices: withRoom(12), need: Need{Bytes: 20}, fault: []string{"does not fit", "12.0 GB", "20.0 GB"}},
		{name: "too large for all", devices: withRoom(5, 6), need: Need{Bytes: 20}, fault: []string{"even split", "needs 20.0 GB of their 11.0 GB", "GPU 1: it has 6.0 GB"}},
		{name: "no room at all", devices: withRoom(-0.5), need: Need{Bytes: 20}, fault: []string{"it has 0.0 GB"}},
		{name: "too many replicas", devices: withRoom(90, 90, 10), need: Need{Bytes: 20}, replicas: 3, fault: []string{"--replicas 3", "room for 2 of 20.0 GB", "GPU 2: it has 10.0 GB"}},
		{name: "more replicas than GPUs", devices: withRoom(90), need: Need{Bytes: 20}, replicas: 2, fault: []string{"--replicas 2", "room for 1"}},
		{name: "named and full", devices: withRoom(90, 10), need: Need{Bytes: 20}, named: true, fault: []string{"--gpus", "GPU 1: it has 10.0 GB"}},
		{name: "named and MIG", devices: mig, need: Need{Bytes: 20}, named: true, fault: []string{"GPU 1: MIG mode is on"}},
		{name: "all MIG", devices: mig[1:], need: Need{Bytes: 20}, fault: []string{"MIG mode is on"}},
		{name: "not told", devices: untold, need: Need{Bytes: 20}, fault: []string{"GPU 1 does not tell its free memory", "--gpus"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.need.Bytes, c.need.Layer = c.need.Bytes*gib, c.need.Layer*gib
			p, err := Place(c.devices, c.need, c.replicas, c.named)
			if c.fault != nil {
				checkLine(t, err, c.fault...)
			} else if err != nil || groupsOf(p) != c.want || leftOf(p) != c.left {
				t.Errorf("%v, %q, left %q", err, groupsOf(p), leftOf(p))
			}
		})
	}
}

// A whole way: boxes of 1, 2 and 8 GPUs, some of them in use, one that tells
// nothing and gets the runtime's figure.
func TestPlaceOnBoxes(t *testing.T) {
	for n, want := range map[int]string{1: "0", 2: "0", 8: "0 | 2 | 3 | 4 | 5 | 6 | 7"} {
		s := gpustest.Box(n)
		if n > 1 {
			gpustest.GPU(s, 1).MemoryInfo = nvml.Memory{Total: 141 * gib, Free: 4 * gib, Used: 137 * gib}
		}
		gpustest.GPU(s, n-1).MemoryInfo.Free = min(gpustest.GPU(s, n-1).MemoryInfo.Free, 60*gib)
		gpustest.GPU(s, 0).GetMemoryInfoFunc = func() (nvml.Memory, nvml.Return) { return nvml.Memory{}, nvml.ERROR_NOT_SUPPORTED }
		devices := mustList(t, mustNew(t, s))
		if _, err := Place(devices, Need{Bytes: 10 * gib}, 0, false); err == nil {
			t.Error("placed on a GPU that does not tell its free memory")
		}
		devices[0].SetFree(139*gib, "runtime")
		p, err := Place(devices, Need{Bytes: 10 * gib}, 0, false)
		if err != nil || groupsOf(p) != want {
			t.Errorf("%d GPUs: %v, %q", n, err, groupsOf(p))
		}
		if p.Groups[0].Visible() != "GPU-0000" {
			t.Errorf("%q", p.Groups[0].Visible())
		}
	}
	p, err := Place(mustList(t, mustNew(t, gpustest.Box(8))), Need{Bytes: 200 * gib, Layer: 3 * gib}, 3, false)
	if err != nil || p.Groups[0].Visible() != "GPU-0000,GPU-1111" {
		t.Errorf("%v, %+v", err, p)
	}
	want := `replica 0: GPUs 0, 1 (273.4 GB for it, layers split)
replica 1: GPUs 2, 3 (273.4 GB for it, layers split)
replica 2: GPUs 4, 5 (273.4 GB for it, layers split)
GPU 6 is left out: not needed for --replicas 3
GPU 7 is left out: not needed for --replicas 3`
	if got := strings.Join(linesOf(p), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// On any machine: every GPU is in one group or left out, every group has room,
// no smaller group of all the GPUs has, a model that fits one GPU is on all GPUs
// that it fits, and what is refused fits nowhere.
func TestPlaceAlways(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var rooms []float64
		for range 1 + rng.IntN(8) {
			rooms = append(rooms, float64(rng.IntN(60))/2)
		}
		devices := withRoom(rooms...)
		for i := range devices {
			devices[i].MIG = rng.IntN(10) == 0
		}
		need := Need{Bytes: uint64(1+rng.IntN(80)) * gib, Layer: uint64(rng.IntN(3)) * gib}
		p, err := Place(devices, need, 0, false)
		smallest := smallestGroup(devices, need)
		if (err == nil) != (smallest > 0) {
			t.Fatalf("%v, need %v: %v, but %d GPUs hold it", rooms, need, err, smallest)
		}
		seen := map[string]bool{}
		once := func(d Device) {
			if seen[d.UUID] {
				t.Fatalf("%v, need %v: %v twice in %+v", rooms, need, d, p)
			}
			seen[d.UUID] = true
		}
		first := 8
		for _, g := range p.Groups {
			var sum uint64
			for _, d := range g.Devices {
				once(d)
				sum += room(d)
			}
			if sum != g.Room || !need.fits(sum, len(g.Devices)) || d0(g).MIG || len(g.Devices) < smallest {
				t.Fatalf("%v, need %v: group %+v", rooms, need, g)
			}
			first = min(first, len(g.Devices))
		}
		if err == nil && first != smallest {
			t.Fatalf("%v, need %v: %d GPUs hold it, taken are %d", rooms, need, smallest, first)
		}
		for _, l := range p.Left {
			once(l.Device)
			if smallest == 1 && l.Device.Unusable() == "" && room(l.Device) >= need.Bytes {
				t.Fatalf("%v, need %v: %v has room and is left out", rooms, need, l.Device)
			}
		}
		if len(seen) != len(devices) {
			t.Fatalf("%v, need %v: %d GPUs of %d are told of", rooms, need, len(seen), len(devices))
		}
		for n := 1; n <= len(p.Groups)+1; n++ { // as many replicas as went, or fewer, go; no more do
			some, err := Place(devices, need, n, false)
			if (err == nil) != (n <= len(p.Groups)) || err == nil && (len(some.Groups) != n || len(some.Groups)+len(some.Left) > len(devices)) {
				t.Fatalf("%v, need %v, %d replicas of %d: %v, %+v", rooms, need, n, len(p.Groups), err, some)
			}
			for _, g := range some.Groups {
				if !need.fits(roomOf(g.Devices), len(g.Devices)) {
					t.Fatalf("%v, need %v, %d replicas: %+v", rooms, need, n, some)
				}
			}
		}
	}
}

func d0(g Group) Device { return g.Devices[0] }

// smallestGroup tries every set of the devices.
func smallestGroup(devices []Device, need Need) int {
	best := 0
	for set := 1; set < 1<<len(devices); set++ {
		n, sum, usable := 0, uint64(0), true
		for i, d := range devices {
			if set>>i&1 == 1 {
				n, sum, usable = n+1, sum+room(d), usable && !d.MIG
			}
		}
		if usable && need.fits(sum, n) && (best == 0 || n < best) {
			best = n
		}
	}
	return best
}

// linesOf is a placement, a line for each replica and each GPU left out.
func linesOf(p Placement) []string {
	var lines []string
	for i, g := range p.Groups {
		lines = append(lines, fmt.Sprintf("replica %d: %v", i, g))
	}
	for _, l := range p.Left {
		lines = append(lines, l.String())
	}
	return lines
}
