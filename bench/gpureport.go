package bench

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"selfplay/bench/screen"
	"selfplay/inference/gpus"
)

// GPUUse is what a run, or one session of it, made of its GPUs: all that they
// took and did while it played, other processes on them included.
//
// Energy is only known of sessions in which every GPU told it. Joules, and the
// games and tokens that they are divided by, are those of these sessions alone,
// so that a session without figures does not make a run look cheap. Games and
// tokens of a report are those of ended games; the energy of games that a
// stopped session had to leave is in Joules all the same.
type GPUUse struct {
	Joules           *float64   `json:"joules,omitempty"`
	Games            int        `json:"games"`             // that Joules are of
	CompletionTokens int        `json:"completion_tokens"` // that Joules are of
	JoulesPerGame    *float64   `json:"joules_per_game,omitempty"`
	JoulesPerKTok    *float64   `json:"joules_per_1000_completion_tokens,omitempty"`
	GPUs             []GPUStats `json:"gpus"` // in the order of their indices
}

// GPUStats are one GPU's figures, over all sessions. What it never told is absent.
type GPUStats struct {
	Index       int                `json:"index"` // as nvidia-smi showed it last
	UUID        string             `json:"uuid"`
	Name        string             `json:"name,omitempty"`
	Samples     int                `json:"samples"` // about one a second
	Joules      *float64           `json:"joules,omitempty"`
	From        gpus.Source        `json:"joules_from,omitempty"`
	Utilization *float64           `json:"utilization_percent,omitempty"` // mean
	Watts       *float64           `json:"watts,omitempty"`               // mean
	PeakMemory  *int64             `json:"peak_memory_bytes,omitempty"`
	Hottest     *int64             `json:"peak_celsius,omitempty"`
	Throttled   *float64           `json:"throttled,omitempty"`        // share of the time, see gpus.Throttles
	Reasons     map[string]float64 `json:"throttle_reasons,omitempty"` // of each, its share
}

// allSessions stands for every session in the functions below.
const allSessions = -1

// readGPUs is what is known of the GPUs of a session, or of all, and of which
// sessions the joules are; nil if none was watched.
func readGPUs(tx *sql.Tx, session int) (*GPUUse, map[int]bool, error) {
	byUUID := map[string]*GPUStats{}
	energy, err := readEnergy(tx, session, byUUID)
	if err == nil {
		err = readSamples(tx, session, byUUID)
	}
	if err == nil {
		err = readThrottle(tx, session, byUUID)
	}
	if err != nil || len(byUUID) == 0 {
		return nil, nil, err
	}
	use, known := &GPUUse{}, map[int]bool{}
	for _, s := range slices.Sorted(maps.Keys(energy)) { // in one order: sums of fractions depend on it
		if energy[s].Valid {
			known[s] = true
			add(&use.Joules, energy[s].V)
		}
	}
	for _, g := range byUUID {
		use.GPUs = append(use.GPUs, *g)
	}
	slices.SortFunc(use.GPUs, func(a, b GPUStats) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.UUID, b.UUID))
	})
	return use, known, nil
}

// add adds to a sum that may not have begun.
func add(sum **float64, v float64) {
	if *sum == nil {
		*sum = new(float64)
	}
	**sum += v
}

// readEnergy fills in which GPUs there are and what each used, and gives what
// the sessions used, where all their GPUs tell it.
func readEnergy(tx *sql.Tx, session int, byUUID map[string]*GPUStats) (map[int]sql.Null[float64], error) {
	rows, err := tx.Query(`SELECT session, idx, uuid, name, joules, coalesce(source, '') FROM gpus WHERE ?1 < 0 OR session = ?1 ORDER BY session, gpu`, session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	sessions := map[int]sql.Null[float64]{}
	for rows.Next() {
		var s int
		var g GPUStats
		var from gpus.Source
		var joules sql.Null[float64]
		if err := scan(rows, &s, &g.Index, &g.UUID, &g.Name, &joules, &from); err != nil {
			return nil, err
		}
		sum, seen := sessions[s]
		sessions[s] = sql.Null[float64]{V: sum.V + joules.V, Valid: joules.Valid && (sum.Valid || !seen)}
		known := byUUID[g.UUID]
		if known == nil {
			known = &GPUStats{UUID: g.UUID}
			byUUID[g.UUID] = known
		}
		known.Index, known.Name = g.Index, g.Name
		if joules.Valid {
			add(&known.Joules, joules.V)
			if known.From != "" && known.From != from {
				from = gpus.FromBoth
			}
			known.From = from
		}
	}
	return sessions, rows.Err()
}

func readSamples(tx *sql.Tx, session int, byUUID map[string]*GPUStats) error {
	rows, err := tx.Query(`SELECT g.uuid, count(*), avg(s.util), avg(s.power_mw) / 1000, max(s.mem_used), max(s.temperature)
		FROM gpu_samples s JOIN gpus g ON g.session = s.session AND g.gpu = s.gpu WHERE ?1 < 0 OR s.session = ?1 GROUP BY 1`, session)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var uuid string
		var s GPUStats
		if err := scan(rows, &uuid, &s.Samples, &s.Utilization, &s.Watts, &s.PeakMemory, &s.Hottest); err != nil {
			return err
		}
		g := byUUID[uuid]
		g.Samples, g.Utilization, g.Watts, g.PeakMemory, g.Hottest = s.Samples, s.Utilization, s.Watts, s.PeakMemory, s.Hottest
	}
	return rows.Err()
}

