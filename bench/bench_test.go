package bench

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"selfplay/games"
	"selfplay/scheduler"
)

// longRecord has the size of a paper's game: ten turns, rules of 1.5 kB, 200
// bytes more in the history each turn, answers of 800 bytes.
func longRecord(j scheduler.Job) scheduler.Record {
	r := played(j)
	turn := r.Turns[0]
	r.Turns = nil
	history := [2]string{strings.Repeat("rules ", 250), strings.Repeat("قاعدة ", 130)}
	for i := range 10 {
		turn.Seat = i % 2
		for seat := range history {
			history[seat] += fmt.Sprintf("\n[Player %d] %s", i%2, strings.Repeat("board ", 32))
		}
		turn.Observation = history[turn.Seat]
		turn.Completion = fmt.Sprint(i, strings.Repeat(" thought", 100))
		r.Turns = append(r.Turns, turn)
	}
	return r
}

// BenchmarkStore stores games in batches as a busy engine leaves them, and
// reads them back.
func BenchmarkStore(b *testing.B) {
	e := testExperiment()
	e.N = max(1, b.N/12+1)
	dir := b.TempDir()
	s, err := Create(dir, e, Session{})
	if err != nil {
		b.Fatal(err)
	}
	var batch []scheduler.Record
	b.ResetTimer()
	stored := 0
	for j := range e.Plan().Jobs() {
		batch = append(batch, longRecord(j))
		if stored++; len(batch) == 16 || stored == b.N {
			if err := s.Append(batch...); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
		if stored == b.N {
			break
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "games/s")
	s.Close()
	info, err := os.Stat(filepath.Join(dir, dbName))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(b.N), "bytes/game")
}

func BenchmarkRead(b *testing.B) {
	e := testExperiment()
	e.N = 200 // 2,400 games
	dir := b.TempDir()
	s, err := Create(dir, e, Session{})
	if err != nil {
		b.Fatal(err)
	}
	var all []scheduler.Record
	for j := range e.Plan().Jobs() {
		all = append(all, longRecord(j))
	}
	if err := s.Append(all...); err != nil {
		b.Fatal(err)
	}
	s.Close()
	time := func(name string, f func(*Run) error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				if err := f(r); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
			b.ReportMetric(float64(len(all)*b.N)/b.Elapsed().Seconds(), "games/s")
		})
	}
	time("report", func(r *Run) error { _, err := r.Report(); return err })
	time("export", func(r *Run) error { return r.ExportJSONL(io.Discard) })
	time("resume", func(*Run) error {
		s, err := Create(dir, e, Session{})
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = s.Remaining()
		return err
	})
}

// BenchmarkSuite plays random games of every kind and stores them; b.N is
// hundreds of games.
func BenchmarkSuite(b *testing.B) {
	e := testExperiment()
	e.Games, e.Langs, e.N = games.Names(), []string{"en", "ar", "de", "zh"}, b.N
	e.Games = slices.DeleteFunc(slices.Clone(e.Games), func(id string) bool { return !strings.HasSuffix(id, "-v0") })
	sum, err := Play(b.Context(), Options{Dir: b.TempDir(), Experiment: e, Player: randomPlayer(e.Seed)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(sum.Games)/sum.Seconds, "games/s")
}

// wordyRecord is a game of ten answers of 4,000 bytes, 3,000 of them thinking,
// in words drawn as often as Zipf's law has it, so that they compress about as a
// language does.
func wordyRecord(j scheduler.Job) scheduler.Record {
	r := longRecord(j)
	rng := rand.New(rand.NewPCG(uint64(j.Seed), uint64(len(j.ID))+uint64(j.ID[len(j.ID)-1])))
	words := rand.NewZipf(rng, 1.1, 3, 20_000)
	for i := range r.Turns {
		var text strings.Builder
		for text.Len() < 4000 {
			n := words.Uint64()
			for k := range 2 + n%8 {
				text.WriteByte('a' + byte((n*2654435761>>(3*k))%26))
			}
			text.WriteByte(' ')
		}
		t := &r.Turns[i]
		t.Thinking = text.String()[:3000]
		t.Completion = "<think>" + t.Thinking + "</think>" + text.String()[3000:4000]
	}
	return r
}
