package bench

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"selfplay/inference/gpus"
	"selfplay/scheduler"
)

// fakeWatch gives its rounds of samples when it is started and when it is stopped.
type fakeWatch struct {
	devices     []gpus.Device
	first, last []gpus.Sample
	hangs       error
	keep        func([]gpus.Sample)
	stopped     int
}

func (w *fakeWatch) Devices() []gpus.Device { return w.devices }
func (w *fakeWatch) Latest() []gpus.Sample  { return w.first }
func (w *fakeWatch) Stop() error {
	w.stopped++
	w.keep(w.last)
	return w.hangs
}
func (w *fakeWatch) Start(keep func([]gpus.Sample)) {
	w.keep = keep
	keep(w.first)
}

func some[T any](v T) *T { return &v }

// twoGPUs used 1,500 J and, if both tell it, 500 J.
func twoGPUs(bothTell bool) *fakeWatch {
	capped, idle, free := gpus.Reasons(4), gpus.Reasons(1), gpus.Reasons(0)
	w := &fakeWatch{
		devices: []gpus.Device{{Index: 2, UUID: "GPU-c", Name: "NVIDIA H200"}, {Index: 5, UUID: "GPU-f"}},
		first: []gpus.Sample{
			{GPU: 0, Util: some(uint32(80)), Power: some(uint32(500_000)), Used: some(uint64(10 << 30)), Throttle: &free},
			{GPU: 1, Throttle: &idle},
		},
		last: []gpus.Sample{
			{GPU: 0, At: time.Second, Util: some(uint32(100)), MemUtil: some(uint32(70)), Power: some(uint32(700_000)), Used: some(uint64(130 << 30)),
				Counter: some(uint64(99)), SMClock: some(uint32(1980)), MemClock: some(uint32(3201)), Temperature: some(uint32(61)), ECC: some(uint64(0)),
				Processes: some(1), Throttle: &capped, Joules: some(1500.0), From: gpus.FromCounter},
			{GPU: 1, At: time.Second, Throttle: &idle},
		},
	}
	if bothTell {
		w.last[1].Joules, w.last[1].From = some(500.0), gpus.FromPower
	}
	return w
}

// firstGames plays n of the jobs and stops.
func firstGames(n int) Player {
	return func(ctx context.Context, d Deal,
		sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		ended := 0
		return fakePlayer(ctx, d, sink, func(p scheduler.Progress) {
			progress(p)
			if ended++; ended == n {
				stop()
			}
		})
	}
}

