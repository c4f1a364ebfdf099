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

// The fakes: a codec whose tokens are bytes, and a game that reacts to every byte
// of every answer, so that a single wrong token changes what follows. The engine
// is in a file of its own.

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

// remember folds one more token into what a cell knows of those before it. It
// differs with how the token was computed, as prompt or as a sampled one.
func remember(memory uint64, token int32, decode bool) uint64 {
	memory = (memory ^ uint64(token) ^ 0x9e37) * 1099511628211
	if decode {
		memory += 0x51ed270b
	}
	return memory
}

// byHash depends on every token before and on every bit of the draw. One token
// in eight ends the turn.
func byHash(_ []int32, memory uint64, draw float64) int32 {
	memory = remember(memory, 0, false) ^ math.Float64bits(draw)
	memory ^= memory >> 29
	memory *= 0xbf58476d1ce4e5b9
	memory ^= memory >> 32
	if memory%8 == 0 {
		return tokenEnd
	}
	return 'a' + int32(memory/8%26)
}

// chatty is byHash with turns of 60 tokens on average.
func chatty(tokens []int32, memory uint64, draw float64) int32 {
	if draw < 1.0/60 {
		return tokenEnd
	}
	return 'a' + byHash(tokens, memory, draw)%26
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

// whole makes limits without blocks such that every slot always has one for all
// its cells.
func whole(l inference.Limits) inference.Limits {
	if l.Least == 0 {
		l.Rows, l.Pool, l.Least = l.Slots, l.Slots*l.Cells, l.Cells
	}
	return l
}

// fakeSystem has each language its own system prompt, of one length.
func fakeSystem(lang string) string { return "You, " + lang + "." }

// setPolicy has a policy answer for one seat of every game.
func setPolicy(cfg *Config, seat int, p Policy) {
	cfg.Policies = map[string]Policy{"policy": p}
	jobs := cfg.Jobs
	cfg.Jobs = func(yield func(Job) bool) {
		for j := range jobs {
			j.Players[seat] = "policy"
			if !yield(j) {
				return
			}
		}
	}
}

// fakeConfig plays jobs with the fakes.
func fakeConfig(limits inference.Limits, jobs []Job) Config {
	return Config{
		Seed: 1, System: fakeSystem, Limits: whole(limits), Codec: fakeCodec{},
		New: newFakeGame, Jobs: slices.Values(jobs), Total: len(jobs),
	}
}
