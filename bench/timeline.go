package bench

import (
	"fmt"
	"io"
	"time"

	"selfplay/scheduler"
)

// A timeline writes what a run did step by step in the Chrome trace event
// format, which chrome://tracing and Perfetto open: a JSON list of events, one a
// line, their times in microseconds since the start of the run. What is written
// ends with a whole event each time, so that the list lacks no more than its
// bracket when the program is killed. A nil timeline does nothing.
type timeline struct {
	w   io.WriteCloser
	buf []byte // events that wait to be written together
	err error  // the first one of w; nothing is written after it

	known   map[int]bool       // replicas that are named
	last    scheduler.Progress // of the step before
	counted scheduler.Progress // when counters were written last
}

const (
	timelineBuffer   = 1 << 15
	countersInterval = 100 * time.Millisecond
)

// Rows of the picture.
const (
	engineRow = iota + 1
	hostRow
	storeRow
)

func newTimeline(w io.WriteCloser) *timeline {
	t := &timeline{w: w, known: map[int]bool{}}
	t.buf = append(t.buf, `[{"name":"process_name","ph":"M","pid":1,"args":{"name":"selfplay"}}`...)
	t.nameRows(ownProcess)
	return t
}

// ownProcess has the counters of all and, unless there are several replicas, the
// rows. Those of each replica are under a process of their own.
const ownProcess = 1

// process is where the rows of the progress' step are.
func (t *timeline) process(p scheduler.Progress) int {
	if p.Replicas < 2 {
		return ownProcess
	}
	pid := ownProcess + 1 + p.Replica
	if !t.known[pid] {
		t.known[pid] = true
		t.event(`{"name":"process_name","ph":"M","pid":%d,"args":{"name":"replica %d"}}`, pid, p.Replica)
		t.nameRows(pid)
	}
	return pid
}

func (t *timeline) nameRows(pid int) {
	for _, row := range []struct {
		id   int
		name string
	}{{engineRow, "engine"}, {hostRow, "host"}, {storeRow, "waiting for the store"}} {
		t.event(`{"name":"thread_name","ph":"M","pid":%d,"tid":%d,"args":{"name":"%s"}}`, pid, row.id, row.name)
	}
}

// step writes one step, and now and then the counters.
func (t *timeline) step(p scheduler.Progress) {
	if t == nil || t.err != nil {
		return
	}
	s, pid := p.Last, t.process(p)
	if p.Lost > t.last.Lost {
		t.event(`{"name":"lost","ph":"i","s":"p","pid":%d,"tid":%d,"ts":%s}`, pid, engineRow, micros(s.Asked))
		t.last = p
		return
	}
	t.span(pid, hostRow, "next", s.Asked, s.Begun, `{}`)
	if s.Rows > 0 {
		decode := p.DecodeRows - t.last.DecodeRows
		t.span(pid, engineRow, "step", s.Begun, s.Computed,
			`{"decode_rows":%d,"prefill_rows":%d,"prefill_tokens":%d,"copies":%d,"copied_tokens":%d,"live_games":%d}`,
			decode, s.Rows-decode, p.PrefillTokens-t.last.PrefillTokens, s.Copies, s.CopiedCells, p.Started-t.last.Ended)
	}
	t.span(pid, hostRow, "done", s.Computed, s.Taken, `{"ended_games":%d}`, p.Ended-t.last.Ended)
	if s.Handed > s.Taken {
		t.span(pid, storeRow, "wait", s.Taken, s.Handed, `{}`)
	}
	t.last = p
	if p.Elapsed-t.counted.Elapsed >= countersInterval {
		t.counters()
	}
	if len(t.buf) >= timelineBuffer {
		t.flush()
	}
}

// counters writes the rates since the counters before, which hold from then on,
// and the games live now.
func (t *timeline) counters() {
	from, to := t.counted, t.last
	seconds := max((to.Elapsed - from.Elapsed).Seconds(), 1e-9)
	t.rates(from.Elapsed, float64(to.PrefillTokens-from.PrefillTokens)/seconds, float64(to.CompletionTokens-from.CompletionTokens)/seconds)
	t.event(`{"name":"live games","ph":"C","pid":1,"ts":%s,"args":{"games":%d}}`, micros(to.Elapsed), to.Live())
	t.counted = to
}

func (t *timeline) rates(at time.Duration, read, written float64) {
	t.event(`{"name":"tokens/s","ph":"C","pid":1,"ts":%s,"args":{"read":%.1f,"written":%.1f}}`, micros(at), read, written)
}

func (t *timeline) span(pid, row int, name string, from, to time.Duration, args string, values ...any) {
	t.event(`{"name":"%s","ph":"X","pid":%d,"tid":%d,"ts":%s,"dur":%s,"args":`, name, pid, row, micros(from), micros(to-from))
	t.buf = fmt.Appendf(t.buf, args, values...)
	t.buf = append(t.buf, '}')
}

func (t *timeline) event(format string, values ...any) {
	t.buf = append(t.buf, ",\n"...)
	t.buf = fmt.Appendf(t.buf, format, values...)
}

// micros is a time as the format wants it, to the nanosecond.
func micros(d time.Duration) string {
	return fmt.Sprintf("%d.%03d", d/time.Microsecond, d%time.Microsecond)
}

func (t *timeline) flush() {
	if t.err == nil {
		_, t.err = t.w.Write(t.buf)
	}
	t.buf = t.buf[:0]
}

// close ends the list and closes the file. It returns the first error of all.
func (t *timeline) close() error {
	if t == nil {
		return nil
	}
	if t.last.Elapsed > t.counted.Elapsed {
		t.counters()
	}
	t.rates(t.last.Elapsed, 0, 0)
	t.buf = append(t.buf, "]\n"...)
	t.flush()
	if err := t.w.Close(); t.err == nil {
		t.err = err
	}
	return t.err
}
