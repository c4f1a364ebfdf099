package live

import (
	"context"
	"sync"
	"time"
)

// A Gate makes a run pause between two steps.
type Gate struct {
	clock func() time.Duration

	mu     sync.Mutex
	opened chan struct{} // closed when the gate opens; nil: it is open
	held   int           // who waits at it
	shut   time.Duration // since when it is shut
	before time.Duration // how long it was shut before
}

// NewGate makes an open gate.
func NewGate(clock func() time.Duration) *Gate { return &Gate{clock: clock} }

// Hold waits until the gate is open, or ctx has ended.
func (g *Gate) Hold(ctx context.Context) {
	g.mu.Lock()
	opened := g.opened
	if opened != nil {
		g.held++
	}
	g.mu.Unlock()
	if opened == nil {
		return
	}
	select {
	case <-opened:
	case <-ctx.Done():
	}
	g.mu.Lock()
	g.held--
	g.mu.Unlock()
}

// Toggle shuts the gate, or opens it.
func (g *Gate) Toggle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		g.opened, g.shut = make(chan struct{}), g.clock()
		return
	}
	close(g.opened)
	g.opened = nil
	g.before += g.clock() - g.shut
}

// Skip takes a time that the whole program stood still for one of pause.
func (g *Gate) Skip(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil { // else it counts already
		g.before += d
	}
}

// state says whether the gate is shut, whether anybody waits at it, and how long it
// was shut in all.
func (g *Gate) state() (shut, held bool, paused time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	paused = g.before
	if g.opened != nil {
		paused += g.clock() - g.shut
	}
	return g.opened != nil, g.held > 0, paused
}