// readThrottle counts the samples of each combination of reasons.
func readThrottle(tx *sql.Tx, session int, byUUID map[string]*GPUStats) error {
	rows, err := tx.Query(`SELECT g.uuid, s.throttle, count(*), sum(count(*)) OVER (PARTITION BY g.uuid)
		FROM gpu_samples s JOIN gpus g ON g.session = s.session AND g.gpu = s.gpu
		WHERE s.throttle IS NOT NULL AND (?1 < 0 OR s.session = ?1) GROUP BY 1, 2 ORDER BY 1, 2`, session)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var uuid, names string
		var n, all float64
		if err := scan(rows, &uuid, &names, &n, &all); err != nil {
			return err
		}
		byUUID[uuid].throttle(names, n/all)
	}
	return rows.Err()
}

// throttle counts a share of the time with these reasons.
func (g *GPUStats) throttle(names string, share float64) {
	slow := false
	for name := range strings.SplitSeq(names, ", ") {
		if name == "" || !gpus.Throttles(name) {
			continue
		}
		slow = true
		if g.Reasons == nil {
			g.Reasons = map[string]float64{}
		}
		g.Reasons[name] += share
	}
	if !slow {
		share = 0
	}
	add(&g.Throttled, share)
}

// per divides the joules by the games and the tokens that they are of.
func (u *GPUUse) per(games, tokens int) {
	if u == nil || u.Joules == nil {
		return
	}
	u.Games, u.CompletionTokens = games, tokens
	if games > 0 {
		v := *u.Joules / float64(games)
		u.JoulesPerGame = &v
	}
	if tokens > 0 {
		v := *u.Joules / float64(tokens) * 1000
		u.JoulesPerKTok = &v
	}
}

// runGPUs is what all sessions used; tokens are those that each wrote.
func runGPUs(tx *sql.Tx, tokens map[int]int) (*GPUUse, error) {
	use, known, err := readGPUs(tx, allSessions)
	if use == nil || err != nil {
		return nil, err
	}
	rows, err := tx.Query(`SELECT session, count(*) FROM games GROUP BY session`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	games, written := 0, 0
	for rows.Next() {
		var session, n int
		if err := scan(rows, &session, &n); err != nil {
			return nil, err
		}
		if known[session] {
			games += n
			written += tokens[session]
		}
	}
	use.per(games, written)
	return use, rows.Err()
}

// gpuUse is what this process's session used, for a summary of its own counts.
func (s *Store) gpuUse(games, tokens int) (use *GPUUse, err error) {
	err = s.read(func(tx *sql.Tx) error {
		use, _, err = readGPUs(tx, s.session)
		return err
	})
	use.per(games, tokens)
	return use, err
}

// table has a row for every GPU; whole is the number of ended games of the run.
func (u *GPUUse) table(b *strings.Builder, whole int) {
	if u == nil {
		return
	}
	fmt.Fprintf(b, "\n%-8s%6s%9s%11s%11s%9s%11s\n", "gpu", "util", "power", "peak mem", "energy", "by", "throttled")
	for _, g := range u.GPUs {
		fmt.Fprintf(b, "%-8d%6s%9s%11s%11s%9s%11s\n", g.Index, figure(g.Utilization, 1, "%.0f%%"), figure(g.Watts, 1, "%.0f W"),
			figure(g.PeakMemory, 1.0/(1<<30), "%.1f GB"), figure(g.Joules, 1e-3, "%.1f kJ"), cmp.Or(string(g.From), "-"), figure(g.Throttled, 100, "%.0f%%"))
		for _, name := range slices.Sorted(maps.Keys(g.Reasons)) {
			fmt.Fprintf(b, "%-8s%s %.0f%%\n", "", name, 100*g.Reasons[name])
		}
	}
	if u.Joules == nil {
		b.WriteString("energy: not every GPU tells it\n")
		return
	}
	fmt.Fprintf(b, "energy: %s a game, %s for 1,000 tokens written, in %s of %s games\n",
		figure(u.JoulesPerGame, 1, "%.4g J"), figure(u.JoulesPerKTok, 1, "%.4g J"), screen.Thousands(u.Games), screen.Thousands(whole))
}

// figure is a number times unit, or "-" where there is none.
func figure[T int64 | float64](v *T, unit float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, float64(*v)*unit)
}
