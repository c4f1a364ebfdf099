package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"selfplay/games"
	"selfplay/inference"
	"selfplay/scheduler"
)

// failing is the scripted engine that fails from some step on.
type failing struct {
	scripted
	from int
}

var errGone = errors.New("the device is gone")

func (e *failing) Forward(b *inference.Batch) error {
	if e.from > 0 && e.steps+1 >= e.from {
		return errGone
	}
	return e.scripted.Forward(b)
}

// playReplicas plays n games on engines that fail from these steps on; 0: never.
func playReplicas(ctx context.Context, n int, f *file, from ...int) (sum Summary, lost []string, stored int, err error) {
	var jobs []scheduler.Job
	for i := range n {
		jobs = append(jobs, scheduler.Job{ID: fmt.Sprint(i), Index: i})
	}
	limits := inference.Limits{Rows: 2, Slots: 2, Cells: 100, Tokens: 70, Pool: 200, Least: 100}
	var team []scheduler.Replica
	for i, from := range from {
		e := &failing{from: from}
		e.limits, e.forward = limits, func(int) { time.Sleep(40 * time.Millisecond) }
		team = append(team, scheduler.Replica{Name: fmt.Sprint("r", i), Engine: e, Codec: e})
	}
	cfg := scheduler.Config{New: func(scheduler.Job) (games.Game, error) { return &twoTurns{}, nil }}
	t := newTimeline(f)
	player := OnReplicas(cfg, team, func(r scheduler.Replica, err error) { lost = append(lost, r.Name) })
	sum, err = play(ctx, player, Deal{Jobs: slices.Values(jobs), Total: n}, &progressLine{planned: n}, t,
		func(r ...scheduler.Record) error { stored += len(r); return nil })
	return sum, lost, stored, errors.Join(err, t.close())
}

// A run on replicas tells how many there were and what became of them; its times
// are means, and each replica has a process in the timeline.
func TestOnReplicas(t *testing.T) {
	for _, c := range []struct {
		name  string
		from  []int
		lost  []string
		fails bool
	}{
		{"whole", []int{0, 0}, nil, false},
		{"one lost", []int{0, 9, 0}, []string{"r1"}, false},
		{"all lost", []int{5, 5}, []string{"r0", "r1"}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var f file
			sum, lost, stored, err := playReplicas(t.Context(), 40, &f, c.from...)
			slices.Sort(lost)
			if errors.Is(err, errGone) != c.fails || !slices.Equal(lost, c.lost) || sum.Replicas != len(c.from) || sum.ReplicasLost != len(c.lost) {
				t.Errorf("%s: %v, lost %v: %+v", c.name, err, lost, sum)
			}
			if sum.Games != stored || !c.fails && stored != 40 || c.fails && stored == 40 {
				t.Errorf("%s: %d games stored: %+v", c.name, stored, sum)
			}
			// The host's work is 1.5 µs a prompt here, in steps of 40 ms.
			if sum.HostShare < 0 || sum.HostShare > 1e-3 || sum.EngineSeconds > sum.Seconds || c.lost == nil && sum.EngineSeconds < 0.9*sum.Seconds {
				t.Errorf("%s: %+v", c.name, sum)
			}
			all := parseTimeline(t, f.Bytes())
			if n := count(all, "process_name"); n != 1+len(c.from) || count(all, "lost") != len(c.lost) {
				t.Errorf("%s: %d processes, %d lost", c.name, n, count(all, "lost"))
			}
			steps := map[string]int{}
			for line := range strings.Lines(f.String()) {
				if strings.HasPrefix(line, `{"name":"step"`) {
					_, pid, _ := strings.Cut(line, `"pid":`)
					steps[pid[:1]]++
				}
			}
			if len(steps) != len(c.from) || steps["1"] > 0 {
				t.Errorf("%s: steps by process: %v", c.name, steps)
			}
		})
	}
}
