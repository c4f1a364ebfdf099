package scheduler

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"selfplay/games"
	"selfplay/inference"
)

// The fakes: a codec whose tokens are bytes, an engine whose cells remember
// everything before them as a KV cell does, and a game that reacts to every
// byte of every answer, so that a single wrong token changes what follows.

const (
	tokenSystem = 256 + iota
	tokenUser
	tokenAnswer
	tokenEnd
)

type fakeCodec struct{ open bool }

func (c fakeCodec) Prompt(system, user string) ([]int32, bool, error) {
	if strings.Contains(user, "unspeakable") {
		return nil, false, fmt.Errorf("no token for %q", "unspeakable")
	}
	ids := []int32{tokenSystem}
	ids = append(ids, bytesToIDs(system)...)
	ids = append(ids, tokenUser)
	ids = append(ids, bytesToIDs(user)...)
	return append(ids, tokenAnswer), c.open, nil
}

func (fakeCodec) Text(ids []int32) string {
	b := make([]byte, len(ids))
	for i, id := range ids {
		if id > 255 {
			panic(fmt.Sprintf("special token %d in a completion", id))
		}
		b[i] = byte(id)
	}
	return string(b)
}

// Cuts: a token is a byte.
func (fakeCodec) Cuts(_ []int32, places []int) []int { return places }

func (fakeCodec) End(id int32) bool { return id == tokenEnd }

func bytesToIDs(s string) []int32 {
	ids := make([]int32, len(s))
	for i := range len(s) {
		ids[i] = int32(s[i])
	}
	return ids
}

// A sampler draws the token that follows tokens; memory is remember of them.
type sampler func(tokens []int32, memory uint64, draw float64) int32

// remember folds one more token into what a cell knows of those before it.
func remember(memory uint64, token int32) uint64 {
	return (memory ^ uint64(token) ^ 0x9e37) * 1099511628211
}

// byHash depends on every token before and on every bit of the draw. One token
// in eight ends the turn.
func byHash(_ []int32, memory uint64, draw float64) int32 {
	memory = remember(memory, 0) ^ math.Float64bits(draw)
	memory ^= memory >> 29
	memory *= 0xbf58476d1ce4e5b9
	memory ^= memory >> 32
	if memory%8 == 0 {
		return tokenEnd
	}
	return 'a' + int32(memory/8%26)
}

// fakeEngine refuses every batch that the contract doesn't allow.
type fakeEngine struct {
	limits inference.Limits
	sample sampler
	cells  [][]int32  // by slot, the tokens whose cells are valid
	memory [][]uint64 // by slot and cell
	rings  [][]ringCell
	seen   []int // by slot, the last step that named it
	step   int
	fail   error // returned by the next Forward

	failCopy error // returned by the next Copy
}

func newFakeEngine(limits inference.Limits, sample sampler) *fakeEngine {
	return &fakeEngine{
		limits: limits, sample: sample,
		cells:  make([][]int32, limits.Slots),
		memory: make([][]uint64, limits.Slots),
		rings:  slices.Repeat([][]ringCell{nil}, limits.Slots),
		seen:   make([]int, limits.Slots),
	}
}

// A ringCell holds a position's memory in a layer that looks back over a window.
type ringCell struct {
	position int
	memory   uint64
}

// resumes says whether slot s still holds what position n would see.
func (e *fakeEngine) resumes(s, n int) bool {
	for q := max(0, n-e.limits.Window+1); q < n && e.limits.Ring > 0; q++ {
		if e.rings[s] == nil || e.rings[s][q%e.limits.Ring] != (ringCell{q, e.memory[s][q]}) {
			return false
		}
	}
	return true
}

// slide has position p of slot s see its window, and puts it into the ring.
func (e *fakeEngine) slide(s, p int, memory []uint64) error {
	n := e.limits.Ring
	if n == 0 {
		return nil
	}
	if e.rings[s] == nil {
		e.rings[s] = make([]ringCell, n)
	}
	for q := max(0, p-e.limits.Window+1); q < p; q++ {
		if c := e.rings[s][q%n]; c != (ringCell{q, memory[q]}) {
			return fmt.Errorf("slot %d: position %d sees position %d, whose cell holds %d", s, p, q, c.position)
		}
	}
	e.rings[s][p%n] = ringCell{p, memory[p]}
	return nil
}

func (e *fakeEngine) Limits() inference.Limits { return e.limits }
func (e *fakeEngine) Close() error             { return nil }

func (e *fakeEngine) Copy(dst, src, n int) error {
	if e.failCopy != nil {
		return e.failCopy
	}
	switch slots := e.limits.Slots; {
	case dst < 0 || src < 0 || dst >= slots || src >= slots || dst == src:
		return fmt.Errorf("copy from slot %d to %d of %d", src, dst, slots)
	case n < 1 || n > len(e.cells[src]):
		return fmt.Errorf("copy of %d cells from slot %d, which holds %d", n, src, len(e.cells[src]))
	}
	e.cells[dst] = append(e.cells[dst][:0], e.cells[src][:n]...)
	e.memory[dst] = append(e.memory[dst][:0], e.memory[src][:n]...)
	e.rings[dst] = append(e.rings[dst][:0], e.rings[src]...)
	return nil
}

// compute does a batch as Run does it.
func (e *fakeEngine) compute(b *inference.Batch) error {
	for _, c := range b.Copies {
		if err := e.Copy(c.Dst, c.Src, c.Cells); err != nil {
			return err
		}
	}
	return e.Forward(b)
}

