package gpus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// What stays free on every GPU that holds a part of the model.
const (
	// ContextBytes are the CUDA context's, with the kernels loaded and the
	// matrix library's workspace. The driver takes them when the process first
	// uses the GPU, so that they count as free until then.
	ContextBytes = 512 << 20

	// MarginShare of the free memory covers what pages and alignment lose, and
	// what other processes take between looking and allocating.
	MarginShare = 0.02
)

// Room is how many bytes of the GPU a model may take; false if its free memory
// is not known.
func (d Device) Room() (uint64, bool) {
	if d.Free == nil {
		return 0, false
	}
	keep := ContextBytes + uint64(MarginShare*float64(*d.Free))
	return *d.Free - min(*d.Free, keep), true
}

// Need is what one replica of a model takes at least, in bytes: its weights, the
// smallest useful cache, and what a step works with.
type Need struct {
	Bytes uint64
	Layer uint64 // of those, the largest part that cannot be split; 0: any byte can
}

// of n GPUs with this room together: each but the last may leave up to a layer
// unused, because the next layer did not fit.
func (n Need) fits(room uint64, gpus int) bool { return room >= n.of(gpus) }

func (n Need) of(gpus int) uint64 { return n.Bytes + uint64(gpus-1)*n.Layer }

// A Group is the GPUs of one replica, in the order of their indices; with more
// than one, the model's layers are split over them.
type Group struct {
	Devices []Device
	Room    uint64 // bytes, of all together
}

// Visible is the group as a value of CUDA_VISIBLE_DEVICES.
func (g Group) Visible() string {
	var ids []string
	for _, d := range g.Devices {
		ids = append(ids, d.UUID)
	}
	return strings.Join(ids, ",")
}

func (g Group) String() string {
	if len(g.Devices) == 1 {
		return fmt.Sprintf("%v (%s for it)", g.Devices[0], size(g.Room))
	}
	return fmt.Sprintf("GPUs %s (%s for it, layers split)", list(g.Devices), size(g.Room))
}

// A Placement says which GPUs each replica gets, and why others get none.
type Placement struct {
	Groups []Group
	Left   []Left
}

// Left is a GPU without a replica.
type Left struct {
	Device Device
	Why    string
}

func (l Left) String() string { return fmt.Sprintf("%v is left out: %s", l.Device, l.Why) }

// Place puts replicas of a model on the devices. A model that fits one GPU gets
// a replica on every GPU with room for it; one that does not is split over as
// few GPUs as hold it, as often as that goes. replicas, if not 0, is how many
// are wanted. named says that the user chose the devices one by one, so that
// leaving one out is an error, unless replicas asks for no more.
//
// The free memory of every device that can be used must be known: where NVML
// does not tell it, the caller gives the runtime's figure with SetFree before.
func Place(devices []Device, need Need, replicas int, named bool) (Placement, error) {
	var p Placement
	var able []Device // with room, the most room first
	for _, d := range devices {
		if why := d.Unusable(); why != "" {
			p.Left = append(p.Left, Left{d, why})
			continue
		}
		if _, ok := d.Room(); !ok {
			return p, fmt.Errorf("%v does not tell its free memory (%s): leave it out with --gpus", d, cmp.Or(d.Name, "no name"))
		}
		able = append(able, d)
	}
	slices.SortStableFunc(able, func(a, b Device) int { return cmp.Compare(room(b), room(a)) })
	p.place(able, need, replicas)
	slices.SortFunc(p.Groups, func(a, b Group) int { return cmp.Compare(a.Devices[0].Index, b.Devices[0].Index) })
	slices.SortFunc(p.Left, func(a, b Left) int { return cmp.Compare(a.Device.Index, b.Device.Index) })
	return p, p.check(devices, need, replicas, named)
}

// room of a device that tells its free memory.
func room(d Device) uint64 {
	n, _ := d.Room()
	return n
}

func roomOf(devices []Device) (sum uint64) {
	for _, d := range devices {
		sum += room(d)
	}
	return sum
}