// By hand: session 0 has no watch and ends 6 games; session 1 has both GPUs'
// energy, 2,000 J, and ends 10; in session 2 one GPU tells none, and it ends 20.
// A game has 3 turns of 5 tokens, so that 2,000 J are of 10 games, 200 J each, and
// of 150 tokens, 13,333 J a thousand.
func TestEnergyByHand(t *testing.T) {
	dir := t.TempDir()
	play := func(n int, w Watch) Summary {
		t.Helper()
		sum, err := Play(t.Context(), Options{Dir: dir, Experiment: testExperiment(), Player: firstGames(n), Watch: w})
		if sum.Report == nil {
			t.Fatal(err)
		}
		return sum
	}
	if sum := play(6, nil); sum.GPU != nil || sum.Report.GPU != nil {
		t.Errorf("%+v without a watch", sum.GPU)
	}
	sum := play(10, twoGPUs(true))
	if u := sum.GPU; u == nil || *u.Joules != 2000 || u.Games != 10 || *u.JoulesPerGame != 200 || u.CompletionTokens != 150 || !near(*u.JoulesPerKTok, 40_000/3.0) {
		t.Errorf("summary: %+v", u)
	}
	last := twoGPUs(false)
	if sum = play(36, last); sum.GPU == nil || sum.GPU.Joules != nil || sum.GPU.JoulesPerGame != nil || sum.WholeRun.Games != 36 {
		t.Errorf("%+v of a session in which a GPU does not tell its energy", sum.GPU)
	}
	u := sum.Report.GPU
	if *u.Joules != 2000 || u.Games != 10 || u.CompletionTokens != 150 || *u.JoulesPerGame != 200 || !near(*u.JoulesPerKTok, 40_000/3.0) {
		t.Errorf("report: %+v", u)
	}
	c, f := u.GPUs[0], u.GPUs[1]
	want := GPUStats{Index: 2, UUID: "GPU-c", Name: "NVIDIA H200", Samples: 4, Joules: some(3000.0), From: gpus.FromCounter, Utilization: some(90.0),
		Watts: some(600.0), PeakMemory: some(int64(130 << 30)), Hottest: some(int64(61)), Throttled: some(0.5), Reasons: map[string]float64{"power cap": 0.5}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	if want := (GPUStats{Index: 5, UUID: "GPU-f", Samples: 4, Joules: some(500.0), From: gpus.FromPower, Throttled: some(0.0)}); !reflect.DeepEqual(f, want) {
		t.Errorf("got  %+v\nwant %+v", f, want)
	}
	// Nothing is left to play: nothing is watched.
	idle := twoGPUs(true)
	if sum = play(0, idle); idle.keep != nil || sum.GPU != nil || *sum.Report.GPU.Joules != 2000 {
		t.Errorf("watched while nothing was played: %+v", sum.GPU)
	}
	checkGPUText(t, sum.Report)
}

func checkGPUText(t *testing.T, rep *Report) {
	t.Helper()
	var out strings.Builder
	if err := rep.WriteText(&out, "RUN"); err != nil {
		t.Fatal(err)
	}
	want := `
gpu       util    power   peak mem     energy       by  throttled
2          90%    600 W   130.0 GB     3.0 kJ  counter        50%
        power cap 50%
5            -        -          -     0.5 kJ    power         0%
energy: 200 J a game, 1.333e+04 J for 1,000 tokens written, in 10 of 36 games

results: RUN
`
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("got %s, want ...%s", out.String(), want)
	}
	data, err := json.Marshal(rep)
	if want := `"gpu":{"joules":2000,"games":10,"completion_tokens":150,"joules_per_game":200,"joules_per_1000_completion_tokens":13333.`; err != nil || !strings.Contains(string(data), want) {
		t.Errorf("%v, no %s in %s", err, want, data)
	}
}

// Every column holds what its name says.
func TestSamplesAreKept(t *testing.T) {
	s := mustCreate(t, t.TempDir(), testExperiment())
	w := twoGPUs(true)
	if err := s.addGPUs(w.devices); err != nil {
		t.Fatal(err)
	}
	w.last[0].ECC = some(^uint64(0)) // more than SQLite holds
	if err := s.addSamples(w.last); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		`SELECT concat_ws(' ', session, at_ms, gpu, util, mem_util, mem_used, power_mw, energy_mj, sm_mhz, mem_mhz, temperature, throttle, coalesce(ecc, 'none'), processes) FROM gpu_samples WHERE gpu = 0`: "0 1000 0 100 70 139586437120 700000 99 1980 3201 61 power cap none 1",
		`SELECT count(*) || throttle FROM gpu_samples WHERE gpu = 1 AND util IS NULL AND mem_used IS NULL AND power_mw IS NULL AND processes IS NULL`:                                                        "1idle",
		`SELECT concat_ws(' ', session, gpu, idx, uuid, name, joules, source) FROM gpus WHERE gpu = 0`:                                                                                                       "0 0 2 GPU-c NVIDIA H200 1500.0 counter",
		`PRAGMA user_version`: "3",
	} {
		var got string
		if err := s.db.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %v, %q, want %q", query, err, got, want)
		}
	}
}

