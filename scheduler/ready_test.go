package scheduler

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"selfplay/games"
)

// A gate lets jobs begin in rounds, each after all games of the one before ended.
type gate struct {
	mu       sync.Mutex
	jobs     []Job
	round    int // how many jobs one has
	dealt    int
	ended    int
	tooEarly int
}

func (g *gate) ready() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dealt < len(g.jobs) && g.dealt < (g.ended/g.round+1)*g.round
}

func (g *gate) tell(Job, games.Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended++
}

// gated has the games of cfg wait for a gate.
func gated(cfg *Config, jobs []Job, round int) *gate {
	g := &gate{jobs: jobs, round: round}
	cfg.Ready, cfg.Ended = g.ready, g.tell
	cfg.Jobs = func(yield func(Job) bool) {
		for {
			if !g.ready() {
				g.tooEarly++
				return
			}
			g.mu.Lock()
			j := g.jobs[g.dealt]
			g.dealt++
			g.mu.Unlock()
			if !yield(j) {
				return
			}
		}
	}
	return g
}

// Jobs that wait for others to end are all played, as they would be without waiting,
// whether by the model, by policies, or by several replicas.
func TestJobsThatWaitForOthers(t *testing.T) {
	jobs := makeJobs(50)
	for i := range jobs {
		jobs[i].Players[i%2] = []string{"", "policy"}[i/2%2]
	}
	for _, round := range []int{1, 7, 50} {
		for _, alone := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				cfg := fakeConfig(runLimits, jobs)
				cfg.Policies = map[string]Policy{"policy": Random{}}
				if alone {
					cfg.Policies[""] = Random{}
				}
				want := reference(t, cfg, byHash)
				g := gated(&cfg, jobs, round)
				c, err := NewCore(cfg)
				if err != nil {
					t.Fatal(err)
				}
				var got []Record
				if err := Run(t.Context(), c, newFakeEngine(runLimits, byHash), func(r Record) error { got = append(got, r); return nil }, nil); err != nil {
					t.Fatal(err)
				}
				sameRecords(t, got, want)
				if g.tooEarly > 0 || g.ended != len(jobs) {
					t.Errorf("%d jobs were pulled too early, %d ended", g.tooEarly, g.ended)
				}
			})
		}
		synctest.Test(t, func(t *testing.T) {
			cfg := fakeConfig(runLimits, jobs)
			cfg.Policies = map[string]Policy{"policy": Random{}}
			want := reference(t, cfg, byHash)
			team, engines := newTeam(rand.New(rand.NewPCG(9, uint64(round))), cfg, 3, byHash)
			g := gated(&cfg, jobs, round)
			o := runTeam(t, t.Context(), cfg, team, nil)
			if o.err != nil || len(engines) != 3 {
				t.Fatal(o.err)
			}
			sameRecords(t, o.records, want)
			if g.tooEarly > 0 || g.ended != len(jobs) {
				t.Errorf("replicas: %d jobs were pulled too early, %d ended", g.tooEarly, g.ended)
			}
		})
	}
}

// A game both of whose seats policies hold needs no slot, also beside the model's.
func TestPoliciesBesideTheModel(t *testing.T) {
	jobs := makeJobs(60)
	for i := range jobs {
		if i%3 == 0 {
			jobs[i].Players = [2]string{"policy", "policy"}
		}
	}
	cfg := fakeConfig(runLimits, jobs)
	cfg.Policies = map[string]Policy{"policy": Random{}}
	records, _ := play(t, cfg, byHash)
	sameRecords(t, records, reference(t, cfg, byHash))
	if !slices.ContainsFunc(records, func(r Record) bool { return r.Job.Players[0] == "policy" && r.Turns[0].Finish == FinishPolicy }) {
		t.Error("no policy played")
	}
}
