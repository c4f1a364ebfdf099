package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"selfplay/games"
	"selfplay/inference"
)

// talk is a game as long as the real ones: 10 turns, prompts of 300 tokens
// and more, of which the first 250 are the rules.
type talk struct {
	turn int
	log  string
}

var rules = strings.Repeat("the rules ", 25)

func (g *talk) ToMove() int                      { return g.turn % 2 }
func (g *talk) Observation() string              { return g.log }
func (g *talk) Result() (r games.Result, _ bool) { return r, g.turn == 10 }
func (g *talk) Step(action string) games.Event {
	g.turn++
	g.log += action[:min(len(action), 5)]
	return games.Event{}
}

// hundred ends a turn after 100 tokens on average.
func hundred(_ []int32, _ uint64, draw float64) int32 {
	if draw < 0.01 {
		return tokenEnd
	}
	return 'a' + int32(draw*26)
}

func benchCore(b *testing.B, slots int) (*Core, *fakeEngine) {
	limits := inference.Limits{Slots: 2 * slots, Rows: slots, Cells: 1024, Tokens: slots + 2048, Least: 64, Pool: slots * 1024}
	cfg := fakeConfig(limits, nil)
	cfg.Jobs = func(yield func(Job) bool) {
		for i := 0; yield(Job{ID: fmt.Sprint("game ", i), Index: i}); i++ {
		}
	}
	cfg.New = func(j Job) (games.Game, error) { return &talk{log: fmt.Sprint(rules, j.Index, " ")}, nil }
	c, err := NewCore(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return c, newFakeEngine(limits, hundred)
}

// BenchmarkStep is the core with a fake engine that samples for next to nothing:
// steps of a run in full swing, with games that begin and end. Of the time a row,
// that of the core alone is given too.
func BenchmarkStep(b *testing.B) {
	for _, slots := range []int{64, 1000, 10_000} {
		b.Run(fmt.Sprint(slots), func(b *testing.B) {
			c, e := benchCore(b, slots)
			defer c.Close()
			var engine time.Duration
			step := func() int {
				batch := c.Next()
				begin := time.Now()
				if err := e.compute(batch); err != nil {
					b.Fatal(err)
				}
				engine += time.Since(begin)
				finish(c, batch)
				return len(batch.Rows)
			}
			for c.stats.Live() < slots {
				step()
			}
			b.ReportAllocs()
			rows := 0
			engine = 0
			for b.Loop() {
				rows += step()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
			b.ReportMetric(float64((b.Elapsed()-engine).Nanoseconds())/float64(rows), "core-ns/row")
			b.ReportMetric(float64(rows)/float64(b.N), "rows/step")
		})
	}
}

// A step in which no turn ends and no slot grows allocates nothing, neither with
// prompts nor with decoding.
func TestStepAllocatesNothing(t *testing.T) {
	limits := inference.Limits{Slots: 20, Rows: 20, Cells: 4000, Tokens: 24, Least: 2000, Pool: 20 * 4000}
	cfg := fakeConfig(limits, makeJobs(20))
	c, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e := newFakeEngine(cfg.Limits, func([]int32, uint64, float64) int32 { return 'x' })
	for c.stats.Live() < 20 || len(c.line) > 0 || c.half >= 0 { // admit all
		b := c.Next()
		e.compute(b)
		finish(c, b)
	}
	n := testing.AllocsPerRun(1000, func() {
		b := c.Next()
		for i := range b.Rows {
			b.Rows[i].Token = 'x'
		}
		finish(c, b)
	})
	if n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}
