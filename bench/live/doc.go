// Package live shows a run while it is played, on a terminal. A Collector looks on
// and holds what has happened; now and then a Snapshot of it is taken, which Update
// puts into a Model, as it does keys and sizes, and View makes lines of that. These
// are pure functions. Whoever plays never waits for the screen.
package live
