package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"selfplay/inference"
)

// An Engine is the parent's side: an inference.Engine in a child process. Copies
// go with the next batch, whose error theirs is.
type Engine struct {
	Plan inference.Plan

	name   string
	child  child
	c      connection
	limits inference.Limits
	copies []inference.Copy // that go with the next batch
	lost   error            // what every call returns since

	mu     sync.Mutex
	reason error // why it was killed
}

var _ inference.Engine = (*Engine)(nil)

// A child is the process behind an engine.
type child interface {
	// kill ends it at once; reading what it answers ends too. It may be called by
	// any goroutine, and again.
	kill()
	// exit waits until it has ended, and kills it if it does not. It tells how it
	// ended, and what it said in the end.
	exit() (how string, said []string)
}

// Lost is the error of an engine whose process has died, was killed, or answers
// nonsense.
type Lost struct {
	Name string   // of the replica
	Exit string   // how its process ended
	Said []string // the last lines that it wrote
	Err  error    // what was noticed first, or the reason that Kill was given
}

func (l *Lost) Error() string {
	text := fmt.Sprintf("the process of replica %s is lost (%s): %v", l.Name, l.Exit, l.Err)
	if len(l.Said) > 0 {
		text += "; it last wrote: " + strings.Join(l.Said, " / ")
	}
	return text
}

func (l *Lost) Unwrap() error { return l.Err }

// Start starts a child process that opens the model of the request, and waits
// until it is loaded; Options.Progress is told how much of it is. A model that
// does not fit is an inference.NoRoom, a child that dies Lost.
func Start(ctx context.Context, c Command, q Request) (*Engine, error) {
	p, err := start(c)
	if err != nil {
		return nil, fmt.Errorf("replica %s: %w", c.Name, err)
	}
	e := &Engine{name: c.Name, child: p, c: connection{r: p.stdout, w: p.stdin}}
	stop := context.AfterFunc(ctx, func() { e.Kill(ctx.Err()) })
	err = e.open(q)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		p.kill()
		p.exit()
		return nil, err
	}
	return e, nil
}

// open sends the request and waits for the greeting.
func (e *Engine) open(q Request) error {
	data, err := json.Marshal(request{protocol, q})
	if err != nil {
		return err
	}
	e.c.begin(kindOpen)
	e.c.out = append(e.c.out, data...)
	if err := e.c.send(); err != nil {
		return e.lose(err)
	}
	for {
		kind, contents, err := e.c.receive()
		if err != nil {
			return e.lose(err)
		}
		switch kind {
		case kindProgress:
			f := fields{rest: contents}
			if share := math.Float32frombits(uint32(f.int())); q.Options.Progress != nil {
				q.Options.Progress(share)
			}
		case kindGreeting:
			return e.greeted(contents, q.Program)
		default:
			return e.other(kind, contents)
		}
	}
}

// greeted takes what the child says of its engine.
func (e *Engine) greeted(contents []byte, program string) error {
	var g greeting
	if err := json.Unmarshal(contents, &g); err != nil {
		return e.lose(fmt.Errorf("a broken greeting: %w", err))
	}
	if g.Protocol != protocol || g.Program != program {
		return e.lose(fmt.Errorf("it is another version of the program (%s and %s)", g.Program, program))
	}
	e.limits, e.Plan = g.Limits, g.Plan
	return nil
}

// Limits says what fits.
func (e *Engine) Limits() inference.Limits { return e.limits }

// Copy has the cells copied before the next batch is computed.
func (e *Engine) Copy(c inference.Copy) error {
	if e.lost == nil {
		e.copies = append(e.copies, c)
	}
	return e.lost
}

// Forward has the child do the copies since the last batch, and compute this one.
func (e *Engine) Forward(b *inference.Batch) error {
	if e.lost != nil {
		return e.lost
	}
	e.c.begin(kindForward)
	e.c.out = appendBatch(e.c.out, b, e.copies)
	e.copies = e.copies[:0]
	contents, err := e.ask(kindTokens)
	if err != nil {
		return err
	}
	if err := readTokens(contents, b.Rows); err != nil {
		return e.lose(err)
	}
	return nil
}

// Score has the child do the copies since the last batch, and its model Score
// this one.
func (e *Engine) Score(b *inference.Batch, wanted [][]int32) ([][]float64, error) {
	if e.lost != nil {
		return nil, e.lost
	}
	if len(wanted) != len(b.Rows) {
		return nil, fmt.Errorf("%d rows, and wanted tokens for %d", len(b.Rows), len(wanted))
	}
	e.c.begin(kindScore)
	e.c.out = appendBatch(appendWanted(e.c.out, wanted), b, e.copies)
	e.copies = e.copies[:0]
	contents, err := e.ask(kindScores)
	if err != nil {
		return nil, err
	}
	scores, err := readScores(contents, b.Rows, wanted)
	if err != nil {
		return nil, e.lose(err)
	}
	return scores, nil
}

// ask sends the message that was begun, and waits for an answer of that kind.
func (e *Engine) ask(want byte) ([]byte, error) {
	if err := e.c.send(); err != nil {
		return nil, e.lose(err)
	}
	kind, contents, err := e.c.receive()
	if err != nil {
		return nil, e.lose(err)
	}
	if kind != want {
		return nil, e.other(kind, contents)
	}
	return contents, nil
}

// other is the error that an answer of another kind is.
func (e *Engine) other(kind byte, contents []byte) error {
	if kind != kindFailed || len(contents) < 2 {
		return e.lose(fmt.Errorf("an answer of kind %d, which makes no sense here", kind))
	}
	err := fmt.Errorf("replica %s: %s", e.name, plain(string(contents[1:])))
	if contents[0] == 1 {
		return inference.NoRoom{Err: err}
	}
	return err
}

// Kill ends the process, for a reason that the call under way returns, and all
// that follow. Any goroutine may call it.
func (e *Engine) Kill(reason error) {
	e.mu.Lock()
	if e.reason == nil {
		e.reason = reason
	}
	e.mu.Unlock()
	e.child.kill()
}

// lose gives the process up.
func (e *Engine) lose(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) { // it need not have died
		e.child.kill()
	} else {
		err = errors.New("it ended")
	}
	how, said := e.child.exit()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reason != nil {
		err = e.reason
	}
	e.lost = &Lost{Name: e.name, Exit: how, Said: said, Err: err}
	return e.lost
}

// Close has the child close its engine and end.
func (e *Engine) Close() error {
	if e.lost == nil {
		e.c.begin(kindClose)
		e.c.send() // if that fails it has ended
		e.lost = fmt.Errorf("replica %s is closed", e.name)
	}
	e.child.exit()
	return nil
}
