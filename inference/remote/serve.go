package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"selfplay/inference"
)

// A Request says what the child is to open.
type Request struct {
	Program string            `json:"program"` // the version of the parent's, which the child's must be
	Model   string            `json:"model"`   // as inference.Open takes it
	Options inference.Options `json:"options"` // but for Progress
}

// request is the first message, greeting the answer to it.
type request struct {
	Protocol int `json:"protocol"`
	Request
}

type greeting struct {
	Protocol int              `json:"protocol"`
	Program  string           `json:"program"`
	Limits   inference.Limits `json:"limits"`
	Plan     inference.Plan   `json:"plan"`
}

// An Open opens the engine of a request, and says what it takes.
type Open func(Request) (inference.Engine, inference.Plan, error)

// Serve is the child's side: it opens what it is asked for and computes until it
// is told to close. What is wrong with a request is an answer, and no error. r is read
// by another goroutine, also while the engine computes, so that r learns at once
// of the end of input, by which a parent that has died is known.
func Serve(r io.Reader, w io.Writer, program string, open Open) error {
	s := server{c: connection{w: w}, requests: make(chan message), done: make(chan struct{})}
	defer close(s.done)
	go s.read(r)
	engine, err := s.open(program, open)
	if engine == nil {
		return err
	}
	err = s.serve(engine)
	return errors.Join(err, engine.Close())
}

type server struct {
	c        connection // for writing
	batches  batchReader
	requests chan message
	done     chan struct{}
}

// A message is one that was read, or why none was.
type message struct {
	kind     byte
	contents []byte
	err      error
}

// read hands on messages. Of two connections one holds the message that is being
// answered while the other one reads.
func (s *server) read(r io.Reader) {
	both := [2]connection{{r: r}, {r: r}}
	for i := 0; ; i = 1 - i {
		var m message
		m.kind, m.contents, m.err = both[i].receive()
		if m.err == io.EOF {
			m.err = errors.New("the parent process is gone")
		}
		select {
		case s.requests <- m:
		case <-s.done:
			return
		}
		if m.err != nil {
			return
		}
	}
}

// open opens the engine; nil if it can't and has answered why, or has failed.
func (s *server) open(program string, open Open) (inference.Engine, error) {
	m := <-s.requests
	if m.err != nil {
		return nil, m.err
	}
	var q request
	if m.kind != kindOpen {
		return nil, s.fail(fmt.Errorf("a message of kind %d before the request", m.kind))
	}
	if err := json.Unmarshal(m.contents, &q); err != nil {
		return nil, s.fail(fmt.Errorf("a broken request: %w", err))
	}
	if q.Protocol != protocol || q.Program != program {
		return nil, s.fail(fmt.Errorf("the program was replaced by another version (%s and %s): start again", q.Program, program))
	}
	loaded := loading{c: &s.c}
	q.Options.Progress = loaded.progress
	engine, plan, err := open(q.Request)
	loaded.end()
	if err != nil {
		return nil, s.fail(err)
	}
	s.c.begin(kindGreeting)
	data, err := json.Marshal(greeting{protocol, program, engine.Limits(), plan})
	if err == nil {
		s.c.out = append(s.c.out, data...)
		err = s.c.send()
	}
	if err != nil {
		engine.Close()
		return nil, err
	}
	return engine, nil
}

// loading passes on how much is loaded, in steps of a hundredth.
type loading struct {
	mu      sync.Mutex
	c       *connection
	percent int
	ended   bool
}

func (l *loading) progress(share float32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if percent := int(100 * share); percent > l.percent && !l.ended {
		l.percent = percent
		l.c.begin(kindProgress)
		l.c.out = appendInts(l.c.out, int(math.Float32bits(share)))
		l.c.send() // if that fails, so will the greeting
	}
}

// end makes sure that nothing is sent any more.
func (l *loading) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
}

// serve answers until the end, or until it does not understand.
func (s *server) serve(engine inference.Engine) error {
	for m := range s.requests {
		if m.err != nil {
			return m.err
		}
		switch m.kind {
		case kindClose:
			return nil
		case kindForward:
			if err := s.forward(engine, m.contents); err != nil {
				return err
			}
		case kindScore:
			if err := s.score(engine, m.contents); err != nil {
				return err
			}
		default:
			return s.fail(fmt.Errorf("a message of unknown kind %d", m.kind))
		}
	}
	return nil
}

// forward computes a batch and answers.
func (s *server) forward(engine inference.Engine, contents []byte) error {
	b, err := s.batches.read(contents)
	if err != nil {
		return s.fail(err)
	}
	if err := compute(engine, b); err != nil {
		return s.fail(err)
	}
	s.c.begin(kindTokens)
	s.c.out = appendTokens(s.c.out, b.Rows)
	return s.c.send()
}

func compute(engine inference.Engine, b *inference.Batch) error {
	if err := copies(engine, b); err != nil || len(b.Rows) == 0 {
		return err
	}
	return engine.Forward(b)
}

func copies(engine inference.Engine, b *inference.Batch) error {
	for _, c := range b.Copies {
		if err := engine.Copy(c); err != nil {
			return fmt.Errorf("copy of %d cells: %w", c.Cells, err)
		}
	}
	return nil
}

// A scorer is an engine that tells how likely tokens are, as *inference.Model does.
type scorer interface {
	Score(b *inference.Batch, wanted [][]int32) ([][]float64, error)
}

// score computes a batch and answers how likely the wanted tokens are.
func (s *server) score(engine inference.Engine, contents []byte) error {
	m, ok := engine.(scorer)
	if !ok {
		return s.fail(errors.New("this engine does not tell how likely tokens are"))
	}
	f := fields{rest: contents}
	wanted, err := f.wanted()
	if err != nil {
		return s.fail(err)
	}
	b, err := s.batches.read(f.rest)
	if err != nil {
		return s.fail(err)
	}
	if err := copies(engine, b); err != nil {
		return s.fail(err)
	}
	scores, err := m.Score(b, wanted)
	if err != nil {
		return s.fail(err)
	}
	s.c.begin(kindScores)
	s.c.out = appendScores(s.c.out, b.Rows, scores)
	return s.c.send()
}

// fail answers with an error; its own is of sending that.
func (s *server) fail(err error) error {
	noRoom := byte(0)
	if errors.As(err, new(inference.NoRoom)) {
		noRoom = 1
	}
	s.c.begin(kindFailed)
	s.c.out = append(append(s.c.out, noRoom), err.Error()...)
	return s.c.send()
}