// place makes groups of as few GPUs as hold the model, then of what remains, if
// the model is split at all.
func (p *Placement) place(able []Device, need Need, replicas int) {
	for len(able) > 0 && (replicas == 0 || len(p.Groups) < replicas) {
		n := fewest(able, need)
		if n == 0 {
			break
		}
		most := len(able) / n
		if replicas > 0 {
			most = min(most, replicas-len(p.Groups))
		}
		groups := deal(able, need, n, most)
		for _, g := range groups {
			slices.SortFunc(g, func(a, b Device) int { return cmp.Compare(a.Index, b.Index) })
			p.Groups = append(p.Groups, Group{Devices: g, Room: roomOf(g)})
		}
		able = able[n*len(groups):]
		if n == 1 { // what is left has too little room; splitting would be slow there
			break
		}
	}
	for _, d := range able {
		why := fmt.Sprintf("it has %s for a replica, which needs %s", size(room(d)), size(need.Bytes))
		if replicas > 0 && len(p.Groups) == replicas {
			why = fmt.Sprintf("not needed for --replicas %d", replicas)
		}
		p.Left = append(p.Left, Left{d, why})
	}
}

// fewest is how many of the GPUs, which come with the most room first, hold the
// model; 0 if all of them do not.
func fewest(able []Device, need Need) int {
	for n := range able {
		if need.fits(roomOf(able[:n+1]), n+1) {
			return n + 1
		}
	}
	return 0
}

// deal makes groups of n GPUs each, at most most, in all of which the model
// fits, of the GPUs with the most room. Neighbours go together where that fits:
// they are often closer on the bus. Else each GPU goes to the group that has the
// least so far. Where that leaves one too small, it tries with one group less; a
// single one fits, see fewest.
func deal(able []Device, need Need, n, most int) [][]Device {
	small := func(g []Device) bool { return !need.fits(roomOf(g), n) }
	for ; most > 1; most-- {
		chosen := slices.Clone(able[:n*most])
		if groups := balanced(chosen, n); !slices.ContainsFunc(groups, small) {
			slices.SortFunc(chosen, func(a, b Device) int { return cmp.Compare(a.Index, b.Index) })
			if near := slices.Collect(slices.Chunk(chosen, n)); !slices.ContainsFunc(near, small) {
				return near
			}
			return groups
		}
	}
	return [][]Device{slices.Clone(able[:n])}
}

// balanced deals the GPUs, which come with the most room first, to groups of n.
func balanced(devices []Device, n int) [][]Device {
	groups := make([][]Device, len(devices)/n)
	for _, d := range devices {
		least := -1
		for i, g := range groups {
			if len(g) < n && (least < 0 || roomOf(g) < roomOf(groups[least])) {
				least = i
			}
		}
		groups[least] = append(groups[least], d)
	}
	return groups
}

// check says what of the wish the placement does not fulfil.
func (p Placement) check(devices []Device, need Need, replicas int, named bool) error {
	var why []string
	for _, l := range p.Left {
		why = append(why, fmt.Sprintf("%v: %s", l.Device, l.Why))
	}
	reasons := strings.Join(why, "; ")
	switch {
	case len(devices) == 0:
		return fmt.Errorf("no GPU to place the model on")
	case len(p.Groups) == 0 && len(devices) == 1:
		return fmt.Errorf("the model does not fit: %s; take a smaller one, or free memory", reasons)
	case len(p.Groups) == 0:
		usable := slices.DeleteFunc(slices.Clone(devices), func(d Device) bool { return d.Unusable() != "" })
		return fmt.Errorf("the model does not fit, even split over all GPUs: it needs %s of their %s of room (%s); take a smaller one, or free memory",
			size(need.of(max(1, len(usable)))), size(roomOf(usable)), reasons)
	case replicas > len(p.Groups):
		return fmt.Errorf("--replicas %d: there is room for %d of %s each (%s)", replicas, len(p.Groups), size(need.Bytes), cmp.Or(reasons, "one is on every GPU"))
	case named && replicas == 0 && len(p.Left) > 0:
		return fmt.Errorf("--gpus names GPUs that cannot be used (%s): leave them out, or free memory", reasons)
	}
	return nil
}
