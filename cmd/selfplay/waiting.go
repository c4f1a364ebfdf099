package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// waiting shows on a terminal what takes long, and for how long it has, on one line
// that is gone once done is called. Elsewhere it shows nothing.
func waiting(w io.Writer, doing string) (done func()) {
	return waitingWith(w, doing, func() string { return "" })
}

// waitingWith shows besides what more tells: how far it is.
func waitingWith(w io.Writer, doing string, more func() string) (done func()) {
	if !movesCursor(w) {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		start := time.Now()
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				writeOver(w, "")
				return
			case now := <-ticker.C:
				writeOver(w, waitLine(doing, more(), now.Sub(start)))
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// movesCursor is true of a terminal on which a line can be written over.
func movesCursor(w io.Writer) bool { return isTerminal(w) && !isDumb() }

// isDumb says that the terminal, if there is one, is not known to move its cursor.
func isDumb() bool {
	name := os.Getenv("TERM")
	return name == "" || name == "dumb"
}

// waitLine is short enough for a terminal's line.
func waitLine(doing, more string, took time.Duration) string {
	const most = 50
	if runes := []rune(doing); len(runes) > most {
		doing = string(runes[:most/2]) + "..." + string(runes[len(runes)-most/2+3:])
	}
	if more != "" {
		more += ", "
	}
	return fmt.Sprintf("%s: %s%s", doing, more, took.Truncate(time.Second))
}

// A counter counts the bytes that go through it.
type counter struct {
	w io.Writer
	n atomic.Int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n.Add(int64(n))
	return n, err
}

func (c *counter) String() string { return megabytes(uint64(c.n.Load())) + " written" }