// Samples are stored while the run goes on, not only at its end: a process that
// is killed leaves them.
func TestSamplesAreKeptOnTheWay(t *testing.T) {
	stored := make(chan int)
	k := &gpuKeeper{watch: &fakeWatch{keep: func([]gpus.Sample) {}}, batch: 4, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		store: func(s []gpus.Sample) error { stored <- len(s); return nil }}
	go k.run()
	for range 4 {
		k.keep(make([]gpus.Sample, 1))
	}
	if n := <-stored; n != 4 {
		t.Errorf("%d samples stored", n)
	}
	for range 50 { // the disk hangs: nobody waits for it
		k.keep(make([]gpus.Sample, 1))
	}
	rest := make(chan int)
	go func() {
		n := 0
		for n < 50 {
			n += <-stored
		}
		rest <- n
	}()
	if err := k.close(); err != nil || <-rest != 50 {
		t.Errorf("%v", err)
	}
}

// Whatever stops the run, the watch is stopped once and its samples are there.
func TestWatchIsStopped(t *testing.T) {
	broken := errors.New("the engine broke")
	hangs := errors.New("NVML hangs")
	for _, c := range []struct {
		name   string
		player Player
		spoil  string // of the database
		hangs  error
		want   []string
	}{
		{name: "done", player: fakePlayer},
		{name: "interrupted", player: firstGames(3), want: []string{"context canceled", "3 of 36 games have ended"}},
		{name: "broken", player: func(context.Context, Deal, func(scheduler.Record) error, func(scheduler.Progress)) error {
			return broken
		}, want: []string{"the engine broke"}},
		{name: "hanging", player: fakePlayer, hangs: hangs, want: []string{"NVML hangs", "36 of 36 games have ended and are kept"}},
		{name: "broken and hanging", player: firstGames(3), hangs: hangs, want: []string{"context canceled; NVML hangs"}},
		{name: "not storable", player: fakePlayer, spoil: `CREATE TRIGGER full BEFORE INSERT ON gpu_samples BEGIN SELECT RAISE(FAIL, 'no room'); END`, want: []string{"samples could not be kept", "no room", "36 of 36 games"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			mustCreate(t, dir, testExperiment()).Close()
			player := c.player
			if c.spoil != "" { // once it is open, as what is spoilt before is refused
				player = func(ctx context.Context, d Deal, sink func(scheduler.Record) error, progress func(scheduler.Progress)) error {
					execDB(t, dir, c.spoil)
					return c.player(ctx, d, sink, progress)
				}
			}
			w := twoGPUs(true)
			w.hangs = c.hangs
			_, err := Play(t.Context(), Options{Dir: dir, Experiment: testExperiment(), Player: player, Watch: w})
			if c.want != nil {
				checkLine(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
			if w.stopped != 1 {
				t.Errorf("stopped %d times", w.stopped)
			}
			if c.spoil != "" {
				return
			}
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rep, err := r.Report()
			if err != nil || rep.GPU == nil || *rep.GPU.Joules != 2000 || rep.GPU.GPUs[0].Samples != 2 {
				t.Errorf("%v, %+v", err, rep.GPU)
			}
		})
	}
}

func TestProgressOfGPUs(t *testing.T) {
	busy := gpus.Sample{Util: some(uint32(97)), Power: some(uint32(612_400))}
	var eight []gpus.Sample
	for range 8 {
		eight = append(eight, busy)
	}
	p := scheduler.Progress{Elapsed: 90 * time.Second, Stats: scheduler.Stats{Started: 1300, Ended: 900, PrefillTokens: 1_800_000, CompletionTokens: 450_000}}
	for _, c := range []struct {
		samples []gpus.Sample
		gpu     string
	}{
		{eight[:1], ", gpu 97% 612 W"},
		{eight, ", gpus 97% 4.9 kW"},
		{[]gpus.Sample{{Util: some(uint32(50))}, {}}, ", gpus 50%"},
		{[]gpus.Sample{{}}, ""},
		{nil, ""},
	} {
		l := progressLine{before: 100, planned: 28_800, gpus: func() []gpus.Sample { return c.samples }}
		want := "1,000 of 28,800 games, 3%, 400 playing, 20,000 tokens/s read, 5,000 written" + c.gpu + ", 10 games/s, 46m20s left"
		if got := l.text(p); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
