package bench

// A Report is what a run measured. Games go by their environment id, as in the
// plan (TicTacToe-v0), languages by their label: the code of the interface's
// language, or zh+fr where an interface in zh is told to reason in fr. A value
// that no game speaks for is absent. Intervals are of 95 %, see Interval.
//
// Games against an opponent (scheduler.Job.Players) are in Counts, ByGame,
// Answers and Opponents; all other figures are of self-play alone.
type Report struct {
	Dir        string     `json:"run"` // the folder
	Experiment Experiment `json:"experiment"`
	Counts                // of the whole run
	Seconds    float64    `json:"seconds"` // played, summed over the sessions
	Labels     []string   `json:"labels"`  // the rows of every table: the experiment's languages, then labels such as zh+fr

	Margins    map[string]map[string]map[string]float64 `json:"margins"`     // game, language A, language B: Delta(A,B)
	Mu         map[string]map[string]float64            `json:"mu"`          // game, language: mean margin (Figure F.1)
	Gap        map[string]float64                       `json:"gap"`         // game: largest mu less the smallest (Table 2)
	FirstMover map[string]map[string]float64            `json:"first_mover"` // game, language: seat 0 over seat 1, same language
	SeatMargin map[string]float64                       `json:"seat_margin"` // game: seat 0 over seat 1, all of its games

	MarginsCI    map[string]map[string]map[string]Interval `json:"margins_ci"`
	MuCI         map[string]map[string]Interval            `json:"mu_ci"`
	GapCI        map[string]Interval                       `json:"gap_ci"`
	FirstMoverCI map[string]map[string]Interval            `json:"first_mover_ci"`
	SeatMarginCI map[string]Interval                       `json:"seat_margin_ci"`

	// Means over the games: Figure 2 of the paper, and Table 2's last column.
	MarginsMean   map[string]map[string]float64  `json:"margins_mean"`
	MuMean        map[string]float64             `json:"mu_mean"`
	GapMean       *float64                       `json:"gap_mean,omitempty"`
	MarginsMeanCI map[string]map[string]Interval `json:"margins_mean_ci"`
	MuMeanCI      map[string]Interval            `json:"mu_mean_ci"`
	GapMeanCI     *Interval                      `json:"gap_mean_ci,omitempty"`

	Tests     map[string]Tests                        `json:"tests"`                // game
	Ratings   map[string]Rating                       `json:"ratings"`              // game
	RatingAll *Rating                                 `json:"rating_all,omitempty"` // one strength a language for all games; with two games or more
	Recovery  map[string][]Recovery                   `json:"recovery"`             // game: Table 3, a row per label such as zh+fr
	Opponents map[string]map[string]map[string]Versus `json:"opponents"`            // game, opponent, language of the model

	// How moves compare with perfect play, by game and language of the mover.
	// Games that are not solved are absent, and so are invalid moves.
	Judged  map[string]map[string]int     `json:"judged"`  // moves
	Optimal map[string]map[string]float64 `json:"optimal"` // share of them that lose nothing
	Regret  map[string]map[string]float64 `json:"regret"`  // what they lose in the mean, see games.Solved

	// The paper's tables G.1 to G.4, by game (also its variants) and language.
	TicTacToe map[string]map[string]LineLosses `json:"tictactoe"`
	SimpleTak map[string]map[string]PathLosses `json:"simpletak"`
	Kuhn      map[string]map[string]KuhnPlay   `json:"kuhn"`
	Nim       map[string]map[string]NimPlay    `json:"nim"`

	GPU *GPUUse `json:"gpu,omitempty"` // nil: no session watched any

	ByGame  map[string]Counts                  `json:"by_game"`
	ByLang  map[string]AnswerCounts            `json:"by_lang"` // the model's answers in the language
	Answers map[string]map[string]AnswerCounts `json:"answers"` // game, language: the same, apart

	Paper []PaperRow `json:"paper,omitempty"` // the paper's numbers beside ours, if asked for
}

// An Interval is a 95 % confidence interval: its low and its high end.
type Interval [2]float64

// Contains reports whether v lies within the interval, its ends included.
func (i Interval) Contains(v float64) bool { return i[0] <= v && v <= i[1] }

// A Share is how many of a number of things were so. In JSON it also has
// "share" and its interval "ci", unless it is of nothing.
type Share struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

// Tests say whether languages differ in one game. The overall test is that of
// the gap: the chance of a gap as large if all languages were equal.
type Tests struct {
	P     float64    `json:"p"`      // of the gap
	PHolm float64    `json:"p_holm"` // corrected for the games of the run
	Pairs []PairTest `json:"pairs"`  // each pair once, in the order of the labels
}

// A PairTest compares two languages: the chance of a margin at least as large if
// it made no difference which of the two sits where, see PairP.
type PairTest struct {
	A      string  `json:"a"`
	B      string  `json:"b"`
	Margin float64 `json:"margin"` // of A over B
	P      float64 `json:"p"`
	PHolm  float64 `json:"p_holm"` // corrected for the pairs of the game
}

