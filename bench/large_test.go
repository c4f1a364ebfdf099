package bench

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"selfplay/scheduler"
)

// live are the bytes of Go's memory that are in use.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// largeTexts makes a run in which each game's second answer has so many bytes, and
// gives the games' number.
func largeTexts(t *testing.T, dir string, size int) int {
	t.Helper()
	e := testExperiment()
	e.Games, e.N = e.Games[:1], 1
	s := mustCreate(t, dir, e)
	text := strings.Repeat("x", size)
	jobs := remaining(t, s)
	for _, j := range jobs {
		r := played(j)
		r.Turns[1].Completion = text
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return len(jobs)
}

// written counts bytes.
type written int

func (n *written) Write(b []byte) (int, error) { *n += written(len(b)); return len(b), nil }

// A file of some kilobytes may hold many large games: whatever is asked of it has one
// at a time in memory, and joining no more than what one may have.
func TestLargeTexts(t *testing.T) {
	dir, joined := t.TempDir(), t.TempDir()
	n := largeTexts(t, dir, 24<<20)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before, most := live(), uint64(0)
	see := func() { most = max(most, live()-before) }
	games := 0
	if err := r.Each(func(scheduler.Record) error { games++; see(); return nil }); err != nil || games != n {
		t.Errorf("%d games of %d, %v", games, n, err)
	}
	if most > 3*24<<20 {
		t.Errorf("%d MB of memory for a game", most>>20)
	}
	db, err := openDB(joined, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	position := r.Experiment.Plan().positions()
	s := &Store{Run: newRun(joined, runFile{Experiment: r.Experiment}, db), position: func(j scheduler.Job) (int, error) { see(); return position(j) }}
	if s.writer, err = newWriter(db); err != nil {
		t.Fatal(err)
	}
	defer s.writer.conn.Close()
	most = 0
	if err := s.takeAll(source{Run: r}, 0); err != nil {
		t.Fatal(err)
	}
	if most < maxTranscript || most > maxTranscript+5*24<<20 {
		t.Errorf("%d MB of memory for what is joined", most>>20)
	}
	if got, err := s.Games(); err != nil || got != n {
		t.Errorf("%d games of %d are joined, %v", got, n, err)
	}
	var size written
	if err := r.Export(&size, FormatParquet, TableTurns); err != nil || size > 1<<20 {
		t.Errorf("as Parquet %d MB of texts that compress well, %v", size>>20, err)
	}
}

// Texts that no game has are refused before they take memory, when they are read and
// when they are written.
func TestTooLargeTexts(t *testing.T) {
	enc, err := newEncoder()
	if err != nil {
		t.Fatal(err)
	}
	frame := func(size int) []byte { return enc.EncodeAll(make([]byte, size), nil) }
	shown := 40 << 20
	for name, c := range map[string]struct {
		frame []byte
		spoil string
	}{
		"transcript": {frame(maxTranscript + 1), fmt.Sprintf(`UPDATE turns SET kept = 0, observation_bytes = 0, completion_bytes = 0, thinking_bytes = 0;
			UPDATE turns SET completion_bytes = %d WHERE turn = 0`, maxTranscript+1)},
		// Each turn is shown what its seat was shown before, and one byte: of 40 MB in the file, 1000 turns would make 40 GB.
		"observations": {frame(shown + 1000), fmt.Sprintf(`DELETE FROM turns WHERE turn > 0;
			UPDATE turns SET kept = 0, observation_bytes = %d, completion_bytes = 0, thinking_bytes = 0;
			INSERT INTO turns SELECT t.game, n, t.seat, t.status, t.finish, t.invalid, t.defaulted, t.regret, t.prompt_tokens, t.completion_tokens, t.thinking_tokens,
				t.prefill_tokens, t.start_ms, t.end_ms, t.action, t.wrapped, t.reason, %d, 1, 0, 0, 0, 0
			FROM turns t, (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT n FROM r)`, shown, shown)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			largeTexts(t, dir, 1)
			db, err := connect(filepath.Join(dir, dbName), url.Values{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec(`UPDATE transcripts SET zstd = ?`, c.frame)
			db.Close()
			if err != nil {
				t.Fatal(err)
			}
			execDB(t, dir, c.spoil)
			var errs []error
			n := allocated(func() { errs = readAll(dir) })
			failed := 0
			for _, err := range errs {
				if err != nil && strings.Contains(err.Error(), "texts do not fit its turns") {
					failed++
				}
			}
			if checkErrors(t, dir, errs); failed < 5 {
				t.Errorf("%v", errs)
			}
			if most := uint64(failed) * 5 * maxTranscript; n > most {
				t.Errorf("%d MB of memory, more than %d", n>>20, most>>20)
			}
		})
	}
	s := mustCreate(t, t.TempDir(), testExperiment())
	r := played(remaining(t, s)[0])
	r.Turns[1].Completion = strings.Repeat("x", maxTranscript+1)
	checkLine(t, s.Append(r), []string{r.Job.ID, "can be kept", "--max-tokens"})
	r = played(r.Job)
	r.Turns[0].Observation = strings.Repeat("x", maxShown/2)
	r.Turns[2].Observation = r.Turns[0].Observation + "x"
	checkLine(t, s.Append(r), []string{r.Job.ID, "can be kept", "--max-tokens"})
}