func (e *fakeEngine) Forward(b *inference.Batch) error {
	if e.fail != nil {
		return e.fail
	}
	e.step++
	if n := b.Tokens(); n > e.limits.Tokens || n == 0 {
		return fmt.Errorf("%d tokens in a step of at most %d", n, e.limits.Tokens)
	}
	for i := range b.Rows {
		if err := e.forward(&b.Rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *fakeEngine) forward(row *inference.Row) error {
	switch s := row.Slot; {
	case s < 0 || s >= e.limits.Slots:
		return fmt.Errorf("no slot %d", s)
	case e.seen[s] == e.step:
		return fmt.Errorf("two rows of slot %d in a step", s)
	case len(row.Tokens) == 0:
		return fmt.Errorf("slot %d: a row without tokens", s)
	case row.Pos < 0 || row.Pos > len(e.cells[s]):
		return fmt.Errorf("slot %d: position %d, but only %d cells are computed", s, row.Pos, len(e.cells[s]))
	case row.Pos+len(row.Tokens) > e.limits.Cells:
		return fmt.Errorf("slot %d: %d tokens at %d leave its %d cells", s, len(row.Tokens), row.Pos, e.limits.Cells)
	case row.Draw < 0 || row.Draw >= 1 || !row.Sample && row.Draw != 0:
		return fmt.Errorf("slot %d: draw %v, sample %v", s, row.Draw, row.Sample)
	}
	s := row.Slot
	e.seen[s] = e.step
	cells, memory := e.cells[s][:row.Pos], e.memory[s][:row.Pos]
	last := uint64(0)
	if row.Pos > 0 {
		last = memory[row.Pos-1]
	}
	for _, t := range row.Tokens {
		last = remember(last, t)
		cells, memory = append(cells, t), append(memory, last)
		if err := e.slide(s, len(cells)-1, memory); err != nil {
			return err
		}
	}
	e.cells[s], e.memory[s] = cells, memory
	if row.Sample {
		row.Token = e.sample(cells, last, row.Draw)
	}
	return nil
}

// fakeGame is a talk of a few turns. What an answer does hangs on a hash of it:
// it may be invalid, give the other seat the turn or not, and decide the winner.
type fakeGame struct {
	job     Job
	length  int // valid turns
	padding string
	seat    int
	turns   [2]int
	log     [2]string
	invalid bool // the last answer was
	result  games.Result
	over    bool
}

func newFakeGame(job Job) (games.Game, error) {
	if job.Game == "broken" {
		return nil, fmt.Errorf("no such game")
	}
	g := &fakeGame{job: job, length: 1 + int(job.Seed%5)}
	for i := range g.log {
		g.log[i] = fmt.Sprintf("<%s> rules in %s.", job.ID, job.Langs[i])
	}
	if job.Game == "shared" {
		for i := range g.log {
			g.log[i] = fmt.Sprintf("%s of seat %d. <%s>", strings.Repeat("Rules in "+job.Langs[i]+". ", 10), i, job.ID)
		}
	}
	if job.Game == "long" {
		g.log[0] += strings.Repeat(" and so on", 200)
	}
	return g, nil
}

func (g *fakeGame) ToMove() int                  { return g.seat }
func (g *fakeGame) Observation() string          { return g.log[g.seat] }
func (g *fakeGame) Result() (games.Result, bool) { return g.result, g.over }

func (g *fakeGame) Step(action string) games.Event {
	if g.over {
		panic("Step of an ended game")
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s|%d|%s|%s", action, g.seat, g.log[0], g.log[1])
	n := h.Sum64() >> 7
	if action == "" || n%7 == 0 {
		if g.invalid {
			g.end(1-g.seat, "forfeit")
			g.result.Invalid[g.seat] = true
		}
		g.invalid = true
		g.log[g.seat] += " no!"
		return games.Event{Action: action, Invalid: true, Reason: "refused"}
	}
	g.invalid = false
	g.turns[g.seat]++
	for i := range g.log {
		g.log[i] += fmt.Sprintf(" %d:%s", g.seat, action)
	}
	if n%5 != 0 {
		g.seat = 1 - g.seat
	}
	if g.turns[0]+g.turns[1] == g.length {
		g.end(int(n%3), "played out")
	}
	return games.Event{Action: action, Default: n%11 == 0}
}

// end: winner 2 is a draw.
func (g *fakeGame) end(winner int, reason string) {
	g.over = true
	g.result.Turns = g.turns
	g.result.Reasons = [2]string{reason, reason}
	if winner < 2 {
		g.result.Rewards[winner], g.result.Rewards[1-winner] = 1, -1
	}
}

func (g *fakeGame) RandomAction(intn func(int) int) string {
	return fmt.Sprintf("[%d %d]", intn(100), intn(3))
}

// makeJobs are n jobs of different lengths and languages.
func makeJobs(n int) []Job {
	langs := []string{"en", "ar", "de", "zh"}
	jobs := make([]Job, n)
	for i := range jobs {
		jobs[i] = Job{
			ID: fmt.Sprintf("g%d", i), Game: "fake", Index: i, Seed: int64(i * 7),
			Langs: [2]string{langs[i%4], langs[i/4%4]},
		}
	}
	return jobs
}

// fakeConfig plays jobs with the fakes.
func fakeConfig(limits inference.Limits, jobs []Job) Config {
	return Config{
		Seed: 1, System: "You play.", Limits: limits, Codec: fakeCodec{},
		New: newFakeGame, Jobs: slices.Values(jobs), Total: len(jobs),
	}
}
