package live

import (
	"strconv"
	"strings"
)

// Cores tells how busy each core that a process may use was since it was asked last.
type Cores struct {
	stat    func() string
	allowed map[int]bool // nil: all
	before  []ticks
}

// ticks are how long a core was busy, and how long it was there, in the kernel's unit.
type ticks struct{ busy, all uint64 }

// NewCores reads what stat gives, which is /proc/stat; status is /proc/self/status.
func NewCores(stat func() string, status string) *Cores {
	c := &Cores{stat: stat, allowed: parseAllowed(status)}
	c.before = c.read()
	return c
}

// Load is the share of the time, 0 to 1, that each core was busy; nil if it cannot
// be told.
func (c *Cores) Load() []float64 {
	now, before := c.read(), c.before
	c.before = now
	if len(now) != len(before) {
		return nil
	}
	var load []float64
	for i, t := range now {
		if t.all <= before[i].all || t.busy < before[i].busy {
			load = append(load, 0)
			continue
		}
		load = append(load, min(1, float64(t.busy-before[i].busy)/float64(t.all-before[i].all)))
	}
	return load
}

// read finds the lines of the cores:
//
//	cpu0 user nice system idle iowait irq softirq steal ...
func (c *Cores) read() (cores []ticks) {
	for line := range strings.Lines(c.stat()) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		number, ok := strings.CutPrefix(fields[0], "cpu")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || c.allowed != nil && !c.allowed[n] {
			continue
		}
		var t ticks
		for i, field := range fields[1:min(len(fields), 9)] { // those after are in user and nice already
			n, _ := strconv.ParseUint(field, 10, 64)
			t.all += n
			if i != 3 && i != 4 { // idle, and idle while waiting for the disk
				t.busy += n
			}
		}
		cores = append(cores, t)
	}
	return cores
}

// parseAllowed finds the cores that a process may use: "Cpus_allowed_list: 0-3,8". nil
// if that is not told.
func parseAllowed(status string) map[int]bool {
	for line := range strings.Lines(status) {
		list, ok := strings.CutPrefix(line, "Cpus_allowed_list:")
		if !ok {
			continue
		}
		allowed := map[int]bool{}
		for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
			first, last, isRange := strings.Cut(part, "-")
			from, err := strconv.Atoi(first)
			to := from
			if isRange && err == nil {
				to, err = strconv.Atoi(last)
			}
			if err != nil || to-from > 1<<16 {
				return nil
			}
			for n := from; n <= to; n++ {
				allowed[n] = true
			}
		}
		return allowed
	}
	return nil
}