// A Rating is the strength of each language, fitted to all games of a game
// together, with draws and the advantage of moving first; see rate.
type Rating struct {
	Langs []Strength `json:"langs"` // the strongest first
	First float64    `json:"first"` // what moving first is worth, in Elo points; the mean over games if it is of several
}

// A Strength is in Elo points, which sum to zero over the languages: 400 more
// means ten wins for a loss.
type Strength struct {
	Lang  string   `json:"lang"`
	Elo   float64  `json:"elo"`
	SE    float64  `json:"se"` // standard error
	CI    Interval `json:"ci"`
	Ranks [2]int   `json:"ranks"`     // the best and the worst that it may have, from 1
	Ties  []string `json:"tied_with"` // languages whose intervals overlap this one
}

// A Recovery is a row of the paper's Table 3: how much of what an interface
// language loses comes back when the model reasons in another language.
type Recovery struct {
	Label     string    `json:"label"`     // such as zh+fr
	Interface string    `json:"interface"` // the floor: zh, reasoning in zh
	Best      string    `json:"best"`      // the ceiling: the language of the largest mean margin
	Mu        float64   `json:"mu"`
	MuFloor   float64   `json:"mu_floor"`
	MuBest    float64   `json:"mu_best"`
	Share     *float64  `json:"recovery,omitempty"` // (mu - floor) / (best - floor), 1 is all of it; nil: the floor is the best
	CI        *Interval `json:"ci,omitempty"`
}

// Versus is how the model in one language did against an opponent.
type Versus struct {
	Tally  [2]Tally     `json:"tally"`  // with the model in seat 0, in seat 1; Wins0 are seat 0's
	Margin float64      `json:"margin"` // of the model, over the games of both seats
	CI     Interval     `json:"ci"`
	Seat   [2]*float64  `json:"by_seat"` // the model's margin in seat 0, in seat 1
	SeatCI [2]*Interval `json:"by_seat_ci"`
}

// LineLosses are a language's defeats in Tic Tac Toe (Table G.1). A last move
// may complete two lines: both are counted, so the shares are of lines and sum
// to one. Defeats by an invalid move complete none.
type LineLosses struct {
	Defeats  int   `json:"defeats"`  // by lines
	Double   int   `json:"double"`   // of those, by two lines at once
	Forfeits int   `json:"forfeits"` // by a second invalid move
	Row      Share `json:"row"`      // of lines
	Column   Share `json:"column"`
	Diagonal Share `json:"diagonal"`
}

// PathLosses are a language's defeats in SimpleTak (Table G.2) by a path from
// left to right (row) or from top to bottom (column). A last stone may complete
// both: both are counted, so the shares are of directions and sum to one.
type PathLosses struct {
	Defeats  int   `json:"defeats"`
	Double   int   `json:"double"`
	Forfeits int   `json:"forfeits"`
	Row      Share `json:"row"`
	Column   Share `json:"column"`
}

// KuhnPlay is how a language plays Kuhn Poker (Table G.3). Invalid is of all its
// answers. The others are of all answers given with that card in that spot,
// invalid ones included: that is why the paper's CallK and FoldK miss 100 %.
type KuhnPlay struct {
	Invalid Share `json:"invalid"`
	BluffJ  Share `json:"bluff_j"` // bets with the jack, check and bet being legal
	BetQ    Share `json:"bet_q"`
	ValueK  Share `json:"value_k"`
	CallK   Share `json:"call_k"` // calls with the king, facing a bet
	FoldK   Share `json:"fold_k"`
}

// NimPlay is how a language plays Nim (Table G.4). First moves are the first
// valid ones of seat 0; from 3, 4, 5 only taking 2 from pile 0 is optimal.
type NimPlay struct {
	Win      Share `json:"win"`      // games won; one of a language with itself counts once, for the seat of its role
	Mentions int   `json:"mentions"` // of the optimal strategy in its completions
	First    Share `json:"first"`    // first moves that are optimal

	// First, by what the completion is mainly written in, for languages that
	// are not written in Latin letters.
	Kept     *Share `json:"first_own_script,omitempty"`
	Switched *Share `json:"first_latin,omitempty"`
}

// A PaperRow is one number of the paper beside ours. Shares are in percent, as
// there.
type PaperRow struct {
	Table  string    `json:"table"` // gap, recovery, tictactoe, simpletak, kuhn, nim
	Model  string    `json:"model"` // as the paper names it
	Game   string    `json:"game"`  // environment id, or empty for the mean over games
	Lang   string    `json:"lang,omitempty"`
	Figure string    `json:"figure"` // such as bluff_j
	Paper  float64   `json:"paper"`
	Ours   *float64  `json:"ours"` // null: the run does not tell
	CI     *Interval `json:"ci"`
	Diff   *float64  `json:"diff"`   // ours less the paper's
	Within *bool     `json:"within"` // the paper's number lies in our interval
}

// A Comparison is several runs side by side, such as the paper's three models.
type Comparison struct {
	Runs        []*Report          `json:"runs"`
	GapAverage  map[string]float64 `json:"gap_average"`                // game: mean over the runs (Table 2's last row)
	GapMeanMean *float64           `json:"gap_average_mean,omitempty"` // the mean of the runs' mean gaps
}
