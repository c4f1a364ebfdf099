package live

import (
	"time"

	"selfplay/games"
	"selfplay/scheduler"
)

// A Snapshot is the state of a run at one time.
type Snapshot struct {
	Model   string
	Elapsed time.Duration // since the start of this session
	Played  time.Duration // of that, up to the last step

	Planned  int // games of the whole run
	Ended    int // of those, by now
	Earlier  int // of those, before this session
	Live     int
	Replicas int // that play
	Lost     int // of those

	Rates Rates
	Left  Left
	New   int // kinds of games of which none has ended yet

	Rows    []string // labels
	Columns []string // labels, or opponents
	Kinds   []Kind   // in the order of the plan
	Answers []Answers

	Load Load
	Game Game

	Paused   bool     // nothing is computed
	Pausing  bool     // that was asked for, and the last step is on its way
	Stopping bool     // the run has been told to stop
	Doing    string   // what it waits for beside games, or ""
	Notes    []string // what was said meanwhile, the oldest first; nobody vouches for it
}

// Rates are per second, over the last while in which the run was not paused.
type Rates struct {
	Games   float64
	Written float64 // sampled tokens
	Read    float64 // prompt tokens computed
	Reused  float64 // prompt tokens that were there already
}

// A Kind is how far one kind of game is.
type Kind struct {
	Name    string
	Planned int
	Ended   int
	Scores  []Score // of row i in column k, at i*len(Columns)+k
}

// A Score counts games by how they ended for a label; of a label with itself, for
// seat 0.
type Score struct{ Won, Drawn, Lost int }

// Games is how many are counted.
func (s Score) Games() int { return s.Won + s.Drawn + s.Lost }

// Margin is (won - lost) / games; false without games.
func (s Score) Margin() (float64, bool) {
	if s.Games() == 0 {
		return 0, false
	}
	return float64(s.Won-s.Lost) / float64(s.Games()), true
}

// Answers counts those of a label in this session, and what was wrong with them.
// Where a replica is lost, what it answered in games that are played again counts too.
type Answers struct {
	Label     string
	Turns     int
	Invalid   int // refused by the rules
	Truncated int // ended while thinking
	Length    int // stopped at the most tokens of an answer
	Context   int // stopped where the context was full
	Tokens    int
}

func (a *Answers) add(o Answers) {
	a.Turns += o.Turns
	a.Invalid += o.Invalid
	a.Truncated += o.Truncated
	a.Length += o.Length
	a.Context += o.Context
	a.Tokens += o.Tokens
}

// A Load is how busy the machine is: the GPUs, or without any the cores.
type Load struct {
	GPUs  []GPU
	Cores []float64 // 0 to 1
}

// A GPU is what it tells of itself; nil: not that.
type GPU struct {
	Name        string
	Util        *uint32 // %
	Power       *uint32 // mW
	Used        *uint64 // bytes
	Temperature *uint32 // degrees Celsius
}

// A Game is one of those that are being played, or one that has just ended.
type Game struct {
	Job    scheduler.Job
	Turns  []scheduler.Turn // so far
	Result games.Result     // once Over
	Over   bool
	Number int // among the live ones of which a turn has ended, from 1; 0: none of them
	Of     int
}
